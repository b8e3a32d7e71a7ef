// SPDX-License-Identifier: LGPL-2.1-or-later
// Vollath's F4: autocorrelation at one sample less that at two.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Mean of g(x,y) * (g(x+1,y) - g(x+2,y)) over x <= W-3; may be negative. Unit: level^2. 0 if w < 3.
/// Source: Vollath, Journal of Microscopy 147 (1987), F4.
struct VollathF4 : MetricBase {
  static constexpr MetricInfo kInfo{"vollath-f4", 2, "level^2", "sum g(x,y) * (g(x+1,y) - g(x+2,y)), / N",
                                    "autocorrelation: white noise cancels in the mean (Vollath 1987)"};
  static constexpr Reach kReach{.left = 0, .right = 2, .up = 0, .down = 0};
  static constexpr bool kSigned = true;
  static constexpr int kGain = 1;
  static constexpr Peak kPeak[] = {{1, 2}};
  template <class V>
  struct Row {
    V c, fall;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.c(), n.r() - n.r2()};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>&, const Row<V>& mid, const Row<V>&, Sink& totals) {
    totals.template add_product<0>(mid.c, mid.fall);
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return mean_of(t[0], n); }
};

}  // namespace framequality::sharpness
