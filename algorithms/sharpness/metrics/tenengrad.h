// SPDX-License-Identifier: LGPL-2.1-or-later
// Tenengrad: energy of the 3x3 Sobel gradient.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Mean squared Sobel gradient over the interior; the border adds nothing. Unit: level^2. 0 if w or h < 3.
/// Source: Tenenbaum, Accommodation in Computer Vision (1970); Krotkov, IJCV 1 (1987), eq. 5-7, no threshold.
struct Tenengrad : MetricBase {
  static constexpr MetricInfo kInfo{"tenengrad", 2, "level^2", "sum Gx^2 + Gy^2 (3x3 Sobel), / N",
                                    "good default: strong peak at focus, robust to noise (Krotkov 1987)"};
  static constexpr Reach kReach{.left = 1, .right = 1, .up = 1, .down = 1};
  static constexpr int kGain = 4;
  static constexpr Peak kPeak[] = {{20, 2}};  // Gx = 4M with Gy = 2M: 16 + 4
  template <class V>
  struct Row {
    V step, smooth;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.r() - n.l(), (n.l() + n.c()) + (n.c() + n.r())};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>& up, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    const V gx = (up.step + down.step) + twice(mid.step);
    const V gy = down.smooth - up.smooth;
    totals.template add_product<0>(gx, gx);
    totals.template add_product<0>(gy, gy);
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return mean_of(t[0], n); }
  static double corrected(const std::int64_t* t, std::uint64_t n, std::uint64_t, const double* noise) {
    return std::max(0.0, mean_of(t[0], n) - noise[0]);
  }
};

}  // namespace framequality::sharpness
