// SPDX-License-Identifier: LGPL-2.1-or-later
// Focus peaking: marks the strong edges of a frame.
#pragma once

#include "algorithms/layout.h"

#include <cstdint>
#include <vector>

namespace framequality::cpu {

/// Rows first...last-1.
struct RowRange {
  int first = 0, last = 0;
};

/// The two alternating marks of edges: stripes four pixels wide that run in zigzags, so that no straight edge lies
/// wholly in one of them. They stay in place from frame to frame. Equal marks make no stripes.
struct Marks {
  std::uint32_t first = 0, second = 0;
};

/// Marks the edges of frames of one geometry in host memory. Everything is allocated in the constructor.
class EdgeMarker {
 public:
  explicit EdgeMarker(const Geometry& geometry);

  /// Writes one of `marks` for each pixel whose gradient is at least `threshold`, 0 for the others and for the
  /// image's border. Gradient: magnitude of the 3x3 Sobel operator on luma / 4, that is the height of the
  /// step between two pixels that would give it; in 8-bit grey levels (deeper luma loses its low bits first). out:
  /// width x height pixels, stride in bytes. Returns the rows from the first to the last that holds marks; none if
  /// first == last.
  RowRange mark(const Frame& frame, int threshold, Marks marks, std::uint8_t* out, std::ptrdiff_t stride);

 private:
  const std::uint8_t* codes(const Frame& frame, int y);

  Geometry geometry_;
  std::vector<std::uint8_t> deep_;      ///< one row of luma at full depth
  std::vector<std::uint8_t> codes_[3];  ///< rows y of 8-bit grey levels, at y % 3
  std::vector<std::uint32_t> stripes_;  ///< a row of marks; each image row uses a part of it
};

}  // namespace framequality::cpu
