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

/// size(p) of each of so many planes.
template <class Size>
std::vector<PlaneSize> plane_sizes(int planes, const Size& size) {
  std::vector<PlaneSize> sizes(static_cast<std::size_t>(planes));
  std::generate(sizes.begin(), sizes.end(), [&size, p = 0]() mutable { return size(p++); });
  return sizes;
}

/// The planes that meters read.
inline std::vector<PlaneSize> plane_sizes(const Geometry& g) {
  return plane_sizes(g.layout.planes(), [&](int p) {
    return PlaneSize{g.layout.row_bytes(p, g.width), std::max(g.height, 0)};
  });
}

/// All planes of a frame, whole pixels with their alpha and filler.
inline std::vector<PlaneSize> plane_sizes(const PictureGeometry& g) {
  return plane_sizes(g.layout.planes, [&](int p) { return PlaneSize{g.row_bytes(p), g.rows(p)}; });
}

}  // namespace framequality
