// SPDX-License-Identifier: LGPL-2.1-or-later
// Statistics of a frame besides its sharpness: noise and exposure.
//
// Noise is estimated from the residual of Immerkaer, r = | 1 -2 1; -2 4 -2; 1 -2 1 | * g of luma g, which cancels
// whatever is linear along rows or columns and leaves 6 sigma of white noise. An image's own detail adds to it; noise
// covers the whole image alike and detail does not, so the image is cut into blocks and the mean residual of
// the block at the lower quartile counts. Grain and the finest texture of a scene are noise to it: docs/metrics.md.
// A thousand blocks, evenly spread, estimate it as well as all of them: in images of more than twice as many every
// n-th group of four counts (noise of sigma 2 to 20: 0.4% off in the mean, 0.9% at most, in 19 images of 1080p), at a
// seventh of the time.
// Source: Immerkaer, Computer Vision and Image Understanding 64 (1996), eq. 2-4; the quartile and the groups are ours.
#pragma once

#include "algorithms/host_device.h"

#include <cmath>
#include <cstdint>
#include <span>

namespace framequality::sharpness {

/// Pixels of a block each way: 256 residuals, whose mean is 5% off in white noise.
inline constexpr int kNoiseBlock = 16;
inline constexpr int kNoiseBlockPixels = kNoiseBlock * kNoiseBlock;

/// Blocks of a group, side by side; the last group of a row may have fewer.
inline constexpr int kNoiseGroup = 4;
/// Blocks that are enough: of n whole blocks every max(1, n / kNoiseBlocksEnough)-th group counts.
inline constexpr int kNoiseBlocksEnough = 1024;
/// Marks a group's place without a block.
inline constexpr std::uint32_t kNoBlock = 0xffffffff;

/// The part of one field used for statistics. Unit: pixels, rows of the field; x1 and y1 are past the end.
/// Nothing outside is read: residuals exist in x0+1...x1-2, y0+1...y1-2, blocks of them begin at the first.
struct StatisticsGrid {
  int field = 0;
  int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  int columns = 0, rows = 0;  ///< whole blocks; the rest to the right and below is left out
  int groups = 0;             ///< that count: number i is group i * StatisticsPlan::step of the grid, row by row
  int first_sum = 0;          ///< their blocks' sums begin there, kNoiseGroup for each group

  FQ_HD int width() const { return x1 - x0 > 2 ? x1 - x0 - 2 : 0; }   ///< residuals in a row
  FQ_HD int height() const { return y1 - y0 > 2 ? y1 - y0 - 2 : 0; }  ///< rows of residuals
  FQ_HD int groups_in_row() const { return (columns + kNoiseGroup - 1) / kNoiseGroup; }
};

/// Words of statistics behind a frame's totals.
enum StatisticsWord {
  kLumaSum,          ///< of all luma values
  kBlackCount,       ///< pixels at black or below
  kWhiteCount,       ///< pixels at white or above
  kResidual,         ///< |r| of the block at the lower quartile; without a whole block, of all residuals
  kSquaredResidual,  ///< r^2 of all blocks that count, or of all residuals; unsigned
  kStatisticsWords
};
/// Words of the exposure, the first ones.
inline constexpr int kExposureWords = kWhiteCount + 1;

/// The statistics of a frame, resolved. Blocks of both fields count as one frame's.
struct StatisticsPlan {
  StatisticsGrid grid[2];
  int grids = 0;
  int step = 1;                 ///< of groups
  int blocks = 0;               ///< that count
  int sums = 0;                 ///< places of blocks' sums; those that are no block's hold kNoBlock
  std::uint64_t pixels = 0;     ///< of all grids
  std::uint64_t residuals = 0;  ///< of kSquaredResidual

  void add(const StatisticsGrid& g) { grid[grids++] = g; }

