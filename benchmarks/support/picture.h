// SPDX-License-Identifier: LGPL-2.1-or-later
// The image that benchmarks measure: smooth shapes with edges and sensor noise, so that histograms and branches
// meet what a camera gives, not white noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace framequality {

/// Packed width x height bytes; the same for the same size.
inline std::vector<std::uint8_t> make_picture(int width, int height) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  std::mt19937 random(1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double shape = 110 + 60 * std::sin(x * 0.013) * std::cos(y * 0.017) + ((x / 97 + y / 61) % 2 ? 25 : 0);
      const double noise = static_cast<double>(random() % 1000) / 1000 * 6;
      pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
          static_cast<std::uint8_t>(std::clamp(shape + noise, 0.0, 255.0));
    }
  return pixels;
}

}  // namespace framequality
