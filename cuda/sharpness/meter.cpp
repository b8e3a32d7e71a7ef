// SPDX-License-Identifier: LGPL-2.1-or-later
// The slots of DeviceMeter: transfer frames to the device, queue the kernels of their route, wait for totals.
#include "cuda/sharpness/meter.h"

#include "cuda/device.h"
#include "cuda/range.h"
#include "cuda/sharpness/device_meter.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <source_location>
#include <stdexcept>

namespace framequality::cuda {

using namespace sharpness;

namespace {

constexpr int kLumaBlocks = 16;   // on each processor
constexpr int kExposeBlocks = 4;  // on each processor
// From this architecture on kernels can overlap: overlap.cuh.
constexpr int kOverlapFrom = 900;
// Samples that kernels read beside those that they measure: a metric's reach, and the rest of what they load at once.
constexpr int kSampleMargin = 16;
constexpr int kSampleWarps = 16;  // per processor
constexpr int kMostSampleRows = 64;
// A result until the device has written it. Plans let no signed total be this low; only a sum of squares, which
// counts to 2^64, could have these bits: then the event decides.
constexpr std::int64_t kPending = std::numeric_limits<std::int64_t>::min();
// Beyond this, setting and reading them takes longer than an event.
constexpr std::size_t kWatchedWords = 1024;
// One for each kernel that ends with results, and one for the choice of the noise block that counts.
constexpr std::size_t kTickets = 3 + Plan::kMostCompanions;

Kernel kernel_of(const Plan& plan, Measure measure) {
  const int metric = plan.request.metric;
  switch (measure) {
    case Measure::kNothing:
      return {};
    case Measure::kTile:
      return tile_kernel(metric);
    case Measure::kQuadratic:
      return quadratic_kernel(metric);
    case Measure::kPrefilter:
      return prefilter_kernel(metric, plan.samples.radius);
    case Measure::kPrefilterWords:
      return prefilter_words_kernel(metric, plan.samples.radius);
    default:
      return stream_kernel(metric, measure);
  }
}

dim3 grid_of(int x, int y = 1, int z = 1) {
  return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
}

/// Sets the size of the fields, in working samples of the plan.
void set_size(Job& job, const Plan& plan) {
  for (int p = 0; p < plan.fields; ++p) {
    job.width[p] = plan.size[p].width;
    job.height[p] = plan.size[p].height;
  }
}

}  // namespace

/// Queues a kernel whose only argument is `work`. All but a frame's first may begin before the one before has ended:
/// overlap.cuh.
template <class Work>
void DeviceMeter::start(const Kernel& kernel, dim3 grid, Work& work, cudaStream_t stream, std::source_location where) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = grid;
  launch.blockDim = grid_of(kernel.threads);
  launch.stream = stream;
  launch.attrs = &overlap;
  launch.numAttrs = !is_first_ && architecture_ >= kOverlapFrom ? 1 : 0;
  void* arguments[] = {&work};
  check(cudaLaunchKernelExC(&launch, kernel.function, arguments), "cudaLaunchKernelExC", where);
  is_first_ = false;
}

bool DeviceMeter::Slot::is_watched() const { return words().size() <= kWatchedWords; }

/// Waits until the results arrive. The host sees them in its memory 3 us before an event that follows the kernels.
/// Each is one store of the kernel's last block, after all other blocks: a complete set needs no other
/// signal. The event is for slow results, and for faults, where they never arrive.
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

DeviceMeter::DeviceMeter(const Geometry& geometry, int id, int depth)
    : geometry_(geometry),
      id_(make_current(id)),
      architecture_(architecture_on(capability())),
      upload_(geometry, id, true),
      slots_(depth) {
  int device;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  for (Slot& slot : slots_.all()) {
    slot.ticket.reserve(kTickets);
    check(cudaMemsetAsync(slot.ticket.get(), 0, kTickets * sizeof(unsigned), slot.stream.get()), "cudaMemsetAsync");
  }
}

// The slots wait for the device.
DeviceMeter::~DeviceMeter() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
}

