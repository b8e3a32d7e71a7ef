// SPDX-License-Identifier: LGPL-2.1-or-later
// Red computed from Y and V in integers, so that all twins agree.
#pragma once

#include "algorithms/layout.h"

#include <cstdint>

namespace framequality::bliinds {

/// Fraction bits of the gains: 65535 times the error of a gain is below 1/20 of a pixel value.
inline constexpr int kRedBits = 20;

/// Conversion of YUV to red, from Y and V alone. Y is the luma of the frames' PixelLayout.
///   red = clamp((y_gain (Y - y_zero) + v_gain (V - v_zero) + 2^19) >> 20, 0, 2^depth - 1)
/// in values of the format's depth, 0 black and 2^depth - 1 white whatever the range of Y. V is the sample that lies
/// over the pixel, x >> x_shift, y >> y_shift: subsampled chroma is repeated, not interpolated.
struct RedOfYuv {
  PixelLayout v;             ///< V as the luma of an image of its own, in plane v.plane[0]; depth as Y's
  std::uint8_t x_shift = 0;  ///< log2 of V's subsampling
  std::uint8_t y_shift = 0;
  std::int32_t y_gain = 0;  ///< in 2^-kRedBits, below 2; 0: the frames are not YUV
  std::int32_t v_gain = 0;
  std::int32_t y_zero = 0, v_zero = 0;  ///< pixel values of black and of neutral chroma

  FQ_HD bool exists() const { return y_gain != 0; }
  /// Width or height of the V plane for an image of this size.
  FQ_HD int width(int of_y) const { return (of_y + (1 << x_shift) - 1) >> x_shift; }
  FQ_HD int height(int of_y) const { return (of_y + (1 << y_shift) - 1) >> y_shift; }
  /// V's row for row y of an image of `of_y` rows. Fields of interlaced frames have separate chroma rows.
  FQ_HD int row(int y, int of_y, bool interlaced) const {
    const int r = interlaced ? y >> (1 + y_shift) << 1 | (y & 1) : y >> y_shift, last = height(of_y) - 1;
    return r < last ? r : last;
  }
  bool operator==(const RedOfYuv&) const = default;
};

/// Red of one pixel, 0...2^depth - 1.
FQ_HD std::uint32_t red_code(const RedOfYuv& r, std::uint32_t y, std::uint32_t v) {
  const std::int64_t sum = std::int64_t{r.y_gain} * (static_cast<std::int32_t>(y) - r.y_zero) +
                           std::int64_t{r.v_gain} * (static_cast<std::int32_t>(v) - r.v_zero);
  const std::int64_t code = (sum + (1 << (kRedBits - 1))) >> kRedBits, most = (1 << r.v.depth) - 1;
  return static_cast<std::uint32_t>(code < 0 ? 0 : code > most ? most : code);
}

}  // namespace framequality::bliinds
