// SPDX-License-Identifier: LGPL-2.1-or-later
// Mean square frequency: energy of the Laplacian over energy of the gradient.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// 64 sum L^2 / sum (Gx^2 + Gy^2) over the interior, L the 4-neighbour Laplacian and G the 3x3 Sobel gradient, which is
/// 8 times a derivative. A wave of frequency w has an L of w^2 and a gradient of w times its amplitude, so this is the
/// mean of w^2 over the image, each wave counted by the energy of its gradient: how fine edges are, whatever their
/// contrast, the light and how many there are. Unit: (rad/px)^2, px a working sample; at least 0. 0 without a
/// gradient, and if w or h < 3.
/// Source: the ratio of Subbarao's energies (Subbarao, Choi, Nikzad, Optical Engineering 32 (1993), EOL / EOG); in one
/// dimension Hjorth's squared mobility of the derivative (EEG Clin. Neurophysiol. 29 (1970)).
struct MeanSquareFrequency : MetricBase {
  static constexpr MetricInfo kInfo{"mean-square-frequency", 0, "(rad/px)^2",
                                    "64 sum L^2 / sum Gx^2 + Gy^2 (4-neighbour Laplacian, 3x3 Sobel)",
                                    "fineness of edges, independent of light and contrast: compares scenes; not for "
                                    "finding a focus peak (Subbarao 1993)"};
  static constexpr Reach kReach{.left = 1, .right = 1, .up = 1, .down = 1};
  static constexpr bool kCancelsLight = true;
  static constexpr int kGain = 4;
  static constexpr Peak kPeak[] = {{16, 2}, {20, 2}};
  static constexpr int kGradientTotal = 1;
  template <class V>
  struct Row {
    V c, step, smooth;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.c(), n.r() - n.l(), (n.l() + n.c()) + (n.c() + n.r())};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>& up, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    const V bend = (mid.smooth - twice(twice(mid.c))) + ((up.c - mid.c) + (down.c - mid.c));
    const V gx = (up.step + down.step) + twice(mid.step);
    const V gy = down.smooth - up.smooth;
    totals.template add_product<0>(bend, bend);
    totals.template add_product<1>(gx, gx);
    totals.template add_product<1>(gy, gy);
  }
  static double score(const std::int64_t* t, std::uint64_t) {
    return t[1] > 0 ? 64 * static_cast<double>(t[0]) / static_cast<double>(t[1]) : 0;
  }
  static double corrected(const std::int64_t* t, std::uint64_t, std::uint64_t inner, const double* noise) {
    const auto n = static_cast<double>(inner);
    const double bends = static_cast<double>(t[0]) - n * noise[0], slopes = static_cast<double>(t[1]) - n * noise[1];
    if (bends <= 0 || slopes <= 0 || slopes < kLeastSignal * n * noise[1]) return 0;
    return 64 * bends / slopes;
  }
};

}  // namespace framequality::sharpness
