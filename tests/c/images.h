// SPDX-License-Identifier: LGPL-2.1-or-later
// Images of random bytes, smooth enough that every metric has something to measure.
#pragma once

#include "c/framequality.h"

#include <cstdint>
#include <random>
#include <vector>

namespace framequality {

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
  fq_image gray() const {
    auto image = FQ_INIT(fq_image);
    image.width = width_;
    image.height = height_;
    image.word_bytes = 1;
    image.plane[0] = bytes_.data();
    image.stride[0] = width_;
    return image;
  }

 private:
  int width_, height_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace framequality
