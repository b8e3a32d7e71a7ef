// SPDX-License-Identifier: LGPL-2.1-or-later
// The planes of frames as they are copied to devices: bytes and rows.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/picture.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace framequality {

/// One plane of a frame, which has at most 3. 0 bytes: it is not copied.
struct PlaneSize {
  std::size_t row_bytes = 0;
  int rows = 0;
};

/// The planes that meters read.
inline std::vector<PlaneSize> plane_sizes(const Geometry& g) {
  std::vector<PlaneSize> sizes;
  for (int p = 0; p < g.layout.planes(); ++p) sizes.push_back({g.layout.row_bytes(p, g.width), std::max(g.height, 0)});
  return sizes;
}

/// All planes of a frame, whole pixels with their alpha and filler.
inline std::vector<PlaneSize> plane_sizes(const PictureGeometry& g) {
  std::vector<PlaneSize> sizes;
  for (int p = 0; p < g.layout.planes; ++p) sizes.push_back({g.row_bytes(p), g.rows(p)});
  return sizes;
}

}  // namespace framequality
