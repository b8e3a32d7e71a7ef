// SPDX-License-Identifier: LGPL-2.1-or-later
// The meter behind make_meter(), open to tests and benchmarks.
#pragma once

#include "algorithms/sharpness/meter.h"
#include "opencl/context.h"
#include "opencl/sharpness/source.h"
#include "opencl/slots.h"
#include "opencl/upload.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace framequality::opencl {

/// Shape of kernels for a device.
Shape shape_for(const DeviceInfo& device);

/// Measures on one device. A plan's kernels and tables of cells are made when a frame first uses it,
/// and shared by all slots; a Slot holds everything for one frame in flight.
class DeviceMeter final : public sharpness::Meter {
 public:
  /// proves: programs are compared with the host twin before they are used.
  DeviceMeter(const Geometry& geometry, std::shared_ptr<Context> context, int depth, const Shape& shape,
              bool proves = true);
  ~DeviceMeter() override = default;

  void submit(const sharpness::Task& task) override;
  std::span<const std::int64_t> collect() override;
  std::string route() const override;

  /// For benchmarks: mean time of a frame's kernels, run `count` times over one in the device's memory. Unit: seconds.
  double time_kernels(const sharpness::Task& task, int count);

 private:
  /// A plane of working samples: in the frame itself, or computed from it.
  struct Samples {
    sharpness::SampleFormat format;
    bool is_direct = false;
    int word_bytes = 1, shift = 0;
    Kernel make;  ///< unless is_direct
    sharpness::Plan::Size size[2];
    int fields = 1, rows = 0;  ///< of a field that a work item makes
    std::size_t pitch = 0, bytes = 0;
    std::size_t place = 0;  ///< index in Slot::samples
  };
  /// The totals of a plan or a companion.
  struct Measure {
    Kernel kernel;
    std::size_t samples = 0;  ///< index in samples_
    Buffer cells;
    int cell_count = 0;
    int rows = 1;  ///< per work item
    Range range;
    int at = 0;  ///< index of its first total
  };
  struct StatisticsKernels {
    std::size_t samples = 0;
    Kernel expose, blocks, all, rank;
  };
  struct Slot : FrameSlot {
    Upload::Memory frame;
    std::vector<Buffer> samples;
    Buffer totals, sums;
    std::size_t total_bytes = 0, sum_bytes = 0;
    std::shared_ptr<void> pinned;        ///< the results' memory, unless the device supports none
    std::vector<std::int64_t> unpinned;  ///< used instead of pinned
    std::span<std::int64_t> results;
    std::shared_ptr<const sharpness::Plan> plan;  ///< buffers are large enough for it
    bool is_clear = false;                        ///< totals are 0
  };

  void prepare(const std::shared_ptr<const sharpness::Plan>& plan);
  void prepare(Slot& slot);
  std::size_t samples_for(const sharpness::Plan& plan, const sharpness::SampleFormat& format);
  void add_measure(const sharpness::Plan& plan, int at);
  void add_statistics(const sharpness::Plan& plan);
  void prove(const sharpness::Plan& plan);
  int strip_rows(int height, std::size_t across, int filling, int least, int most) const;
  Source source(std::string text) const;
  Kernel kernel(const Source& source, const char* name);

  void clear(Slot& slot);
  void launch(Slot& slot, const Placed& placed);
  void make_samples(Slot& slot, const Samples& samples, const Placed& placed);
  void measure_statistics(Slot& slot, const Placed& placed);

  Geometry geometry_;
  std::shared_ptr<Context> context_;
  Shape shape_;
  std::shared_ptr<const sharpness::Plan> plan_;  ///< the plan that the following members belong to
  std::vector<Samples> samples_;
  std::vector<Measure> measures_;
  StatisticsKernels statistics_;
  bool proves_;
  std::vector<Source> sources_;  ///< of the plan's programs
  Upload upload_;
  std::vector<std::int64_t> collected_;
  Slots<Slot> slots_;  ///< the last member: it waits for the device before the memory goes
};

}  // namespace framequality::opencl
