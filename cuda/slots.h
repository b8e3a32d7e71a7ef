// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in flight: a ring of slots, each with its own stream, and waiting for them.
#pragma once

#include "algorithms/ring.h"
#include "cuda/runtime.h"
#include "cuda/upload.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

namespace framequality::cuda {

/// Polls is_done() for as long as that beats sleeping; returns its last result. A thread that sleeps wakes 30 us
/// late, half of a 1080p frame's time on the GPU; one that spins burns a core.
template <class IsDone>
bool spin(IsDone is_done) {
  constexpr std::chrono::microseconds kPatience{200};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_done()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::yield();  // in case of more streams than cores
  }
  return true;
}

/// Data of every frame in flight; meters and filters add theirs.
struct FrameSlot {
  Stream stream = make_stream();
  Event done = make_event(cudaEventDisableTiming | cudaEventBlockingSync);
  Event begun = make_event(cudaEventDisableTiming);  ///< awaited by a frame on the device
  Upload::Memory host;                               ///< buffers for frames in host memory

  /// Makes the stream wait for all work queued so far in the stream that writes a frame on the device: by default, the
  /// legacy default stream, in which GstCuda copies between buffers of the device, returning before the copy is done.
  void wait_for(const Frame& frame) {
    const auto queue = frame.queue ? static_cast<cudaStream_t>(frame.queue) : cudaStreamLegacy;
    check(cudaEventRecord(begun.get(), queue), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream.get(), begun.get(), 0), "cudaStreamWaitEvent");
  }

  /// Waits until `done` has occurred.
  void wait() const {
    cudaError_t state;
    if (!spin([&] { return (state = cudaEventQuery(done.get())) != cudaErrorNotReady; }))
      state = cudaEventSynchronize(done.get());
    check(state, "waiting for a frame");
  }
};

/// If an exception ends its scope, waits until the device has released the frame.
class SyncOnThrow {
 public:
  explicit SyncOnThrow(cudaStream_t stream) : stream_(stream) {}
  SyncOnThrow(const SyncOnThrow&) = delete;
  SyncOnThrow& operator=(const SyncOnThrow&) = delete;
  ~SyncOnThrow() {
    if (std::uncaught_exceptions() > before_) (void)cudaStreamSynchronize(stream_);
  }

 private:
  cudaStream_t stream_;
  int before_ = std::uncaught_exceptions();
};

/// Makes device `id`'s primary context current; negative: keeps the current one.
inline int make_current(int id) {
  if (id >= 0) check(cudaSetDevice(id), "cudaSetDevice");
  return id;
}

/// Slots, each a FrameSlot, used in turn: as many frames may be pending as there are slots.
template <class Slot>
class Slots {
 public:
  explicit Slots(int depth) : ring_(static_cast<std::size_t>(std::max(depth, 1))) {}
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  /// Waits until the device has released every frame.
  ~Slots() {
    for (const Slot& slot : ring_.places()) (void)cudaStreamSynchronize(slot.stream.get());
  }

  std::vector<Slot>& all() { return ring_.places(); }
  std::size_t pending() const { return ring_.size(); }
  /// The slot of the next frame. Throws std::logic_error if none is free.
  Slot& next() {
    if (ring_.full()) throw std::logic_error("cuda: no slot is free");
    return ring_.next();
  }
  /// Marks the next slot as holding a frame.
  void take() { ring_.push(); }
  /// Frees the slot of the oldest frame and returns it. Throws std::logic_error if none is pending.
  Slot& give() {
    if (ring_.empty()) throw std::logic_error("cuda: no frame is pending");
    return ring_.pop();
  }

 private:
  Ring<Slot> ring_;
};

/// For benchmarks: calls launch(slot) `count` times, round-robin, which queues kernels in the slot's stream, and
/// returns the mean time from one to the next. Unit: seconds. Blocks.
template <class Slot, class Launch>
double mean_seconds(Slots<Slot>& slots, int count, Launch launch) {
  if (slots.pending() > 0) throw std::logic_error("cuda: a frame is pending");
  auto& all = slots.all();
  const Event start = make_event(cudaEventDefault), stop = make_event(cudaEventDefault);
  const cudaStream_t first = all[0].stream.get();
  check(cudaEventRecord(start.get(), first), "cudaEventRecord");
  for (Slot& slot : all) check(cudaStreamWaitEvent(slot.stream.get(), start.get(), 0), "cudaStreamWaitEvent");
  for (int i = 0; i < count; ++i) launch(all[static_cast<std::size_t>(i) % all.size()]);
  for (Slot& slot : all) {
    check(cudaEventRecord(slot.begun.get(), slot.stream.get()), "cudaEventRecord");
    check(cudaStreamWaitEvent(first, slot.begun.get(), 0), "cudaStreamWaitEvent");
  }
  check(cudaEventRecord(stop.get(), first), "cudaEventRecord");
  check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float ms;
  check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
  return ms * 1e-3 / count;
}

}  // namespace framequality::cuda
