// SPDX-License-Identifier: LGPL-2.1-or-later
// Noise estimate of an image, from that image alone.
#pragma once

#include "algorithms/host_device.h"

#include <cmath>
#include <cstdint>

namespace framequality::denoise {

// Immerkaer, "Fast Noise Variance Estimation", CVIU 64(2), 1996: the difference of two Laplacians,
// |1 -2 1; -2 4 -2; 1 -2 1|, answers to noise, not to constant, linear or quadratic shades. It answers to texture too,
// so this is more than its mean:
//
// - It is added up over blocks of 16x16 pixels. Of the blocks in ascending order the one at the lower quartile counts:
//   smooth places are where noise is seen.
// - The same is done with taps two pixels apart, which see half the frequency. White noise gives both the same; the
//   spectrum of pictures falls, so texture gives these several times as much. The more they exceed the others, the less
//   of the residual is noise: none where their square is 2.5 times the other's.
// - Blocks without any residual (bars, flat graphics) and with a quarter of their pixels clipped, where noise cannot be
//   seen, do not vote, unless so few remain that the picture consists of these.
//
// All sums are integers, so every device finds the same block.

inline constexpr int kNoiseBlock = 16;
inline constexpr int kNoiseReach = 2;           ///< pixels that a residual needs on all sides
inline constexpr int kFewestVoters = 8;         ///< all blocks vote where fewer than 1 in so many would
inline constexpr double kLowerQuartile = .942;  ///< of the blocks' means in white noise; the mean is 1

/// The blocks of a plane: whole ones, from (kNoiseReach, kNoiseReach) on. Where 16x16 do not fit, they are as much
/// smaller. None in planes of less than 5x5.
struct NoiseGrid {
  int width = 0, height = 0;  ///< of a block; pixels
  int columns = 0, rows = 0;

  FQ_HD NoiseGrid(int plane_width, int plane_height) {
    const int inner_width = plane_width - 2 * kNoiseReach, inner_height = plane_height - 2 * kNoiseReach;
    if (inner_width < 1 || inner_height < 1) return;
    width = inner_width < kNoiseBlock ? inner_width : kNoiseBlock;
    height = inner_height < kNoiseBlock ? inner_height : kNoiseBlock;
    columns = inner_width / width;
    rows = inner_height / height;
  }
  FQ_HD int count() const { return columns * rows; }
  FQ_HD int pixels() const { return width * height; }
};

/// Sums of |residual| over a block: taps side by side, and two apart. Below 2^27.
struct NoiseBlock {
  static constexpr std::uint32_t kAbstains = 1u << 31;
  std::uint32_t fine = 0;  ///< with kAbstains if it does not vote
  std::uint32_t coarse = 0;

  FQ_HD bool votes() const { return !(fine & kAbstains); }
  FQ_HD std::uint32_t fine_sum() const { return fine & ~kAbstains; }
};
/// clipped: pixels with the lowest or the highest code.
FQ_HD NoiseBlock noise_block(std::uint32_t fine, std::uint32_t coarse, int clipped, int pixels) {
  return {fine | (fine == 0 || 4 * clipped > pixels ? NoiseBlock::kAbstains : 0), coarse};
}

/// One pixel's residual from codes of nine pixels, rows from top to bottom. T: an integer, or a float, which is exact.
template <class T>
FQ_HD T noise_residual(T a, T b, T c, T d, T e, T f, T g, T h, T i) {
  return a + c + g + i - (b + d + f + h) * 2 + e * 4;
}

/// Whether all blocks vote, as too few of them would.
FQ_HD bool all_vote(int voters, int blocks) { return static_cast<std::int64_t>(voters) * kFewestVoters < blocks; }
/// Which of n > 0 voting blocks counts, in ascending order from 0.
FQ_HD int noise_rank(int voters) { return (voters - 1) / 4; }

/// Variance of the noise from the sums at that rank, each of its own order. Unit: squared 8-bit grey levels.
FQ_HD double noise_variance(std::uint32_t fine, std::uint32_t coarse, int pixels, int depth) {
  constexpr double kExcess = 1.5;  // of the coarse variance over the fine one, where all is texture
  // E|n| of a residual with weights of which the squares add up to 36.
  const double unit = 1.2533141373155003 /* sqrt(pi / 2) */ / 6 / kLowerQuartile / pixels * 255 / ((1 << depth) - 1);
  const double a = fine * unit, b = coarse * unit, least = a < b ? a : b;
  if (least <= 0) return 0;
  const double excess = (b * b / (least * least) - 1) / kExcess;
  return excess < 1 ? least * least * (1 - excess * std::sqrt(excess)) : 0;
}

/// What filters that follow the noise take for its standard deviation: the noise above the picture's own grain, which
/// stays. Grey levels; 0 where the picture is to stay as it is.
FQ_HD double followed_sigma(double variance) {
  constexpr double kGrain = 1.9;
  const double above = variance - kGrain * kGrain;
  return above > 0 ? std::sqrt(above) : 0;
}

}  // namespace framequality::denoise
