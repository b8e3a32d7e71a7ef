// SPDX-License-Identifier: LGPL-2.1-or-later
// Grey-level variance, plain and divided by the mean: contrast statistics.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Population variance of all samples. Unit: level^2. A contrast statistic: blind to where the contrast sits.
/// Source: Groen, Young, Ligthart, Cytometry 6 (1985), F6.
struct Variance : MetricBase {
  static constexpr MetricInfo kInfo{
      "variance", 2, "level^2", "(N*sum g^2 - (sum g)^2) / N^2",
      "grey-level variance, a contrast statistic: stays high on defocused high-contrast scenes (Groen 1985)"};
  static constexpr Reach kReach{};
  static constexpr int kGain = 0;
  static constexpr Peak kPeak[] = {{1, 1}, {1, 2}};
  template <class V>
  struct Row {
    V c;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.c()};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>&, const Row<V>& mid, const Row<V>&, Sink& totals) {
    totals.template add<0>(mid.c);
    totals.template add_product<1>(mid.c, mid.c);
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return exact_variance(t[0], t[1], n); }
};

/// Variance divided by the mean; 0 for a black frame. Unit: level. Source: Groen et al. 1985, F10.
struct NormalizedVariance : Variance {
  using Totals = Variance;
  static constexpr MetricInfo kInfo{
      "normalized-variance", 1, "level", "variance / mean",
      "variance divided by the mean, so that exposure cancels; also a contrast statistic (Groen 1985)"};
  static double score(const std::int64_t* t, std::uint64_t n) {
    return t[0] == 0 ? 0 : exact_variance(t[0], t[1], n) / mean_of(t[0], n);
  }
};

}  // namespace framequality::sharpness
