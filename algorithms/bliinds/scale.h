// SPDX-License-Identifier: LGPL-2.1-or-later
// The images that BLIINDS-II looks at: three, each half the size of the one before, and their grids of blocks.
#pragma once

#include "algorithms/bliinds/block.h"
#include "algorithms/host_device.h"

namespace framequality::bliinds {

inline constexpr int kScales = 3;
inline constexpr int kLeastSide = 4;  ///< of a picture: 1 is left of it at the last scale

/// A picture of one scale, in pixels, and its blocks. Around it lies one pixel of zeros, and to the right and below as
/// many more as a whole number of blocks needs: pixel (x, y) of block (i, j) is pixel (3 i + x - 1, 3 j + y - 1).
struct Scale {
  int width = 0, height = 0;
  FQ_HD int columns() const { return (width + kStride - 1) / kStride; }
  FQ_HD int rows() const { return (height + kStride - 1) / kStride; }
  /// Keeps the odd rows and columns, counted from 0.
  FQ_HD Scale half() const { return {width / 2, height / 2}; }
};

/// Half-size pixel from the three rows around row 2 y + 1, then the three columns so weighed around column 2 x + 1: a
/// 3x3 Gaussian of sigma 0.5, zeros around the picture. T as for a block: on a device a bare double would be fused.
template <class T>
FQ_HD T weigh(T before, T middle, T after) {
  return (before + after) * T(0.10650697891920076) + middle * T(0.78698604216159852);
}

/// Blocks that a percentile mean is over: a tenth of n, rounded up.
FQ_HD int tenth(int n) { return n / 10 + (n % 10 != 0); }

}  // namespace framequality::bliinds
