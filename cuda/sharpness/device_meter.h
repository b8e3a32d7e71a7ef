// SPDX-License-Identifier: LGPL-2.1-or-later
// The meter behind make_meter(), open to the benchmarks.
#pragma once

#include "algorithms/sharpness/meter.h"
#include "cuda/runtime.h"
#include "cuda/sharpness/job.h"
#include "cuda/sharpness/route.h"
#include "cuda/sharpness/tiling.h"
#include "cuda/slots.h"
#include "cuda/upload.h"

#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace framequality::cuda {

/// Measures on one device. A Slot holds everything for one frame in flight; slots are used round-robin.
class DeviceMeter final : public sharpness::Meter {
 public:
  /// id: device number; negative: the context that is current in every call, including the destructor's.
  DeviceMeter(const Geometry& geometry, int id, int depth);
  ~DeviceMeter() override;

  void submit(const sharpness::Task& task) override;
  std::span<const std::int64_t> collect() override;
  std::string route() const override;

  /// For benchmarks: the stream in which the next submitted frame is measured.
  cudaStream_t stream() { return slots_.next().stream.get(); }
  /// For benchmarks: submit() of a frame in device memory that work queued in stream() writes; waits for no other
  /// stream.
  void submit_queued(const Frame& frame, std::shared_ptr<const sharpness::Plan> plan) {
    begin(frame, std::move(plan), false);
  }

  /// For benchmarks: queues the kernel alone, once for each frame of `count` passes through `frames` (all on
  /// the device), over the slots round-robin, and returns the mean time from one to the next. Unit: seconds. Blocks.
  double time_kernel(std::span<const Frame> frames, std::shared_ptr<const sharpness::Plan> plan, int count);

 private:
  struct Slot : FrameSlot {
    DeviceMemory<std::uint8_t> luma;     ///< luma of frames that kernels cannot read directly
    DeviceMemory<std::uint8_t> samples;  ///< working samples that kernels do not compute on the fly
    PinnedMemory<std::int64_t> results;
    std::int64_t* mapped_results = nullptr;   ///< the same for kernels
    DeviceMemory<unsigned long long> totals;  ///< zero between frames
    DeviceMemory<unsigned> ticket;  ///< zero between frames; [1]: of the statistics, [2] and on: the companions, last:
                                    ///< of the noise blocks
    DeviceMemory<unsigned> noise;   ///< sums of blocks
    DeviceMemory<TiledGrid> grids;  ///< of cuts_, one after the other
    PinnedMemory<TiledGrid> staged_grids;         ///< from where they go there
    std::shared_ptr<const sharpness::Plan> plan;  ///< what the slot is set up for

    std::span<std::int64_t> words() const { return {results.get(), static_cast<std::size_t>(plan->totals())}; }
    /// True if the host detects finished results by the results themselves.
    bool is_watched() const;
    void wait_for_results() const;
  };

  /// A kernel that measures, and its blocks' tiles.
  struct Cut {
    Kernel kernel;
    Tiling tiling;
    std::size_t first_grid = 0;  ///< in Slot::grids
  };

  template <class Work>
  void start(const Kernel& kernel, dim3 grid, Work& work, cudaStream_t stream,
             std::source_location where = std::source_location::current());
  void begin(const Frame& frame, std::shared_ptr<const sharpness::Plan> plan, bool waits);
  void cut(std::shared_ptr<const sharpness::Plan> plan);
  Cut cut(const sharpness::Plan& plan, Measure measure) const;
  void queue(Slot& slot, Job& job, const sharpness::Plan& plan, const Cut& cut);
  void prepare(Slot& slot, std::shared_ptr<const sharpness::Plan> plan);
  void launch(Slot& slot, const Frame& frame, bool is_ours);
  void extract(Slot& slot, Job& job);
  void measure_statistics(Slot& slot, const Job& job);
  void make_samples(Slot& slot, Job& job, const sharpness::Plan& plan);
  void measure(Slot& slot, Job& job);
  void measure_companions(Slot& slot, const Job& frame, const Job& samples);

  Geometry geometry_;
  int id_;
  int architecture_;  ///< of the running kernels
  int processors_ = 0;
  std::shared_ptr<const sharpness::Plan> plan_;  ///< the plan that the following members belong to
  std::vector<Cut> cuts_;                        ///< of the plan, then of its companions
  Route route_;           ///< of the last frame; all but its luma holds for every frame of the plan
  bool is_first_ = true;  ///< the kernel that is queued next, of its frame's
  Upload upload_;
  Slots<Slot> slots_;
};

}  // namespace framequality::cuda
