// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin's host side: finds a device, brings frames to it, launches its kernels.
#include "cuda/sharpness/meter.h"

#include "cuda/device.h"
#include "cuda/sharpness/device_meter.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace framequality::cuda {
namespace {

constexpr int kLumaBlocks = 16;   // on each processor
constexpr int kExposeBlocks = 2;  // on each processor
// Narrower cells leave most of a stream kernel's 512-byte strips idle.
constexpr int kLeastStreamWidth = 64;
// Samples that kernels read beside those that they measure: a metric's reach, and the rest of what they load at once.
constexpr int kSampleMargin = 16;
constexpr int kSampleWarps = 16;  // on each processor
constexpr int kLeastSampleRows = 8, kMostSampleRows = 64;
// What a result is until the device has written it. Plans let no signed total be as low; only a sum of squares, which
// counts to 2^64, could have these bits: then the event tells.
constexpr std::int64_t kPending = std::numeric_limits<std::int64_t>::min();
// With more of them setting and reading them takes longer than an event.
constexpr std::size_t kWatchedWords = 1024;

/// True if luma codes lie side by side in their plane, in words that a stream kernel reads.
bool is_words(const PixelLayout& l) {
  if (l.kind != PixelLayout::Kind::kLuma || l.pixel_stride != l.word_bytes || l.offset[0] != 0) return false;
  return l.word_bytes == 1 ? l.depth == 8 && l.shift == 0 : !l.big_endian;
}

int code_bytes(const PixelLayout& l) { return l.depth > 8 ? 2 : 1; }

bool is_aligned(const Frame& f, int plane, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(f.plane[plane]) | static_cast<std::size_t>(std::abs(f.stride[plane]))) %
             bytes ==
         0;
}

/// True if a kernel that streams rows measures what the tile kernel would, once samples are words.
bool is_large(const Plan& plan) {
  for (int p = 0; p < plan.fields; ++p)
    if (plan.size[p].width < 3 || plan.size[p].height < 3) return false;
  return true;
}

/// True if most of the strips of stream kernels lie in the plan's cells.
bool is_wide(const Plan& plan) {
  return std::all_of(plan.grids.begin(), plan.grids.end(), [&](const Grid& g) {
    return g.x1 - g.x0 == plan.size[g.field].width || (g.x1 - g.x0) / g.columns >= kLeastStreamWidth;
  });
}

int ceil_div(int a, int b) { return (a + b - 1) / b; }

}  // namespace

bool DeviceMeter::Slot::is_watched() const { return words().size() <= kWatchedWords; }

/// Waits until the results have come. The host sees them in its memory 3 us before an event that follows the kernels.
/// Each is one store of the kernel's last block, which all others have gone before: who has them all needs no other
/// sign. The event is for those that do not come soon, and for faults: then they never come.
void DeviceMeter::Slot::wait_for_results() const {
  if (!is_watched()) return wait();
  auto next = words().begin();
  const auto have_come = [&] {
    while (next != words().end() && std::atomic_ref(*next).load(std::memory_order_acquire) != kPending) ++next;
    return next == words().end();
  };
  if (spin(have_come)) return;
  check(cudaEventRecord(done.get(), stream.get()), "cudaEventRecord");
  check(cudaEventSynchronize(done.get()), "waiting for a frame");
}

/// The widest cell of a grid, from where its tiles begin.
int DeviceMeter::Tiling::widest(const Grid& g) const {
  int width = 0;
  for (int i = 0; i < g.columns; ++i)
    width = std::max(width, g.column(i + 1) - g.column(i) / kernel.x_align * kernel.x_align);
  return width;
}

/// Adds a grid whose strips have so many rows.
void DeviceMeter::Tiling::add(const Grid& g, int strip_rows) {
  // A strip whose chunks need not lie side by side has as many across as the grid's cells need.
  const int chunk = kernel.tile_width / kernel.chunks,
            across = std::clamp(ceil_div(widest(g), chunk), 1, kernel.chunks), bands = kernel.chunks / across,
            tile_height = kernel.tile_height > 0 ? kernel.tile_height : strip_rows * kernel.strips * bands;
  int height = 0;
  for (int j = 0; j < g.rows; ++j) height = std::max(height, g.row(j + 1) - g.row(j));
  grids.push_back({g, ceil_div(widest(g), chunk * across), ceil_div(height, tile_height), blocks, strip_rows, across});
  blocks += g.columns * g.rows * grids.back().tiles_x * grids.back().tiles_y;
}

