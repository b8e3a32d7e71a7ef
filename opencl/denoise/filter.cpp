// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of the denoisers on OpenCL devices: transfers frames both ways, a launch per pass and field.
#include "opencl/denoise/filter.h"

#include "algorithms/denoise/variance.h"
#include "opencl/denoise/device_filter.h"
#include "opencl/pinned.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace framequality::opencl {

using namespace denoise;

namespace {

constexpr int kMostFields = 2;

bool has_bit(unsigned planes, int p) { return (planes >> p & 1) != 0; }

/// Planes of a frame that go to the device. A DMA buffer is not mapped, so that the host cannot copy the others.
unsigned transferred(const Frame& frame, unsigned filtered) { return frame.memory == Memory::kDma ? 7 : filtered; }

/// Groups of one row of work items, as many as the device permits.
Range rows_range(const Context& context, int width, int height) {
  const int across = static_cast<int>(std::min<std::size_t>(64, context.device().group_items));
  return {{pieces(width, across) * static_cast<std::size_t>(across), static_cast<std::size_t>(height), 1},
          {static_cast<std::size_t>(across), 1, 1}};
}

}  // namespace

std::size_t DeviceDenoiser::PassPlan::cell_count(int fields) const {
  return plane_cells() * static_cast<std::size_t>(2 * (pass.count - 1) + fields);
}

DeviceDenoiser::DeviceDenoiser(const PictureGeometry& geometry, std::shared_ptr<Context> context, int depth,
                               const DenoiseLimits& limits, bool proves)
    : geometry_(geometry),
      context_(std::move(context)),
      limits_(limits),
      proves_(proves),
      planes_(plane_sizes(geometry)),
      upload_(*context_, planes_),
      download_(*context_, planes_),
      slots_(context_, depth) {
  for (Slot& slot : slots_.all()) slot.result = download_.memory(slot.queue.get());
}

/// Memory for one more frame: the least recently used one. No pending frame depends on it, so
/// no wait is needed.
DeviceDenoiser::Brought& DeviceDenoiser::room() {
  const std::uint64_t collected = submitted_ - slots_.pending();
  Brought* oldest = nullptr;
  for (const auto& b : brought_)
    if (b->last_use <= collected && (!oldest || b->last_use < oldest->last_use)) oldest = b.get();
  return oldest ? *oldest : *brought_.emplace_back(std::make_unique<Brought>());
}

/// Queues the conversion to cells of those of the window's frames that are not ready yet.
void DeviceDenoiser::bring(Slot& slot, const Task& task) {
  const bool is_shared = task.window.size() > 1;
  const auto find = [&](const NumberedFrame& source) -> Brought* {
    if (!is_shared) return nullptr;
    for (const auto& b : brought_)
      if (b->serves && b->serial == source.serial && b->plan == slot.plan) return b.get();
    return nullptr;
  };
  for (const NumberedFrame& source : task.window)
    if (Brought* const b = find(source)) b->last_use = submitted_ + 1;  // protects it from reuse below
  slot.frames.assign(1, nullptr);
  for (std::size_t i = 0; i < task.window.size(); ++i) {
    const NumberedFrame& source = task.window[i];
    Brought* b = find(source);
    if (b) {
      const cl_event arrived = b->arrived.get();
      check(api().clEnqueueMarkerWithWaitList(slot.queue.get(), 1, &arrived, nullptr), "clEnqueueMarkerWithWaitList");
    } else {
      b = &room();
      b->serves = false;
      b->last_use = submitted_ + 1;
      if (!b->memory.pixels) b->memory = upload_.memory(slot.queue.get());
      b->placed = upload_(b->memory, slot.queue.get(), source.frame, 0, geometry_.height,
                          transferred(source.frame, slot.plan->filtered));
      if (b->plan != slot.plan) b->cells.clear();
      b->plan = slot.plan;
      fill(slot, *b);
      Upload::release(slot.queue.get(), b->placed);
      cl_event arrived = nullptr;
      check(api().clEnqueueMarkerWithWaitList(slot.queue.get(), 0, nullptr, &arrived), "clEnqueueMarkerWithWaitList");
      b->arrived = Event(arrived);
      b->serial = source.serial;
      b->serves = is_shared;
    }
    if (i == task.center) slot.transferred = transferred(source.frame, slot.plan->filtered);
    if (i == task.center)
      slot.frames.front() = b;
    else
      slot.frames.push_back(b);
  }
}

