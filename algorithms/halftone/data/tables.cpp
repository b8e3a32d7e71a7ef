// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of the trained tables.
#include "algorithms/halftone/tables.h"

namespace framequality::halftone {

const std::array<const ToneTable*, 4> kToneTables = {&kRows4, &kRows1, &kRows16, &kRows64};

const ToneTable* find_table(int swath_rows) {
  for (const ToneTable* t : kToneTables)
    if (t->swath_rows == swath_rows) return t;
  return nullptr;
}

}  // namespace framequality::halftone
