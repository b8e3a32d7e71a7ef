// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA twin: kernels alone over rotating frames in device memory, whole frames from host memory, and the CPU twin
// and the device's read bandwidth beside them.
#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/score.h"
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "device/pinned.h"
#include "tests/support/device.h"
#include "tests/support/device_twins.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>

using namespace framequality;
using namespace framequality::sharpness;

namespace {

struct Size {
  const char* name;
  int width, height;
  int frames;  ///< that rotate: together several times the largest L2 there is
};
constexpr Size kSizes[] = {{"1080p", 1920, 1080, 128}, {"2160p", 3840, 2160, 32}, {"8192x8192", 8192, 8192, 8}};

/// What is in the frames: matters to `entropy`, whose counters threads share.
enum class Content { kPicture, kNoise, kFlat };

/// Packed bytes of a frame. The answer is kept for the next call alike.
const std::vector<std::uint8_t>& content(const Size& size, Content kind) {
  static std::map<std::tuple<int, int, Content>, std::vector<std::uint8_t>> kept;
  const auto [frame, is_new] = kept.try_emplace({size.width, size.height, kind});
  if (!is_new) return frame->second;
  if (kind == Content::kPicture) return frame->second = make_picture(size.width, size.height);
  frame->second.assign(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height), 128);
  std::mt19937 random(1);
  if (kind == Content::kNoise)
    for (std::uint8_t& v : frame->second) v = static_cast<std::uint8_t>(random());
  return frame->second;
}

struct Run {
  Size size;
  int metric;
  int depth = 8;
  Prefilter prefilter = Prefilter::kNone;
  Content kind = Content::kPicture;
  int in_flight = 1;
  bool statistics = false;

  std::shared_ptr<const Plan> plan() const {
    Geometry geometry{size.width, size.height, {}};
    if (depth > 8) {
      geometry.layout.depth = static_cast<std::uint8_t>(depth);
      geometry.layout.word_bytes = geometry.layout.pixel_stride = 2;
    }
    Request request;
    request.metric = metric;
    request.prefilter = prefilter;
    request.statistics = statistics;
    return std::make_shared<const Plan>(make_plan(geometry, request));
  }
  std::ptrdiff_t stride() const { return std::ptrdiff_t{size.width} * (depth > 8 ? 2 : 1); }
  std::vector<std::uint8_t> pixels() const {
    const auto& bytes = content(size, kind);
    if (depth == 8) return bytes;
    std::vector<std::uint8_t> words;
    words.reserve(2 * bytes.size());
    for (const std::uint8_t b : bytes) {
      const int v = b << (depth - 8);
      words.push_back(static_cast<std::uint8_t>(v));
      words.push_back(static_cast<std::uint8_t>(v >> 8));
    }
    return words;
  }
  void count_bytes(benchmark::State& state) const {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * stride() * size.height);
  }
};

int device() {
  static const Device found = cuda::find_device();
  if (found.id < 0) std::fprintf(stderr, "no GPU: %s\n", found.reason.c_str());
  return found.id;
}