  /// Chooses blocks. Call once all grids are set.
  void choose_blocks() {
    int whole = 0;
    std::uint64_t all = 0;
    for (StatisticsGrid& g : grid) {
      g.columns = g.width() / kNoiseBlock;
      g.rows = g.height() / kNoiseBlock;
      if (g.columns == 0 || g.rows == 0) g.columns = g.rows = 0;
      whole += g.columns * g.rows;
      all += static_cast<std::uint64_t>(g.width()) * static_cast<std::uint64_t>(g.height());
      pixels += static_cast<std::uint64_t>(g.x1 - g.x0) * static_cast<std::uint64_t>(g.y1 - g.y0);
    }
    step = whole > kNoiseBlocksEnough ? whole / kNoiseBlocksEnough : 1;
    for (StatisticsGrid& g : grid) {
      g.first_sum = sums;
      const int in_row = g.groups_in_row(), last = g.columns - (in_row - 1) * kNoiseGroup;
      if (in_row == 0) continue;
      g.groups = (in_row * g.rows + step - 1) / step;
      sums += g.groups * kNoiseGroup;
      for (int i = 0; i < g.groups; ++i) blocks += (i * step + 1) % in_row == 0 ? last : kNoiseGroup;
    }
    residuals = blocks > 0 ? static_cast<std::uint64_t>(blocks) * kNoiseBlockPixels : all;
  }

  /// Rank of the block that counts, of all blocks by their sums, the smallest first.
  FQ_HD int rank() const { return (blocks - 1) / 4; }

  /// True if kSquaredResidual could overflow at this depth.
  bool overflows(int depth) const {
    const double largest = 8 * (std::ldexp(1.0, depth) - 1);
    return largest * largest * static_cast<double>(residuals) >= 0x1p64;
  }
};

/// |r| at the middle of three rows of three pixels.
template <class I>
FQ_HD constexpr I noise_residual(const I (&up)[3], const I (&mid)[3], const I (&down)[3]) {
  const I r = up[0] - 2 * up[1] + up[2] - 2 * (mid[0] - 2 * mid[1] + mid[2]) + down[0] - 2 * down[1] + down[2];
  return choose(r < 0, -r, r);
}

/// Values of `depth` bits: all up to `black` count as black, all from `white` on as white.
struct ClipCodes {
  int black, white;
};
FQ_HD constexpr ClipCodes clip_codes(int depth, bool limited) {
  return limited ? ClipCodes{16 << (depth - 8), 235 << (depth - 8)} : ClipCodes{0, (1 << depth) - 1};
}

/// Noise and exposure of one frame or roi. 0 where there are no pixels.
struct Statistics {
  double noise = 0;          ///< standard deviation of white noise, 8-bit grey levels; 0 if smaller than 3x3
  double rms_noise = 0;      ///< upper bound: the noise if the whole residual were noise
  double mean = 0;           ///< luma, 8-bit grey levels, black included
  double clipped_black = 0;  ///< share of the pixels, 0...1
  double clipped_white = 0;
};

/// From the kStatisticsWords of a frame.
inline Statistics finish_statistics(const StatisticsPlan& plan, int depth, std::span<const std::int64_t> words) {
  /// Ratio of the lower quartile of block means to their mean in white Gaussian noise: measured.
  constexpr double kQuartile = 0.942;
  constexpr double kHalfPi = 1.57079632679489661923;
  constexpr double kResidualOfNoise = 6;  // the root of the sum of squares of the residual's weights
  Statistics s;
  const double unit = std::ldexp(1.0, depth - 8);
  if (plan.pixels > 0) {
    const auto n = static_cast<double>(plan.pixels);
    s.mean = static_cast<double>(words[kLumaSum]) / n / unit;
    s.clipped_black = static_cast<double>(words[kBlackCount]) / n;
    s.clipped_white = static_cast<double>(words[kWhiteCount]) / n;
  }
  if (plan.residuals > 0) {
    const double sum = static_cast<double>(words[kResidual]);
    const double mean =
        plan.blocks > 0 ? sum / kNoiseBlockPixels / kQuartile : sum / static_cast<double>(plan.residuals);
    s.noise = std::sqrt(kHalfPi) / kResidualOfNoise * mean / unit;
    const double squares = static_cast<double>(static_cast<std::uint64_t>(words[kSquaredResidual]));
    s.rms_noise = std::sqrt(squares / static_cast<double>(plan.residuals)) / kResidualOfNoise / unit;
  }
  return s;
}

}  // namespace framequality::sharpness
