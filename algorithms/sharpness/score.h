// SPDX-License-Identifier: LGPL-2.1-or-later
// From exact integer totals to scores in 8-bit codes.
#pragma once

#include "algorithms/sharpness/plan.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace framequality {

/// Scores of one frame. Unit: as the metric's, in 8-bit codes at every depth. Never NaN or infinite; 0 where a
/// region has no pixels.
struct Scores {
  double score = 0;           ///< region 0
  std::vector<double> zones;  ///< its zones, row-major
  std::vector<double> extra;  ///< regions 1...
};

/// Score of one region from its summed totals (plan.words of them) over n pixels. black: the 8-bit code that
/// `normalize` takes for black; only read when plan.request.mean.
inline double finish(const Plan& plan, const std::int64_t* totals, std::uint64_t n, int black) {
  if (n == 0) return 0;
  const double unit = std::ldexp(1.0, plan.samples.fraction + plan.samples.depth - 8);
  const int power = metric_info(plan.request.metric).power;
  double v = with_metric(plan.request.metric, [&](auto m) { return decltype(m)::score(totals, n); });
  for (int e = 0; e < power; ++e) v /= unit;
  if (!plan.request.mean || power == 0) return v;
  const double mean = mean_of(totals[kMeanTotal], n) / unit - black;
  if (!(mean > 0)) return 0;
  for (int e = 0; e < power; ++e) v /= mean;
  return v;
}

/// Scores of a frame from what Meter::collect returned for it.
inline Scores finish(const Plan& plan, std::span<const std::int64_t> totals, int black) {
  const auto words = static_cast<std::size_t>(plan.words);
  Scores s;
  std::vector<std::int64_t> sum(words, 0);
  std::uint64_t n = 0;
  for (std::size_t cell = 0; cell < plan.pixels.size(); ++cell) {
    const std::int64_t* t = totals.data() + cell * words;
    const double v = finish(plan, t, plan.pixels[cell], black);
    if (cell >= static_cast<std::size_t>(plan.zones())) {
      s.extra.push_back(v);
      continue;
    }
    s.zones.push_back(v);
    n += plan.pixels[cell];
    for (std::size_t i = 0; i < words; ++i) sum[i] += t[i];
  }
  s.score = finish(plan, sum.data(), n, black);
  return s;
}

}  // namespace framequality
