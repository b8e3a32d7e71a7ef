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

/// What edges are marked with, by turns: stripes four pixels wide that run in zigzags, so that no straight edge lies in
/// one of them all along. They stay in place from frame to frame. Two that are the same make no stripes.
struct Marks {
  std::uint32_t first = 0, second = 0;
};

/// Marks the edges of frames of one geometry in host memory. Everything is allocated when it is made.
class EdgeMarker {
 public:
  explicit EdgeMarker(const Geometry& geometry);

  /// Writes one of `marks` for each pixel whose gradient is at least `threshold`, 0 for the others and for the
  /// picture's border. Gradient: magnitude of the 3x3 Sobel operator on the luma codes / 4, that is the height of the
  /// step between two pixels that would give it; in 8-bit grey levels (deeper luma loses its low bits first). out:
  /// width x height pixels, stride in bytes. Returns the rows from the first to the last that holds marks; none if
  /// first == last.
  RowRange mark(const Frame& frame, int threshold, Marks marks, std::uint8_t* out, std::ptrdiff_t stride);

 private:
  const std::uint8_t* codes(const Frame& frame, int y);

  Geometry geometry_;
  std::vector<std::uint8_t> deep_;      ///< one row of luma codes as they are
  std::vector<std::uint8_t> codes_[3];  ///< rows y of 8-bit grey levels, at y % 3
  std::vector<std::uint32_t> stripes_;  ///< a row of marks, from which each row takes its part
};

}  // namespace framequality::cpu
