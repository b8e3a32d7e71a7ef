// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of the two denoisers from the strengths that users give, in grey levels.
#pragma once

#include "algorithms/denoise/weight.h"

#include <algorithm>

namespace framequality::denoise {

/// Strength of non-local means, and range sigma of the patch-based bilateral filter, for noise of standard deviation 1
/// whose share is subtracted from the distances. docs/denoising.md has the results.
inline constexpr double kStrengthOfNoise = 0.7, kRangeOfNoise = 0.85;

/// Settings::range for a strength of this many grey levels; 0 stands for the limit towards 0.
inline double range_of(double grey_levels) { return std::max(grey_levels * grey_levels, kLeastRange); }

/// Configures non-local means. strength: h, negative to follow the noise of each frame, or sigma if that is set;
/// strength_chroma: negative for the same; sigma: of the noise, negative to estimate it.
inline void set_nlmeans(Settings& s, double strength, double strength_chroma, double sigma) {
  s.sigma = std::max(sigma, 0.0);
  s.estimate_sigma = sigma < 0;
  const auto set = [&](double wanted, double& range, bool& follows) {
    follows = wanted < 0 && sigma <= 0;
    range = range_of(wanted >= 0 ? wanted : kStrengthOfNoise * (follows ? 1 : sigma));
  };
  set(strength, s.range, s.follows);
  set(strength_chroma < 0 ? strength : strength_chroma, s.range_chroma, s.follows_chroma);
}

/// Configures the patch-based bilateral filter. sigma_range: negative to follow each frame's noise; sigma_spatial:
/// pixels, > 0.
inline void set_bilateral(Settings& s, double sigma_range, double sigma_spatial) {
  s.follows = s.follows_chroma = sigma_range < 0;
  s.range = s.range_chroma = 2 * range_of(sigma_range < 0 ? kRangeOfNoise : sigma_range);
  s.spatial = 1 / (2 * sigma_spatial * sigma_spatial);
}

}  // namespace framequality::denoise
