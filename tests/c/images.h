// SPDX-License-Identifier: LGPL-2.1-or-later
// Images for tests of the C library.
#pragma once

#include "c/framequality.h"

#include <cstdint>
#include <random>
#include <vector>

namespace framequality {

/// A gray image of these bytes, rows without gaps.
inline fq_image gray_image(const std::uint8_t* bytes, int width, int height) {
  auto image = FQ_INIT(fq_image);
  image.width = width;
  image.height = height;
  image.word_bytes = 1;
  image.plane[0] = bytes;
  image.stride[0] = width;
  return image;
}

/// Random bytes, smooth enough that every metric has something to measure.
class TestImage {
 public:
  TestImage(int width, int height, unsigned seed) : width_(width), height_(height) {
    std::mt19937 random(seed);
    unsigned value = 128;
    for (int i = 0; i < width * height; ++i) {
      value = (3 * value + random() % 256) / 4;
      bytes_.push_back(static_cast<std::uint8_t>(value));
    }
  }
  const std::uint8_t* bytes() const { return bytes_.data(); }
  fq_image gray() const { return gray_image(bytes(), width_, height_); }

 private:
  int width_, height_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace framequality
