// SPDX-License-Identifier: LGPL-2.1-or-later
// The play of a lens, from scores on the way across a peak and back.
#pragma once

#include "algorithms/focus/blur_peak.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace framequality::focus {

/// A score, and the command that its frame shows.
struct PlayLook {
  std::size_t command;  ///< index in the path
  double score;
  bool counts = true;  ///< else it is left out
};

/// The looks that count, where a lens with this much play was. path: the positions that it was sent to, steps, the
/// first one from the other side; direction: 1 or -1, in which it is where it is sent.
std::vector<FocusSample> where_seen(std::span<const int> path, std::span<const PlayLook> looks, int direction,
                                    double play);

/// Play that explains all scores by one peak.
struct PlayFit {
  double play = 0;   ///< steps, >= 0
  double error = 0;  ///< its standard error, steps
  double gain = 0;   ///< by how much it explains them better than no play does, standard deviations
  BlurPeak peak;     ///< where the lens is sent to reach it from the side of the sweep
};

/// The most steps in a frame that a lens without play moves, so that one peak explains all scores.
struct SlewFit {
  double slew = 0;
  BlurPeak peak;
};

/// Fits a peak (blur_peak.h) and the play, at most `most` steps. path, looks, direction: as above. noise: of single
/// scores; top, width: where the fit begins. Nothing where blur_peak_of() finds none.
std::optional<PlayFit> play_of(std::span<const int> path, std::span<const PlayLook> looks, int direction, double most,
                               double noise, double top, double width);

}  // namespace framequality::focus