/// Queues the kernels that make a frame's cells.
void DeviceDenoiser::fill(Slot& slot, Brought& brought) {
  const Plan& plan = *slot.plan;
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const PassPlan& pass = plan.passes[i];
    const int fields = plan.structure.fields;
    if (brought.cells.size() <= i)
      brought.cells.push_back(context_->buffer(pass.cell_count(fields) * cell_bytes(pass.has_float_cells)));
    for (int k = 0; k < pass.pass.count; ++k)
      for (int field = 0; field < fields; ++field) {
        if (pass.height[field] == 0) continue;
        const PictureLayout::Component& c = geometry_.layout.component[pass.pass.component[k]];
        const cl_long pitch = brought.placed.pitch[c.plane];
        set_arguments(pass.fill, brought.placed.buffer,
                      cl_long{brought.placed.origin[c.plane] + c.offset + field * pitch}, cl_long{fields * pitch},
                      cl_int{pass.stride[k]}, cl_int{pass.width}, cl_int{pass.height[field]}, brought.cells[i].get(),
                      pass.at(k, field), cl_int{pass.columns}, cl_int{pass.rows}, cl_int{pass.reach});
        start(slot.queue.get(), pass.fill,
              rows_range(*context_, pass.columns, static_cast<int>(pieces(pass.rows, kFillRows))));
      }
  }
}

/// Queues the sums from which the host computes weights.
void DeviceDenoiser::measure_noise(Slot& slot) {
  const Plan& plan = *slot.plan;
  const std::size_t words = 3 * static_cast<std::size_t>(plan.blocks), bytes = words * sizeof(cl_uint);
  const cl_command_queue queue = slot.queue.get();
  if (slot.block_bytes < bytes) {
    slot.block_bytes = 0;
    slot.blocks = context_->buffer(bytes);
    slot.pinned = allocate(bytes, context_->id());
    if (!slot.pinned) slot.unpinned.resize(words);
    slot.block_bytes = bytes;
  }
  if (bytes > 0) {
    const cl_uint zero = 0;
    check(api().clEnqueueFillBuffer(queue, slot.blocks.get(), &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
  }
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const PassPlan& pass = plan.passes[i];
    for (int field = 0; pass.estimates && field < plan.structure.fields; ++field) {
      const NoiseGrid grid = pass.grid(field);
      for (int k = 0; grid.count() > 0 && k < pass.pass.count; ++k) {
        set_arguments(pass.noise, slot.frames.front()->cells[i].get(), pass.at(k, field), cl_int{pass.columns},
                      cl_int{pass.reach}, cl_int{grid.columns}, cl_int{grid.width}, cl_int{grid.height},
                      slot.blocks.get(), cl_int{pass.first_block[field] + k * grid.count()});
        start(queue, pass.noise, rows_range(*context_, grid.columns * grid.width, grid.rows));
      }
    }
  }
  cl_event done = nullptr;
  if (bytes > 0)
    check(api().clEnqueueReadBuffer(queue, slot.blocks.get(), CL_FALSE, 0, bytes,
                                    const_cast<std::uint32_t*>(blocks_of(slot)), 0, nullptr, &done),
          "clEnqueueReadBuffer");
  else
    check(api().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &done), "clEnqueueMarkerWithWaitList");
  slot.measured = Event(done);
}

const std::uint32_t* DeviceDenoiser::blocks_of(const Slot& slot) const {
  return slot.pinned ? static_cast<const std::uint32_t*>(slot.pinned.get()) : slot.unpinned.data();
}

/// Mean over the pass's planes, in a field.
double DeviceDenoiser::variance_of(const Slot& slot, const PassPlan& pass, int field) {
  const NoiseGrid grid = pass.grid(field);
  double sum = 0;
  const std::uint32_t* sums = blocks_of(slot) + 3 * static_cast<std::ptrdiff_t>(pass.first_block[field]);
  for (int k = 0; k < pass.pass.count; ++k) {
    noise_blocks_.clear();
    for (int b = 0; b < grid.count(); ++b, sums += 3)
      noise_blocks_.push_back(noise_block(sums[0], sums[1], static_cast<int>(sums[2]), grid.pixels()));
    sum += denoise::variance_of(noise_blocks_, grid.pixels(), geometry_.layout.depth, ranked_);
  }
  return sum / pass.pass.count;
}

