// SPDX-License-Identifier: LGPL-2.1-or-later
// The filter behind make_colour_halftone(), open to the benchmarks.
#pragma once

#include "algorithms/halftone/colour_tables.h"
#include "cuda/download.h"
#include "cuda/halftone/colour_job.h"
#include "cuda/runtime.h"
#include "cuda/slots.h"
#include "cuda/upload.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace framequality::cuda {

/// Halftones to palettes on one device. All that one frame in flight needs is in a Slot; slots are used round-robin.
class DeviceColourHalftone final : public halftone::ColourFilter {
 public:
  /// id: as for DeviceHalftone.
  DeviceColourHalftone(const PictureGeometry& geometry, int id, int depth);
  ~DeviceColourHalftone() override;

  void submit(const halftone::ColourTask& task) override;
  void collect() override;

  /// For benchmarks: as DeviceHalftone::time_kernels().
  double time_kernels(const halftone::ColourTask& task, int count);

 private:
  using Mixtures = DeviceMemory<halftone::Mixture>;
  struct Slot : FrameSlot {
    Download::Memory result[halftone::kPixelBits.size()];
    PinnedMemory<std::int32_t> staged_table;
    DeviceMemory<std::int32_t> table;
    std::optional<halftone::ColourSettings> settings;  ///< of the table
    std::shared_ptr<Mixtures> mixed;                   ///< kept until its kernel has ended
    halftone::Target out;
    std::size_t at = 0;  ///< of the result
  };

  void check_task(const halftone::ColourTask& task) const;
  void bring_tables(Slot& slot, const halftone::ColourSettings& settings);
  void launch(Slot& slot, const Frame& frame, const halftone::Target& target, const halftone::ColourSettings& settings,
              int fields);
  bool is_empty() const { return geometry_.width <= 0 || geometry_.height <= 0; }

  PictureGeometry geometry_;
  int id_;
  Upload upload_;
  std::vector<Download> download_;  ///< by kPixelBits
  DeviceMemory<std::uint16_t> mask_;
  std::shared_ptr<Mixtures> mixed_;
  std::optional<halftone::ColourBasis> basis_;  ///< of mixed_
  Slots<Slot> slots_;                           ///< the last member: it waits for the device before the memory goes
};

}  // namespace framequality::cuda
