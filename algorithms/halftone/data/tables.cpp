// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of the trained tables.
#include "algorithms/halftone/tables.h"

namespace framequality::halftone {

const std::array<const ToneTable*, 7> kToneTables = {&kRows4Delay3, &kRows1Delay3, &kRows16Delay3, &kRows64Delay3,
                                                     &kRows4Delay1, &kRows4Delay2, &kRows4Delay6};

const ToneTable* find_table(int swath_rows, int delay) {
  for (const ToneTable* t : kToneTables)
    if (t->swath_rows == swath_rows && t->delay == delay) return t;
  return nullptr;
}

}  // namespace framequality::halftone
