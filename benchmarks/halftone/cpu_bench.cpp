// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on the CPU: every instruction set beside the loop that one would write oneself.
#include "algorithms/halftone/blue_noise.h"
#include "benchmarks/halftone/once.h"
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/dispatch.h"
#include "cpu/halftone/filter.h"

#include <benchmark/benchmark.h>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace framequality;
using bench::add;
using bench::Bytes;
using halftone::Method;
using halftone::Settings;

namespace {

struct Size {
  int width, height;
  std::string name;
};
const Size kSizes[] = {
    {1024, 1024, "1024"}, {1920, 1080, "1080p"}, {2048, 2048, "2048"}, {4096, 4096, "4096"}, {8192, 8192, "8192"}};

/// Floyd-Steinberg as one writes it: 16-bit errors of one row, in place.
void plain_loop(const Bytes& in, const Size& size, Bytes& out) {
  const auto n = static_cast<std::size_t>(size.width), rows = static_cast<std::size_t>(size.height);
  std::vector<std::int16_t> errors(n + 2);
  for (std::size_t y = 0; y < rows; ++y) {
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

/// The blue-noise mask as it is defined.
void plain_mask(const Bytes& in, const Size& size, Bytes& out) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const int x = static_cast<int>(i) % size.width, y = static_cast<int>(i) / size.width;
    const int rank = halftone::rank_at(halftone::kBlueNoiseMask, x, y);
    out[i] = halftone::masked_level(16 * in[i], halftone::threshold_of(rank, halftone::kFullStrength), {}) ? 255 : 0;
  }
}

PixelLayout gray(int depth) {
  PixelLayout layout;
  layout.depth = static_cast<std::uint8_t>(depth);
  layout.word_bytes = layout.pixel_stride = depth == 8 ? 1 : 2;
  return layout;
}

/// The picture with codes of so many bits. Made once: a large one takes longer than what is measured.
const Bytes& picture(const Size& size, int depth) {
  static std::map<std::pair<std::string, int>, Bytes> made;
  const auto [place, is_new] = made.try_emplace({size.name, depth});
  if (!is_new) return place->second;
  if (depth == 8) return place->second = make_picture(size.width, size.height);
  const Bytes& bytes = picture(size, 8);
  Bytes& words = place->second;
  words.resize(2 * bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto code = static_cast<std::uint16_t>(257 * bytes[i] >> (16 - depth));
    std::memcpy(&words[2 * i], &code, sizeof code);
  }
  return words;
}

void plain(benchmark::State& state, const Size& size) {
  const auto& in = picture(size, 8);
  Bytes out(in.size());
  for (auto _ : state) {
    plain_loop(in, size, out);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * size.width * size.height);
}

std::size_t row_bytes(const Size& size, const Settings& settings) {
  return halftone::target_row_bytes(size.width, settings.packed);
}

void ours(benchmark::State& state, const Size& size, const Settings& settings, int depth, int threads,
          const std::string& isa) {
  const auto& in = picture(size, depth);
  Bytes out;
  const auto filter = cpu::make_halftone({size.width, size.height, gray(depth)}, threads, isa);
  for (auto _ : state) bench::halftone_once(*filter, in, size.height, settings, row_bytes(size, settings), out);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(in.size()));
}

void check_bits(const Settings& settings, void (*loop)(const Bytes&, const Size&, Bytes&)) {
  const Size& size = kSizes[0];
  const auto& in = picture(size, 8);
  Bytes expected(in.size()), out;
  loop(in, size, expected);
  bench::require_bits(expected, [&](std::string_view isa) {
    const auto filter = cpu::make_halftone({size.width, size.height, {}}, 0, isa);
    bench::halftone_once(*filter, in, size.height, settings, row_bytes(size, settings), out);
    return out;
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::initialize_google("halftone_bench", "", argc, argv);
  Settings packed, serpentine, four, swaths, mask, packed_mask, four_mask, sixteen_mask;
  packed.packed = serpentine.serpentine = true;
  four.levels = 4;
  swaths.method = Method::kToneDependent;
  mask.method = Method::kBlueNoise;
  packed_mask = four_mask = sixteen_mask = mask;
  packed_mask.packed = true;
  four_mask.levels = 4;
  sixteen_mask.levels = 16;
  check_bits({}, plain_loop);
  check_bits(mask, plain_mask);
  for (const Size& size : kSizes) {
    const std::string suffix = "/" + size.name;
    add("plain-loop/floyd-steinberg" + suffix, plain, size);
    for (const auto name : cpu::instruction_sets()) {
      const std::string isa(name), cpu = "cpu-" + isa + "/";
      const auto add_ours = [&](const std::string& what, const Settings& settings, int depth, int threads) {
        add(cpu + what + suffix, ours, size, settings, depth, threads, isa);
      };
      add_ours("floyd-steinberg", {}, 8, 1);
      add_ours("floyd-steinberg-packed", packed, 8, 1);
      add_ours("floyd-steinberg-4-levels", four, 8, 1);
      add_ours("floyd-steinberg-all-threads", {}, 8, 0);
      add_ours("blue-noise", mask, 8, 1);
      add_ours("blue-noise-packed", packed_mask, 8, 1);
      add_ours("blue-noise-4-levels", four_mask, 8, 1);
      add_ours("blue-noise-16-levels", sixteen_mask, 8, 1);
      add_ours("blue-noise-10-bits", mask, 10, 1);
      add_ours("blue-noise-16-bits", mask, 16, 1);
      add_ours("blue-noise-all-threads", mask, 8, 0);
    }
    add("cpu/floyd-steinberg-serpentine" + suffix, ours, size, serpentine, 8, 1, "");
    add("cpu/tdfed" + suffix, ours, size, swaths, 8, 1, "");
  }
  benchmark::RunSpecifiedBenchmarks();
}
