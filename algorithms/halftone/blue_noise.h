// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning by a fixed mask of thresholds, the same for every frame: still areas of moving images stay still.
#pragma once

#include "algorithms/halftone/tone.h"

#include <cstdint>

namespace framequality::halftone {

inline constexpr int kMaskSide = 128;

/// Threshold of a rank 0...kMaskSide^2 - 1 of the mask: 1...kWhite, evenly spread. A lower strength moves all of them
/// towards the middle; 0 is plain rounding.
template <class I>
FQ_HD I threshold_of(I rank, I strength) {
  constexpr int kRanks = kMaskSide * kMaskSide;
  const I t = (2 * rank + 1) * (kWhite / 2) / kRanks + 1;
  return kWhite / 2 + weaken(t - kWhite / 2, strength);
}

FQ_HD int threshold_of(int rank, int strength) { return threshold_of<int>(rank, strength); }

/// Level of a tone: rounded up if its remainder reaches the threshold.
template <class I>
FQ_HD I masked_level(I tone, I threshold, const Levels& levels) {
  const I below = tone / levels.step();
  return choose((tone - below * levels.step()) * (levels.count - 1) >= threshold, below + 1, below);
}

FQ_HD int masked_level(int tone, int threshold, const Levels& levels) {
  return masked_level<int>(tone, threshold, levels);
}

/// Rank at a pixel; the mask repeats.
FQ_HD int rank_at(const std::uint16_t* mask, int x, int y) { return mask[(y % kMaskSide) * kMaskSide + x % kMaskSide]; }

}  // namespace framequality::halftone
