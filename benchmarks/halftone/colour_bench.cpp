// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning to the colours of a palette on the CPU: 800x480, as e-paper panels are, on one core.
#include "benchmarks/halftone/once.h"
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/dispatch.h"
#include "cpu/halftone/colour.h"

#include <benchmark/benchmark.h>
#include <string>
#include <string_view>
#include <vector>

using namespace framequality;
using bench::add;
using bench::Bytes;
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
const Bytes& picture() {
  static const Bytes made = [] {
    const Bytes gray = make_picture(kWidth, kHeight);
    Bytes rgb(3 * gray.size());
    for (std::size_t i = 0; i < gray.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) rgb[3 * i + c] = gray[(i + c * (kHeight / 3) * kWidth) % gray.size()];
    return rgb;
  }();
  return made;
}

void halftone_once(halftone::ColourFilter& filter, const ColourSettings& settings, Bytes& out) {
  bench::halftone_once(filter, picture(), kHeight, settings, target_row_bytes(kWidth, settings), out);
}

void ours(benchmark::State& state, const ColourSettings& settings, const std::string& isa) {
  const auto filter = cpu::make_colour_halftone(geometry(), 1, isa);
  Bytes out;
  halftone_once(*filter, settings, out);  // makes the tables
  for (auto _ : state) halftone_once(*filter, settings, out);
  state.SetItemsProcessed(state.iterations() * kWidth * kHeight);
}

/// What the first frame with a palette takes more.
void tables(benchmark::State& state, const ColourSettings& settings) {
  Bytes out;
  for (auto _ : state) halftone_once(*cpu::make_colour_halftone(geometry(), 1), settings, out);
}

void check_bits(const ColourSettings& settings) {
  Bytes expected, out;
  halftone_once(*cpu::make_colour_halftone(geometry(), 1, "baseline"), settings, expected);
  bench::require_bits(expected, [&](std::string_view isa) {
    halftone_once(*cpu::make_colour_halftone(geometry(), 2, isa), settings, out);
    return out;
  });
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
