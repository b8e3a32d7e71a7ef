// SPDX-License-Identifier: LGPL-2.1-or-later
// Sum-modulus-difference of neighbours, and its product form.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Row features shared by both grey-difference metrics.
struct ForwardDifference : MetricBase {
  static constexpr Reach kReach{.left = 0, .right = 1, .up = 0, .down = 1};
  static constexpr int kGain = 0;
  template <class V>
  struct Row {
    V c, step;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.c(), abs_difference(n.c(), n.r())};
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return mean_of(t[0], n); }
};

/// Mean of |difference to the right neighbour| + |to the lower one|. Unit: level. 0 if w or h < 2.
/// Source: Jarvis, Microscope 24 (1976), sum-modulus-difference.
struct GrayDifference : ForwardDifference {
  static constexpr MetricInfo kInfo{"gray-difference", 1, "level", "sum |g - g(x+1,y)| + |g - g(x,y+1)|, / N",
                                    "sum-modulus-difference: cheap, smooth, a broad peak (Jarvis 1976)"};
  static constexpr Peak kPeak[] = {{2, 1}};
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>&, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    totals.template add<0>(mid.step);
    totals.template add<0>(abs_difference(mid.c, down.c));
  }
};

/// Mean of the product of the two differences. Unit: level^2. 0 if w or h < 2.
/// Source: Li, Journal of Applied Optics 28 (2007), sum-modulus-difference product (SMD2).
struct GrayDifferenceProduct : ForwardDifference {
  static constexpr MetricInfo kInfo{"gray-difference-product", 2, "level^2", "sum |g - g(x+1,y)| * |g - g(x,y+1)|, / N",
                                    "responds to corners and texture, not to single edges: narrow peak (SMD2)"};
  static constexpr Peak kPeak[] = {{1, 2}};
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>&, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    totals.template add_product<0>(mid.step, abs_difference(mid.c, down.c));
  }
};

}  // namespace framequality::sharpness
