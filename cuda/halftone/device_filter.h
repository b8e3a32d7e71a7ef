// SPDX-License-Identifier: LGPL-2.1-or-later
// The filter behind make_halftone(), open to the benchmarks.
#pragma once

#include "algorithms/halftone/filter.h"
#include "cuda/download.h"
#include "cuda/halftone/job.h"
#include "cuda/runtime.h"
#include "cuda/slots.h"
#include "cuda/upload.h"

#include <cstdint>

namespace framequality::cuda {

/// Halftones on one device. A Slot holds everything for one frame in flight; slots are used round-robin.
class DeviceHalftone final : public halftone::Filter {
 public:
  /// id: device number; negative: the context that is current in every call, including the destructor's.
  DeviceHalftone(const Geometry& geometry, int id, int depth);
  ~DeviceHalftone() override;

  void submit(const halftone::Task& task) override;
  void collect() override;

  /// For benchmarks: queues the kernels of a frame in device memory `count` times, round-robin in as many streams as
  /// there are slots, and returns the mean time from one to the next. Unit: seconds. Blocks.
  double time_kernels(const Frame& frame, const halftone::Target& out, const halftone::Settings& settings, int count);

 private:
  struct Slot : FrameSlot {
    Download::Memory result;
    PinnedMemory<std::int16_t> staged_tones;
    DeviceMemory<std::int16_t> tones;  ///< of all pixel values, by tone_settings
    halftone::ToneSettings tone_settings;
    DeviceMemory<uint4> terms, lines;  ///< of a Wavefront
    DeviceMemory<unsigned> words, ticket;
    halftone::Target out;
    bool packed = false;
  };

  void launch(Slot& slot, const Frame& frame, const halftone::Target& target, const halftone::Settings& settings,
              int fields);
  void bring_tones(Slot& slot, const halftone::ToneSettings& settings);
  void diffuse(Slot& slot, const HalftoneJob& job, const halftone::Settings& settings);

  Geometry geometry_;
  int id_;
  Upload upload_;
  Download download_[2];                 ///< of grey levels, and of packed rows
  DeviceMemory<std::uint16_t> mask_;     ///< blue noise
  DeviceMemory<std::uint32_t> pattern_;  ///< kDotPattern
  Slots<Slot> slots_;                    ///< the last member: it waits for the device before the memory goes
};

}  // namespace framequality::cuda
