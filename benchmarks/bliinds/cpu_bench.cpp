// SPDX-License-Identifier: LGPL-2.1-or-later
// BLIINDS-II on one core: every instruction set beside plain loops with binary search and nth_element.
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
  const auto meter = cpu::make_bliinds_meter({size.width, size.height, {}}, isa);
  for (auto _ : state) benchmark::DoNotOptimize(measure(*meter, pixels, size.width));
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
  const auto meter = cpu::make_bliinds_meter({size.width, size.height, {}});
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
  benchmark::Initialize(&argc, argv);
  check_features();
  for (const Size& size : kSizes) {
    const std::string suffix = std::string("/bliinds/") + size.name;
    add("plain" + suffix, plain, size);
    for (const auto isa : cpu::instruction_sets())
      add("cpu-" + std::string(isa) + suffix, ours, size, std::string(isa));
  }
  benchmark::RunSpecifiedBenchmarks();
}
