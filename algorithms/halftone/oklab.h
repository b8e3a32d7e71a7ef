// SPDX-License-Identifier: LGPL-2.1-or-later
// OKLab, the space in which colours are compared, computed by operations that round alike on all machines.
#pragma once

#include <bit>
#include <cstdint>

namespace framequality::halftone {

struct Vector3 {
  double x = 0, y = 0, z = 0;
  Vector3 operator-(const Vector3& o) const { return {x - o.x, y - o.y, z - o.z}; }
  Vector3 operator+(const Vector3& o) const { return {x + o.x, y + o.y, z + o.z}; }
  Vector3 operator*(double k) const { return {x * k, y * k, z * k}; }
  double dot(const Vector3& o) const { return x * o.x + y * o.y + z * o.z; }
};

/// Cube root, relative error some 1e-10. Those of libraries differ in the last bit.
inline double cube_root(double v) {
  if (v < 0) return -cube_root(-v);
  if (v < 1e-12) return 0;
  // A third of the logarithm, which the bits of a number approximate, then Newton's steps.
  auto root = std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) / 3 + 0x2a9f7893782da1ceu);
  for (int i = 0; i < 3; ++i) root -= (root - v / (root * root)) / 3;
  return root;
}

/// B. Ottosson, A perceptual color space for image processing (2020), of linear light, 1 = white. Light may lie
/// beyond 0...1.
inline Vector3 oklab_of(const Vector3& rgb) {
  const double l = cube_root(0.4122214708 * rgb.x + 0.5363325363 * rgb.y + 0.0514459929 * rgb.z),
               m = cube_root(0.2119034982 * rgb.x + 0.6806995451 * rgb.y + 0.1073969566 * rgb.z),
               s = cube_root(0.0883024619 * rgb.x + 0.2817188376 * rgb.y + 0.6299787005 * rgb.z);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

}  // namespace framequality::halftone