void DeviceMeter::Tiling::cut(const Plan& plan) {
  grids.clear();
  blocks = 0;
  for (const Grid& g : plan.grids) {
    const int left = g.x0 / kernel.x_align * kernel.x_align + kernel.tile_width,
              right = left + (g.x1 - kernel.x_align - left) / kernel.tile_width * kernel.tile_width;
    if (kernel.edge_percent == 0 || g.columns * g.rows > 1 || right <= left) {
      add(g, rows);
      continue;
    }
    // Strips at a cell's sides take longer: lower ones, and first.
    const int low = std::max(rows * 100 / kernel.edge_percent / kernel.row_step, 1) * kernel.row_step;
    Grid part = g;
    part.x1 = left;
    add(part, low);
    part.x0 = right, part.x1 = g.x1;
    add(part, low);
    part.x0 = left, part.x1 = right;
    add(part, rows);
  }
}

DeviceMeter::DeviceMeter(const Geometry& geometry, int id, int depth)
    : geometry_(geometry),
      id_(make_current(id)),
      has_products_(architecture_on(capability()) >= 800),
      upload_(geometry, id, true),
      slots_(depth) {
  int device;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  for (Slot& slot : slots_.all()) {
    slot.ticket.reserve(2);
    check(cudaMemsetAsync(slot.ticket.get(), 0, 2 * sizeof(unsigned), slot.stream.get()), "cudaMemsetAsync");
  }
}

// The slots then wait for the device.
DeviceMeter::~DeviceMeter() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
}

/// Sets stream_ up with the strip height that takes least time: whole waves of blocks, each lasting a strip's rows and
/// a few more (halo and start). One wave of high strips or several of low ones, whichever wastes less.
void DeviceMeter::choose_strip(const Plan& plan) {
  const Kernel& kernel = stream_.kernel;
  int per_processor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel.function, kernel.threads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const int capacity = std::max(1, per_processor * processors_);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  int best = kernel.row_step;
  for (int rows = kernel.row_step; rows <= kernel.max_rows; rows += kernel.row_step) {
    stream_.rows = rows;
    stream_.cut(plan);
    const std::int64_t cost = std::int64_t{ceil_div(stream_.blocks, capacity)} * (rows + kernel.lead_rows);
    if (cost > least) continue;
    least = cost;
    best = rows;
  }
  stream_.rows = best;
  stream_.cut(plan);
}

/// The fast kernel for a plan, whose function is null if there is none.
Kernel DeviceMeter::fast_kernel(const Plan& plan) const {
  const int metric = plan.request.metric;
  if (!is_large(plan)) return {};
  if (smooths_) return smoothing_kernel(metric, plan.samples.radius);
  if (!is_wide(plan)) return {};
  return stream_kernel(metric, makes_samples_ ? 2 : code_bytes(geometry_.layout), plan.samples.bits());
}

/// Chooses kernels and cuts tiles for a plan; nothing to do if it is the last one again.
void DeviceMeter::cut(std::shared_ptr<const Plan> plan) {
  if (plan == plan_) return;
  if (!(plan->geometry == geometry_)) throw std::logic_error("cuda meter: plan for another geometry");
  if (!plan->refusal.empty()) throw std::logic_error("cuda meter: refused plan: " + plan->refusal);
  plan_.reset();
  const int metric = plan->request.metric;
  const SampleFormat& samples = plan->samples;
  smooths_ = samples.radius > 0 && samples.downscale == 1 && code_bytes(geometry_.layout) == 1 && has_products_ &&
             is_large(*plan) && smoothing_kernel(metric, samples.radius).function != nullptr;
  makes_samples_ = !samples.is_identity() && !smooths_;
  tile_.kernel = tile_kernel(metric);
  tile_.cut(*plan);
  stream_ = {};
  stream_.kernel = fast_kernel(*plan);
  if (stream_.kernel.function) choose_strip(*plan);
  plan_ = std::move(plan);
}