/// Chooses the kernel for a plan and cuts its tiles.
DeviceMeter::Cut DeviceMeter::cut(const Plan& plan, Measure measure) const {
  Cut made{kernel_of(plan, measure), {}};
  if (!made.kernel.function) return made;
  int per_processor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, made.kernel.function, made.kernel.threads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  made.tiling = make_tiling(plan, made.kernel, std::max(1, per_processor * processors_));
  return made;
}

/// The same for a plan and its companions; nothing to do if it is the last one again.
void DeviceMeter::cut(std::shared_ptr<const Plan> plan) {
  if (plan == plan_) return;
  if (!(plan->geometry == geometry_)) throw std::logic_error("cuda meter: plan for another geometry");
  if (!plan->refusal.empty()) throw std::logic_error("cuda meter: refused plan: " + plan->refusal);
  plan_.reset();
  route_ = framequality::cuda::route(*plan, {}, architecture_);
  cuts_.clear();
  cuts_.push_back(cut(*plan, route_.measure));
  for (std::size_t i = 0; i < plan->companions.size(); ++i) {
    const std::size_t first = cuts_.back().first_grid + cuts_.back().tiling.grids.size();
    cuts_.push_back(cut(*plan->companions[i].plan, route_.companions[i].measure));
    cuts_.back().first_grid = first;
  }
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
  // From the slot's own memory: the tiling may be cut for the next plan before the device has fetched this one.
  const std::size_t grids = cuts_.back().first_grid + cuts_.back().tiling.grids.size();
  slot.grids.reserve(grids);
  slot.staged_grids.reserve(grids);
  for (const Cut& c : cuts_) std::ranges::copy(c.tiling.grids, slot.staged_grids.get() + c.first_grid);
  copy_async(slot.grids, slot.staged_grids, grids, stream);
  slot.plan = std::move(plan);
}

/// Queues the kernel that extracts the rows of the job's frame that the plan reads into a plane of luma, for `job`
/// to read. Luma is written once and, for all but the largest frames, read back from the L2 cache: far cheaper
/// than a kernel for any layout, which extracts each neighbour again.
void DeviceMeter::extract(Slot& slot, Job& job) {
  const PixelLayout& layout = geometry_.layout;
  const auto bytes = static_cast<std::size_t>(code_bytes(layout));
  const std::size_t pitch = whole_pitch(static_cast<std::size_t>(geometry_.width) * bytes);
  const std::size_t size = pitch * static_cast<std::size_t>(geometry_.height);
  reserve_zeroed(slot.luma, size, slot.stream.get());  // data after the rows are read, but not used
  LumaJob luma;
  luma.frame = job.frame;
  luma.layout = layout;
  luma.luma = slot.luma.get();
  luma.pitch = static_cast<std::ptrdiff_t>(pitch);
  luma.width = geometry_.width;
  luma.first_row = slot.plan->first_row;
  luma.last_row = slot.plan->last_row;
  const Kernel kernel = luma_kernel(route_.luma, layout);
  const int across = ceil_div(geometry_.width, kernel.tile_width);
  const int down = std::clamp(kLumaBlocks * processors_ / across, 1, luma.last_row - luma.first_row);
  start(kernel, grid_of(across, down), luma, slot.stream.get());
  job.layout = {};
  job.layout.depth = layout.depth;
  job.layout.word_bytes = job.layout.pixel_stride = static_cast<std::uint8_t>(bytes);
  job.frame = {};
  job.frame.plane[0] = luma.luma;
  job.frame.stride[0] = luma.pitch;
  job.readable = static_cast<int>(pitch);
  job.is_made = true;
}

