// SPDX-License-Identifier: LGPL-2.1-or-later
// Trained data of halftoning. Each array is in a file of data/ of its own, with the command that made it.
#pragma once

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/tone_dependent.h"

#include <array>
#include <cstdint>

namespace framequality::halftone {

/// Ranks of a blue noise mask, row by row.
extern const std::uint16_t kBlueNoiseMask[kMaskSide * kMaskSide];

/// A halftone of middle grey, rows of four words, lowest bit first.
extern const std::uint32_t kDotPattern[kPatternSide * kPatternSide / 32];

extern const ToneTable kRows1, kRows4, kRows16, kRows64;

/// Weights and thresholds, one for each number of rows in a swath; the default one comes first.
extern const std::array<const ToneTable*, 4> kToneTables;

/// The table for swaths of this many rows; null if none has been trained.
const ToneTable* find_table(int swath_rows);

}  // namespace framequality::halftone
