// SPDX-License-Identifier: LGPL-2.1-or-later
// All trained data of halftoning, each file with the command that made it.
#pragma once

#include "algorithms/halftone/blue_noise_mask.h"
#include "algorithms/halftone/dot_pattern.h"
#include "algorithms/halftone/tables/rows16_delay3.h"
#include "algorithms/halftone/tables/rows1_delay3.h"
#include "algorithms/halftone/tables/rows4_delay1.h"
#include "algorithms/halftone/tables/rows4_delay2.h"
#include "algorithms/halftone/tables/rows4_delay3.h"
#include "algorithms/halftone/tables/rows4_delay6.h"
#include "algorithms/halftone/tables/rows64_delay3.h"

namespace framequality::halftone {

/// The one used unless asked otherwise comes first.
inline constexpr const ToneTable* kToneTables[] = {&kRows4Delay3, &kRows1Delay3, &kRows16Delay3, &kRows64Delay3,
                                                   &kRows4Delay1, &kRows4Delay2, &kRows4Delay6};

/// Whether swaths of this shape have been trained.
inline bool has_table(int swath_rows, int delay) {
  for (const ToneTable* t : kToneTables)
    if (t->swath_rows == swath_rows && t->delay == delay) return true;
  return false;
}

/// The table of a shape that has one.
inline const ToneTable& table_of(int swath_rows, int delay) {
  for (const ToneTable* t : kToneTables)
    if (t->swath_rows == swath_rows && t->delay == delay) return *t;
  return *kToneTables[0];
}

}  // namespace framequality::halftone
