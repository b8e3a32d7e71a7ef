// SPDX-License-Identifier: LGPL-2.1-or-later
// The slots of DeviceMeter: transfer frames to the device, queue their kernels, wait for totals.
#include "opencl/sharpness/meter.h"

#include "algorithms/split_mix.h"
#include "cpu/sharpness/meter.h"
#include "device/error.h"
#include "opencl/pinned.h"
#include "opencl/sharpness/device_meter.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace framequality::opencl {

using namespace sharpness;

namespace {

constexpr int kMostLanes = 16;
constexpr std::size_t kSlack = 64;  // the widest load past the last row

/// The same request on an image of another size, for which the same programs work.
Request request_for(const Plan& plan, const Geometry& small) {
  Request request = plan.request;
  const int cell = small.layout.cell();
  request.roi = Rect{3 * cell, 2 * cell, std::int64_t{small.width} * cell - 5, std::int64_t{small.height} * cell - 4};
  request.mask.clear();
  request.extra = {Rect{0, 0, 9 * cell, 9 * cell}};
  request.zone_columns = request.zone_rows = 2;
  return request;
}

}  // namespace

Shape shape_for(const DeviceInfo& device) {
  Shape shape;
  if (device.is_software) return {.lanes = 16, .across = 1, .down = 1, .has_fast_floats = false, .strips = 16};
  if (device.takes_dp4a) shape.dot = Dot::kNvidia;
  while (static_cast<std::size_t>(shape.across) * static_cast<std::size_t>(shape.down) > device.group_items)
    shape.down /= 2;
  return shape;
}

DeviceMeter::DeviceMeter(const Geometry& geometry, std::shared_ptr<Context> context, int depth, const Shape& shape,
                         bool proves)
    : geometry_(geometry),
      context_(std::move(context)),
      shape_(shape),
      proves_(proves),
      upload_(*context_, geometry),
      slots_(context_, depth) {
  for (Slot& slot : slots_.all()) slot.frame = upload_.memory(slot.queue.get());
}

/// The height of the strips that work items move down, in rows, from `least` to `most`. across: strips side by side.
/// filling: work items that a compute unit needs to be busy; strips are only as high as leaves that many.
int DeviceMeter::strip_rows(int height, std::size_t across, int filling, int least, int most) const {
  const auto items = static_cast<std::int64_t>(filling) * context_->device().units;
  const std::int64_t strips =
      std::max<std::int64_t>(1, items / static_cast<std::int64_t>(std::max<std::size_t>(1, across)));
  return std::clamp(static_cast<int>((height + strips - 1) / strips), least, most);
}

Source DeviceMeter::source(std::string text) const { return {std::move(text), "-cl-std=CL1.2"}; }

Kernel DeviceMeter::kernel(const Source& source, const char* name) {
  sources_.push_back(source);
  return context_->kernel(source, name);
}

/// The index in samples_ of samples of this format. Makes a program if the frame does not have them.
std::size_t DeviceMeter::samples_for(const Plan& plan, const SampleFormat& format) {
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (samples_[i].format == format) return i;
  const PixelLayout& layout = geometry_.layout;
  Samples s;
  s.format = format;
  s.fields = plan.fields;
  s.is_direct = format.is_identity() && is_direct(layout);
  s.word_bytes = s.is_direct ? layout.word_bytes : format.bits() <= 8 ? 1 : 2;
  s.shift = s.is_direct ? layout.shift : 0;
  if (!s.is_direct) {
    for (int p = 0; p < plan.fields; ++p) {
      const int rows = (geometry_.height - p + plan.fields - 1) / plan.fields;
      s.size[p] = {geometry_.width / format.downscale, rows / format.downscale};
    }
    s.make = kernel(source(samples_text(layout, format, s.word_bytes)), "make_samples");
    s.pitch = (static_cast<std::size_t>(s.size[0].width) * static_cast<std::size_t>(s.word_bytes) + 127) / 128 * 128;
    s.bytes = s.pitch * static_cast<std::size_t>(plan.fields * std::max(s.size[0].height, s.size[1].height)) + kSlack;
    for (const Samples& other : samples_) s.place += other.is_direct ? 0 : 1;
    constexpr int kLeastRows = 8, kMostRows = 64;  // each strip reads up to four rows more
    s.rows = strip_rows(s.size[0].height, pieces(s.size[0].width, kMadeColumns) * s.fields, shape_.strips, kLeastRows,
                        kMostRows);
  }
  samples_.push_back(std::move(s));
  return samples_.size() - 1;
}

