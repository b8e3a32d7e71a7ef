// SPDX-License-Identifier: LGPL-2.1-or-later
// The filter behind make_denoiser(), open to the benchmarks.
#pragma once

#include "algorithms/denoise/filter.h"
#include "cuda/denoise/job.h"
#include "cuda/download.h"
#include "cuda/runtime.h"
#include "cuda/slots.h"
#include "cuda/upload.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framequality::cuda {

/// Filters on one device. A Slot holds everything for one frame in flight; slots are used round-robin. Host frames of
/// the window that others share are uploaded once, to memory that is kept while they may be needed again.
class DeviceDenoiser final : public denoise::Filter {
 public:
  /// id: device number; negative: the context that is current in every call, including the destructor's.
  /// takes_tensor: whether the tensor cores' kernel may be used where it fits.
  DeviceDenoiser(const PictureGeometry& geometry, int id, int depth, bool takes_tensor = true);
  ~DeviceDenoiser() override;

  void submit(const denoise::Task& task) override;
  void collect() override;

  /// For benchmarks: queues the kernels of a frame, all in device memory, `count` times and returns the mean time
  /// from one to the next. Unit: seconds. Blocks.
  double time_kernels(std::span<const denoise::Source> window, std::size_t center, const Canvas& out,
                      const denoise::Settings& settings, int count);

 private:
  struct Slot : FrameSlot {
    Download::Memory result;
    DeviceMemory<denoise::NoiseBlock> blocks;  ///< of one pass at a time
    DeviceMemory<denoise::Weights> weights;    ///< DenoiseJob::estimated of all passes
    Canvas out;
  };
  /// A host frame on the device.
  struct Uploaded {
    Upload::Memory memory;
    Event arrived = make_event(cudaEventDisableTiming);
    Frame frame;
    std::uint64_t serial = 0;
    unsigned planes = 0;         ///< those uploaded; 0: the memory holds no frame that may be needed again
    std::uint64_t last_use = 0;  ///< number of the last frame submitted that reads it, from 1; 0: none
  };

  void bring(Slot& slot, std::span<const denoise::Source> window, unsigned planes);
  Uploaded& room();
  void launch(Slot& slot, std::size_t center, const Canvas& target, const denoise::Settings& settings, int fields);
  DenoiseJob job_for(std::size_t center, const Canvas& target, const denoise::Settings& settings,
                     const denoise::Pass& pass, int fields) const;

  PictureGeometry geometry_;
  int id_;
  bool takes_tensor_;
  int capability_ = 0;
  Upload upload_;
  Download download_;
  std::vector<std::unique_ptr<Uploaded>> uploaded_;
  std::vector<Frame> frames_;  ///< of the window, on the device
  std::uint64_t submitted_ = 0;
  Slots<Slot> slots_;  ///< the last member: it waits for the device before the memory goes
};

}  // namespace framequality::cuda