void DeviceDenoiser::launch_pass(Slot& slot, std::size_t index, int field, const Weights& weights) {
  const PassPlan& pass = slot.plan->passes[index];
  if (pass.height[field] == 0 || pass.width == 0) return;
  const int fields = slot.plan->structure.fields;
  const auto frame = [&](std::size_t f) { return slot.frames[f < slot.frames.size() ? f : 0]->cells[index].get(); };
  const Placed to = download_.placed(slot.result);
  cl_long at[3] = {}, origin[3] = {}, pitch[3] = {};
  for (int k = 0; k < pass.pass.count; ++k) {
    const PictureLayout::Component& c = geometry_.layout.component[pass.pass.component[k]];
    at[k] = pass.at(k, field) + static_cast<cl_long>(pass.reach) * pass.columns + pass.reach;
    pitch[k] = to.pitch[c.plane] * fields;
    origin[k] = to.origin[c.plane] + c.offset + field * to.pitch[c.plane];
  }
  // Pixels then keep their values, which is the result of adding no others.
  const bool is_kept = keeps(weights);
  const auto others = static_cast<cl_int>(is_kept ? 0 : slot.frames.size() - 1);
  const cl_int search = is_kept ? 0 : slot.plan->structure.search;
  static_assert(kMostFrames == 9);
  set_arguments(pass.filter, frame(0), frame(1), frame(2), frame(3), frame(4), frame(5), frame(6), frame(7), frame(8),
                others, at[0], at[1], at[2], cl_int{pass.columns}, search, weights.scale, weights.floor,
                weights.spatial, to.buffer, origin[0], origin[1], origin[2], pitch[0], pitch[1], pitch[2],
                cl_int{pass.stride[0]}, cl_int{pass.stride[1]}, cl_int{pass.stride[2]}, cl_int{pass.width},
                cl_int{pass.height[field]});
  Range range;
  range.local[0] = static_cast<std::size_t>(pass.shape.across);
  range.local[1] = static_cast<std::size_t>(pass.shape.down);
  range.global[0] = pieces(pass.width, denoise_columns(pass.shape, slot.plan->structure.patch)) * range.local[0];
  range.global[1] = pieces(pass.height[field], denoise_rows(pass.shape)) * range.local[1];
  start(slot.queue.get(), pass.filter, range);
}

/// Queues the copies of planes with bytes that the filter does not write.
void DeviceDenoiser::copy_others(Slot& slot) {
  const Kernel& copy = slot.plan->copy;
  const Placed &from = slot.frames.front()->placed, to = download_.placed(slot.result);
  const auto is_copied = [&](int p) {
    const PlaneSize& size = planes_[static_cast<std::size_t>(p)];
    return has_bit(slot.transferred & ~slot.plan->whole, p) && size.row_bytes > 0 && size.rows > 0;
  };
  bool begun = false;
  for (int p = 0; p < geometry_.layout.planes; ++p) {
    if (!is_copied(p)) continue;
    if (!std::exchange(begun, true)) Upload::acquire(slot.queue.get(), from);
    const PlaneSize& size = planes_[static_cast<std::size_t>(p)];
    const auto bytes = static_cast<int>(size.row_bytes);
    set_arguments(copy, from.buffer, from.origin[p], from.pitch[p], to.buffer, to.origin[p], to.pitch[p], cl_int{bytes},
                  cl_int{size.rows});
    start(slot.queue.get(), copy, rows_range(*context_, static_cast<int>(pieces(bytes, 16)), size.rows));
  }
  if (begun) Upload::release(slot.queue.get(), from);
}

/// Queues the kernels that compute the result.
void DeviceDenoiser::launch(Slot& slot) {
  const Plan& plan = *slot.plan;
  copy_others(slot);
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const PassPlan& pass = plan.passes[i];
    const WeightRule rule = rule_of(slot.settings, pass.pass, geometry_.layout.depth);
    for (int field = 0; field < plan.structure.fields; ++field) {
      const double sigma = slot.settings.sigma;
      launch_pass(slot, i, field, weights_of(rule, pass.estimates ? variance_of(slot, pass, field) : sigma * sigma));
    }
  }
}

/// Queues all kernels for the frame of a slot and its transfer back; its noise must have been measured, if required.
void DeviceDenoiser::advance(Slot& slot) {
  slot.waits = false;
  launch(slot);
  slot.done = download_(slot.result, slot.queue.get(), slot.out, slot.transferred);
  check(api().clFlush(slot.queue.get()), "clFlush");
}

