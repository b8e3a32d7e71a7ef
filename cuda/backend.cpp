// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin's host side: finds a device, brings frames to it, launches one kernel for each.
#include "cuda/backend.h"

#include "cuda/device_meter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace framequality::cuda {
namespace {

constexpr std::size_t kPitchAlign = 256;     // whole memory transactions, and the stream kernels' 16 bytes
constexpr std::size_t kCopyBytes = 1 << 20;  // rows go up in pieces of this, so that DMA overlaps the copy to staging
// Narrower cells leave most of a stream kernel's 512-byte strips idle.
constexpr int kLeastStreamWidth = 64;

/// True if a stream kernel measures what the tile kernel would.
bool is_streamable(const Plan& plan) {
  const PixelLayout& l = plan.geometry.layout;
  if (l.kind != PixelLayout::Kind::kLuma || l.pixel_stride != l.word_bytes || l.offset[0] != 0) return false;
  if (l.word_bytes == 1 ? l.depth != 8 || l.shift != 0 : l.big_endian) return false;
  if (!plan.samples.is_identity()) return false;
  for (int p = 0; p < plan.fields; ++p)
    if (plan.size[p].width < 3 || plan.size[p].height < 3) return false;
  return std::all_of(plan.grids.begin(), plan.grids.end(), [&](const Grid& g) {
    return g.x1 - g.x0 == plan.size[g.field].width || (g.x1 - g.x0) / g.columns >= kLeastStreamWidth;
  });
}

int ceil_div(int a, int b) { return (a + b - 1) / b; }

}  // namespace

void DeviceMeter::Tiling::cut(const Plan& plan, int height) {
  grids.clear();
  blocks = 0;
  for (const Grid& g : plan.grids) {
    int width = 0, rows = 0;
    for (int i = 0; i < g.columns; ++i) {
      const int x0 = g.column(i) / kernel.x_align * kernel.x_align;
      width = std::max(width, g.column(i + 1) - x0);
    }
    for (int j = 0; j < g.rows; ++j) rows = std::max(rows, g.row(j + 1) - g.row(j));
    grids.push_back({g, ceil_div(width, kernel.tile_width), ceil_div(rows, height), blocks});
    blocks += g.columns * g.rows * grids.back().tiles_x * grids.back().tiles_y;
  }
}

DeviceMeter::DeviceMeter(const Geometry& geometry, int id)
    : geometry_(geometry), id_((id >= 0 ? check(cudaSetDevice(id), "cudaSetDevice") : void(), id)) {
  int device;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  planes_ = geometry.layout.planes();
  std::size_t bytes = 0;
  for (int p = 0; p < planes_; ++p) {
    pitch_[p] = (geometry.layout.row_bytes(p, geometry.width) + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
    offset_[p] = bytes;
    bytes += pitch_[p] * static_cast<std::size_t>(std::max(geometry.height, 0));
  }
  slot_.staging.reserve(bytes);
  slot_.pixels.reserve(bytes);
  slot_.ticket.reserve(1);
  check(cudaMemsetAsync(slot_.ticket.get(), 0, sizeof(unsigned), slot_.stream.get()), "cudaMemsetAsync");
}

DeviceMeter::~DeviceMeter() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
  (void)cudaStreamSynchronize(slot_.stream.get());
}

void DeviceMeter::make_current() const {
  if (id_ >= 0) check(cudaSetDevice(id_), "cudaSetDevice");
}

/// Sets stream_ up with the strip height that takes least time: whole waves of blocks, each lasting a strip's rows and
/// about 3 more (halo and start). One wave of high strips or several of low ones, whichever wastes less.
void DeviceMeter::choose_strip(const Plan& plan) {
  int per_processor = 0;
  check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, stream_.kernel.function, stream_.kernel.threads, 0),
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const int capacity = std::max(1, per_processor * processors_);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int rows = stream_.kernel.row_step; rows <= kMaxStripRows; rows += stream_.kernel.row_step) {
    stream_.cut(plan, rows * stream_.kernel.strips);
    const std::int64_t cost = std::int64_t{ceil_div(stream_.blocks, capacity)} * (rows + 3);
    if (cost > least) continue;
    least = cost;
    stream_.tile_rows = rows;
  }
  stream_.cut(plan, stream_.tile_rows * stream_.kernel.strips);
}