/// Sets a slot up for a plan; nothing to do if it had that one last.
void DeviceMeter::prepare(Slot& slot, std::shared_ptr<const Plan> plan) {
  cut(plan);
  if (plan == slot.plan) return;
  slot.plan.reset();
  const auto count = static_cast<std::size_t>(plan->totals());
  const cudaStream_t stream = slot.stream.get();
  if (slot.results.reserve(count)) {
    void* mapped;
    check(cudaHostGetDevicePointer(&mapped, slot.results.get(), 0), "cudaHostGetDevicePointer");
    slot.mapped_results = static_cast<std::int64_t*>(mapped);
  }
  if (slot.totals.reserve(count))
    check(cudaMemsetAsync(slot.totals.get(), 0, count * sizeof(std::int64_t), stream), "cudaMemsetAsync");
  slot.noise.reserve(static_cast<std::size_t>(plan->statistics.sums));
  // From memory of the slot's own: the tilings may be cut for the next plan before the device has fetched these.
  const std::size_t grids = stream_.grids.size() + tile_.grids.size();
  slot.grids.reserve(grids);
  slot.staged_grids.reserve(grids);
  std::copy(tile_.grids.begin(), tile_.grids.end(),
            std::copy(stream_.grids.begin(), stream_.grids.end(), slot.staged_grids.get()));
  copy_async(slot.grids, slot.staged_grids, grids, stream);
  slot.plan = std::move(plan);
}

/// Queues the kernel that brings the rows of the frame that the plan reads into a plane of luma codes, for `job` to
/// read. The codes are written once and, for all but the largest frames, read back from the L2 cache: far cheaper than
/// what a kernel for any layout pays for each neighbour.
void DeviceMeter::extract(Slot& slot, const Frame& frame, Job& job) {
  const PixelLayout& layout = geometry_.layout;
  const auto bytes = static_cast<std::size_t>(code_bytes(layout));
  const std::size_t pitch = whole_pitch(static_cast<std::size_t>(geometry_.width) * bytes);
  const std::size_t size = pitch * static_cast<std::size_t>(geometry_.height);
  reserve_zeroed(slot.luma, size, slot.stream.get());  // what lies behind the rows is read, and does not count
  LumaJob luma;
  luma.frame = frame;
  luma.layout = layout;
  luma.luma = slot.luma.get();
  luma.pitch = static_cast<std::ptrdiff_t>(pitch);
  luma.width = geometry_.width;
  luma.first_row = slot.plan->first_row;
  luma.last_row = slot.plan->last_row;
  bool aligned = true;
  for (int c = 0; c < layout.components(); ++c)
    aligned = aligned && is_aligned(frame, layout.plane[c], layout.word_bytes == 2 ? 8 : 4);
  const Kernel kernel = luma_kernel(layout, aligned);
  const int across = ceil_div(geometry_.width, kernel.tile_width);
  const int down = std::clamp(kLumaBlocks * processors_ / across, 1, luma.last_row - luma.first_row);
  void* arguments[] = {&luma};
  check(cudaLaunchKernel(kernel.function, dim3(static_cast<unsigned>(across), static_cast<unsigned>(down)),
                         dim3(static_cast<unsigned>(kernel.threads)), arguments, 0, slot.stream.get()),
        "cudaLaunchKernel");
  job.layout = {};
  job.layout.depth = layout.depth;
  job.layout.word_bytes = job.layout.pixel_stride = static_cast<std::uint8_t>(bytes);
  job.frame = {};
  job.frame.plane[0] = luma.luma;
  job.frame.stride[0] = luma.pitch;
  job.readable = static_cast<int>(pitch);
}

