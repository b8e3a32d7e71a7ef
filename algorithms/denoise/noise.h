// SPDX-License-Identifier: LGPL-2.1-or-later
// Noise estimate of an image, from that image alone.
#pragma once

#include "algorithms/host_device.h"

#include <cmath>
#include <cstdint>

namespace framequality::denoise {

// Immerkaer, "Fast Noise Variance Estimation", CVIU 64(2), 1996: the difference of two Laplacians,
// |1 -2 1; -2 4 -2; 1 -2 1|, responds to noise, not to constant, linear or quadratic shades. It responds to texture,
// too, so the estimate is more than its mean:
//
// - It is summed over blocks of 16x16 pixels. The block at the lower quartile of the sums counts:
//   noise shows in smooth areas.
// - The same is done with taps two pixels apart, which see half the frequency. White noise gives both the same; the
//   spectrum of images falls, so texture gives these several times as much. The more they exceed the others, the less
//   of the residual is noise: none where their square is 2.5 times the other's.
// - Blocks without any residual (bars, flat graphics) and with a quarter of their pixels clipped, where noise cannot be
//   seen, do not vote, unless so few remain that the image consists of these.
//
// All sums are integers, so every device finds the same block.

inline constexpr int kNoiseBlock = 16;
inline constexpr int kNoiseReach = 2;           ///< pixels that a residual needs on all sides
inline constexpr int kFewestVoters = 8;         ///< all blocks vote if fewer than 1 in this many would
inline constexpr double kLowerQuartile = .942;  ///< of block means in white noise, whose mean is 1

/// The whole blocks of a plane, from (kNoiseReach, kNoiseReach) on. They are smaller where 16x16 does not
/// fit. Planes smaller than 5x5 have none.
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
/// clipped: number of pixels with the lowest or the highest value.
FQ_HD NoiseBlock noise_block(std::uint32_t fine, std::uint32_t coarse, int clipped, int pixels) {
  return {fine | (fine == 0 || 4 * clipped > pixels ? NoiseBlock::kAbstains : 0), coarse};
}

/// One pixel's residual from nine pixels, rows from top to bottom. T: an integer, or a float, which is exact.
template <class T>
FQ_HD T noise_residual(T a, T b, T c, T d, T e, T f, T g, T h, T i) {
  return a + c + g + i - (b + d + f + h) * 2 + e * 4;
}

/// Whether all blocks vote, because too few would otherwise.
FQ_HD bool all_vote(int voters, int blocks) { return static_cast<std::int64_t>(voters) * kFewestVoters < blocks; }
/// Rank of the block that counts among `voters` > 0 blocks, in ascending order from 0.
FQ_HD int noise_rank(int voters) { return (voters - 1) / 4; }

/// Variance of the noise from the sums at that rank, each sorted separately. Unit: squared 8-bit grey levels.
FQ_HD double noise_variance(std::uint32_t fine, std::uint32_t coarse, int pixels, int depth) {
  constexpr double kExcess = 1.5;  // of the coarse variance over the fine one, where all is texture
  // E|n| of a residual whose squared weights add up to 36.
  const double unit = 1.2533141373155003 /* sqrt(pi / 2) */ / 6 / kLowerQuartile / pixels * 255 / ((1 << depth) - 1);
  const double a = fine * unit, b = coarse * unit, least = a < b ? a : b;
  if (least <= 0) return 0;
  const double excess = (b * b / (least * least) - 1) / kExcess;
  return excess < 1 ? least * least * (1 - excess * std::sqrt(excess)) : 0;
}

/// Standard deviation assumed by filters that follow the noise: the noise above the image's own grain, which is
/// kept. Grey levels; 0: leave the image as it is.
FQ_HD double followed_sigma(double variance) {
  constexpr double kGrain = 1.9;
  const double above = variance - kGrain * kGrain;
  return above > 0 ? std::sqrt(above) : 0;
}

}  // namespace framequality::denoise
