// SPDX-License-Identifier: LGPL-2.1-or-later
// Variance of the 4-neighbour Laplacian.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Variance over all pixels of l + r + u + d - 4c, the border reflected without repeating the edge; an image one
/// sample wide or high repeats it. Unit: level^2. Equals OpenCV's Laplacian(g, CV_64F), then numpy's var(), to about 15
/// digits: sums here are exact integers, those of var() are rounded.
/// Source: Pech-Pacheco et al., ICPR 2000, LAP4.
struct LaplacianVariance : MetricBase {
  static constexpr MetricInfo kInfo{"laplacian-variance", 2, "level^2", "variance of the 4-neighbour Laplacian",
                                    "equals cv2.Laplacian(g, cv2.CV_64F).var() to about 15 digits (Pech-Pacheco 2000)"};
  static constexpr Reach kReach{.left = 1, .right = 1, .up = 1, .down = 1};
  static constexpr bool kReflect = true;
  static constexpr bool kSigned = true;
  static constexpr int kGain = 4;
  static constexpr Peak kPeak[] = {{4, 1}, {16, 2}};
  template <class V>
  struct Row {
    V c, bend;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.c(), (n.l() - n.c()) + (n.r() - n.c())};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>& up, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    const V bend = mid.bend + ((up.c - mid.c) + (down.c - mid.c));
    totals.template add<0>(bend);
    totals.template add_product<1>(bend, bend);
  }
  static double score(const std::int64_t* t, std::uint64_t n) { return exact_variance(t[0], t[1], n); }
  static double corrected(const std::int64_t* t, std::uint64_t n, std::uint64_t, const double* noise) {
    return std::max(0.0, exact_variance(t[0], t[1], n) - noise[1]);
  }
};

}  // namespace framequality::sharpness
