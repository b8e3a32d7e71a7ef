// SPDX-License-Identifier: LGPL-2.1-or-later
// How strong the noise of a picture is, from the picture alone.
#pragma once

#include "algorithms/host_device.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace framequality::denoise {

// Immerkaer, "Fast Noise Variance Estimation", CVIU 64(2), 1996: the difference of two Laplacians answers to noise, not
// to constant, linear or quadratic shades. Fine texture counts as noise.

/// One interior pixel's share of the sum: |1 -2 1; -2 4 -2; 1 -2 1| of the codes in three rows around column x.
template <class T>
FQ_HD std::uint32_t noise_share(const T* above, const T* middle, const T* below, int x) {
  const int outer = above[x - 1] + above[x + 1] + below[x - 1] + below[x + 1];
  const int inner = above[x] + below[x] + middle[x - 1] + middle[x + 1];
  const int sum = outer - 2 * inner + 4 * middle[x];
  return static_cast<std::uint32_t>(sum < 0 ? -sum : sum);
}

/// Standard deviation of the noise from the sum of shares over all interior pixels of a plane. Unit: 8-bit grey levels.
/// 0 for planes of less than 3x3.
FQ_HD double noise_sigma(std::uint64_t sum, int width, int height, int depth) {
  if (width < 3 || height < 3) return 0;
  const double count = static_cast<double>(width - 2) * (height - 2);
  const double codes = 1.2533141373155003 /* sqrt(pi / 2) */ / 6 * static_cast<double>(sum) / count;
  return codes * 255 / ((1 << depth) - 1);
}

}  // namespace framequality::denoise
