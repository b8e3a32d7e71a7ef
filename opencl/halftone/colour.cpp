// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of halftoning to palettes on OpenCL devices: brings frames and tables there, and colours back.
#include "cpu/halftone/colour.h"

#include "algorithms/halftone/colour_codes.h"
#include "algorithms/halftone/colour_tables.h"
#include "algorithms/halftone/tables.h"
#include "opencl/halftone/device_filter.h"
#include "opencl/halftone/filter.h"
#include "opencl/halftone/random_frame.h"
#include "opencl/halftone/source.h"

#include <optional>
#include <stdexcept>
#include <utility>

namespace framequality::opencl {

using namespace halftone;

namespace {

class DeviceColourHalftone final : public ColourFilter {
 public:
  /// proves: programs are compared with the host twin before they are used.
  DeviceColourHalftone(const PictureGeometry& geometry, std::shared_ptr<Context> context, int depth, bool proves)
      : geometry_(geometry),
        context_(std::move(context)),
        proves_(proves),
        upload_(*context_, source_sizes(geometry)),
        slots_(context_, depth) {
    for (const int bits : kPixelBits) {
      const PlaneSize size{row_bytes_of(geometry.width, bits), std::max(geometry.height, 0)};
      download_.emplace_back(*context_, std::span(&size, 1));
    }
    mask_ = constants(kBlueNoiseMask, sizeof kBlueNoiseMask);
    for (Slot& slot : slots_.all()) {
      slot.frame = upload_.memory(slot.queue.get());
      slot.table = context_->buffer((kMostColours + code_table_size(geometry.layout)) * sizeof(std::int32_t));
    }
  }

  void submit(const ColourTask& task) override {
    const auto& [frame, out, settings, fields] = task;
    if (!valid(settings) || settings.method != Method::kBlueNoise || frame.memory == Memory::kCuda ||
        out.memory != Memory::kHost || (fields != 1 && fields != 2))
      throw std::invalid_argument("opencl halftone: not a frame or settings of this filter");
    Slot& slot = slots_.next();
    const cl_command_queue queue = slot.queue.get();
    const DrainOnThrow drained(*context_, queue);
    slot.out = out;
    slot.at = result_of(settings);
    if (!is_empty()) {
      bring_tables(slot, settings);
      const Placed placed = upload_(slot.frame, queue, frame, 0, geometry_.height);
      launch(slot, placed, settings, fields);
      Upload::release(queue, placed);
      slot.done = download_[slot.at](slot.result[slot.at], queue, canvas_of(out), 1);
      check(api().clFlush(queue), "clFlush");
    }
    slots_.take();
  }

  void collect() override {
    Slot& slot = slots_.give();
    if (is_empty()) return;
    wait(*context_, slot.done);
    download_[slot.at].finish(slot.result[slot.at], canvas_of(slot.out), 1);
  }

  std::string route() const override { return "a mask of colours, on " + context_->device().title(); }

 private:
  struct Slot : FrameSlot {
    Upload::Memory frame;
    Download::Memory result[kPixelBits.size()];
    Buffer table;
    std::vector<std::int32_t> staged_table;
    std::optional<ColourSettings> settings;  ///< of the table
    Target out;
    std::size_t at = 0;  ///< of the result
  };

  bool is_empty() const { return geometry_.width <= 0 || geometry_.height <= 0; }

  Buffer constants(const void* data, std::size_t bytes) const {
    return context_->buffer(bytes, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, const_cast<void*>(data));
  }

  /// Has what a frame looks up be that of these settings when the slot's queue gets there. Mixtures of earlier frames
  /// stay until their kernels have ended: the driver sees to that.
  void bring_tables(Slot& slot, const ColourSettings& settings) {
    if (const ColourBasis basis{settings.palette, settings.linear, settings.relative}; basis_ != basis) {
      const GamutTables gamut = make_gamut(basis);
      mixed_ = constants(gamut.mixed.data(), gamut.mixed.size() * sizeof(Mixture));
      basis_ = basis;
    }
    if (slot.settings == settings) return;
    slot.staged_table = make_device_table(geometry_.layout, settings);
    slot.settings = settings;
    check(api().clEnqueueWriteBuffer(slot.queue.get(), slot.table.get(), CL_FALSE, 0,
                                     slot.staged_table.size() * sizeof(std::int32_t), slot.staged_table.data(), 0,
                                     nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }

  /// The kernel of a result, made once and kept.
  const Kernel& kernel_for(const ColourSettings& settings) {
    Kernel& kernel = kernels_[result_of(settings)];
    if (kernel) return kernel;
    const Source source{colour_text(geometry_.layout, pixel_bits(settings)), "-cl-std=CL1.2"};
    Kernel made = context_->kernel(source, "blue_noise");
    if (proves_ && !context_->is_proved(source)) {
      prove(settings);
      context_->set_proved({&source, 1});
    }
    return kernel = std::move(made);
  }

  /// Halftones a small image with the program of these settings, as the host twin does. Throws Error if they differ.
  void prove(const ColourSettings& settings) {
    PictureGeometry small = geometry_;
    small.width = 77;
    small.height = 61;
    const RandomFrame frame(source_sizes(small), 20261126);
    std::vector<std::uint8_t> results[2];
    DeviceColourHalftone device(small, context_, 1, false);
    const std::unique_ptr<ColourFilter> host = cpu::make_colour_halftone(small, 1);
    const std::size_t row = target_row_bytes(small.width, settings);
    for (ColourFilter* const filter : {static_cast<ColourFilter*>(&device), host.get()}) {
      std::vector<std::uint8_t>& result = results[filter == host.get() ? 1 : 0];
      result.resize(row * static_cast<std::size_t>(small.height));
      filter->submit({frame.get(), {result.data(), static_cast<std::ptrdiff_t>(row), Memory::kHost}, settings, 2});
      filter->collect();
    }
    if (results[0] != results[1]) context_->refuse("halftones to other colours than the CPU");
  }

  void launch(Slot& slot, const Placed& frame, const ColourSettings& settings, int fields) {
    const Kernel& kernel = kernel_for(settings);
    const Download& download = download_[slot.at];
    if (!slot.result[slot.at].pixels) slot.result[slot.at] = download.memory(slot.queue.get());
    const Placed out = download.placed(slot.result[slot.at]);
    set_arguments(kernel, frame.buffer, frame.origin[0], frame.origin[1], frame.origin[2], frame.pitch[0],
                  frame.pitch[1], frame.pitch[2], slot.table.get(), cl_int{fields}, mask_.get(), mixed_.get(),
                  cl_int{settings.strength}, out.buffer, out.origin[0], out.pitch[0], cl_int{geometry_.width},
                  cl_int{geometry_.height});
    start(slot.queue.get(), kernel, blocks_range(*context_, geometry_.width, geometry_.height));
  }

  PictureGeometry geometry_;
  std::shared_ptr<Context> context_;
  bool proves_;
  Upload upload_;
  std::vector<Download> download_;  ///< by result
  Kernel kernels_[kPixelBits.size()];
  Buffer mask_, mixed_;
  std::optional<ColourBasis> basis_;  ///< of mixed_
  Slots<Slot> slots_;                 ///< the last member: it waits for the device before the memory goes
};

}  // namespace

std::unique_ptr<ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int id, int depth) {
  return std::make_unique<DeviceColourHalftone>(geometry, Context::of(id), depth, true);
}

}  // namespace framequality::opencl
