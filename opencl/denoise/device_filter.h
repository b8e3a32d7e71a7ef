// SPDX-License-Identifier: LGPL-2.1-or-later
// The filter behind make_denoiser(), open to tests and benchmarks.
#pragma once

#include "algorithms/denoise/filter.h"
#include "opencl/context.h"
#include "opencl/denoise/source.h"
#include "opencl/download.h"
#include "opencl/slots.h"
#include "opencl/upload.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace framequality::opencl {

/// A device's limits for the work items of a group: shapes that need more are not chosen.
struct DenoiseLimits {
  bool is_processor = false;  ///< independent work items with vectors are fastest
  std::size_t group_items = 256, local_bytes = 32768;
};
DenoiseLimits denoise_limits_of(const DeviceInfo& device);
/// The best shape within these limits that suits a filter.
DenoiseShape denoise_shape(const DenoiseLimits& limits, const DenoiseText& text);

/// Filters on one device. Each frame of a window is uploaded and converted for the kernels once, to cells:
/// samples with their border. If weights depend on the frame's noise, the host computes them, in doubles, from sums it
/// reads back; the following kernels are queued by the next call that finds the sums ready.
class DeviceDenoiser final : public denoise::Filter {
 public:
  /// proves: programs are compared with the host twin before they are used.
  DeviceDenoiser(const PictureGeometry& geometry, std::shared_ptr<Context> context, int depth,
                 const DenoiseLimits& limits, bool proves = true);
  ~DeviceDenoiser() override = default;

  void submit(const denoise::Task& task) override;
  void collect() override;
  std::string route() const override;

  /// For benchmarks: mean time of the kernels of one frame of a window, run `count` times over frames in the device's
  /// memory. Unit: seconds.
  double time_kernels(const denoise::Task& task, int count);

 private:
  /// All properties that programs and memory depend on.
  struct Structure {
    int patch = 0, search = 0, fields = 1;
    bool has_others = false;  ///< in the window
    denoise::Border border{};
    denoise::CenterWeight center{};
    denoise::Chroma chroma{};
    bool has_spatial = false, has_floor[3] = {}, estimates[3] = {};  ///< by pass
    bool operator==(const Structure&) const = default;
  };
  struct PassPlan {
    denoise::Pass pass;
    bool estimates = false;
    DenoiseShape shape;
    Kernel fill, noise, filter;
    int reach = 0, width = 0, height[2] = {};  ///< height: of each field
    bool has_float_cells = false;
    int columns = 0, rows = 0;  ///< cells of a plane, with its border, rounded up to whole groups
    int first_block[2] = {};    ///< of each field's noise: number of its first block
    int stride[3] = {};         ///< bytes from sample to sample

    std::size_t plane_cells() const { return static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows); }
    /// Index of the first cell of plane k of the pass in a field.
    cl_long at(int k, int field) const { return static_cast<cl_long>(plane_cells()) * (2 * k + field); }
    std::size_t cell_count(int fields) const;
    denoise::NoiseGrid grid(int field) const { return {width, height[field]}; }
  };
  struct Plan {
    Structure structure;
    std::vector<PassPlan> passes;
    Kernel copy;
    unsigned filtered = 0, whole = 0;  ///< planes, a bit each: some of it is filtered; kernels write all of its bytes
    int blocks = 0;                    ///< of noise, of all passes
    std::vector<Source> sources;
  };
  /// A frame in the device's memory.
  struct Brought {
    Upload::Memory memory;
    Placed placed;
    std::vector<Buffer> cells;         ///< of each pass
    std::shared_ptr<const Plan> plan;  ///< the plan of these cells
    bool serves = false;               ///< for other windows, as the frame of this number
    std::uint64_t serial = 0, last_use = 0;
    Event arrived;
  };
  struct Slot : FrameSlot {
    Download::Memory result;
    Buffer blocks;                        ///< sums of noise
    std::size_t block_bytes = 0;          ///< their capacity
    std::shared_ptr<void> pinned;         ///< host copy of blocks
    std::vector<std::uint32_t> unpinned;  ///< used instead of pinned
    Event measured;                       ///< when they are ready
    bool waits = false;                   ///< for blocks: the filter's kernels are not queued yet
    std::shared_ptr<const Plan> plan;
    std::vector<const Brought*> frames;  ///< the filtered one first
    denoise::Settings settings;
    unsigned transferred = 0;  ///< planes whose bytes all come from the device, a bit each; the host copies others
    Canvas out;
    Frame from;
  };

  std::shared_ptr<const Plan> plan_for(const denoise::Settings& settings, int fields, bool has_others);
  DenoiseText text_for(const denoise::Pass& pass, const Structure& structure, int index) const;
  PassPlan pass_plan(const denoise::Pass& pass, const Structure& structure, int index, std::vector<Source>& sources);
  void prove(const denoise::Settings& settings, int fields, bool has_others);
  Brought& room();
  void bring(Slot& slot, const denoise::Task& task);
  void fill(Slot& slot, Brought& brought);
  void measure_noise(Slot& slot);
  void advance(Slot& slot);
  void advance_ready();
  void copy_others(Slot& slot);
  void launch(Slot& slot);
  void launch_pass(Slot& slot, std::size_t pass, int field, const denoise::Weights& weights);
  const std::uint32_t* blocks_of(const Slot& slot) const;
  double variance_of(const Slot& slot, const PassPlan& pass, int field);
  void check_task(const denoise::Task& task) const;

  PictureGeometry geometry_;
  std::shared_ptr<Context> context_;
  DenoiseLimits limits_;
  bool proves_;
  std::vector<PlaneSize> planes_;
  Upload upload_;
  Download download_;
  std::vector<std::shared_ptr<const Plan>> plans_;  ///< most recently used first
  std::vector<std::unique_ptr<Brought>> brought_;
  std::uint64_t submitted_ = 0;
  std::vector<denoise::NoiseBlock> noise_blocks_;
  std::vector<std::uint32_t> ranked_;
  Slots<Slot> slots_;  ///< the last member: it waits for the device before the memory goes
};

}  // namespace framequality::opencl
