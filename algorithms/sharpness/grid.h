// SPDX-License-Identifier: LGPL-2.1-or-later
// The grid of cells that a region is split into. Kernels include it, so it includes nothing slow to compile.
#pragma once

#include "algorithms/host_device.h"

#include <cstdint>

namespace framequality::sharpness {

/// A region in working samples of one field, split into columns x rows cells; x1 and y1 are past the end.
struct Grid {
  int field = 0;
  int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  int columns = 1, rows = 1;
  int first_cell = 0;  ///< cells are row-major; both fields of a region share theirs

  /// Left edge of column i, 0...columns (the last is x1): floor(i * width / columns).
  FQ_HD int column(int i) const { return x0 + static_cast<int>(static_cast<std::int64_t>(i) * (x1 - x0) / columns); }
  FQ_HD int row(int j) const { return y0 + static_cast<int>(static_cast<std::int64_t>(j) * (y1 - y0) / rows); }
};

}  // namespace framequality::sharpness
