// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA twin: kernels alone over rotating frames in device memory, whole frames from host memory, and the CPU twin
// and the device's read bandwidth beside them.
#include "algorithms/sharpness/score.h"
#include "benchmarks/support/picture.h"
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "cuda/sharpness/testing.h"
#include "cuda/testing.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>

using namespace framequality;

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
  static const cuda::Device found = cuda::find_device();
  if (found.id < 0) std::fprintf(stderr, "no GPU: %s\n", found.reason.c_str());
  return found.id;
}

void read_bandwidth(benchmark::State& state) {
  constexpr double kBytes = 1e9;
  for (auto _ : state) state.SetIterationTime(kBytes / cuda::read_bandwidth(device()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(kBytes));
}

void kernel(benchmark::State& state, const Run& run) {
  const auto plan = run.plan();
  const auto pixels = run.pixels();
  std::vector<cuda::DeviceBytes> memory;
  std::vector<Frame> frames;
  for (int i = 0; i < run.size.frames; ++i) {
    memory.emplace_back(pixels, device());
    Frame frame;
    frame.plane[0] = memory.back().data();
    frame.stride[0] = run.stride();
    frame.on_device = true;
    frames.push_back(frame);
  }
  const auto meter = cuda::make_meter(plan->geometry, device(), run.in_flight);
  for (auto _ : state) state.SetIterationTime(cuda::kernel_seconds(*meter, frames, plan, 4));
  run.count_bytes(state);
}

void whole_frames(benchmark::State& state, const Run& run, bool on_cpu) {
  const auto plan = run.plan();
  const auto pixels = run.pixels();
  Frame frame;
  frame.plane[0] = pixels.data();
  frame.stride[0] = run.stride();
  const auto meter = on_cpu ? cpu::make_meter(plan->geometry) : cuda::make_meter(plan->geometry, device());
  for (auto _ : state) {
    meter->submit({frame, plan});
    benchmark::DoNotOptimize(finish(*plan, meter->collect()).score);
  }
  run.count_bytes(state);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (device() < 0) return 77;
  benchmark::AddCustomContext("gpu", cuda::find_device().name);
  const auto add = [](const std::string& name, auto... args) {
    return benchmark::RegisterBenchmark(name.c_str(), args...)->Unit(benchmark::kMicrosecond);
  };
  add("device-read", read_bandwidth)->UseManualTime()->Iterations(5);
  for (const Size& size : kSizes) {
    for (int m = 0; m < kMetricCount; ++m) {
      const std::string name = std::string(metric_info(m).name) + "/" + size.name;
      add("cuda-kernel/" + name, kernel, Run{size, m})->UseManualTime()->Iterations(5);
      add("cuda-kernel-in-flight/" + name, kernel, Run{.size = size, .metric = m, .in_flight = 2})
          ->UseManualTime()
          ->Iterations(5);
      add("cuda-kernel-16bit/" + name, kernel, Run{size, m, 16})->UseManualTime()->Iterations(5);
      if (with_metric(m, [](auto metric) { return decltype(metric)::kHistogram; }))
        for (const auto& [suffix, kind] : {std::pair("/noise", Content::kNoise), std::pair("/flat", Content::kFlat)})
          add("cuda-kernel/" + name + suffix, kernel, Run{.size = size, .metric = m, .kind = kind})
              ->UseManualTime()
              ->Iterations(5);
      if (m != kDefaultMetric) continue;
      add("cuda-kernel-binomial3/" + name, kernel, Run{size, m, 8, Prefilter::kBinomial3})
          ->UseManualTime()
          ->Iterations(5);
      add("cuda-kernel-binomial5/" + name, kernel, Run{size, m, 8, Prefilter::kBinomial5})
          ->UseManualTime()
          ->Iterations(5);
      const Run statistics{.size = size, .metric = m, .statistics = true};
      add("cuda-kernel-statistics/" + name, kernel, statistics)->UseManualTime()->Iterations(5);
      add("cuda-frame-statistics/" + name, whole_frames, statistics, false)->UseRealTime()->MinTime(0.2);
      add("cuda-frame/" + name, whole_frames, Run{size, m}, false)->UseRealTime()->MinTime(0.2);
      add("cpu-frame/" + name, whole_frames, Run{size, m}, true)->UseRealTime()->MinTime(0.2);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}
