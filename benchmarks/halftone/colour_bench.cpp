// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning to the colours of a palette on the CPU: 800x480, as e-paper panels are, on one core.
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/dispatch.h"
#include "cpu/halftone/colour.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace framequality;
using halftone::ColourOutput;
using halftone::ColourSettings;
using halftone::Method;

namespace {

constexpr int kWidth = 800, kHeight = 480;

PictureGeometry geometry() {
  PictureGeometry g{kWidth, kHeight, {}};
  g.layout.components = 3;
  g.layout.is_rgb = true;
  for (std::uint8_t c = 0; c < 3; ++c) g.layout.component[c] = {0, c, 3, 0, 0};
  return g;
}

/// The picture of the other benchmarks, its channels far from each other.
const std::vector<std::uint8_t>& picture() {
  static const std::vector<std::uint8_t> made = [] {
    const std::vector<std::uint8_t> gray = make_picture(kWidth, kHeight);
    std::vector<std::uint8_t> rgb(3 * gray.size());
    for (std::size_t i = 0; i < gray.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) rgb[3 * i + c] = gray[(i + c * (kHeight / 3) * kWidth) % gray.size()];
    return rgb;
  }();
  return made;
}

void halftone_once(halftone::ColourFilter& filter, const ColourSettings& settings, std::vector<std::uint8_t>& out) {
  Frame frame;
  frame.plane[0] = picture().data();
  frame.stride[0] = std::ptrdiff_t{3} * kWidth;
  const auto stride = static_cast<std::ptrdiff_t>(target_row_bytes(kWidth, settings));
  out.resize(static_cast<std::size_t>(stride) * kHeight);
  filter.submit({frame, {out.data(), stride, Memory::kHost}, settings, 1});
  filter.collect();
}

void ours(benchmark::State& state, const ColourSettings& settings, const std::string& isa) {
  const auto filter = cpu::make_colour_halftone(geometry(), 1, isa);
  std::vector<std::uint8_t> out;
  halftone_once(*filter, settings, out);  // makes the tables
  for (auto _ : state) halftone_once(*filter, settings, out);
  state.SetItemsProcessed(state.iterations() * kWidth * kHeight);
}

/// What the first frame with a palette takes more.
void tables(benchmark::State& state, const ColourSettings& settings) {
  std::vector<std::uint8_t> out;
  for (auto _ : state) halftone_once(*cpu::make_colour_halftone(geometry(), 1), settings, out);
}

/// A benchmark of wrong bits is worth nothing.
void check_bits(const ColourSettings& settings) {
  std::vector<std::uint8_t> expected, out;
  halftone_once(*cpu::make_colour_halftone(geometry(), 1, "baseline"), settings, expected);
  for (const auto isa : cpu::instruction_sets()) {
    halftone_once(*cpu::make_colour_halftone(geometry(), 2, isa), settings, out);
    if (out == expected) continue;
    std::fprintf(stderr, "%.*s gives other colours\n", static_cast<int>(isa.size()), isa.data());
    std::exit(1);
  }
}

template <class... Args>
void add(const std::string& name, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), args...)->Unit(benchmark::kMillisecond)->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  bench::initialize_google("halftone_colour_bench", "", argc, argv);
  for (const auto& named : halftone::named_palettes())
    for (const bool masked : {false, true}) {
      ColourSettings settings;
      settings.palette = named.palette;
      settings.method = masked ? Method::kBlueNoise : Method::kFloydSteinberg;
      settings.linear = true;
      settings.tone.light = halftone::Light::kSrgb;
      check_bits(settings);
      ColourSettings packed = settings;
      packed.output = ColourOutput::kCodes;
      const std::string what = std::string(masked ? "blue-noise" : "floyd-steinberg") + "/" + named.name;
      for (const auto isa : cpu::instruction_sets()) {
        add("cpu-" + std::string(isa) + "/" + what, ours, settings, std::string(isa));
        add("cpu-" + std::string(isa) + "/" + what + "-packed", ours, packed, std::string(isa));
      }
      add("first-frame/" + what, tables, settings);
    }
  benchmark::RunSpecifiedBenchmarks();
}
