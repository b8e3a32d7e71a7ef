// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of halftoning on OpenCL devices: transfers frames both ways.
#include "opencl/halftone/filter.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/tables.h"
#include "cpu/halftone/filter.h"
#include "opencl/halftone/device_filter.h"
#include "opencl/halftone/random_frame.h"
#include "opencl/halftone/source.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace framequality::opencl {

using namespace halftone;

namespace {

constexpr int kBlock = kHalftoneBlock;

PlaneSize size_of(const Geometry& g, bool packed) {
  return {g.width > 0 ? target_row_bytes(g.width, packed) : 0, std::max(g.height, 0)};
}

int blocks_of(int width) { return (width + kBlock - 1) / kBlock; }

}  // namespace

Range blocks_range(const Context& context, int width, int height) {
  const int across = static_cast<int>(std::min<std::size_t>(64, context.device().group_items));
  return {{pieces(blocks_of(width), across) * static_cast<std::size_t>(across), static_cast<std::size_t>(height), 1},
          {static_cast<std::size_t>(across), 1, 1}};
}

int diffusion_items(const DeviceInfo& device) {
  constexpr std::size_t kMost = 256;
  return device.is_software ? 1
                            : static_cast<int>(std::clamp<std::size_t>(device.local_bytes / (2 * kDiffusionBytes), 1,
                                                                       std::min(kMost, device.group_items)));
}

DeviceHalftone::DeviceHalftone(const Geometry& geometry, std::shared_ptr<Context> context, int depth, int most_items,
                               bool proves)
    : geometry_(geometry),
      context_(std::move(context)),
      most_items_(most_items),
      proves_(proves),
      sizes_{size_of(geometry, false), size_of(geometry, true)},
      upload_(*context_, geometry),
      download_{Download(*context_, {&sizes_[0], 1}), Download(*context_, {&sizes_[1], 1})},
      slots_(context_, depth) {
  if (is_empty()) return;
  mask_ = context_->buffer(sizeof kBlueNoiseMask, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                           const_cast<std::uint16_t*>(kBlueNoiseMask));
  for (Slot& slot : slots_.all()) {
    slot.frame = upload_.memory(slot.queue.get());
    slot.staged_tones.resize(std::size_t{1} << geometry_.layout.depth);
    fill_tones(slot.staged_tones, geometry_.layout.depth, slot.tone_settings);
    slot.tones = context_->buffer(slot.staged_tones.size() * sizeof(std::int16_t),
                                  CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, slot.staged_tones.data());
  }
}

/// The kernels of settings, made once and kept.
const DeviceHalftone::Kernels& DeviceHalftone::kernels_for(const Settings& settings) {
  const bool diffuses = settings.method == Method::kFloydSteinberg;
  const Structure structure{settings.method, settings.levels, diffuses && settings.strength < kFullStrength};
  const auto known = std::ranges::find_if(kernels_, [&](const auto& k) { return k->structure == structure; });
  if (known != kernels_.end()) {
    std::rotate(kernels_.begin(), known, known + 1);
    return *kernels_.front();
  }
  auto made = std::make_unique<Kernels>();
  made->structure = structure;
  const Source pixels{pixels_text(geometry_.layout, settings.levels), "-cl-std=CL1.2"};
  made->sources.push_back(pixels);
  if (diffuses) {
    const Source diffusion{diffusion_text(settings.levels, structure.weakens), "-cl-std=CL1.2"};
    made->sources.push_back(diffusion);
    made->tones = context_->kernel(pixels, "tones");
    made->diffuse = context_->kernel(diffusion, "floyd_steinberg");
  } else {
    made->blue_noise = context_->kernel(pixels, "blue_noise");
  }
  if (proves_ && !std::ranges::all_of(made->sources, [&](const Source& s) { return context_->is_proved(s); })) {
    prove(settings);
    context_->set_proved(made->sources);
  }
  return **kernels_.insert(kernels_.begin(), std::move(made));
}

