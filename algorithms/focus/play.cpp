// SPDX-License-Identifier: LGPL-2.1-or-later
// Least squares of a peak and the play of the lens.
#include "algorithms/focus/play.h"

#include <algorithm>
#include <cmath>

namespace framequality::focus {

std::vector<FocusSample> where_seen(std::span<const int> path, std::span<const PlayLook> looks, int direction,
                                    double play) {
  std::vector<FocusSample> samples;
  std::size_t command = 0;
  double lens = path.empty() ? 0 : path[0] * direction + play;  // along `direction`, at or above its motor
  for (const PlayLook& look : looks) {
    while (command < look.command) {
      const double motor = path[++command] * direction;
      lens = std::clamp(lens, motor, motor + play);
    }
    if (look.counts) samples.push_back({lens * direction, look.score, 1});
  }
  return samples;
}

std::optional<PlayFit> play_of(std::span<const int> path, std::span<const PlayLook> looks, int direction, double most,
                               double noise, double top, double width) {
  if (looks.empty()) return {};
  const auto fit = [&](double play) {
    return blur_peak_of(where_seen(path, looks, direction, play), noise, top, width);
  };
  const std::optional<BlurPeak> none = fit(0);
  if (!none) return {};
  PlayFit best{.peak = *none};
  double step = width / 8;  // finer than the peak is wide; then halved around the best
  const auto look = [&](double play) {
    const std::optional<BlurPeak> peak = play >= 0 && play <= most ? fit(play) : std::nullopt;
    if (peak && peak->squares < best.peak.squares) best.play = play, best.peak = *peak;
  };
  const auto steps = static_cast<int>(std::min(most / step, 1000.0));
  for (int i = 1; i <= steps; ++i) look(i * step);
  for (int i = 0; i < 8; ++i) {
    step /= 2;
    const double at = best.play;
    look(at - step), look(at + step);
  }
  // Where the scores differ more from the model than was thought, play is as much less certain.
  const auto counted = std::count_if(looks.begin(), looks.end(), [](const PlayLook& look) { return look.counts; });
  const double scale = std::max(1.0, best.peak.squares / std::max(1.0, static_cast<double>(counted) - 4));
  best.gain = std::sqrt((none->squares - best.peak.squares) / scale);
  // As far as the sum of squares grows by one, on the worse side.
  for (const int side : {-1, 1}) {
    double away = width / 64;
    while (away < most) {
      const double play = best.play + side * away;
      if (play < 0) break;
      const std::optional<BlurPeak> peak = fit(play);
      if (!peak || peak->squares - best.peak.squares > scale) break;
      away *= 1.25;
    }
    best.error = std::max(best.error, away);
  }
  return best;
}

}  // namespace framequality::focus