/// Queues the kernel that computes the plan's working samples into a plane of words, which `job` then reads
/// like luma stored as words.
void DeviceMeter::make_samples(Slot& slot, Job& job, const Plan& plan) {
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
  // Enough warps to keep a device busy, but strips at least as high as their halo.
  make.tile_rows = std::clamp(ceil_div(height * across * plan.fields, kSampleWarps * processors_),
                              std::max(2 * plan.samples.radius, 1), kMostSampleRows);
  make.pitch = static_cast<std::ptrdiff_t>(
      whole_pitch(2 * static_cast<std::size_t>(std::max(plan.size[0].width, plan.size[1].width))));
  const std::size_t size = static_cast<std::size_t>(make.pitch) * static_cast<std::size_t>(plan.fields) *
                           static_cast<std::size_t>(std::max(plan.size[0].height, plan.size[1].height));
  reserve_zeroed(slot.samples, size, slot.stream.get());  // unwritten samples are read, but not used
  make.out = slot.samples.get();
  start(kernel, grid_of(across, ceil_div(height, kernel.strips * make.tile_rows), plan.fields), make,
        slot.stream.get());
  job.layout = {};
  job.layout.depth = plan.samples.bits();
  job.layout.word_bytes = job.layout.pixel_stride = 2;
  job.samples = sample_format(plan.samples.bits(), Prefilter::kNone, 1);
  job.frame = {};
  job.frame.plane[0] = make.out;
  job.frame.stride[0] = make.pitch;
  job.readable = static_cast<int>(make.pitch);
  job.is_made = true;
}

/// Queues the kernel of the statistics. from: has luma as adjacent words, and the destination of results.
void DeviceMeter::measure_statistics(Slot& slot, const Job& from) {
  const Plan& plan = *slot.plan;
  const StatisticsPlan& statistics = plan.statistics;
  StatisticsJob job;
  job.frame = from.frame;
  job.layout = from.layout;
  job.fields = plan.fields;
  job.grids = statistics.grids;
  for (int i = 0; i < statistics.grids; ++i) {
    const StatisticsGrid& grid = job.grid[i] = statistics.grid[i];
    job.first_tile[i] = job.tiles;
    job.tiles += ceil_div(grid.groups, kStatisticsTileGroups);
  }
  job.step = statistics.step;
  job.sum_count = statistics.sums;
  job.rank = statistics.rank();
  job.clip = clip_codes(geometry_.layout.depth, plan.request.limited);
  job.is_made = from.is_made;
  job.sums = slot.noise.get();
  job.totals = slot.totals.get() + plan.cell_totals();
  job.ticket = slot.ticket.get() + 1;
  job.chosen = slot.ticket.get() + kTickets - 1;
  job.results = from.results + plan.cell_totals();
  const int bytes = code_bytes(geometry_.layout);
  const Kernel kernel = statistics_kernel(bytes);
  const auto each = static_cast<std::uint64_t>(kernel.threads * kExposedRows * kExposedBytes);
  const std::uint64_t enough = (statistics.pixels * static_cast<std::uint64_t>(bytes) + each - 1) / each;
  const int exposing =
      route_.exposes ? 0 : static_cast<int>(std::min<std::uint64_t>(enough, kExposeBlocks * processors_));
  job.first_word = route_.exposes ? kExposureWords : 0;
  start(kernel, grid_of(job.tiles + exposing), job, slot.stream.get());
}

/// Queues a kernel that measures. The job has the samples, and the addresses of totals, results and ticket.
void DeviceMeter::queue(Slot& slot, Job& job, const Plan& plan, const Cut& cut) {
  const Tiling& tiling = cut.tiling;
  job.grids = slot.grids.get() + cut.first_grid;
  job.grid_count = static_cast<int>(tiling.grids.size());
  job.first = tiling.grids.front();
  job.total_count = plan.cell_totals() + (job.exposes ? kExposureWords : 0);
  job.words = plan.words;
  job.mean = plan.request.mean;
  start(cut.kernel, grid_of(tiling.blocks), job, slot.stream.get());
  check(cudaGetLastError(), "cudaLaunchKernel");
}

/// Queues the kernel of the plan's metric.
void DeviceMeter::measure(Slot& slot, Job& job) {
  job.totals = slot.totals.get();
  job.ticket = slot.ticket.get();
  Job measured = job;
  measured.exposes = route_.exposes;
  measured.clip = clip_codes(geometry_.layout.depth, slot.plan->request.limited);
  queue(slot, measured, *slot.plan, cuts_.front());
}

