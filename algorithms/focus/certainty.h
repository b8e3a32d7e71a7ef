// SPDX-License-Identifier: LGPL-2.1-or-later
// The probability that a search ended in focus, from what the search itself knows of its end.
//
// In focus means within one step of the best position, or within 1% of the range where that is more: a tolerance. The
// probability is a logistic regression on four quantities (Cox 1958). Its constants were fitted by
// docs/figures/focus_certainty.py to half of the searches of `focus_bench --only certainty`; docs/autofocus.md shows
// how it holds on the other half.
#pragma once

#include "algorithms/focus/tuning.h"

#include <algorithm>
#include <cmath>

namespace framequality::focus {

struct Evidence {
  double error = 0;           ///< standard error of the fitted top, tolerances
  double blind = 0;           ///< distance from the top at which noise hides the loss of score, tolerances
  double short_of_best = 0;   ///< by how much the end scores less than the best position seen, share of the height
  bool trusts_sweep = false;  ///< sweep and stops agree; else the stops alone tell
};

/// Distance within which a search is in focus, steps. last: step of the range.
inline double tolerance_of(int last) { return std::max(1.0, last / 100.0); }

/// Probability that the end is within a tolerance of the best position, 0...1.
inline double certainty_of(const Evidence& e) {
  // What is not known, NaN, counts as the worst.
  const auto log_within = [](double value, double least, double most) {
    return std::log(value < most ? std::max(value, least) : most);
  };
  const double logit = kTuning.logit_constant +
                       kTuning.logit_error * log_within(e.error, kTuning.least_error, kTuning.most_error) +
                       kTuning.logit_blind * log_within(e.blind, kTuning.least_blind, kTuning.most_blind) +
                       kTuning.logit_short * std::clamp(e.short_of_best / kTuning.most_short, 0.0, 1.0) +
                       (e.trusts_sweep ? kTuning.logit_swept : 0);
  return std::max(1 / (1 + std::exp(-logit)), kTuning.least_certainty);
}

}  // namespace framequality::focus
