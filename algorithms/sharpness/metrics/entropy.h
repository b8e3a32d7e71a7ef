// SPDX-License-Identifier: LGPL-2.1-or-later
// Entropy of the grey-level histogram.
#pragma once

#include "algorithms/sharpness/metric.h"

#include <cmath>

namespace framequality::sharpness {

/// Shannon entropy of the 256-bin histogram (deeper samples: their top 8 bits). Unit: bit, 0...8.
/// A contrast statistic: blind to where the grey levels sit.
/// Source: Shannon 1948; as a focus measure Firestone et al., Cytometry 12 (1991).
struct Entropy : MetricBase {
  static constexpr MetricInfo kInfo{
      "entropy", 0, "bit", "-sum p_k log2 p_k, 256 bins",
      "spread of grey levels, a contrast statistic: often higher when defocused (Firestone 1991)"};
  static constexpr bool kHistogram = true;
  static constexpr Peak kPeak[] = {{1, 0}};
  static double score(const std::int64_t* bins, std::uint64_t n) {
    double bits = 0;
    for (int k = 0; k < kHistogramBins; ++k) {
      if (bins[k] == 0) continue;
      const double p = static_cast<double>(bins[k]) / static_cast<double>(n);
      bits -= p * std::log2(p);
    }
    return bits + 0.0;  // a flat frame scores 0, not -0
  }
};

}  // namespace framequality::sharpness