/// Queues the kernels of the plan's companions. frame: the job that samples were computed from; samples: with those.
void DeviceMeter::measure_companions(Slot& slot, const Job& frame, const Job& samples) {
  const std::vector<Plan::Companion>& companions = slot.plan->companions;
  for (std::size_t i = 0; i < companions.size(); ++i) {
    const auto& [plan, at] = companions[i];
    const bool shares = route_.companions[i].shares_samples;
    Job job = shares ? samples : frame;
    set_size(job, *plan);
    if (!shares) make_samples(slot, job, *plan);
    job.totals = slot.totals.get() + at;
    job.results = slot.mapped_results + at;
    job.ticket = slot.ticket.get() + 2 + i;
    queue(slot, job, *plan, cuts_[i + 1]);
  }
}

/// Queues the kernels for the slot's plan, along the frame's route: each stage passes its results to the next in `job`.
void DeviceMeter::launch(Slot& slot, const Frame& frame, bool is_ours) {
  const Plan& plan = *slot.plan;
  const Placement placement = placement_of(geometry_, frame, is_ours);
  route_ = framequality::cuda::route(plan, placement, architecture_);
  Job job;
  job.frame = frame;
  job.layout = geometry_.layout;
  job.samples = plan.samples;
  job.fields = plan.fields;
  set_size(job, plan);
  job.readable = static_cast<int>(placement.readable);
  job.results = slot.mapped_results;
  Job frame_job;  // before samples are made
  is_first_ = true;
  for (const Stage stage : kStages) {
    if (stage == Stage::kSamples) frame_job = job;
    if (!route_.has(stage)) continue;
    switch (stage) {
      case Stage::kLuma:
        extract(slot, job);
        break;
      case Stage::kStatistics:
        measure_statistics(slot, frame_job);
        break;
      case Stage::kSamples:
        make_samples(slot, job, plan);
        break;
      case Stage::kMeasure:
        measure(slot, job);
        break;
      case Stage::kCompanions:
        measure_companions(slot, frame_job, job);
        break;
    }
  }
}

void DeviceMeter::submit(const Task& task) { begin(task.frame, task.plan, true); }

/// submit(); waits: for the queue that writes a frame on the device.
void DeviceMeter::begin(const Frame& frame, std::shared_ptr<const Plan> plan, bool waits) {
  const Range range("submit sharpness");
  Slot& slot = slots_.next();
  make_current(id_);
  prepare(slot, std::move(plan));
  const cudaStream_t stream = slot.stream.get();
  const SyncOnThrow sync(stream);
  if (slot.is_watched()) std::ranges::fill(slot.words(), kPending);
  // Totals that no kernel writes.
  const auto cells = static_cast<std::size_t>(slot.plan->cell_totals()),
             companions = static_cast<std::size_t>(slot.plan->statistics_end());
  const bool measures = route_.has(Stage::kMeasure), has_statistics = route_.has(Stage::kStatistics);
  if (!measures) std::ranges::fill(slot.words().first(cells), 0);
  if (!has_statistics) std::ranges::fill(slot.words().subspan(cells, companions - cells), 0);
  if (!route_.has(Stage::kCompanions)) std::ranges::fill(slot.words().subspan(companions), 0);
  if (!measures && !has_statistics) {
    // No cell lies in the frame.
  } else if (frame.memory == Memory::kCuda) {
    if (waits) slot.wait_for(frame);
    launch(slot, frame, false);
  } else {
    launch(slot, upload_(slot.host, stream, frame, slot.plan->first_row, slot.plan->last_row), true);
  }
  if (!slot.is_watched()) check(cudaEventRecord(slot.done.get(), stream), "cudaEventRecord");
  slots_.take();
}

std::span<const std::int64_t> DeviceMeter::collect() {
  const Range range("wait for sharpness");
  const Slot& slot = slots_.give();
  make_current(id_);
  slot.wait_for_results();
  return slot.words();
}

std::string DeviceMeter::route() const {
  return to_string(route_) + ", blocks " + std::to_string(cuts_.empty() ? 0 : cuts_.front().tiling.blocks);
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