/// Sets the slot up for a plan; nothing to do if it is the last one again.
void DeviceMeter::prepare(std::shared_ptr<const Plan> plan) {
  if (plan == slot_.plan) return;
  if (!(plan->geometry == geometry_)) throw std::logic_error("cuda meter: plan for another geometry");
  if (!plan->refusal.empty()) throw std::logic_error("cuda meter: refused plan: " + plan->refusal);
  slot_.plan.reset();
  const int metric = plan->request.metric;
  tile_.kernel = tile_kernel(metric);
  tile_.cut(*plan, tile_.kernel.tile_height);
  stream_.grids.clear();
  stream_.blocks = 0;
  if (is_streamable(*plan)) {
    stream_.kernel = stream_kernel(metric, geometry_.layout.word_bytes);
    choose_strip(*plan);
  }
  const auto count = static_cast<std::size_t>(plan->cells) * static_cast<std::size_t>(plan->words);
  const cudaStream_t stream = slot_.stream.get();
  slot_.results.reserve(count);
  if (slot_.totals.reserve(count))
    check(cudaMemsetAsync(slot_.totals.get(), 0, count * sizeof(std::int64_t), stream), "cudaMemsetAsync");
  slot_.grids.reserve(stream_.grids.size() + tile_.grids.size());
  TiledGrid* to = slot_.grids.get();
  for (const auto* grids : {&stream_.grids, &tile_.grids}) {
    if (grids->empty()) continue;
    check(cudaMemcpyAsync(to, grids->data(), grids->size() * sizeof(TiledGrid), cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
    to += grids->size();
  }
  slot_.plan = std::move(plan);
}

/// Queues the copy of the rows that the plan reads; the frame as it will lie on the device.
Frame DeviceMeter::upload(const Frame& frame, const Plan& plan) {
  Frame staged;
  staged.on_device = true;
  for (int p = 0; p < planes_; ++p) {
    const std::size_t bytes = geometry_.layout.row_bytes(p, geometry_.width), pitch = pitch_[p];
    std::uint8_t* const device = slot_.pixels.get() + offset_[p];
    staged.plane[p] = device;
    staged.stride[p] = static_cast<std::ptrdiff_t>(pitch);
    if (bytes == 0) continue;
    const int piece = static_cast<int>(std::max<std::size_t>(1, kCopyBytes / pitch));
    for (int y = plan.first_row; y < plan.last_row; y += piece) {
      const int rows = std::min(piece, plan.last_row - y);
      const std::size_t at = static_cast<std::size_t>(y) * pitch;
      std::uint8_t* const host = slot_.staging.get() + offset_[p] + at;
      for (int i = 0; i < rows; ++i)
        std::memcpy(host + static_cast<std::size_t>(i) * pitch, frame.plane[p] + (y + i) * frame.stride[p], bytes);
      check(cudaMemcpyAsync(device + at, host, static_cast<std::size_t>(rows) * pitch, cudaMemcpyHostToDevice,
                            slot_.stream.get()),
            "cudaMemcpyAsync");
    }
  }
  return staged;
}

/// Queues the kernel for the slot's plan.
void DeviceMeter::launch(const Frame& frame, bool is_staged) {
  const Plan& plan = *slot_.plan;
  Job job;
  job.frame = frame;
  job.layout = geometry_.layout;
  job.samples = plan.samples;
  job.fields = plan.fields;
  for (int p = 0; p < plan.fields; ++p) {
    job.width[p] = plan.size[p].width;
    job.height[p] = plan.size[p].height;
  }
  const int luma = geometry_.layout.plane[0];
  const std::ptrdiff_t stride = frame.stride[luma];
  const bool fast = stream_.blocks > 0 && reinterpret_cast<std::uintptr_t>(frame.plane[luma]) % 16 == 0 &&
                    stride % 16 == 0 && std::abs(stride) <= std::numeric_limits<int>::max() / 2;
  job.readable = static_cast<int>(is_staged ? pitch_[luma] : geometry_.layout.row_bytes(luma, geometry_.width));
  const Tiling& tiling = fast ? stream_ : tile_;
  job.grids = slot_.grids.get() + (fast ? 0 : stream_.grids.size());
  job.grid_count = static_cast<int>(tiling.grids.size());
  job.first = tiling.grids.front();
  job.tile_rows = tiling.tile_rows;
  job.totals = slot_.totals.get();
  job.ticket = slot_.ticket.get();
  void* results;
  check(cudaHostGetDevicePointer(&results, slot_.results.get(), 0), "cudaHostGetDevicePointer");
  job.results = static_cast<std::int64_t*>(results);
  job.total_count = plan.cells * plan.words;
  job.words = plan.words;
  job.mean = plan.request.mean;
  void* arguments[] = {&job};
  check(cudaLaunchKernel(tiling.kernel.function, dim3(static_cast<unsigned>(tiling.blocks)),
                         dim3(static_cast<unsigned>(tiling.kernel.threads)), arguments, 0, slot_.stream.get()),
        "cudaLaunchKernel");
  check(cudaGetLastError(), "cudaLaunchKernel");
}

void DeviceMeter::submit(const Frame& frame, std::shared_ptr<const Plan> plan) {
  if (slot_.pending) throw std::logic_error("cuda meter: a frame is pending");
  make_current();
  prepare(std::move(plan));
  if (tile_.blocks == 0) {
    std::fill_n(slot_.results.get(), slot_.plan->cells * slot_.plan->words, 0);
  } else {
    launch(frame.on_device ? frame : upload(frame, *slot_.plan), !frame.on_device);
  }
  check(cudaEventRecord(slot_.done.get(), slot_.stream.get()), "cudaEventRecord");
  slot_.pending = true;
}

std::span<const std::int64_t> DeviceMeter::collect() {
  if (!slot_.pending) throw std::logic_error("cuda meter: no frame is pending");
  slot_.pending = false;
  make_current();
  check(cudaEventSynchronize(slot_.done.get()), "cudaEventSynchronize");
  return {slot_.results.get(),
          static_cast<std::size_t>(slot_.plan->cells) * static_cast<std::size_t>(slot_.plan->words)};
}

double DeviceMeter::time_kernel(std::span<const Frame> frames, std::shared_ptr<const Plan> plan, int count) {
  if (slot_.pending) throw std::logic_error("cuda meter: a frame is pending");
  make_current();
  prepare(std::move(plan));
  const Event start = make_event(cudaEventDefault), stop = make_event(cudaEventDefault);
  check(cudaEventRecord(start.get(), slot_.stream.get()), "cudaEventRecord");
  for (int i = 0; i < count; ++i)
    for (const Frame& frame : frames) launch(frame, false);
  check(cudaEventRecord(stop.get(), slot_.stream.get()), "cudaEventRecord");
  check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float ms;
  check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
  return ms * 1e-3 / (static_cast<double>(count) * static_cast<double>(frames.size()));
}

std::unique_ptr<Meter> make_meter(const Geometry& geometry, int id) {
  return std::make_unique<DeviceMeter>(geometry, id);
}

}  // namespace framequality::cuda