/// The same for all slots whose noise is ready.
void DeviceDenoiser::advance_ready() {
  for (Slot& slot : slots_.all())
    if (slot.waits && has_come(slot.measured)) advance(slot);
}

void DeviceDenoiser::check_task(const Task& task) const {
  const Settings& s = task.settings;
  if (task.center >= task.window.size() || task.window.size() > kMostFrames || task.fields < 1 ||
      task.fields > kMostFields || task.out.memory != Memory::kHost ||
      std::ranges::any_of(task.window, [](const NumberedFrame& f) { return f.frame.memory == Memory::kCuda; }) ||
      std::ranges::any_of(task.out.unrounded, [](const float* means) { return means != nullptr; }) ||
      std::clamp(s.patch_radius, 0, kMaxPatchRadius) != s.patch_radius ||
      std::clamp(s.search_radius, 0, kMaxSearchRadius) != s.search_radius)
    throw std::invalid_argument("opencl denoiser: not a window or settings of this filter");
}

void DeviceDenoiser::submit(const Task& task) {
  Slot& slot = slots_.next();
  check_task(task);
  const DrainOnThrow drained(*context_, slot.queue.get());
  advance_ready();
  slot.plan = plan_for(task.settings, task.fields, task.window.size() > 1);
  slot.settings = task.settings;
  slot.out = task.out;
  slot.from = task.window[task.center].frame;
  bring(slot, task);
  if (std::ranges::any_of(slot.plan->passes, &PassPlan::estimates)) {
    measure_noise(slot);
    check(api().clFlush(slot.queue.get()), "clFlush");
    slot.waits = true;
  } else {
    advance(slot);
  }
  slots_.take();
  ++submitted_;
}

void DeviceDenoiser::collect() {
  Slot& slot = slots_.give();
  if (slot.waits) {
    slot.waits = false;  // even after an error
    wait(*context_, slot.measured);
    advance(slot);
  }
  advance_ready();
  // While the device works.
  for (int p = 0; p < geometry_.layout.planes; ++p)
    if (!has_bit(slot.transferred, p))
      copy_rows(slot.out.plane[p], slot.out.stride[p], slot.from.plane[p], slot.from.stride[p],
                planes_[static_cast<std::size_t>(p)]);
  wait(*context_, slot.done);
  download_.finish(slot.result, slot.out, slot.transferred);
}

std::string DeviceDenoiser::route() const {
  if (plans_.empty()) return {};
  const DenoiseShape& s = plans_.front()->passes.front().shape;
  std::string groups = std::to_string(s.across) + "x" + std::to_string(s.down) + " work items, ";
  if (s.together == Together::kWeights)
    groups += std::to_string(s.columns) + "x" + std::to_string(s.rows) + " pixels";
  else
    groups += std::to_string(s.run) + " rows each";
  const char* const what = s.together == Together::kWeights   ? "weights shared by groups of "
                           : s.together == Together::kSums    ? "sums shared by groups of "
                           : s.together == Together::kSamples ? "samples shared by groups of "
                                                              : "groups of ";
  return what + groups + ", on " + context_->device().title();
}

double DeviceDenoiser::time_kernels(const Task& task, int count) {
  Slot& slot = slots_.next();
  check_task(task);
  slot.plan = plan_for(task.settings, task.fields, task.window.size() > 1);
  slot.settings = task.settings;
  ++submitted_;
  bring(slot, task);
  const auto run = [&] {
    fill(slot, const_cast<Brought&>(*slot.frames.front()));
    if (slot.plan->blocks > 0) measure_noise(slot);
    launch(slot);
  };
  if (slot.plan->blocks > 0) measure_noise(slot);
  check(api().clFinish(slot.queue.get()), "clFinish");
  run();
  check(api().clFinish(slot.queue.get()), "clFinish");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) run();
  check(api().clFinish(slot.queue.get()), "clFinish");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
}

std::unique_ptr<Filter> make_denoiser(const PictureGeometry& geometry, int id, int depth) {
  std::shared_ptr<Context> context = Context::of(id);
  const DenoiseLimits limits = denoise_limits_of(context->device());
  return std::make_unique<DeviceDenoiser>(geometry, std::move(context), depth, limits);
}

}  // namespace framequality::opencl
