// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixel values as a gray frame in host memory, for the CPU's meters.
#pragma once

#include "algorithms/layout.h"

#include <cstdint>
#include <vector>

namespace framequality::test {

/// A frame of `depth` bits a pixel, 8 to 16. Beyond 8 bits it points into `values`, which must outlive it.
struct GrayFrame {
  Geometry geometry;
  std::vector<std::uint8_t> bytes;
  Frame frame;

  GrayFrame(const std::vector<std::uint16_t>& values, int width, int height, int depth)
      : geometry{width, height, {}}, bytes(values.begin(), values.end()) {
    geometry.layout.depth = static_cast<std::uint8_t>(depth);
    geometry.layout.word_bytes = geometry.layout.pixel_stride = depth > 8 ? 2 : 1;
    frame.plane[0] = depth > 8 ? reinterpret_cast<const std::uint8_t*>(values.data()) : bytes.data();
    frame.stride[0] = geometry.layout.pixel_stride * width;
  }
  GrayFrame(const GrayFrame&) = delete;
  GrayFrame& operator=(const GrayFrame&) = delete;
};

}  // namespace framequality::test
