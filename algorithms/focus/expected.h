// SPDX-License-Identifier: LGPL-2.1-or-later
// The peak that a focus search expects, the noise of its scores, and the tolerances that follow from both.
#pragma once

#include "algorithms/focus/blur_peak.h"
#include "algorithms/focus/peak.h"
#include "algorithms/focus/tuning.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace framequality::focus {

struct Expected {
  FocusPeak peak;                   ///< as the sweep, or the last search, saw it
  double noise = 0;                 ///< standard deviation of single scores
  std::optional<BlurPeak> shape{};  ///< of the last sweep's peak, if it is well known

  /// Largest difference of scores that count as equal.
  double tolerance() const { return std::max(kTuning.same_noise * noise, kTuning.same * peak.height); }
  /// Distance from the top to stops beside it, steps.
  double side() const { return std::max(1.0, kTuning.side * peak.width); }
  /// Standard error at which the top is certain enough, steps.
  double error_wanted() const { return std::max(kTuning.certain, kTuning.certain_width * peak.width); }
  /// Frames to average at a stop so that the top is certain enough, at least `least`.
  int frames_wanted(int least) const {
    const int most = std::max(least, kTuning.most_frames);
    if (!(noise > 0)) return least;
    const double sure = std::max(kTuning.sure, kTuning.sure_width * peak.width);
    const double n = kTuning.frames_factor * peak.width * noise / (peak.height * sure);
    // Compared before conversion: with far more noise than peak it would overflow an int.
    return n * n < most ? std::max(static_cast<int>(std::ceil(n * n)), least) : most;
  }
};

/// Noise of single scores, from changes between frames while the lens is at rest.
class Changes {
 public:
  /// known: noise so far. Returns the noise including this change.
  double noise_with(double change, double known) {
    squares_ += change * change;
    ++count_;
    if (count_ < kTuning.some_changes) return known;
    const double rest = std::sqrt(squares_ / (2 * count_));
    return count_ < kTuning.enough_changes ? std::min(known, kTuning.few_changes * rest) : rest;
  }

 private:
  double squares_ = 0;
  int count_ = 0;
};

/// Lowest and highest score. `all` must not be empty.
template <class Range>  // Seen, FocusSample
std::pair<double, double> extremes(const Range& all) {
  const auto [least, most] =
      std::minmax_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
  return {least->score, most->score};
}

/// The sample with the highest score. `all` must not be empty.
inline const FocusSample& best_of(const std::vector<FocusSample>& all) {
  return *std::max_element(all.begin(), all.end(),
                           [](const FocusSample& a, const FocusSample& b) { return a.score < b.score; });
}

}  // namespace framequality::focus