void read_bandwidth(benchmark::State& state) {
  constexpr double kBytes = 1e9;
  for (auto _ : state) state.SetIterationTime(kBytes / cuda::read_bandwidth(device()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(kBytes));
}

/// The frames of a run, in device memory.
struct Frames {
  explicit Frames(const Run& run) {
    const auto pixels = run.pixels();
    for (int i = 0; i < run.size.frames; ++i) {
      memory.emplace_back(pixels, device());
      Frame frame;
      frame.plane[0] = memory.back().data();
      frame.stride[0] = run.stride();
      frame.memory = Memory::kCuda;
      all.push_back(frame);
    }
  }
  std::vector<cuda::DeviceBytes> memory;
  std::vector<Frame> all;
};

/// Those of this run; kept until one of another size asks.
std::span<const Frame> frames_of(const Run& run) {
  static std::map<std::tuple<int, Content>, Frames> kept;
  static int height = 0;
  if (height != run.size.height) kept.clear();
  height = run.size.height;
  return kept.try_emplace({run.depth, run.kind}, run).first->second.all;
}

void kernel(benchmark::State& state, const Run& run) {
  const auto plan = run.plan();
  const auto frames = frames_of(run);
  const auto meter = cuda::make_meter(plan->geometry, device(), run.in_flight);
  for (auto _ : state) state.SetIterationTime(cuda::kernel_seconds(*meter, frames, plan, 4));
  run.count_bytes(state);
}

enum class By { kCpu, kGpu, kGpuPinned };

void whole_frames(benchmark::State& state, const Run& run, By by) {
  const auto plan = run.plan();
  const auto pixels = run.pixels();
  Frame frame;
  frame.plane[0] = pixels.data();
  frame.stride[0] = run.stride();
  std::optional<PinnedBytes> pinned;
  if (by == By::kGpuPinned) {
    pinned.emplace(pixels.size(), Place{&cuda::kBackend, device()});
    if (!pinned->is_pinned()) return state.SkipWithError("the driver pins no memory");
    std::memcpy(pinned->data(), pixels.data(), pixels.size());
    frame.plane[0] = static_cast<const std::uint8_t*>(pinned->data());
  }
  const auto meter = by == By::kCpu ? cpu::make_meter(plan->geometry) : cuda::make_meter(plan->geometry, device());
  for (auto _ : state) {
    meter->submit({frame, plan});
    benchmark::DoNotOptimize(finish(*plan, meter->collect()).score);
  }
  run.count_bytes(state);
}

/// The metrics whose whole frames from pinned memory are measured: those that other libraries have too.
bool is_common(const std::string& metric) { return metric == "tenengrad" || metric == "laplacian-variance"; }

}  // namespace

int main(int argc, char** argv) {
  if (device() < 0) return 77;
  bench::initialize_google("cuda_bench", cuda::find_device().name, argc, argv);
  const auto add = [](const std::string& name, auto... args) {
    return benchmark::RegisterBenchmark(name.c_str(), args...)->Unit(benchmark::kMicrosecond);
  };
  const auto add_kernel = [&](const std::string& name, const Run& run) {
    add(name, kernel, run)->UseManualTime()->Iterations(5);
  };
  const auto add_frame = [&](const std::string& name, const Run& run, By by) {
    add(name, whole_frames, run, by)->UseRealTime()->MinTime(0.1);
  };
  add("device-read", read_bandwidth)->UseManualTime()->Iterations(5);
  for (const Size& size : kSizes) {
    for (int m = 0; m < kMetricCount; ++m) {
      const std::string metric = metric_info(m).name, name = metric + "/" + size.name;
      const Run plain{size, m};
      add_kernel("cuda-kernel/" + name, plain);
      add_kernel("cuda-kernel-in-flight/" + name, {.size = size, .metric = m, .in_flight = 2});
      add_kernel("cuda-kernel-16bit/" + name, {size, m, 16});
      if (with_metric(m, [](auto its) { return decltype(its)::kHistogram; }))
        for (const auto& [suffix, kind] : {std::pair("/noise", Content::kNoise), std::pair("/flat", Content::kFlat)})
          add_kernel("cuda-kernel/" + name + suffix, {.size = size, .metric = m, .kind = kind});
      const Run smoothed{size, m, 8, Prefilter::kBinomial5};
      add_kernel("cuda-kernel-binomial5/" + name, smoothed);
      if (is_common(metric)) {
        add_frame("cuda-frame-pinned/" + name, plain, By::kGpuPinned);
        add_frame("cuda-frame-pinned-binomial5/" + name, smoothed, By::kGpuPinned);
      }
      if (m != kDefaultMetric) continue;
      for (const auto& [suffix, prefilter] :
           {std::pair("-binomial3", Prefilter::kBinomial3), std::pair("-binomial5", Prefilter::kBinomial5)}) {
        if (prefilter == Prefilter::kBinomial3)
          add_kernel("cuda-kernel" + std::string(suffix) + "/" + name, {size, m, 8, prefilter});
        add_kernel("cuda-kernel" + std::string(suffix) + "-in-flight/" + name,
                   {.size = size, .metric = m, .prefilter = prefilter, .in_flight = 2});
        add_kernel("cuda-kernel-16bit" + std::string(suffix) + "/" + name, {size, m, 16, prefilter});
      }
      const Run statistics{.size = size, .metric = m, .statistics = true};
      add_kernel("cuda-kernel-statistics/" + name, statistics);
      add_frame("cuda-frame-statistics/" + name, statistics, By::kGpu);
      add_frame("cuda-frame/" + name, plain, By::kGpu);
      add_frame("cpu-frame/" + name, plain, By::kCpu);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}
