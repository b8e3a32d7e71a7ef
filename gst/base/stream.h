// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of one format on their way through an element that works on a device: what measuring and filtering share.
#pragma once

#include "algorithms/worker.h"
#include "gst/base/device_base.h"
#include "gst/buffer/significant_bits.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace framequality {

/// Exists from caps to stop: no half-configured stream can be worked on. Frames come in through take(), and leave in
/// order through it or finish(). Thread-safety: the sink pad's stream lock. Functions throw what guard() takes.
class Stream {
 public:
  /// info: of the frames that come. memory: that they lie in. radius: frames before and after one that it is
  /// made of. goes_on: what a warning says after a CUDA fault with device=auto.
  Stream(FqDeviceBase* element, const GstVideoInfo& info, Memory memory, int radius, const char* goes_on);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// The device is done with the frames before they are released.
  virtual ~Stream() = default;

  /// Takes a frame in; null: only asks for what is complete. *out: one to be pushed, if there is one and it has not
  /// been pushed here. Called until it gives none.
  virtual GstFlowReturn take(BufferPtr buffer, GstBuffer** out) = 0;
  /// Finishes the oldest frame held; null if there is none.
  virtual BufferPtr finish() = 0;
  /// Drops the frames held without a word; the stream goes on.
  virtual void drop() noexcept = 0;
  /// Releases frames that have left and are kept for those after them, which are of another scene or time.
  virtual void forget_past() {}
  /// Works in the CUDA context of this buffer's memory from now on. No frame is held.
  virtual void change_context(GstBuffer* buffer) = 0;

  const GstVideoInfo& info() const { return info_; }
  Memory memory() const { return memory_; }
  /// Frames that may be held back when one has been taken.
  int in_flight() const { return in_flight_; }
  int radius() const { return radius_; }
  /// Input frames held at once, the one that comes included.
  guint most_held() const { return static_cast<guint>(in_flight_ + 2 * radius_ + 1); }
  /// Tells the pipeline of the latency, when the stream is made.
  void tell_latency();

 protected:
  FqDeviceBase* element() const { return element_; }
  /// Brings a frame's memory into a state in which it can be read fast. Warns once if its size says that its rows may
  /// lie otherwise than its caps do.
  void prepare_to_read(GstBuffer* buffer);
  /// Warns of 16-bit words that do not fit the significant bits; for every frame that is worked on.
  void look(const Frame& frame) { significant_bits_.look(frame); }

  // Of the frames in `stats`: the last one collected, and one that passes as it came.
  void count_done();
  void count_skipped();

  /// Adds the time of its life to busy-ns.
  class Busy {
   public:
    explicit Busy(Stream& stream) : stream_(stream) {}
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Stream& stream_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

 private:
  template <class Task, class Result>
  friend class Relay;

  /// Where workers are made: a frame in GPU memory is worked on in its own context, which scope() makes current.
  Place where() const { return memory_ != Memory::kHost ? Place{true, -1} : place_of(element_); }
  CudaContext::Scope scope() const { return CudaContext::Scope(element_->device->context); }
  /// Leaves CUDA for good after a fault. Throws the fault where frames cannot be worked on on the CPU, or the user
  /// asked for CUDA alone.
  void fall_back(const Error& fault);
  void warn_of_padding(gsize size);

  FqDeviceBase* element_;
  GstVideoInfo info_;
  Memory memory_;
  int in_flight_, radius_;
  const char* goes_on_;
  bool warned_of_padding_ = false;
  SignificantBitsCheck significant_bits_;
  bool replayed_ = false;  ///< the last frame collected was worked on anew, on the CPU
};

/// A stream's worker at the chosen place and, after a CUDA fault with device=auto, on the CPU, where it works again on
/// the tasks that the device had. Whoever submits a task keeps what it points to until it has been collected.
template <class Task, class Result>
class Relay {
 public:
  /// A worker at this place that takes `depth` tasks before the first is collected. Throws as workers do.
  using Make = std::function<std::unique_ptr<Worker<Task, Result>>(const Place& place, int depth)>;

  Relay(Stream& stream, Make make) : stream_(stream), make_(std::move(make)) { make_worker(); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() { release(); }

  /// Begins with a task. On the CPU that is left to collect(), since it would be done in this thread.
  void submit(const Task& task) {
    if (!on_device_) return;
    const auto scope = stream_.scope();
    with_recovery(
        [&] {
          worker_->submit(task);
          ++pending_;
        },
        [&](const Error& fault) { fall_back(fault); });
  }

  /// The result of `oldest`, the task submitted first of those not collected.
  Result collect(const Task& oldest) {
    const auto scope = stream_.scope();
    if (!on_device_) return work(oldest);
    --pending_;  // also if it fails
    return with_recovery([&] { return worker_->collect(); },
                         [&](const Error& fault) {
                           fall_back(fault);
                           return work(oldest);
                         });
  }

  /// Waits until the worker has let go of all tasks, and forgets them.
  void drop() noexcept {
    guard(false, [&] {
      const auto scope = stream_.scope();
      for (; pending_ > 0; --pending_)
        guard(false, [&] {
          worker_->collect();
          return true;
        });
      return true;
    });
    pending_ = replays_ = 0;
  }

  /// Calls change(), which changes the context of frames in GPU memory, between the last use of the old one and the
  /// first of the new one. No task is pending.
  template <class F>
  void change_context(F&& change) {
    release();
    std::forward<F>(change)();
    make_worker();
  }

 private:
  void make_worker() {
    const auto scope = stream_.scope();
    const Place where = stream_.where();
    on_device_ = where.cuda;
    with_recovery([&] { worker_ = make_(where, stream_.in_flight() + 1); },
                  [&](const Error& fault) {
                    fall_back(fault);
                    replays_ = 0;
                  });
  }
  void release() noexcept {
    guard(false, [&] {
      const auto scope = stream_.scope();
      worker_.reset();
      return true;
    });
    worker_.reset();
  }
  /// The tasks pending, and the one in hand, will be worked on on the CPU.
  void fall_back(const Error& fault) {
    stream_.fall_back(fault);
    worker_ = make_(Place{}, 1);
    on_device_ = false;
    replays_ = std::exchange(pending_, 0) + 1;
  }
  Result work(const Task& task) {
    worker_->submit(task);
    stream_.replayed_ = replays_ > 0;
    if (replays_ > 0) --replays_;
    return worker_->collect();
  }

  Stream& stream_;
  Make make_;
  std::unique_ptr<Worker<Task, Result>> worker_;
  bool on_device_ = false;
  int pending_ = 0;  ///< tasks that the device has
  int replays_ = 0;  ///< tasks that a device had and that are to be collected
};

}  // namespace framequality