/// Queues the kernel that brings the working samples that the plan needs into a plane of words, for `job` to read in
/// place of luma codes that are words.
void DeviceMeter::make_samples(Slot& slot, Job& job) {
  const Plan& plan = *slot.plan;
  const int plane = job.layout.plane[0];
  SamplesJob make;
  make.frame = job.frame;
  make.samples = plan.samples;
  make.plane = plane;
  make.shift = job.layout.shift;
  make.bits = (1u << job.layout.depth) - 1u;
  make.readable = job.readable;
  make.fields = plan.fields;
  const Kernel kernel = samples_kernel(plan.samples, code_bytes(job.layout));
  for (int p = 0; p < plan.fields; ++p)
    make.area[p] = {plan.size[p].width, 0, plan.size[p].height, 0, plan.size[p].width, plan.size[p].height};
  int width = 0, height = 0;
  for (const Grid& g : plan.grids) {
    SampleArea& a = make.area[g.field];
    a.x0 = std::min(a.x0, std::max(g.x0 - kSampleMargin, 0));
    a.x1 = std::max(a.x1, std::min(g.x1 + kSampleMargin, a.width));
    a.y0 = std::min(a.y0, std::max(g.y0 - kSampleMargin, 0));
    a.y1 = std::max(a.y1, std::min(g.y1 + kSampleMargin, a.height));
    width = std::max(width, a.x1 - a.x0 / kernel.x_align * kernel.x_align);
    height = std::max(height, a.y1 - a.y0);
  }
  const int across = ceil_div(width, kernel.tile_width);
  // So many warps as keep a device busy, but strips that are not less high than their halo.
  make.tile_rows = std::clamp(ceil_div(height * across * plan.fields, kSampleWarps * processors_),
                              std::max(2 * plan.samples.radius, 1), kMostSampleRows);
  make.pitch = static_cast<std::ptrdiff_t>(
      whole_pitch(2 * static_cast<std::size_t>(std::max(plan.size[0].width, plan.size[1].width))));
  const std::size_t size = static_cast<std::size_t>(make.pitch) * static_cast<std::size_t>(plan.fields) *
                           static_cast<std::size_t>(std::max(plan.size[0].height, plan.size[1].height));
  reserve_zeroed(slot.samples, size, slot.stream.get());  // what no sample was written to is read, and does not count
  make.out = slot.samples.get();
  void* arguments[] = {&make};
  check(cudaLaunchKernel(
            kernel.function,
            dim3(static_cast<unsigned>(across), static_cast<unsigned>(ceil_div(height, kernel.strips * make.tile_rows)),
                 static_cast<unsigned>(plan.fields)),
            dim3(static_cast<unsigned>(kernel.threads)), arguments, 0, slot.stream.get()),
        "cudaLaunchKernel");
  job.layout = {};
  job.layout.depth = plan.samples.bits();
  job.layout.word_bytes = job.layout.pixel_stride = 2;
  job.samples = sample_format(plan.samples.bits(), Prefilter::kNone, 1);
  job.frame = {};
  job.frame.plane[0] = make.out;
  job.frame.stride[0] = make.pitch;
  job.readable = static_cast<int>(make.pitch);
}

/// Queues the kernel of the statistics. from: has the codes as words side by side, and where results go.
void DeviceMeter::survey(Slot& slot, const Job& from) {
  const Plan& plan = *slot.plan;
  const StatisticsPlan& statistics = plan.statistics;
  SurveyJob job;
  job.frame = from.frame;
  job.layout = from.layout;
  job.fields = plan.fields;
  job.grids = statistics.grids;
  for (int i = 0; i < statistics.grids; ++i) {
    const StatisticsGrid& grid = job.grid[i] = statistics.grid[i];
    job.first_tile[i] = job.tiles;
    job.tiles += ceil_div(grid.groups, kSurveyTileGroups);
  }
  job.step = statistics.step;
  job.sum_count = statistics.sums;
  job.rank = statistics.rank();
  job.clip = clip_codes(geometry_.layout.depth, plan.request.limited);
  job.sums = slot.noise.get();
  job.totals = slot.totals.get() + plan.cell_totals();
  job.ticket = slot.ticket.get() + 1;
  job.results = from.results + plan.cell_totals();
  const Kernel kernel = survey_kernel(code_bytes(geometry_.layout));
  const int blocks = job.tiles + kExposeBlocks * processors_;
  void* arguments[] = {&job};
  check(cudaLaunchKernel(kernel.function, dim3(static_cast<unsigned>(blocks)),
                         dim3(static_cast<unsigned>(kernel.threads)), arguments, 0, slot.stream.get()),
        "cudaLaunchKernel");
}

