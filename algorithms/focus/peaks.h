// SPDX-License-Identifier: LGPL-2.1-or-later
// The peaks of a sweep that stand out: objects at several distances.
#pragma once

#include "algorithms/focus/peak.h"

#include <cstddef>
#include <span>
#include <vector>

namespace framequality::focus {

/// A peak that stands out of a row of samples, as indices into the row.
struct Summit {
  std::size_t top;          ///< its highest sample
  std::size_t first, last;  ///< its part of the row: to the lowest samples between it and its neighbours, or the ends
};

/// The peaks that stand out of the noise, and of the highest one, by position: at least the highest. A peak's height is
/// counted from the lowest score on the way to a higher one (its prominence), the highest one's from the lowest of all.
/// row: by position, at least one sample. noise: of single scores.
std::vector<Summit> summits_of(std::span<const FocusSample> row, double noise);

}  // namespace framequality::focus
