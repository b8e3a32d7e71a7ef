// SPDX-License-Identifier: LGPL-2.1-or-later
// The three scales of an image that BLIINDS-II measures, each half the last one's size, and their grids of blocks.
#pragma once

#include "algorithms/bliinds/block.h"
#include "algorithms/host_device.h"

namespace framequality::bliinds {

inline constexpr int kScales = 3;
inline constexpr int kLeastSide = 4;  ///< of an image: its last scale still has 1 pixel

/// Size of one scale, in pixels, and its blocks. It is padded with one pixel of zeros all around, and further to the
/// right and below to whole blocks: pixel (x, y) of block (i, j) is pixel (3 i + x - 1, 3 j + y - 1).
struct Scale {
  int width = 0, height = 0;
  FQ_HD int columns() const { return (width + kStride - 1) / kStride; }
  FQ_HD int rows() const { return (height + kStride - 1) / kStride; }
  /// Keeps the odd rows and columns, counted from 0.
  FQ_HD Scale half() const { return {width / 2, height / 2}; }
};

/// Half-size pixel: a 3x3 Gaussian of sigma 0.5 over the rows around 2 y + 1, then the columns around 2 x + 1; zeros
/// outside the image. T as for a block: on a device, plain doubles would be fused.
template <class T>
FQ_HD T weigh(T before, T middle, T after) {
  return (before + after) * T(0.10650697891920076) + middle * T(0.78698604216159852);
}

/// Number of blocks in a percentile mean: a tenth of n, rounded up.
FQ_HD int tenth(int n) { return n / 10 + (n % 10 != 0); }

}  // namespace framequality::bliinds
