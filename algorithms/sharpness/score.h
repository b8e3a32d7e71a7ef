// SPDX-License-Identifier: LGPL-2.1-or-later
// From exact integer totals to scores in 8-bit grey levels.
#pragma once

#include "algorithms/sharpness/blur.h"
#include "algorithms/sharpness/plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framequality::sharpness {

/// Scores of one frame. Unit: as the metric's, in 8-bit grey levels at every depth. Never NaN or infinite; 0 where a
/// region has no pixels.
struct Scores {
  double score = 0;           ///< region 0
  std::vector<double> zones;  ///< its zones, row-major
  std::vector<double> extra;  ///< regions 1...
  Statistics statistics;      ///< of region 0; zeros if the plan has none
  /// Energy of the gradient, which is the score of `tenengrad`, less the share of white noise: of region 0 and of its
  /// zones. Unit: level^2. At least 0; only for metrics that have it besides their score, with statistics.
  std::optional<double> gradient_energy;
  double gradient_noise = 0;  ///< the share that was subtracted, level^2: zones with less energy are unreliable
  std::vector<double> zone_gradient_energies;
  /// Of region 0, with the metric directional-frequency at the scale of its score, and with statistics. Noise is taken
  /// off where the plan measures it.
  std::optional<Blur> blur;
};

/// Scores of a frame from what Meter::collect returned for it.
Scores finish(const Plan& plan, std::span<const std::int64_t> totals);

/// Mean of the `count` highest of the zones' scores, or of all if there are fewer: the sharpness of a subject that
/// fills this many zones. 0 without zones.
double sharpest_zones(std::span<const double> zones, int count);

}  // namespace framequality::sharpness