/// Halftones a small image with the programs of these settings and the host twin. Throws Error if the results differ.
void DeviceHalftone::prove(const Settings& settings) {
  Geometry small = geometry_;
  small.width = 77;
  small.height = 61;
  const RandomFrame frame(plane_sizes(small), 20261125);
  std::vector<std::uint8_t> results[2];
  DeviceHalftone device(small, context_, 1, most_items_, false);
  const std::unique_ptr<Filter> host = cpu::make_halftone(small, 1);
  for (Filter* const filter : {static_cast<Filter*>(&device), host.get()}) {
    std::vector<std::uint8_t>& result = results[filter == host.get() ? 1 : 0];
    result.resize(static_cast<std::size_t>(small.width) * static_cast<std::size_t>(small.height));
    filter->submit({frame.get(), {result.data(), small.width, Memory::kHost}, settings, 2});
    filter->collect();
  }
  if (results[0] != results[1]) context_->refuse("halftones to other dots than the CPU");
}

/// The number of work items that finishes first.
DeviceHalftone::Diffusion DeviceHalftone::diffusion_of(int rows) const {
  Diffusion best;
  std::int64_t least = 0;
  for (int items = 1; items <= most_items_; items += items == 1 ? std::min(31, std::max(most_items_ - 1, 1)) : 32) {
    // The first item needs the last one's results of the row above, two blocks ahead of its own.
    const int span = std::max(blocks_of(geometry_.width), 2 * items);
    const std::int64_t steps = std::int64_t{span} * ((rows + items - 1) / items) + 2 * items;
    if (least > 0 && steps >= least) continue;
    least = steps;
    best = {items, span};
  }
  return best;
}

/// Makes a slot's missing memory for these settings.
void DeviceHalftone::prepare(Slot& slot, const Settings& settings) {
  const std::size_t at = settings.packed ? 1 : 0;
  if (!slot.result[at].pixels) slot.result[at] = download_[at].memory(slot.queue.get());
  if (settings.method != Method::kFloydSteinberg || slot.plane) return;
  const auto line = static_cast<std::size_t>(blocks_of(geometry_.width)) * kBlock;
  slot.plane = context_->buffer(line * static_cast<std::size_t>(geometry_.height + 1) * sizeof(std::int16_t));
  slot.lines = context_->buffer(2 * line * sizeof(std::uint16_t));
}