/// Queues the kernels for the slot's plan.
void DeviceMeter::launch(Slot& slot, const Frame& frame, bool is_ours) {
  const Plan& plan = *slot.plan;
  Job job;
  job.frame = frame;
  job.layout = geometry_.layout;
  job.samples = plan.samples;
  job.fields = plan.fields;
  for (int p = 0; p < plan.fields; ++p) {
    job.width[p] = plan.size[p].width;
    job.height[p] = plan.size[p].height;
  }
  const bool fast = stream_.blocks > 0;
  const int luma = job.layout.plane[0];
  const std::ptrdiff_t step = std::abs(frame.stride[luma]);
  // In our own memory there are bytes behind each row, whatever they are.
  job.readable =
      static_cast<int>(is_ours ? step : static_cast<std::ptrdiff_t>(geometry_.layout.row_bytes(luma, geometry_.width)));
  const bool surveys = plan.statistics.pixels > 0;
  // A kernel that smooths reads whole words.
  const int read = smooths_ ? (geometry_.width + 3) / 4 * 4 : 0;
  const bool is_fit = is_words(job.layout) && is_aligned(frame, luma, kLoadAlign) &&
                      step <= std::numeric_limits<int>::max() / 2 && read <= job.readable;
  if ((fast || surveys || makes_samples_) && !is_fit) extract(slot, frame, job);
  job.results = slot.mapped_results;
  if (surveys) survey(slot, job);
  const Tiling& tiling = fast ? stream_ : tile_;
  if (tiling.blocks == 0) return;
  if (makes_samples_) make_samples(slot, job);
  job.grids = slot.grids.get() + (fast ? 0 : stream_.grids.size());
  job.grid_count = static_cast<int>(tiling.grids.size());
  job.first = tiling.grids.front();
  job.totals = slot.totals.get();
  job.ticket = slot.ticket.get();
  job.total_count = plan.cell_totals();
  job.words = plan.words;
  job.mean = plan.request.mean;
  void* arguments[] = {&job};
  check(cudaLaunchKernel(tiling.kernel.function, dim3(static_cast<unsigned>(tiling.blocks)),
                         dim3(static_cast<unsigned>(tiling.kernel.threads)), arguments, 0, slot.stream.get()),
        "cudaLaunchKernel");
  check(cudaGetLastError(), "cudaLaunchKernel");
}

void DeviceMeter::submit(const MeterTask& task) { begin(task.frame, task.plan, true); }

/// submit(); waits: a frame on the device waits for the legacy default stream.
void DeviceMeter::begin(const Frame& frame, std::shared_ptr<const Plan> plan, bool waits) {
  Slot& slot = slots_.next();
  make_current(id_);
  prepare(slot, std::move(plan));
  const cudaStream_t stream = slot.stream.get();
  const SyncOnThrow sync(stream);
  if (slot.is_watched()) std::ranges::fill(slot.words(), kPending);
  // What no kernel writes.
  const auto cells = static_cast<std::size_t>(slot.plan->cell_totals());
  if (tile_.blocks == 0) std::ranges::fill(slot.words().first(cells), 0);
  if (slot.plan->statistics.pixels == 0) std::ranges::fill(slot.words().subspan(cells), 0);
  if (tile_.blocks == 0 && slot.plan->statistics.pixels == 0) {
    // Nothing lies in the frame.
  } else if (frame.memory == Memory::kCuda) {
    if (waits) slot.wait_for_default_stream();
    launch(slot, frame, false);
  } else {
    launch(slot, upload_(slot.host, stream, frame, slot.plan->first_row, slot.plan->last_row), true);
  }
  if (!slot.is_watched()) check(cudaEventRecord(slot.done.get(), stream), "cudaEventRecord");
  slots_.take();
}

std::span<const std::int64_t> DeviceMeter::collect() {
  const Slot& slot = slots_.give();
  make_current(id_);
  slot.wait_for_results();
  return slot.words();
}

double DeviceMeter::time_kernel(std::span<const Frame> frames, std::shared_ptr<const Plan> plan, int count) {
  if (slots_.pending() > 0) throw std::logic_error("cuda meter: a frame is pending");
  make_current(id_);
  auto& slots = slots_.all();
  for (Slot& slot : slots) {
    prepare(slot, plan);
    check(cudaStreamSynchronize(slot.stream.get()), "cudaStreamSynchronize");
  }
  const cudaStream_t first = slots.front().stream.get();
  const Event start = make_event(cudaEventDefault), stop = make_event(cudaEventDefault);
  check(cudaEventRecord(start.get(), first), "cudaEventRecord");
  for (const Slot& slot : slots) check(cudaStreamWaitEvent(slot.stream.get(), start.get(), 0), "cudaStreamWaitEvent");
  std::size_t turn = 0;
  for (int i = 0; i < count; ++i)
    for (const Frame& frame : frames) launch(slots[turn++ % slots.size()], frame, false);
  for (const Slot& slot : slots) {
    check(cudaEventRecord(slot.done.get(), slot.stream.get()), "cudaEventRecord");
    check(cudaStreamWaitEvent(first, slot.done.get(), 0), "cudaStreamWaitEvent");
  }
  check(cudaEventRecord(stop.get(), first), "cudaEventRecord");
  check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float ms;
  check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
  return ms * 1e-3 / (static_cast<double>(count) * static_cast<double>(frames.size()));
}

std::unique_ptr<Meter> make_meter(const Geometry& geometry, int id, int depth) {
  return std::make_unique<DeviceMeter>(geometry, id, depth);
}

}  // namespace framequality::cuda
