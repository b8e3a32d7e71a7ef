// SPDX-License-Identifier: LGPL-2.1-or-later
// The filter behind make_halftone(), open to tests and benchmarks.
#pragma once

#include "algorithms/halftone/filter.h"
#include "opencl/context.h"
#include "opencl/download.h"
#include "opencl/slots.h"
#include "opencl/upload.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framequality::opencl {

/// A work item for each block of pixels of a frame.
Range blocks_range(const Context& context, int width, int height);

/// Most work items of a group that diffuses errors, as suits a device: one where they take turns.
int diffusion_items(const DeviceInfo& device);

/// Halftones on one device. A Slot holds everything for one frame in flight.
class DeviceHalftone final : public halftone::Filter {
 public:
  /// most_items: of a group that diffuses errors. proves: programs are compared with the host twin before they are
  /// used.
  DeviceHalftone(const Geometry& geometry, std::shared_ptr<Context> context, int depth, int most_items,
                 bool proves = true);
  ~DeviceHalftone() override = default;

  void submit(const halftone::Task& task) override;
  void collect() override;
  std::string route() const override;

  /// For benchmarks: mean time of a frame's kernels, run `count` times over one in the device's memory. Unit: seconds.
  double time_kernels(const halftone::Task& task, int count);

 private:
  /// All properties that programs depend on.
  struct Structure {
    halftone::Method method{};
    int levels = 0;
    bool weakens = false;
    bool operator==(const Structure&) const = default;
  };
  struct Kernels {
    Structure structure;
    Kernel tones, diffuse;  ///< of Floyd-Steinberg
    Kernel blue_noise;
    std::vector<Source> sources;
  };
  /// Diffusion of a field: the number of work items, each of which begins a row every `span` steps.
  struct Diffusion {
    int items = 1, span = 1;
  };
  struct Slot : FrameSlot {
    Upload::Memory frame;
    Download::Memory result[2];  ///< grey, and packed
    Buffer tones, plane, lines;
    std::vector<std::int16_t> staged_tones;
    halftone::ToneSettings tone_settings;
    halftone::Target out;
    bool packed = false;
  };

  const Kernels& kernels_for(const halftone::Settings& settings);
  void prove(const halftone::Settings& settings);
  Diffusion diffusion_of(int rows) const;
  void prepare(Slot& slot, const halftone::Settings& settings);
  void bring_tones(Slot& slot, const halftone::ToneSettings& settings);
  void launch(Slot& slot, const Placed& frame, const halftone::Settings& settings, int fields);
  void diffuse(Slot& slot, const Kernels& kernels, const Placed& frame, const halftone::Settings& settings, int fields,
               const Placed& out);
  void check_task(const halftone::Task& task) const;
  bool is_empty() const { return geometry_.width <= 0 || geometry_.height <= 0; }

  Geometry geometry_;
  std::shared_ptr<Context> context_;
  int most_items_;
  bool proves_;
  PlaneSize sizes_[2];  ///< of the result: grey, and packed
  Upload upload_;
  Download download_[2];
  Buffer mask_;
  std::vector<std::unique_ptr<Kernels>> kernels_;  ///< most recently used first
  Slots<Slot> slots_;                              ///< the last member: it waits for the device before the memory goes
};

}  // namespace framequality::opencl
