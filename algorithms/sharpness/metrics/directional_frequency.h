// SPDX-License-Identifier: LGPL-2.1-or-later
// Directional frequency: the mean square frequency along four directions, and their harmonic mean.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Mean square frequencies along x, y and the two diagonals: (1, 1), which leads right and down, and (1, -1).
struct DirectionalRatios {
  static constexpr int kDirections = 4;
  /// Square of a step's length in pixels.
  static constexpr int kSquaredStep[kDirections] = {1, 1, 2, 2};
  double ratio[kDirections] = {};       ///< (rad/px)^2, 0...4
  bool has_gradient[kDirections] = {};  ///< false: nothing changes along this direction, and it has no ratio
  bool has_signal = false;              ///< in any direction there is more than noise
};

/// For each of four directions d, over the interior,
///   S2 = sum (g(-d) - 2 g + g(+d))^2    S1 = sum (g(+d) - g)^2    R = S2 / S1 / |d|^2
/// A wave of frequency w along d has R = (2 sin(w/2))^2: R rises up to the finest pattern there is, which has 4. The
/// score is the harmonic mean of the R, so that the direction that has lost most counts most: a camera that moves blurs
/// one direction alone. Directions without any gradient are left out; 0 if there is none, and if w or h < 3.
/// With noise correction the share of white noise is taken off both sums. Where little but noise is left, R would be
/// the ratio of two errors; the floors of the divisor and the dividend hold it near kLeast / kFloor there. 0 if no
/// direction holds more than noise. Unit: (rad/px)^2, px a working sample; range 0...4. Source: Hjorth's squared
/// mobility of the derivative (EEG Clin. Neurophysiol. 29 (1970)) along four directions; as a mean over directions the
/// ratio of Subbarao's energies (see mean-square-frequency).
struct DirectionalFrequency : MetricBase {
  static constexpr MetricInfo kInfo{
      "directional-frequency", 0, "(rad/px)^2",
      "4 / sum 1/R, R = sum D2^2 / sum D1^2, first and second differences along x, y and both diagonals",
      "fineness of edges in the direction of the strongest blur: compares scenes, detects motion blur (Hjorth 1970)"};
  static constexpr Reach kReach{.left = 1, .right = 1, .up = 1, .down = 1};
  static constexpr bool kCancelsLight = true;
  static constexpr int kGain = 2;
  /// S2 of x, y, (1, 1), (1, -1); S1 of the same.
  static constexpr Peak kPeak[] = {{4, 2}, {4, 2}, {4, 2}, {4, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}};
  static constexpr int kDirections = DirectionalRatios::kDirections;
  static constexpr int kNoiseTotals = kDirections;
  /// Relative to the share of noise: the least divisor, and what the dividend keeps.
  static constexpr double kFloor = 3, kLeast = 0.05;

  template <class V>
  struct Row {
    V l, c, r;
  };
  template <class V, class N>
  FQ_HD static constexpr Row<V> row(const N& n) {
    return {n.l(), n.c(), n.r()};
  }
  template <class V, class Sink>
  FQ_HD static constexpr void pixel(const Row<V>& up, const Row<V>& mid, const Row<V>& down, Sink& totals) {
    along<V, 0>(mid.l, mid.c, mid.r, totals);
    along<V, 1>(up.c, mid.c, down.c, totals);
    along<V, 2>(up.l, mid.c, down.r, totals);
    along<V, 3>(down.l, mid.c, up.r, totals);
  }
  template <class V, int kDirection, class Sink>
  FQ_HD static constexpr void along(const V& before, const V& here, const V& behind, Sink& totals) {
    const V slope = behind - here, bend = slope - (here - before);
    totals.template add_product<kDirection>(bend, bend);
    totals.template add_product<kDirections + kDirection>(slope, slope);
  }

  /// noise: contribution of white noise to each total per `inner` pixel; null: none.
  static DirectionalRatios ratios(const std::int64_t* t, std::uint64_t inner, const double* noise) {
    DirectionalRatios r;
    for (int d = 0; d < kDirections; ++d) {
      const double step = DirectionalRatios::kSquaredStep[d], n = static_cast<double>(inner);
      const auto bends = static_cast<double>(t[d]), slopes = static_cast<double>(t[kDirections + d]);
      const double bend_noise = noise ? n * noise[d] : 0, slope_noise = noise ? n * noise[kDirections + d] : 0;
      if (!(slopes > 0)) continue;
      r.has_gradient[d] = true;
      r.has_signal = r.has_signal || slopes - slope_noise >= kLeastSignal * slope_noise;
      const double above = std::max(0.0, bends - bend_noise) + kLeast * bend_noise,
                   below = std::max(0.0, slopes - slope_noise) + kFloor * slope_noise;
      r.ratio[d] = above / below / step;
    }
    return r;
  }
  /// The harmonic mean; 0 if nothing has a ratio, or one of them is 0.
  static double mean(const DirectionalRatios& r) {
    double inverse = 0;
    int count = 0;
    for (int d = 0; d < kDirections; ++d) {
      if (!r.has_gradient[d]) continue;
      if (!(r.ratio[d] > 0)) return 0;
      inverse += 1 / r.ratio[d];
      ++count;
    }
    return count > 0 && r.has_signal ? count / inverse : 0;
  }
  static double score(const std::int64_t* t, std::uint64_t) { return mean(ratios(t, 0, nullptr)); }
  static double corrected(const std::int64_t* t, std::uint64_t, std::uint64_t inner, const double* noise) {
    return mean(ratios(t, inner, noise));
  }
};

}  // namespace framequality::sharpness
