// SPDX-License-Identifier: LGPL-2.1-or-later
// The classical three-kernel pipeline, the CUDA twin and the CPU twin on the same BGR pictures, totals equal.
#include "algorithms/sharpness/metrics.h"
#include "benchmarks/sharpness/classical.h"
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "cuda/runtime.h"
#include "cuda/sharpness/meter.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

using namespace framequality;

namespace {

int device = -1;

int metric_index(const std::string& name) {
  int m = 0;
  while (metric_info(m).name != name) ++m;
  return m;
}

Geometry geometry_of(int width, int height) {
  Geometry g{width, height, {}};
  g.layout.kind = PixelLayout::Kind::kRgb;
  g.layout.pixel_stride = 3;
  std::copy_n(std::initializer_list<std::uint8_t>{2, 1, 0}.begin(), 3, g.layout.offset);
  return g;
}

/// A picture in pageable and in pinned memory.
struct Picture {
  Picture(int w, int h) : width(w), height(h), pageable(make_color_picture(w, h)) {
    cuda::check(cudaSetDevice(device), "cudaSetDevice");
    pinned.reserve(pageable.size());
    std::memcpy(pinned.get(), pageable.data(), pageable.size());
  }
  Frame frame(bool is_pinned) const {
    Frame f;
    f.plane[0] = is_pinned ? pinned.get() : pageable.data();
    f.stride[0] = std::ptrdiff_t{3} * width;
    return f;
  }
  int width, height;
  std::vector<std::uint8_t> pageable;
  cuda::PinnedMemory<std::uint8_t> pinned;
};

/// The picture of this size; only the last one is kept.
const Picture& picture(int width, int height) {
  static std::unique_ptr<Picture> last;
  if (!last || last->width != width || last->height != height) {
    last.reset();
    last = std::make_unique<Picture>(width, height);
  }
  return *last;
}

/// kMetrics[metric] on a size.
struct Case {
  int width, height, metric;

  std::shared_ptr<const Plan> plan() const {
    Request request;
    request.metric = metric_index(classical::kMetrics[static_cast<std::size_t>(metric)]);
    return std::make_shared<const Plan>(make_plan(geometry_of(width, height), request));
  }
  std::string name() const {
    return std::string(classical::kMetrics[static_cast<std::size_t>(metric)]) + "/" + std::to_string(width) + "x" +
           std::to_string(height);
  }
  /// The CPU twin's total.
  std::int64_t expected() const {
    static std::map<std::string, std::int64_t> known;
    const auto [at, is_new] = known.try_emplace(name());
    if (is_new) {
      const auto meter = cpu::make_meter(geometry_of(width, height));
      meter->submit({picture(width, height).frame(false), plan()});
      at->second = meter->collect()[0];
    }
    return at->second;
  }
  /// A benchmark of wrong numbers is worth nothing: ends the program if the totals differ.
  void check(const char* what, std::int64_t total, std::int64_t expected) const {
    if (total == expected) return;
    std::fprintf(stderr, "%s, %s: total %lld, on the CPU %lld\n", name().c_str(), what, static_cast<long long>(total),
                 static_cast<long long>(expected));
    std::exit(1);
  }
  std::int64_t classical_total(classical::Reduction reduction, classical::Times* times = nullptr) const {
    return classical::total(picture(width, height).pageable.data(), width, height, metric, reduction, device, times);
  }
  void count_bytes(benchmark::State& state) const {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 3 * width * height);
  }
};

constexpr classical::Reduction reduction_of(std::size_t i) { return static_cast<classical::Reduction>(i); }

void classical_pipeline(benchmark::State& state, const Case& c, std::size_t reduction) {
  constexpr int kTimed = 5;
  const std::int64_t expected = c.expected();
  for (auto _ : state) c.check(classical::kReductions[reduction], c.classical_total(reduction_of(reduction)), expected);
  c.count_bytes(state);
  // Where the time goes; waiting after each step makes the sum larger than what was measured above.
  classical::Times t;
  for (int i = 0; i < kTimed; ++i) c.classical_total(reduction_of(reduction), &t);
  for (const auto& [name, seconds] : {std::pair{"allocate_us", t.allocate},
                                      {"upload_us", t.upload},
                                      {"gray_us", t.gray},
                                      {"pixels_us", t.pixels},
                                      {"reduce_us", t.reduce},
                                      {"download_us", t.download},
                                      {"add_us", t.add},
                                      {"release_us", t.release}})
    state.counters[name] = seconds * 1e6 / kTimed;
}

enum class Ours { kPageable, kPinned, kCpu };

void ours(benchmark::State& state, const Case& c, Ours kind) {
  const auto plan = c.plan();
  const auto meter = kind == Ours::kCpu ? cpu::make_meter(plan->geometry) : cuda::make_meter(plan->geometry, device);
  const Frame frame = picture(c.width, c.height).frame(kind == Ours::kPinned);
  const std::int64_t expected = c.expected();
  const auto measure = [&] {
    meter->submit({frame, plan});
    c.check("ours", meter->collect()[0], expected);
  };
  measure();  // a meter allocates with its first frame
  for (auto _ : state) measure();
  c.count_bytes(state);
}

/// Totals of all at sizes where bounds go wrong first.
void check_totals() {
  constexpr int kSizes[][2] = {{1, 1},   {2, 2},   {3, 3},   {15, 17},   {16, 16},    {17, 33},
                               {77, 55}, {513, 1}, {1, 513}, {641, 481}, {1921, 1081}};
  for (const auto& [width, height] : kSizes)
    for (int m = 0; m < static_cast<int>(classical::kMetrics.size()); ++m) {
      const Case c{width, height, m};
      for (std::size_t r = 0; r < classical::kReductions.size(); ++r)
        c.check(classical::kReductions[r], c.classical_total(reduction_of(r)), c.expected());
      const auto plan = c.plan();
      const auto meter = cuda::make_meter(plan->geometry, device);
      for (const bool pinned : {false, true}) {
        meter->submit({picture(width, height).frame(pinned), plan});
        c.check(pinned ? "ours from pinned memory" : "ours from pageable memory", meter->collect()[0], c.expected());
      }
    }
  std::printf("totals of all reductions and of ours equal the CPU twin's at %zu awkward sizes\n", std::size(kSizes));
}

}  // namespace

int main(int argc, char** argv) {
  const cuda::Device found = cuda::find_device();
  if (found.id < 0) {
    std::fprintf(stderr, "no GPU: %s\n", found.reason.c_str());
    return 77;
  }
  device = found.id;
  const bench::Options options =
      bench::initialize_google("classical_bench", found.name, argc, argv,
                               {{"sizes", "256,512,1024,2048,4096,8192", "edges of the square pictures, pixels"},
                                {"seconds", "0.1", "least time for each row"}});
  check_totals();
  const auto add = [&](const std::string& name, auto... args) {
    benchmark::RegisterBenchmark(name.c_str(), args...)
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime()
        ->MinTime(options.number("seconds"));
  };
  for (const int size : options.numbers("sizes"))
    for (int m = 0; m < static_cast<int>(classical::kMetrics.size()); ++m) {
      const Case c{size, size, m};
      std::string name = "/";
      name += c.name();
      for (std::size_t r = 0; r < classical::kReductions.size(); ++r)
        add(std::string("classical-") + classical::kReductions[r] + name, classical_pipeline, c, r);
      add("ours-pageable" + name, ours, c, Ours::kPageable);
      add("ours-pinned" + name, ours, c, Ours::kPinned);
      add("cpu" + name, ours, c, Ours::kCpu);
    }
  benchmark::RunSpecifiedBenchmarks();
}
