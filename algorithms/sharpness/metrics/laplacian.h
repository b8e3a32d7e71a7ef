// SPDX-License-Identifier: LGPL-2.1-or-later
// Modified Laplacian: second differences along rows and columns, unsigned.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Mean of |second difference along x| + |along y| over the interior. Unit: level. 0 if w or h < 3.
/// Source: Nayar, Nakagawa, IEEE PAMI 16 (1994), eq. 9, step 1, no threshold.
struct Laplacian : MetricBase {
  static constexpr MetricInfo kInfo{
      "laplacian", 1, "level", "sum |g(x+1,y) + g(x-1,y) - 2g| + |g(x,y+1) + g(x,y-1) - 2g|, / N",
      "modified Laplacian: sharpest peak on clean images, sensitive to noise (Nayar 1994)"};
  static constexpr Reach kReach{.left = 1, .right = 1, .up = 1, .down = 1};
  static constexpr int kGain = 2;
  static constexpr Peak kPeak[] = {{4, 1}};
  template <class V>
  struct Row {
    V c, bend;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.c(), absolute((n.r() - n.c()) + (n.l() - n.c()))};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>& up, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    totals.template add<0>(mid.bend);
    totals.template add<0>(absolute((down.c - mid.c) + (up.c - mid.c)));
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return mean_of(t[0], n); }
};

}  // namespace framequality::sharpness
