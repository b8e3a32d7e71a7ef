// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning by the blue-noise mask: pixel values are compared with those at which levels begin.
#include "cpu/halftone/mask.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/tables.h"

#include <array>
#include <bit>
#include <cstring>

namespace framequality::cpu {

using namespace halftone;

namespace {

constexpr int kMostLevels = 16;

/// Whether samples are adjacent, whatever the other bits of their words.
bool lies_close(const PixelLayout& l) {
  return l.kind == PixelLayout::Kind::kLuma && l.offset[0] == 0 && l.pixel_stride == l.word_bytes &&
         l.word_bytes == (l.depth == 8 ? 1 : 2) && l.big_endian == (std::endian::native == std::endian::big);
}

/// Turns unsigned words into signed ones of the same order.
template <class Code>
constexpr Code kSign = Code{1} << (8 * sizeof(Code) - 1);

}  // namespace

MaskComparison::MaskComparison(const PixelLayout& layout, int width, const HalftoneKernels& kernels, int threads)
    : kernels_(kernels),
      is_direct_(lies_close(layout)),
      words_(layout.depth > 8),
      depth_(layout.depth),
      shift_(is_direct_ ? layout.shift : 0),
      scratch_(static_cast<std::size_t>(threads)) {
  last_below_.reserve(std::size_t{kMostLevels - 1} * kMaskSide * kMaskSide * (words_ ? 2 : 1));
  for (Scratch& s : scratch_) {
    s.codes.resize(static_cast<std::size_t>(width) * 2);
    s.out.resize(static_cast<std::size_t>(width));
  }
}

template <class Code>
void MaskComparison::fill(const std::int16_t* tones, const Basis& basis) {
  const Levels levels{basis.levels};
  const std::uint32_t mirror = basis.tone.invert ? (1u << depth_) - 1 : 0;
  last_below_.resize(static_cast<std::size_t>(basis.levels - 1) * kMaskSide * kMaskSide * sizeof(Code));
  std::array<Code, kWhite + 1> by_threshold{};
  // Levels increase with tones and tones with values, and a level begins later the higher its threshold is, but before
  // the next level does: so the value at which one begins only increases. It is never 0, for black has no dots, nor
  // beyond the last, for white has all of them.
  std::uint32_t code = 0;
  for (int level = 1; level < basis.levels; ++level) {
    for (int t = 1; t <= kWhite; ++t) {
      while (masked_level(tones[code ^ mirror], t, levels) < level) ++code;
      by_threshold[static_cast<std::size_t>(t)] = static_cast<Code>(((code << shift_) - 1) ^ kSign<Code>);
    }
    for (int y = 0; y < kMaskSide; ++y) {
      std::uint8_t* row =
          &last_below_[static_cast<std::size_t>(y * (basis.levels - 1) + level - 1) * kMaskSide * sizeof(Code)];
      for (int x = 0; x < kMaskSide; ++x) {
        const int t = threshold_of(rank_at(kBlueNoiseMask, x, y), basis.strength);
        std::memcpy(row + static_cast<std::size_t>(x) * sizeof(Code), &by_threshold[static_cast<std::size_t>(t)],
                    sizeof(Code));
      }
    }
  }
}

void MaskComparison::run(const ToneSource& source, const Target& out, const Settings& settings, Workers& workers,
                         int threads) {
  if (const Basis basis{settings.tone, settings.levels, settings.strength}; basis_ != basis) {
    if (words_)
      fill<std::uint16_t>(source.tones, basis);
    else
      fill<std::uint8_t>(source.tones, basis);
    basis_ = basis;
  }
  // Inverted images are compared mirrored: tones increase from the last value down.
  const auto bits = static_cast<std::uint16_t>(((1u << depth_) - 1) << shift_);
  const std::uint16_t sign = words_ ? kSign<std::uint16_t> : kSign<std::uint8_t>;
  const auto flip = static_cast<std::uint16_t>(settings.tone.invert ? sign ^ bits : sign);
  const std::size_t pitch = last_below_.size() / kMaskSide;
  workers.run(threads, [&](int thread) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(thread)];
    // Consecutive rows for each thread: memory is prefetched in its own order.
    const auto first = [&](int i) { return static_cast<int>(std::int64_t{source.height} * i / threads); };
    for (int y = first(thread); y < first(thread + 1); ++y) {
      const std::uint8_t* rows[3] = {};
      source.rows_at(y, rows);
      if (!is_direct_) kernels_.luma(*source.layout, rows, 0, source.width, scratch.codes.data());
      std::uint8_t* target = out.row0 + out.stride * y;
      std::uint8_t* greys = settings.packed ? scratch.out.data() : target;
      kernels_.mask({is_direct_ ? rows[0] : scratch.codes.data(), source.width, words_, settings.levels, bits, flip,
                     &last_below_[static_cast<std::size_t>(y % kMaskSide) * pitch]},
                    greys);
      if (settings.packed) kernels_.pack(greys, source.width, target);
    }
  });
}

}  // namespace framequality::cpu
