// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on the CPU: every instruction set beside the loop that one would write oneself.
#include "benchmarks/support/picture.h"
#include "cpu/dispatch.h"
#include "cpu/halftone/filter.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace framequality;
using halftone::Method;
using halftone::Settings;

namespace {

constexpr int kSides[] = {1024, 2048, 4096, 8192};

/// Floyd-Steinberg as one writes it: 16-bit errors of one row, in place.
void plain_loop(const std::vector<std::uint8_t>& in, int side, std::vector<std::uint8_t>& out) {
  const auto n = static_cast<std::size_t>(side);
  std::vector<std::int16_t> errors(n + 2);
  for (std::size_t y = 0; y < n; ++y) {
    const std::uint8_t* row = &in[y * n];
    std::uint8_t* to = &out[y * n];
    int left = 0, above_left = 0;
    for (std::size_t x = 0; x < n; ++x) {
      const int above = errors[x + 1];
      const int s = 7 * left + above_left + 5 * above + 3 * errors[x + 2];
      const int u = 16 * row[x] + ((s + 8) >> 4);
      const bool white = u >= 2048;
      to[x] = white ? 255 : 0;
      above_left = above;
      left = u - (white ? 4080 : 0);
      errors[x + 1] = static_cast<std::int16_t>(left);
    }
  }
}

std::vector<std::uint8_t> picture(int side) {
  const auto pixels = make_picture(side, side);
  return {pixels.begin(), pixels.end()};
}

void plain(benchmark::State& state, int side) {
  const auto in = picture(side);
  std::vector<std::uint8_t> out(in.size());
  for (auto _ : state) {
    plain_loop(in, side, out);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * side * side);
}

std::vector<std::uint8_t> halftone_once(halftone::Filter& filter, const std::vector<std::uint8_t>& in, int side,
                                        const Settings& settings, std::vector<std::uint8_t>&& out) {
  Frame frame;
  frame.plane[0] = in.data();
  frame.stride[0] = side;
  filter.submit({frame,
                 {out.data(), static_cast<std::ptrdiff_t>(halftone::target_row_bytes(side, settings.packed)), false},
                 settings,
                 1});
  filter.collect();
  return std::move(out);
}

void ours(benchmark::State& state, int side, const Settings& settings, int threads, const std::string& isa) {
  const auto in = picture(side);
  std::vector<std::uint8_t> out(in.size());
  const auto filter = cpu::make_halftone({side, side, {}}, threads, isa);
  for (auto _ : state) out = halftone_once(*filter, in, side, settings, std::move(out));
  state.SetBytesProcessed(state.iterations() * side * side);
}

/// A benchmark of wrong bits is worth nothing.
void check_bits() {
  constexpr int kSide = 1024;
  const auto in = picture(kSide);
  std::vector<std::uint8_t> expected(in.size());
  plain_loop(in, kSide, expected);
  for (const auto isa : cpu::instruction_sets()) {
    const auto filter = cpu::make_halftone({kSide, kSide, {}}, 0, isa);
    if (halftone_once(*filter, in, kSide, {}, std::vector<std::uint8_t>(in.size())) == expected) continue;
    std::fprintf(stderr, "%.*s gives other bits than the plain loop\n", static_cast<int>(isa.size()), isa.data());
    std::exit(1);
  }
}

template <class... Args>
void add(const std::string& name, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), args...)->Unit(benchmark::kMillisecond)->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  check_bits();
  Settings packed, serpentine, four, masked, swaths;
  packed.packed = serpentine.serpentine = true;
  four.levels = 4;
  masked.method = Method::kBlueNoise;
  swaths.method = Method::kToneDependent;
  for (const int side : kSides) {
    const std::string suffix = std::string("/").append(std::to_string(side));
    add("plain-loop/floyd-steinberg" + suffix, plain, side);
    for (const auto name : cpu::instruction_sets()) {
      const std::string isa(name), cpu = "cpu-" + isa + "/";
      add(cpu + "floyd-steinberg" + suffix, ours, side, Settings(), 1, isa);
      add(cpu + "floyd-steinberg-packed" + suffix, ours, side, packed, 1, isa);
      add(cpu + "floyd-steinberg-4-levels" + suffix, ours, side, four, 1, isa);
      add(cpu + "floyd-steinberg-all-threads" + suffix, ours, side, Settings(), 0, isa);
    }
    add("cpu/floyd-steinberg-serpentine" + suffix, ours, side, serpentine, 1, "");
    add("cpu/tdfed" + suffix, ours, side, swaths, 1, "");
    add("cpu/blue-noise" + suffix, ours, side, masked, 1, "");
  }
  benchmark::RunSpecifiedBenchmarks();
}
