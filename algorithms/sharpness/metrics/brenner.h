// SPDX-License-Identifier: LGPL-2.1-or-later
// Brenner gradient: squared difference to the second neighbour.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Mean of (g(x+2,y) - g(x,y))^2 where both exist; x <= W-3. Unit: level^2. 0 if w < 3.
/// Source: Brenner et al., J. Histochemistry and Cytochemistry 24 (1976).
struct Brenner : MetricBase {
  static constexpr MetricInfo kInfo{
      "brenner", 2, "level^2", "sum (g(x+2,y) - g(x,y))^2, / N",
      "classic in microscopy: measures horizontal detail only, hardly affected by noise (Brenner 1976)"};
  static constexpr Reach kReach{.left = 0, .right = 2, .up = 0, .down = 0};
  static constexpr int kGain = 0;
  static constexpr Peak kPeak[] = {{1, 2}};
  template <class V>
  struct Row {
    V step;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {abs_difference(n.r2(), n.c())};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>&, const Row<V>& mid, const Row<V>&, Sink& totals) {
    totals.template add_product<0>(mid.step, mid.step);
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return mean_of(t[0], n); }
  static double corrected(const std::int64_t* t, std::uint64_t n, std::uint64_t, const double* noise) {
    return std::max(0.0, mean_of(t[0], n) - noise[0]);
  }
};

}  // namespace framequality::sharpness
