// SPDX-License-Identifier: LGPL-2.1-or-later
// BLIINDS-II on one core: every instruction set beside plain loops with binary search and nth_element.
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/bliinds/meter.h"
#include "cpu/dispatch.h"
#include "tests/bliinds/reference.h"

#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace framequality;

namespace {

struct Size {
  const char* name;
  int width, height;
};
constexpr Size kSizes[] = {{"512x512", 512, 512}, {"1080p", 1920, 1080}};

bliinds::Features measure(bliinds::Meter& meter, const std::vector<std::uint8_t>& pixels, int width) {
  Frame frame;
  frame.plane[0] = pixels.data();
  frame.stride[0] = width;
  meter.submit({frame, bliinds::Channel::kLuma});
  return meter.collect();
}

void ours(benchmark::State& state, const Size& size, const std::string& isa) {
  const auto pixels = make_picture(size.width, size.height);
  const auto meter = cpu::make_bliinds_meter(Geometry{size.width, size.height, {}}, isa);
  for (auto _ : state) benchmark::DoNotOptimize(measure(*meter, pixels, size.width));
  state.SetItemsProcessed(state.iterations());
}

/// A YUV format, by where V lies.
struct Format {
  const char* name;
  int depth, shift, plane, offset, pixel_stride, y_shift;
};
constexpr Format kFormats[] = {{"I420", 8, 0, 2, 0, 1, 1}, {"NV12", 8, 0, 1, 1, 2, 1}, {"P010", 10, 6, 1, 2, 4, 1}};

/// Red made from Y and V, beside Y alone.
void yuv(benchmark::State& state, const Size& size, const std::string& isa, const Format& format,
         bliinds::Channel channel) {
  bliinds::RedOfYuv red;
  Geometry g{size.width, size.height, {}};
  g.layout.depth = static_cast<std::uint8_t>(format.depth);
  g.layout.word_bytes = g.layout.pixel_stride = format.depth > 8 ? 2 : 1;
  g.layout.shift = static_cast<std::uint8_t>(format.shift);
  red.v = g.layout;
  red.v.plane[0] = static_cast<std::uint8_t>(format.plane);
  red.v.offset[0] = static_cast<std::uint8_t>(format.offset);
  red.v.pixel_stride = static_cast<std::uint8_t>(format.pixel_stride);
  red.x_shift = 1;
  red.y_shift = static_cast<std::uint8_t>(format.y_shift);
  red.y_gain = 1220945;  // BT.601, limited range
  red.v_gain = 1673555;
  red.y_zero = 16 << (format.depth - 8);
  red.v_zero = 128 << (format.depth - 8);
  const int row = size.width * g.layout.word_bytes, chroma_row = size.width / 2 * format.pixel_stride;
  const auto y = make_picture(row, size.height), v = make_picture(chroma_row, size.height);
  Frame frame;
  frame.plane[0] = y.data();
  frame.stride[0] = row;
  frame.plane[format.plane] = v.data();
  frame.stride[format.plane] = chroma_row;
  const auto meter = cpu::make_bliinds_meter({g, red}, isa);
  for (auto _ : state) {
    meter->submit({frame, channel});
    benchmark::DoNotOptimize(meter->collect());
  }
  state.SetItemsProcessed(state.iterations());
}

void plain(benchmark::State& state, const Size& size) {
  const auto pixels = make_picture(size.width, size.height);
  const test::BliindsReference reference;
  for (auto _ : state)
    benchmark::DoNotOptimize(reference.features({size.width, size.height, {pixels.begin(), pixels.end()}}));
  state.SetItemsProcessed(state.iterations());
}

/// A benchmark of wrong numbers is worth nothing.
void check_features() {
  const Size& size = kSizes[0];
  const auto pixels = make_picture(size.width, size.height);
  const auto meter = cpu::make_bliinds_meter(Geometry{size.width, size.height, {}});
  const auto a = measure(*meter, pixels, size.width);
  const auto b = test::BliindsReference().features({size.width, size.height, {pixels.begin(), pixels.end()}});
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-6)) {
      std::fprintf(stderr, "feature %zu: %.17g here, %.17g in plain loops\n", i + 1, a[i], b[i]);
      std::exit(1);
    }
}

template <class... Args>
void add(const std::string& name, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), args...)->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  bench::initialize_google("bliinds_bench", "", argc, argv);
  check_features();
  for (const Size& size : kSizes) {
    const std::string suffix = std::string("/bliinds/") + size.name;
    add("plain" + suffix, plain, size);
    for (const auto isa : cpu::instruction_sets())
      add("cpu-" + std::string(isa) + suffix, ours, size, std::string(isa));
    for (const auto isa : cpu::instruction_sets())
      for (const Format& format : kFormats)
        for (const auto channel : {bliinds::Channel::kLuma, bliinds::Channel::kRed})
          add("cpu-" + std::string(isa) + "/" + format.name + "-" +
                  (channel == bliinds::Channel::kRed ? "red" : "luma") + suffix,
              yuv, size, std::string(isa), format, channel);
  }
  benchmark::RunSpecifiedBenchmarks();
}
