// SPDX-License-Identifier: LGPL-2.1-or-later
// Working samples: luma values after downscale and prefilter, as exact integers of at most 16 bits.
#pragma once

#include "algorithms/host_device.h"

#include <cstdint>

namespace framequality::sharpness {

/// Smoothing before the metric, each way, edge samples repeated: 1-2-1 or 1-4-6-4-1.
enum class Prefilter : std::uint8_t { kNone, kBinomial3, kBinomial5 };

/// The numbers behind working samples: values of `depth` bits, summed over downscale x downscale pixels, then
/// smoothed, are integers scaled by 2^a; they are rounded once, to `fraction` bits.
struct SampleFormat {
  int depth = 8;
  int downscale = 1;  ///< 1, 2 or 4
  int radius = 0;     ///< of the prefilter: 0, 1 or 2
  int fraction = 0;   ///< fraction bits of a sample: min(a, 4, 16 - depth)
  int shift = 0;      ///< a - fraction: bits rounded away

  FQ_HD int bits() const { return depth + fraction; }
  FQ_HD std::uint32_t largest() const { return (1u << bits()) - (1u << fraction); }
  FQ_HD bool is_identity() const { return downscale == 1 && radius == 0; }
  template <class U>
  FQ_HD U round(U scaled) const {
    return shift ? (scaled + (1u << (shift - 1))) >> shift : scaled;
  }
  bool operator==(const SampleFormat&) const = default;
};

/// Format of working samples for pixels of `depth` bits (8...16). downscale: 1, 2 or 4.
inline SampleFormat sample_format(int depth, Prefilter prefilter, int downscale) {
  SampleFormat s;
  s.depth = depth;
  s.downscale = downscale;
  s.radius = static_cast<int>(prefilter);
  const int a = (downscale == 4 ? 4 : downscale == 2 ? 2 : 0) + 4 * s.radius;
  s.fraction = a < 4 ? a : 4;
  if (s.fraction > 16 - depth) s.fraction = 16 - depth;
  s.shift = a - s.fraction;
  return s;
}

/// Weight of the prefilter's tap at distance d <= radius from its centre (sums to 4^radius): C(2r, r + d).
FQ_HD std::uint32_t binomial_tap(int radius, int d) {
  const int a = d < 0 ? -d : d;
  if (radius == 0) return 1;
  if (radius == 1) return a == 0 ? 2 : 1;
  return a == 0 ? 6 : a == 1 ? 4 : 1;
}

}  // namespace framequality::sharpness
