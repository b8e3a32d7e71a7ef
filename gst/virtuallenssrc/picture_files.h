// SPDX-License-Identifier: LGPL-2.1-or-later
// Image files as 8-bit luma, decoded by GStreamer itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace framequality {

/// Images of one size by position. Each: width x height, no row padding.
struct PictureSet {
  int width = 0, height = 0;
  std::map<double, std::vector<std::uint8_t>> pictures;
};

/// The image in this file, at position 0; or the images of this folder (files that end in .png, .jpg, .jpeg, .bmp,
/// .webp, .tif, .tiff, .pgm, .ppm or .pnm): at the positions in their names, if all of them are numbers, else at
/// 0, 1, 2... in the order of their names, 2 before 10. Blocks until all are decoded. Throws ElementError that says
/// which file is missing, cannot be decoded or has another size.
PictureSet load_pictures(const std::string& location);

}  // namespace framequality
