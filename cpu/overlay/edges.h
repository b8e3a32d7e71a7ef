// SPDX-License-Identifier: LGPL-2.1-or-later
// Focus peaking: marks the strong edges of a frame.
#pragma once

#include "algorithms/layout.h"

#include <cstdint>
#include <vector>

namespace framequality::cpu {

/// RowRange first...last-1.
struct RowRange {
  int first = 0, last = 0;
};

/// Marks the edges of frames of one geometry in host memory. Everything is allocated when it is made.
class EdgeMarker {
 public:
  explicit EdgeMarker(const Geometry& geometry);

  /// Writes `mark` for each pixel whose gradient is at least `threshold`, 0 for the others and for the picture's
  /// border. Gradient: magnitude of the 3x3 Sobel operator on the luma codes / 4, that is the height of the step
  /// between two pixels that would give it; in 8-bit codes (deeper luma loses its low bits first). out: width x height
  /// pixels, stride in bytes. Returns the rows from the first to the last that holds marks; none if first == last.
  RowRange mark(const Frame& frame, int threshold, std::uint32_t mark, std::uint8_t* out, std::ptrdiff_t stride);

 private:
  const std::uint8_t* codes(const Frame& frame, int y);

  Geometry geometry_;
  std::vector<std::uint8_t> deep_;      ///< one row of luma codes as they are
  std::vector<std::uint8_t> codes_[3];  ///< rows y of 8-bit codes, at y % 3
};

}  // namespace framequality::cpu
