// SPDX-License-Identifier: LGPL-2.1-or-later
// The meter behind make_bliinds_meter(), open to the benchmarks.
#pragma once

#include "algorithms/bliinds/meter.h"
#include "cuda/bliinds/job.h"
#include "cuda/runtime.h"
#include "cuda/slots.h"
#include "cuda/upload.h"

#include <cstdint>

namespace framequality::cuda {

/// Measures on one device. A Slot holds everything for one frame in flight; slots are used round-robin.
class BliindsMeter final : public bliinds::Meter {
 public:
  /// id: device number; negative: the context that is current in every call, including the destructor's.
  BliindsMeter(const bliinds::Input& input, int id, int depth);
  ~BliindsMeter() override;

  void submit(const bliinds::Task& task) override;
  bliinds::Features collect() override;
  bliinds::BlockValues blocks(int scale) override;

  /// For benchmarks: measures a frame in device memory, queues before(job, stream), then queue(job, stream) `count`
  /// times; returns the mean time of one of these. Unit: seconds. Blocks.
  template <class Before, class Queue>
  double time(const Frame& frame, int count, Before before, Queue queue) {
    submit({frame, bliinds::Channel::kLuma});
    collect();
    const Slot& slot = *last_;
    const cudaStream_t stream = slot.stream.get();
    const Event start = make_event(cudaEventDefault), stop = make_event(cudaEventDefault);
    before(slot.job, stream);
    check(cudaEventRecord(start.get(), stream), "cudaEventRecord");
    for (int i = 0; i < count; ++i) queue(slot.job, stream);
    check(cudaEventRecord(stop.get(), stream), "cudaEventRecord");
    clear(slot);  // a step may leave counts behind
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    float ms;
    check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
    return ms * 1e-3 / count;
  }

 private:
  struct Slot : FrameSlot {
    DeviceMemory<double> reals;  ///< pixels of the later scales, values, gathered values
    DeviceMemory<std::uint16_t> shapes;
    DeviceMemory<unsigned> bins;
    DeviceMemory<ChunkSums> sums;
    PinnedMemory<double> features;
    BliindsJob job;         ///< all but the frame is set once
    bool is_clear = false;  ///< histograms are zero; false before the first frame, and after one that failed half way
  };

  void prepare(Slot& slot);
  static void clear(const Slot& slot);

  bliinds::Input input_;
  int id_;
  DeviceMemory<bliinds::ShapeTable> table_;
  Upload upload_[2];  ///< by channel
  Slots<Slot> slots_;
  const Slot* last_ = nullptr;  ///< of the last frame collected
};

}  // namespace framequality::cuda
