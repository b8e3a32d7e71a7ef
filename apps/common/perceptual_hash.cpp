// SPDX-License-Identifier: LGPL-2.1-or-later
// Perceptual hash of an image, 64 bits: those of near-duplicates differ in few.
#include "apps/common/perceptual_hash.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace framequality::apps {

namespace {

constexpr int kSide = 32, kLow = 8;  // pixels; frequencies each way
constexpr int kLongest = 256;        // pixels of the averaged raster's longer side
using Square = std::array<std::array<double, kSide>, kSide>;

double luma_at(const Raster& raster, int x, int y) {
  const std::uint8_t* at = raster.row(y) + static_cast<std::ptrdiff_t>(x) * raster.pixel;
  if (raster.is_deep()) return at[0];  // the high byte is enough
  return raster.is_gray() ? at[0] : 0.299 * at[0] + 0.587 * at[1] + 0.114 * at[2];
}

/// Means of 32x32 boxes, which share pixels if the image has fewer.
Square averaged(const Raster& raster) {
  Square means{};
  const auto bounds = [](int i, int length) {
    const int begin = i * length / kSide;
    return std::pair(begin, std::max(begin + 1, (i + 1) * length / kSide));
  };
  for (int row = 0; row < kSide; ++row) {
    const auto [top, bottom] = bounds(row, raster.height);
    for (int column = 0; column < kSide; ++column) {
      const auto [left, right] = bounds(column, raster.width);
      double sum = 0;
      for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x) sum += luma_at(raster, x, y);
      means[row][column] = sum / ((bottom - top) * (right - left));
    }
  }
  return means;
}

/// Row k: frequency k + 1 of the DCT-II.
std::array<std::array<double, kSide>, kLow> cosines() {
  std::array<std::array<double, kSide>, kLow> all{};
  for (int k = 0; k < kLow; ++k)
    for (int i = 0; i < kSide; ++i) all[k][i] = std::cos(std::numbers::pi / kSide * (i + 0.5) * (k + 1));
  return all;
}

}  // namespace

std::uint64_t perceptual_hash(const Raster& raster) {
  static const auto table = cosines();
  const Square means = averaged(raster);
  std::array<std::array<double, kLow>, kSide> across{};
  for (int y = 0; y < kSide; ++y)
    for (int k = 0; k < kLow; ++k)
      for (int x = 0; x < kSide; ++x) across[y][k] += means[y][x] * table[k][x];
  // Rounded, because arithmetic leaves values near 0 for a flat image.
  std::array<long, std::size_t{kLow} * kLow> low{};
  for (int v = 0; v < kLow; ++v)
    for (int k = 0; k < kLow; ++k) {
      double sum = 0;
      for (int y = 0; y < kSide; ++y) sum += across[y][k] * table[v][y];
      low[v * kLow + k] = std::lround(sum);
    }
  auto sorted = low;
  std::sort(sorted.begin(), sorted.end());
  const long twice_median = sorted[kLow * kLow / 2 - 1] + sorted[kLow * kLow / 2];
  std::uint64_t hash = 0;
  for (int i = 0; i < kLow * kLow; ++i) hash |= std::uint64_t{2 * low[i] > twice_median} << i;
  return hash;
}

std::uint64_t perceptual_hash(GstSample* sample, GstVideoOrientationMethod orientation) {
  return perceptual_hash(raster_of(sample, {orientation, kLongest, false}));
}

}  // namespace framequality::apps
