// SPDX-License-Identifier: LGPL-2.1-or-later
// The bare loop: frames to the device, the project's kernel, totals back, and nothing around it. The ceiling for meters
// and pipelines.
#pragma once

#include "algorithms/sharpness/meter.h"
#include "cuda/runtime.h"
#include "tests/support/device.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framequality::bench {

/// Copies of one picture in host memory, each at a multiple of 4096 bytes. Together more than any cache holds, if a
/// loop over them is to read memory.
class Blocks {
 public:
  /// pinned: page-locked for CUDA, current device. Throws Error.
  Blocks(std::span<const std::uint8_t> picture, int count, bool pinned);
  const std::uint8_t* operator[](std::size_t turn) const { return first_ + turn % count_ * pitch_; }
  std::size_t bytes() const { return bytes_; }  ///< of one
  std::size_t count() const { return count_; }

 private:
  std::size_t bytes_, pitch_, count_;
  std::unique_ptr<std::uint8_t[]> pageable_;
  cuda::PinnedMemory<std::uint8_t> pinned_;
  std::uint8_t* first_;
};

/// How a loop's frames get to where they are measured.
enum class Feed {
  kCopy,    ///< pinned blocks: one cudaMemcpyAsync of the whole block
  kStaged,  ///< pageable blocks: memcpy by the calling thread to the slot's pinned memory, then the same
  kDevice,  ///< the picture lies in device memory already, as many times as there are blocks
  kMeter,   ///< blocks as they are, handed to the project's meter
};

/// Measures packed one-plane frames in turn, `slots` of them in flight, each with a stream, device memory and a result
/// of its own; when all are taken, the host waits for the oldest. A copy is queued in the stream that the meter will
/// launch the frame's kernel in.
class BareLoop {
 public:
  /// id: CUDA device; negative: the CPU twin, with kMeter and one slot. The blocks must outlive the loop. Throws
  /// Error, and std::runtime_error if a total is not the CPU twin's.
  BareLoop(const Geometry& geometry, const Blocks& blocks, Feed feed, int slots, int id);
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  /// Frames measured in one second, over so many seconds after a warm-up of every slot.
  double frames_per_second(double seconds);
  /// Time from the start of a frame to its totals, one frame at a time in slot 0. Unit: seconds.
  std::vector<double> latencies(double seconds);

 private:
  struct Slot {
    cuda::DeviceMemory<std::uint8_t> pixels;
    cuda::PinnedMemory<std::uint8_t> staging;
    bool pending = false;
  };
  void submit(Slot& slot);
  void collect(Slot& slot);
  void drain();

  const Blocks& blocks_;
  Feed feed_;
  std::shared_ptr<const sharpness::Plan> plan_;
  std::int64_t expected_ = 0;
  std::vector<cuda::DeviceBytes> on_device_;
  std::vector<Slot> slots_;
  std::unique_ptr<sharpness::Meter> meter_;  ///< after what its frames lie in: it goes first, and waits for them
  std::size_t turn_ = 0;
};

/// Rate of copies of the pinned blocks to the device, back to back in one stream: median of so many rounds through all
/// of them. Unit: bytes per second.
double copy_bandwidth(const Blocks& pinned, int id, int rounds = 25);

}  // namespace framequality::bench
