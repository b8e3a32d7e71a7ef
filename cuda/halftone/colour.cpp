// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of halftoning to palettes on the GPU: brings frames and tables there, and colours back.
#include "algorithms/halftone/tables.h"
#include "cuda/halftone/device_colour.h"
#include "cuda/halftone/filter.h"
#include "cuda/range.h"

#include <algorithm>
#include <span>
#include <stdexcept>

namespace framequality::cuda {

using namespace halftone;

DeviceColourHalftone::DeviceColourHalftone(const PictureGeometry& geometry, int id, int depth)
    : geometry_(geometry), id_(make_current(id)), upload_(source_sizes(geometry), id), slots_(depth) {
  for (const int bits : kPixelBits) {
    const PlaneSize size{row_bytes_of(geometry.width, bits), std::max(geometry.height, 0)};
    download_.emplace_back(std::span(&size, 1), id);
  }
  mask_.reserve(std::size(kBlueNoiseMask));
  check(cudaMemcpy(mask_.get(), kBlueNoiseMask, sizeof kBlueNoiseMask, cudaMemcpyHostToDevice), "cudaMemcpy");
  const std::size_t numbers = kMostColours + code_table_size(geometry.layout);
  for (Slot& slot : slots_.all()) {
    slot.table.reserve(numbers);
    slot.staged_table.reserve(numbers);
  }
  // That may not have waited for the device, and the slots' streams do not wait for the default stream.
  check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
}

// The slots then wait for the device.
DeviceColourHalftone::~DeviceColourHalftone() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
}

/// Has what a frame looks up be that of these settings when the slot's stream gets there.
void DeviceColourHalftone::bring_tables(Slot& slot, const ColourSettings& settings) {
  if (const ColourBasis basis{settings.palette, settings.linear, settings.relative}; basis_ != basis) {
    const GamutTables gamut = make_gamut(basis);
    basis_.reset();
    mixed_ = std::make_shared<Mixtures>();
    mixed_->reserve(gamut.mixed.size());
    check(cudaMemcpy(mixed_->get(), gamut.mixed.data(), gamut.mixed.size() * sizeof(Mixture), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
    basis_ = basis;
  }
  slot.mixed = mixed_;
  if (slot.settings == settings) return;
  const std::vector<std::int32_t> table = make_device_table(geometry_.layout, settings);
  std::ranges::copy(table, slot.staged_table.get());
  slot.settings = settings;
  copy_async(slot.table, slot.staged_table, table.size(), slot.stream.get());
}

/// Queues the kernel that makes a frame into `target`, all on the device.
void DeviceColourHalftone::launch(Slot& slot, const Frame& frame, const Target& target, const ColourSettings& settings,
                                  int fields) {
  bring_tables(slot, settings);
  ColourJob job;
  job.frame = frame;
  job.layout = geometry_.layout;
  job.table = slot.table.get();
  job.mask = mask_.get();
  job.mixed = slot.mixed->get();
  job.out = target.row0;
  job.out_stride = target.stride;
  job.width = geometry_.width;
  job.height = geometry_.height;
  job.fields = fields;
  job.strength = settings.strength;
  job.pixel_bits = pixel_bits(settings);
  launch_colour_noise(job, slot.stream.get());
}

void DeviceColourHalftone::check_task(const ColourTask& task) const {
  const auto& [frame, out, settings, fields] = task;
  if (!valid(settings) || (out.memory == Memory::kCuda && frame.memory != Memory::kCuda) ||
      (fields != 1 && fields != 2))
    throw std::invalid_argument("cuda halftone: not a frame or settings of this filter");
  if (settings.method != Method::kBlueNoise)
    throw std::invalid_argument("cuda halftone: error diffusion in colour is the CPU's alone");
}

void DeviceColourHalftone::submit(const ColourTask& task) {
  const Range range("submit colour halftone");
  const auto& [frame, out, settings, fields] = task;
  check_task(task);
  Slot& slot = slots_.next();
  make_current(id_);
  const cudaStream_t stream = slot.stream.get();
  const SyncOnThrow sync(stream);
  slot.out = out;
  slot.at = result_of(settings);
  if (!is_empty()) {
    if (frame.memory == Memory::kCuda) slot.wait_for(frame);
    const Frame ours = frame.memory == Memory::kCuda ? frame : upload_(slot.host, stream, frame, 7u);
    if (out.memory == Memory::kCuda) {
      launch(slot, ours, out, settings, fields);
    } else {
      const Download& download = download_[slot.at];
      const Canvas& canvas = download.prepare(slot.result[slot.at], stream, canvas_of(out));
      launch(slot, ours, {canvas.plane[0], canvas.stride[0], Memory::kCuda}, settings, fields);
      download(slot.result[slot.at], stream, canvas_of(out), 1);
    }
  }
  check(cudaEventRecord(slot.done.get(), stream), "cudaEventRecord");
  slots_.take();
}

void DeviceColourHalftone::collect() {
  const Range range("wait for colour halftone");
  Slot& slot = slots_.give();
  make_current(id_);
  slot.wait();
  if (slot.out.memory != Memory::kCuda && !is_empty())
    download_[slot.at].finish(slot.result[slot.at], canvas_of(slot.out));
}

double DeviceColourHalftone::time_kernels(const ColourTask& task, int count) {
  check_task(task);
  make_current(id_);
  return mean_seconds(slots_, count,
                      [&](Slot& slot) { launch(slot, task.frame, task.out, task.settings, task.fields); });
}

std::unique_ptr<ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int id, int depth) {
  return std::make_unique<DeviceColourHalftone>(geometry, id, depth);
}

}  // namespace framequality::cuda