/// Makes the slot's table of tones match these settings by the time its queue gets there.
void DeviceHalftone::bring_tones(Slot& slot, const ToneSettings& settings) {
  if (settings == slot.tone_settings) return;
  fill_tones(slot.staged_tones, geometry_.layout.depth, settings);
  slot.tone_settings = settings;
  check(api().clEnqueueWriteBuffer(slot.queue.get(), slot.tones.get(), CL_FALSE, 0,
                                   slot.staged_tones.size() * sizeof(std::int16_t), slot.staged_tones.data(), 0,
                                   nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

void DeviceHalftone::diffuse(Slot& slot, const Kernels& kernels, const Placed& frame, const Settings& settings,
                             int fields, const Placed& out) {
  const cl_int width = geometry_.width, height = geometry_.height, blocks = blocks_of(width);
  const cl_int pitch = blocks * kBlock, rows = (height + fields - 1) / fields, field_step = pitch * rows;
  set_arguments(kernels.tones, frame.buffer, frame.origin[0], frame.origin[1], frame.origin[2], frame.pitch[0],
                frame.pitch[1], frame.pitch[2], slot.tones.get(), cl_int{fields}, slot.plane.get(), pitch, field_step,
                width, height);
  start(slot.queue.get(), kernels.tones, blocks_range(*context_, geometry_.width, geometry_.height));
  const Diffusion diffusion = diffusion_of(rows);
  set_arguments(kernels.diffuse, slot.plane.get(), pitch, field_step, cl_int{settings.strength}, cl_int{diffusion.span},
                cl_int{settings.packed}, slot.lines.get(), blocks, out.buffer, out.origin[0], out.pitch[0],
                cl_int{fields}, width, height);
  const auto items = static_cast<std::size_t>(diffusion.items);
  check(api().clSetKernelArg(kernels.diffuse.get(), 14, items * kDiffusionBytes, nullptr), "clSetKernelArg");
  start(slot.queue.get(), kernels.diffuse, {{items * static_cast<std::size_t>(fields), 1, 1}, {items, 1, 1}});
}

/// Queues the kernels that compute a frame's result.
void DeviceHalftone::launch(Slot& slot, const Placed& frame, const Settings& settings, int fields) {
  const std::size_t at = settings.packed ? 1 : 0;
  const Kernels& kernels = kernels_for(settings);
  const Placed out = download_[at].placed(slot.result[at]);
  if (settings.method == Method::kFloydSteinberg) return diffuse(slot, kernels, frame, settings, fields, out);
  set_arguments(kernels.blue_noise, frame.buffer, frame.origin[0], frame.origin[1], frame.origin[2], frame.pitch[0],
                frame.pitch[1], frame.pitch[2], slot.tones.get(), cl_int{fields}, mask_.get(),
                cl_int{settings.strength}, cl_int{settings.packed}, out.buffer, out.origin[0], out.pitch[0],
                cl_int{geometry_.width}, cl_int{geometry_.height});
  start(slot.queue.get(), kernels.blue_noise, blocks_range(*context_, geometry_.width, geometry_.height));
}

void DeviceHalftone::check_task(const Task& task) const {
  const auto& [frame, out, settings, fields] = task;
  if (!valid(settings) || frame.memory == Memory::kCuda || out.memory != Memory::kHost || (fields != 1 && fields != 2))
    throw std::invalid_argument("opencl halftone: not a frame or settings of this filter");
  if (settings.method == Method::kToneDependent)
    throw std::invalid_argument("opencl halftone: the tone-dependent method is not OpenCL's");
  if (settings.serpentine && settings.method == Method::kFloydSteinberg)
    throw std::invalid_argument("opencl halftone: serpentine Floyd-Steinberg is the CPU's alone");
}

void DeviceHalftone::submit(const Task& task) {
  const auto& [frame, out, settings, fields] = task;
  check_task(task);
  Slot& slot = slots_.next();
  const cl_command_queue queue = slot.queue.get();
  const DrainOnThrow drained(*context_, queue);
  slot.out = out;
  slot.packed = settings.packed;
  if (!is_empty()) {
    prepare(slot, settings);
    bring_tones(slot, settings.tone);
    const Placed placed = upload_(slot.frame, queue, frame, 0, geometry_.height);
    launch(slot, placed, settings, fields);
    Upload::release(queue, placed);
    const std::size_t at = settings.packed ? 1 : 0;
    slot.done = download_[at](slot.result[at], queue, canvas_of(out), 1);
    check(api().clFlush(queue), "clFlush");
  }
  slots_.take();
}

void DeviceHalftone::collect() {
  Slot& slot = slots_.give();
  if (is_empty()) return;
  wait(*context_, slot.done);
  const std::size_t at = slot.packed ? 1 : 0;
  download_[at].finish(slot.result[at], canvas_of(slot.out), 1);
}

std::string DeviceHalftone::route() const {
  if (kernels_.empty()) return {};
  const std::string where = ", on " + context_->device().title();
  if (kernels_.front()->structure.method == Method::kBlueNoise) return "a mask" + where;
  return std::to_string(diffusion_of(geometry_.height).items) + " rows at a time" + where;
}

double DeviceHalftone::time_kernels(const Task& task, int count) {
  check_task(task);
  Slot& slot = slots_.next();
  prepare(slot, task.settings);
  bring_tones(slot, task.settings.tone);
  const cl_command_queue queue = slot.queue.get();
  const Placed placed = upload_(slot.frame, queue, task.frame, 0, geometry_.height);
  launch(slot, placed, task.settings, task.fields);
  check(api().clFinish(queue), "clFinish");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) launch(slot, placed, task.settings, task.fields);
  check(api().clFinish(queue), "clFinish");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
}

std::unique_ptr<Filter> make_halftone(const Geometry& geometry, int id, int depth) {
  std::shared_ptr<Context> context = Context::of(id);
  const int items = diffusion_items(context->device());
  return std::make_unique<DeviceHalftone>(geometry, std::move(context), depth, items);
}

}  // namespace framequality::opencl
