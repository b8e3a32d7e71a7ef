// SPDX-License-Identifier: LGPL-2.1-or-later
// Local contrast: largest minus smallest sample of each 3x3 square.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Mean of max - min over 3x3 squares, interior pixels. Unit: level. 0 if w or h < 3.
/// Source: morphological gradient with a 3x3 square; Rivest, Soille, Beucher, J. Electronic Imaging 2 (1993), eq. 1.
struct MaxMin : MetricBase {
  static constexpr MetricInfo kInfo{"max-min", 1, "level", "sum (max - min over 3x3), / N",
                                    "local contrast (morphological gradient): responds equally to all edge directions"};
  static constexpr Reach kReach{.left = 1, .right = 1, .up = 1, .down = 1};
  static constexpr int kGain = 0;
  static constexpr Peak kPeak[] = {{1, 1}};
  template <class V>
  struct Row {
    V low, high;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {minimum(minimum(n.l(), n.c()), n.r()), maximum(maximum(n.l(), n.c()), n.r())};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>& up, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    totals.template add<0>(
        abs_difference(maximum(maximum(up.high, mid.high), down.high), minimum(minimum(up.low, mid.low), down.low)));
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return mean_of(t[0], n); }
};

}  // namespace framequality::sharpness
