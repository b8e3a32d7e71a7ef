// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops whose bounds are minima, with loop_bound() and without; no CUDA headers.
#pragma once

#include <vector>

namespace framequality::test {

/// Rows top...bottom-1 of a picture of `height`, of which strip number `strip` has `strip_rows`.
struct Rows {
  int top, bottom, height, strip, strip_rows;
};

/// For each, the sum of the values of its rows but for the picture's first and last one. values: some beyond the
/// picture too, for loops that run past their end.
std::vector<int> walk_rows(const std::vector<Rows>& rows, const std::vector<int>& values, bool guarded);

}  // namespace framequality::test