/// The kernel and cells of a plan whose totals begin at `at`.
void DeviceMeter::add_measure(const Plan& plan, int at) {
  std::vector<cl_int> cells;
  int widest = 0, highest = 0;
  for (const Grid& g : plan.grids)
    for (int j = 0; j < g.rows; ++j)
      for (int c = 0; c < g.columns; ++c) {
        const int x0 = g.column(c), x1 = g.column(c + 1), y0 = g.row(j), y1 = g.row(j + 1);
        if (x0 >= x1 || y0 >= y1) continue;
        cells.insert(cells.end(), {x0, x1, y0, y1, at + (g.first_cell + j * g.columns + c) * plan.words, g.field,
                                   plan.size[g.field].width, plan.size[g.field].height});
        widest = std::max(widest, x1 - x0 / kMostLanes * kMostLanes);
        highest = std::max(highest, y1 - y0);
      }
  if (cells.empty()) return;
  Measure m;
  m.at = at;
  m.samples = samples_for(plan, plan.samples);
  const Samples& samples = samples_[m.samples];
  const MeasureText text{plan.request.metric, samples.word_bytes,     samples.shift,
                         plan.samples.bits(), plan.samples.largest(), plan.request.mean};
  m.kernel = kernel(source(measure_text(shape_, text)), "measure");
  m.cell_count = static_cast<int>(cells.size()) / kCellNumbers;
  m.cells = context_->buffer(cells.size() * sizeof(cl_int), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, cells.data());
  constexpr int kLeastRows = 12;
  const auto [lanes, filling] = cut_of(shape_, text);
  m.rows = strip_rows(highest, pieces(widest, lanes) * static_cast<std::size_t>(m.cell_count), filling, kLeastRows,
                      kMostStripRows);
  m.range.local[0] = static_cast<std::size_t>(shape_.across);
  m.range.local[1] = static_cast<std::size_t>(shape_.down);
  m.range.global[0] = pieces(widest, lanes * shape_.across) * m.range.local[0];
  m.range.global[1] = pieces(highest, m.rows * shape_.down) * m.range.local[1];
  m.range.global[2] = static_cast<std::size_t>(m.cell_count);
  measures_.push_back(std::move(m));
}

void DeviceMeter::add_statistics(const Plan& plan) {
  const SampleFormat codes = sample_format(geometry_.layout.depth, Prefilter::kNone, 1);
  statistics_.samples = samples_for(plan, codes);
  const Samples& samples = samples_[statistics_.samples];
  const Source text = source(statistics_text(samples.word_bytes, samples.shift, geometry_.layout.depth));
  statistics_.expose = kernel(text, "expose");
  statistics_.blocks = kernel(text, "noise_blocks");
  statistics_.all = kernel(text, "noise_all");
  statistics_.rank = kernel(text, "noise_rank");
}

/// Prepares for a plan; nothing to do if it is the last one again.
void DeviceMeter::prepare(const std::shared_ptr<const Plan>& plan) {
  if (plan == plan_) return;
  if (!(plan->geometry == geometry_)) throw std::logic_error("opencl meter: plan for another geometry");
  if (!plan->refusal.empty()) throw std::logic_error("opencl meter: refused plan: " + plan->refusal);
  plan_.reset();
  samples_.clear();
  measures_.clear();
  statistics_ = {};
  sources_.clear();
  add_measure(*plan, 0);
  if (plan->request.measures_statistics() && plan->statistics.grids > 0) add_statistics(*plan);
  for (const Plan::Companion& companion : plan->companions) add_measure(*companion.plan, companion.at);
  if (proves_ && !std::ranges::all_of(sources_, [&](const Source& s) { return context_->is_proved(s); })) {
    prove(*plan);
    context_->set_proved(sources_);
  }
  plan_ = plan;
}

/// Measures a small image with the plan's programs and the host twin. Throws Error if the results differ.
void DeviceMeter::prove(const Plan& plan) {
  Geometry small = geometry_;
  small.width = 77;
  small.height = 53;
  // Use every byte of a row, and rows with gaps.
  std::vector<std::uint8_t> bytes[3];
  Frame frame;
  SplitMix random(20261125);
  for (int p = 0; p < small.layout.planes(); ++p) {
    const std::size_t stride = small.layout.row_bytes(p, small.width) + 5;
    bytes[p].resize(stride * static_cast<std::size_t>(small.height));
    std::uint64_t noise = 0;
    for (std::size_t i = 0; i < bytes[p].size(); ++i) {
      if (i % 8 == 0) noise = random.next();
      // Noise, and areas of the least and the largest value.
      const std::size_t part = i / 97 % 4;
      bytes[p][i] = part == 0 ? 0 : part == 1 ? 0xff : static_cast<std::uint8_t>(noise >> (i % 8 * 8));
    }
    frame.plane[p] = bytes[p].data();
    frame.stride[p] = static_cast<std::ptrdiff_t>(stride);
  }
  const auto small_plan = std::make_shared<const Plan>(make_plan(small, request_for(plan, small)));
  DeviceMeter device(small, context_, 1, shape_, false);
  const std::unique_ptr<Meter> host = cpu::make_meter(small);
  device.submit({frame, small_plan});
  host->submit({frame, small_plan});
  const std::span<const std::int64_t> got = device.collect(), expected = host->collect();
  if (std::equal(got.begin(), got.end(), expected.begin(), expected.end())) return;
  context_->refuse(std::string("computes other totals than the CPU for ") + metric_info(plan.request.metric).name);
}

