// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of the device twin of BLIINDS-II: its memory, and five kernels per frame.
#include "cuda/bliinds/meter.h"

#include "cuda/bliinds/device_meter.h"
#include "cuda/range.h"

#include <algorithm>
#include <stdexcept>

namespace framequality::cuda {

using namespace bliinds;

namespace {

Upload upload_of(const Input& input, Channel channel, int id) {
  PlaneSize sizes[3];
  for (int p = 0; p < 3; ++p) {
    const auto [row_bytes, rows] = channel_extent(input, channel, p);
    sizes[p] = {row_bytes, rows};
  }
  return Upload(sizes, id);
}

template <class T>
std::vector<T> to_host(const T* from, int count) {
  std::vector<T> to(static_cast<std::size_t>(count));
  check(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return to;
}

}  // namespace

BliindsMeter::BliindsMeter(const Input& input, int id, int depth)
    : input_(input),
      id_(make_current(id)),
      upload_{upload_of(input, Channel::kLuma, id), upload_of(input, Channel::kRed, id)},
      slots_(depth) {
  table_.reserve(1);
  int device, processors;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  // It may return before the table has arrived; the slots wait for it.
  check(cudaMemcpy(table_.get(), &shape_table(), sizeof(ShapeTable), cudaMemcpyHostToDevice), "cudaMemcpy");
  for (Slot& slot : slots_.all()) {
    slot.wait_for({});
    slot.job.processors = processors;
    prepare(slot);
  }
}

// The slots wait for the device.
BliindsMeter::~BliindsMeter() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
}

/// Sets up a slot's memory and job.
void BliindsMeter::prepare(Slot& slot) {
  BliindsJob& job = slot.job;
  Scale scale{input_.geometry.width, input_.geometry.height};
  std::size_t pixels = 0;
  for (ScaleJob& s : job.scale) {
    s.scale = scale;
    s.blocks = scale.columns() * scale.rows();
    s.first = job.blocks;
    s.first_chunk = job.chunks;
    s.chunks = (s.blocks + kChunk - 1) / kChunk;
    job.blocks += s.blocks;
    job.chunks += s.chunks;
    scale = scale.half();
    if (&s != &job.scale[kScales - 1])
      pixels += static_cast<std::size_t>(scale.width) * static_cast<std::size_t>(scale.height);
  }
  const auto blocks = static_cast<std::size_t>(job.blocks);
  slot.reals.reserve(pixels + 2 * kRealStatistics * blocks);
  double* reals = slot.reals.get();
  for (int i = 0; i + 1 < kScales; ++i) {
    const Scale& next = job.scale[i + 1].scale;
    job.scale[i + 1].pixels = job.half[i] = reals;
    reals += static_cast<std::size_t>(next.width) * static_cast<std::size_t>(next.height);
  }
  for (double*& values : job.values) {
    values = reals;
    reals += blocks;
  }
  job.inside = reals;
  slot.shapes.reserve(blocks);
  job.shapes = slot.shapes.get();
  slot.bins.reserve(kValueBinWords + kShapeBinWords);
  job.value_bins = slot.bins.get();
  job.shape_bins = slot.bins.get() + kValueBinWords;
  slot.sums.reserve(static_cast<std::size_t>(kRealStatistics * job.chunks));
  job.sums = slot.sums.get();
  slot.features.reserve(kFeatures);
  void* features;
  check(cudaHostGetDevicePointer(&features, slot.features.get(), 0), "cudaHostGetDevicePointer");
  job.features = static_cast<double*>(features);
  job.table = table_.get();
  job.unit = code_unit(input_.geometry.layout);
}

/// Queues zeros for the histograms.
void BliindsMeter::clear(const Slot& slot) {
  check(cudaMemsetAsync(slot.bins.get(), 0, (kValueBinWords + kShapeBinWords) * sizeof(unsigned), slot.stream.get()),
        "cudaMemsetAsync");
}

void BliindsMeter::submit(const bliinds::Task& task) {
  const Range range("submit BLIINDS-II");
  const auto& [frame, channel, interlaced] = task;
  Slot& slot = slots_.next();
  make_current(id_);
  const SyncOnThrow sync(slot.stream.get());
  BliindsJob& job = slot.job;
  const PixelLayout& layout = input_.geometry.layout;
  job.layout = channel_layout(layout, channel);
  job.red = input_.makes_red(channel) ? input_.red : RedOfYuv();
  job.interlaced = interlaced;
  Frame ours = frame;
  if (frame.memory == Memory::kCuda)
    slot.wait_for(frame);
  else
    ours = upload_[static_cast<int>(channel)](slot.host, slot.stream.get(), frame, 7u);
  job.frame = channel_frame(layout, ours, channel);
  if (!slot.is_clear) clear(slot);
  slot.is_clear = false;
  for (int scale = 0; scale < kScales; ++scale) queue_blocks(job, scale, slot.stream.get());
  queue_chunks(job, slot.stream.get());
  queue_features(job, slot.stream.get());
  slot.is_clear = true;
  check(cudaEventRecord(slot.done.get(), slot.stream.get()), "cudaEventRecord");
  slots_.take();
}

Features BliindsMeter::collect() {
  const Range range("wait for BLIINDS-II");
  const Slot& slot = slots_.give();
  make_current(id_);
  slot.wait();
  last_ = &slot;
  Features features;
  std::copy_n(slot.features.get(), kFeatures, features.begin());
  return features;
}

BlockValues BliindsMeter::blocks(int scale) {
  if (!last_) throw std::logic_error("cuda bliinds meter: no frame has been collected");
  if (scale < 0 || scale >= kScales) throw std::out_of_range("cuda bliinds meter: scale");
  make_current(id_);
  const BliindsJob& job = last_->job;
  const ScaleJob& s = job.scale[scale];
  const auto values = [&](int statistic) { return to_host(job.values[statistic] + s.first, s.blocks); };
  return {values(0), values(1), values(2), to_host(job.shapes + s.first, s.blocks)};
}

std::unique_ptr<bliinds::Meter> make_bliinds_meter(const Input& input, int id, int depth) {
  if (!measurable(input.geometry)) throw std::invalid_argument("cuda bliinds meter: the image is smaller than 4x4");
  return std::make_unique<BliindsMeter>(input, id, depth);
}

}  // namespace framequality::cuda
