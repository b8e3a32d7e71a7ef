// SPDX-License-Identifier: LGPL-2.1-or-later
// Roberts cross: the two diagonal differences of each 2x2 square.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Sum of the absolute diagonal differences, per pixel; the last row and column add nothing. Unit: level.
/// 0 if narrower or lower than 2. Source: Roberts, Machine Perception of Three-Dimensional Solids (1963).
struct Roberts : MetricBase {
  static constexpr MetricInfo kInfo{
      "roberts", 1, "level", "sum |g(x+1,y+1) - g(x,y)| + |g(x,y+1) - g(x+1,y)|, / N",
      "finest gradient (2x2): responds to the smallest detail, and most to noise (Roberts 1963)"};
  static constexpr Reach kReach{.left = 0, .right = 1, .up = 0, .down = 1};
  static constexpr int kGain = 0;
  static constexpr Peak kPeak[] = {{2, 1}};
  template <class V>
  struct Row {
    V c, r;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.c(), n.r()};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>&, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    totals.template add<0>(abs_difference(down.r, mid.c));
    totals.template add<0>(abs_difference(down.c, mid.r));
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return mean_of(t[0], n); }
};

}  // namespace framequality::sharpness