/// Makes a slot's memory large enough for the plan.
void DeviceMeter::prepare(Slot& slot) {
  if (slot.plan == plan_) return;
  slot.plan.reset();
  const cl_command_queue queue = slot.queue.get();
  const auto zeroed = [&](std::size_t bytes) {
    Buffer made = context_->buffer(bytes);
    const cl_uint zero = 0;
    check(api().clEnqueueFillBuffer(queue, made.get(), &zero, sizeof zero, 0, bytes / 4 * 4, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    return made;
  };
  slot.samples.clear();
  for (const Samples& s : samples_)
    if (!s.is_direct) slot.samples.push_back(zeroed(s.bytes));
  slot.total_bytes = static_cast<std::size_t>(plan_->totals()) * sizeof(std::int64_t);
  slot.totals = zeroed(std::max(slot.total_bytes, sizeof(std::int64_t)));
  slot.is_clear = true;
  if (plan_->statistics.sums > 0)
    slot.sums = zeroed(static_cast<std::size_t>(plan_->statistics.sums) * sizeof(cl_uint));
  const auto count = static_cast<std::size_t>(plan_->totals());
  slot.pinned = allocate(slot.total_bytes, context_->id());
  if (!slot.pinned) slot.unpinned.resize(count);
  slot.results = {slot.pinned ? static_cast<std::int64_t*>(slot.pinned.get()) : slot.unpinned.data(), count};
  slot.plan = plan_;
}

void DeviceMeter::clear(Slot& slot) {
  const cl_uint zero = 0;
  check(api().clEnqueueFillBuffer(slot.queue.get(), slot.totals.get(), &zero, sizeof zero, 0, slot.total_bytes, 0,
                                  nullptr, nullptr),
        "clEnqueueFillBuffer");
  slot.is_clear = true;
}

void DeviceMeter::make_samples(Slot& slot, const Samples& s, const Placed& placed) {
  const cl_mem out = slot.samples[s.place].get();
  set_arguments(s.make, placed.buffer, placed.origin[0], placed.origin[1], placed.origin[2], placed.pitch[0],
                placed.pitch[1], placed.pitch[2], cl_int{s.fields}, out, static_cast<cl_int>(s.pitch),
                cl_int{s.size[0].width}, cl_int{s.size[0].height}, cl_int{s.size[1].width}, cl_int{s.size[1].height},
                cl_int{s.rows});
  const Range range{{pieces(s.size[0].width, kMadeColumns * kMadeAcross) * kMadeAcross,
                     pieces(std::max(s.size[0].height, s.size[1].height), s.rows * kMadeDown) * kMadeDown,
                     static_cast<std::size_t>(s.fields)},
                    {kMadeAcross, kMadeDown, 1}};
  if (range.global[0] > 0 && range.global[1] > 0) start(slot.queue.get(), s.make, range);
}

void DeviceMeter::measure_statistics(Slot& slot, const Placed& placed) {
  const Plan& plan = *plan_;
  const StatisticsPlan& statistics = plan.statistics;
  const Samples& samples = samples_[statistics_.samples];
  const cl_command_queue queue = slot.queue.get();
  const cl_mem frame = samples.is_direct ? placed.buffer : slot.samples[samples.place].get();
  const cl_long line = samples.is_direct ? placed.pitch[0] : static_cast<cl_long>(samples.pitch);
  const cl_long top = samples.is_direct ? placed.origin[0] : 0, pitch = line * plan.fields;
  const cl_mem totals = slot.totals.get(), sums = slot.sums.get();
  const cl_int at = plan.cell_totals();
  const ClipCodes clip = clip_codes(geometry_.layout.depth, plan.request.limited);
  constexpr std::size_t kItems = 256;
  for (int i = 0; i < statistics.grids; ++i) {
    const StatisticsGrid& g = statistics.grid[i];
    const cl_long origin = top + line * g.field;
    constexpr int kExposedRows = 8;
    set_arguments(statistics_.expose, frame, origin, pitch, cl_int{g.x0}, cl_int{g.x1}, cl_int{g.y0}, cl_int{g.y1},
                  cl_int{kExposedRows}, cl_int{clip.black}, cl_int{clip.white}, totals, at);
    start(queue, statistics_.expose, {{kItems, pieces(g.y1 - g.y0, kExposedRows), 1}, {kItems, 1, 1}});
    if (g.groups > 0) {
      set_arguments(statistics_.blocks, frame, origin, pitch, cl_int{g.x0}, cl_int{g.y0}, cl_int{g.columns},
                    cl_int{g.groups_in_row()}, cl_int{statistics.step}, sums, cl_int{g.first_sum}, totals, at);
      start(queue, statistics_.blocks,
            {{static_cast<std::size_t>(g.groups) * kNoiseGroup * kItems, 1, 1}, {kItems, 1, 1}});
    } else if (statistics.blocks == 0 && g.width() > 0 && g.height() > 0) {
      set_arguments(statistics_.all, frame, origin, pitch, cl_int{g.x0}, cl_int{g.y0}, cl_int{g.width()},
                    cl_int{g.height()}, totals, at);
      start(queue, statistics_.all, {{kItems, 1, 1}, {kItems, 1, 1}});
    }
  }
  if (statistics.blocks == 0) return;
  set_arguments(statistics_.rank, sums, cl_int{statistics.sums}, cl_int{statistics.rank()}, totals, at);
  start(queue, statistics_.rank, {{pieces(statistics.sums, kItems) * kItems, 1, 1}, {kItems, 1, 1}});
}

/// Queues the kernels of the plan for a frame on the device.
void DeviceMeter::launch(Slot& slot, const Placed& placed) {
  if (!slot.is_clear) clear(slot);
  slot.is_clear = false;
  for (const Samples& s : samples_)
    if (!s.is_direct) make_samples(slot, s, placed);
  if (statistics_.expose) measure_statistics(slot, placed);
  for (const Measure& m : measures_) {
    const Samples& samples = samples_[m.samples];
    const cl_mem frame = samples.is_direct ? placed.buffer : slot.samples[samples.place].get();
    const cl_long line = samples.is_direct ? placed.pitch[0] : static_cast<cl_long>(samples.pitch);
    set_arguments(m.kernel, frame, cl_long{samples.is_direct ? placed.origin[0] : 0}, line,
                  cl_long{line * samples.fields}, m.cells.get(), slot.totals.get(), cl_int{m.rows});
    // Devices support at most this many groups in the third dimension.
    constexpr int kMostCells = 65535;
    for (int first = 0; first < m.cell_count; first += kMostCells) {
      Range range = m.range;
      range.first = static_cast<std::size_t>(first);
      range.global[2] = static_cast<std::size_t>(std::min(m.cell_count - first, kMostCells));
      start(slot.queue.get(), m.kernel, range);
    }
  }
}

void DeviceMeter::submit(const Task& task) {
  if (task.frame.memory == Memory::kCuda) throw std::invalid_argument("opencl meter: the frame is in a GPU's memory");
  Slot& slot = slots_.next();
  const cl_command_queue queue = slot.queue.get();
  const DrainOnThrow drained(*context_, queue);
  prepare(task.plan);
  prepare(slot);
  const Placed placed = upload_(slot.frame, queue, task.frame, plan_->first_row, plan_->last_row);
  launch(slot, placed);
  Upload::release(queue, placed);
  cl_event done = nullptr;
  check(api().clEnqueueReadBuffer(queue, slot.totals.get(), CL_FALSE, 0, slot.total_bytes, slot.results.data(), 0,
                                  nullptr, &done),
        "clEnqueueReadBuffer");
  slot.done = Event(done);
  clear(slot);  // for the next frame, while the host processes this one
  check(api().clFlush(queue), "clFlush");
  slots_.take();
}

std::span<const std::int64_t> DeviceMeter::collect() {
  Slot& slot = slots_.give();
  wait(*context_, slot.done);
  return slot.results;
}

std::string DeviceMeter::route() const {
  if (measures_.empty()) return {};
  const Samples& samples = samples_[measures_.front().samples];
  return std::string(samples.is_direct ? "samples in place" : "samples made first") + ", strips of " +
         std::to_string(measures_.front().rows) + " rows, on " + context_->device().title();
}

double DeviceMeter::time_kernels(const Task& task, int count) {
  Slot& slot = slots_.next();
  prepare(task.plan);
  prepare(slot);
  const cl_command_queue queue = slot.queue.get();
  const Placed placed = upload_(slot.frame, queue, task.frame, plan_->first_row, plan_->last_row);
  launch(slot, placed);
  check(api().clFinish(queue), "clFinish");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    slot.is_clear = true;  // the totals have no meaning here
    launch(slot, placed);
  }
  check(api().clFinish(queue), "clFinish");
  slot.is_clear = false;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
}

std::unique_ptr<Meter> make_meter(const Geometry& geometry, int id, int depth) {
  std::shared_ptr<Context> context = Context::of(id);
  const Shape shape = shape_for(context->device());
  return std::make_unique<DeviceMeter>(geometry, std::move(context), depth, shape);
}

}  // namespace framequality::opencl
