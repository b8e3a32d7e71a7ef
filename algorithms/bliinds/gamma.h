// SPDX-License-Identifier: LGPL-2.1-or-later
// The shape parameter of a generalised Gaussian from its moments' ratio: the release's table, and a quick way into it.
#pragma once

#include "algorithms/host_device.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace framequality::bliinds {

/// Shapes 0.030, 0.031 ... 10.000, and the value for ratios beyond the table; unit 0.001.
inline constexpr int kShapes = 9971, kFirstShape = 30, kNoShape = 11000;
inline constexpr int kShapeUnits = 1000;

/// Buckets of ratio - 4/3, the limit at infinite shape, by its exponent and first eleven bits: no bucket holds more
/// than three entries of the table.
inline constexpr int kShapeBits = 11, kShapeSteps = 3, kShapeBuckets = 10 * (1 << kShapeBits);
inline constexpr std::int64_t kFirstBucket = std::int64_t{1017} << kShapeBits;  // 2^-6, just below the last entry
inline constexpr double kRatioLimit = 4.0 / 3;

/// Immutable table, shared by both twins; it holds no pointers, so it can be copied to a device.
struct ShapeTable {
  double ratio[kShapes + kShapeSteps];  ///< of shape kFirstShape + i, strictly falling; then zeros
  std::uint16_t start[kShapeBuckets];   ///< index at the upper end of the bucket
};

FQ_HD int shape_bucket(double ratio) {
  const double above = ratio - kRatioLimit;
  std::int64_t bits;
  __builtin_memcpy(&bits, &above, sizeof bits);
  const std::int64_t bucket = (bits >> (52 - kShapeBits)) - kFirstBucket;  // negative where `above` is
  return static_cast<int>(bucket < 0 ? 0 : bucket < kShapeBuckets ? bucket : kShapeBuckets - 1);
}

/// Shape, in thousandths, of the largest index whose ratio is not below rho; kNoShape below the table's last ratio.
/// rho: 0...13. The ratio of 24 numbers is at most 576/46, so larger ones need no answer.
FQ_HD int shape_of(const ShapeTable& table, double rho) {
  int i = table.start[shape_bucket(rho)];
  for (int step = 0; step < kShapeSteps; ++step) i += table.ratio[i + 1] >= rho;
  return i < kShapes - 1 ? kFirstShape + i : kNoShape;
}

/// The only instance. Ratios are rounded from long doubles, so that they hardly depend on the math library.
inline const ShapeTable& shape_table() {
  static const auto table = [] {
    ShapeTable t = {};
    for (int i = 0; i < kShapes; ++i) {
      const long double g = (static_cast<long double>(kFirstShape) + i) / kShapeUnits, m = std::tgamma(2 / g);
      t.ratio[i] = static_cast<double>(std::tgamma(1 / g) * std::tgamma(3 / g) / (m * m));
    }
    std::array<int, kShapeBuckets + 1> from = {};  // entries in this bucket and above
    for (int i = 0; i < kShapes; ++i) ++from[static_cast<std::size_t>(shape_bucket(t.ratio[i]))];
    for (std::size_t b = kShapeBuckets; b-- > 0;) {
      if (b < kShapeBuckets - 1 && from[b] > kShapeSteps) throw std::logic_error("bliinds: buckets too wide");
      t.start[b] = static_cast<std::uint16_t>(from[b + 1] > 0 ? from[b + 1] - 1 : 0);
      from[b] += from[b + 1];
    }
    return t;
  }();
  return table;
}

}  // namespace framequality::bliinds
