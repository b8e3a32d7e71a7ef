// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in flight: a ring of slots, each with its own queue, and waiting for them with a time limit.
#pragma once

#include "algorithms/ring.h"
#include "opencl/context.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace framequality::opencl {

/// Longest time for a frame, in seconds: a device that has not answered by then never will. Tests shorten it.
inline double patience = 60;

/// Whether an event has completed, or never will; does not wait.
bool has_come(const Event& event);

/// Waits until an event has completed. Throws Error if it failed, or takes too long; the context is then lost.
void wait(Context& context, const Event& event);

/// Waits until a queue is empty, despite failures, with a time limit. Returns at once if the device does not answer.
void drain(Context& context, cl_command_queue queue) noexcept;

/// Data of every frame in flight; meters and filters add theirs.
struct FrameSlot {
  Queue queue;
  Event done;  ///< the frame's last command
};

/// Slots, each a FrameSlot, used in turn: as many frames may be pending as there are slots.
template <class Slot>
class Slots {
 public:
  Slots(std::shared_ptr<Context> context, int depth)
      : context_(std::move(context)), ring_(static_cast<std::size_t>(std::max(depth, 1))) {
    for (Slot& slot : ring_.places()) slot.queue = context_->queue();
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  /// Waits until the device has released every frame. Keeps memory that a hung device may still write to.
  ~Slots() {
    for (const Slot& slot : ring_.places()) drain(*context_, slot.queue.get());
    if (!context_->is_hung()) return;
    static auto& kept = *new std::vector<Ring<Slot>>;  // never destroyed: that would wait for the device
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(ring_));
  }

  std::vector<Slot>& all() { return ring_.places(); }
  std::size_t pending() const { return ring_.size(); }
  /// The slot of the next frame. Throws std::logic_error if none is free.
  Slot& next() {
    if (ring_.full()) throw std::logic_error("opencl: no slot is free");
    return ring_.next();
  }
  /// Marks the next slot as holding a frame.
  void take() { ring_.push(); }
  /// Frees the slot of the oldest frame and returns it. Throws std::logic_error if none is pending.
  Slot& give() {
    if (ring_.empty()) throw std::logic_error("opencl: no frame is pending");
    return ring_.pop();
  }

 private:
  std::shared_ptr<Context> context_;
  Ring<Slot> ring_;
};

/// If an exception ends its scope, waits until the device has released the frame.
class DrainOnThrow {
 public:
  DrainOnThrow(Context& context, cl_command_queue queue) : context_(context), queue_(queue) {}
  DrainOnThrow(const DrainOnThrow&) = delete;
  DrainOnThrow& operator=(const DrainOnThrow&) = delete;
  ~DrainOnThrow() {
    if (std::uncaught_exceptions() > before_) drain(context_, queue_);
  }

 private:
  Context& context_;
  cl_command_queue queue_;
  int before_ = std::uncaught_exceptions();
};

}  // namespace framequality::opencl
