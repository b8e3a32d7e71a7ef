// SPDX-License-Identifier: LGPL-2.1-or-later
// The positions of a focus stack: images at several positions around the focus, to be merged into one that is sharp all
// over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace framequality {

/// The frame that was passed last, as an image of a focus stack.
struct FocusStackImage {
  int number = 0;       ///< 1...count, in the order of positions; 0: it belongs to no stack
  int count = 0;        ///< of the stack's images
  double position = 0;  ///< where the lens stood, in the unit of FocusSettings
};

namespace focus {

/// `count` steps, `apart` from each other, with `focus` in the middle, or as near to it as the range lets; fewer if the
/// range is shorter. Ascending, or descending if direction < 0: a lens with play goes through them without turning.
/// low <= focus <= high; count, apart >= 1.
inline std::vector<int> stack_around(int focus, int count, int apart, int low, int high, int direction) {
  count = std::min(count, (high - low) / apart + 1);
  const int length = (count - 1) * apart, first = std::clamp(focus - length / 2, low, high - length);
  std::vector<int> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all.push_back(first + i * apart);
  if (direction < 0) std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace focus
}  // namespace framequality
