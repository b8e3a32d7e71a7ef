// SPDX-License-Identifier: LGPL-2.1-or-later
// A scene of detail finer than zones, and the zones of a camera that looks at it from any place.
#pragma once

#include "algorithms/split_mix.h"
#include "algorithms/watch/view_template.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace framequality::test {

/// Patches of energy, of two zones and of a part of one, without end in any direction.
class ZoneField {
 public:
  explicit ZoneField(std::uint64_t seed, int columns = 16, int rows = 9)
      : seed_(seed), columns_(columns), rows_(rows) {}

  ZoneGrid grid() const { return {columns_, 0.75}; }
  /// Energies by zone of a view that shows the scene at this place.
  std::vector<double> zones(const ViewPlace& at = {}) const {
    constexpr int kFine = 6;
    const double a = at.degrees * std::numbers::pi / 180, c = std::cos(a) / at.scale, s = std::sin(a) / at.scale;
    std::vector<double> zones;
    for (int row = 0; row < rows_; ++row)
      for (int column = 0; column < columns_; ++column) {
        double sum = 0;
        for (int i = 0; i < kFine * kFine; ++i) {
          const double x = column + (i % kFine + 0.5) / kFine - columns_ / 2.0 - at.right,
                       y = row + (i / kFine + 0.5) / kFine - rows_ / 2.0 - at.down;
          sum += patch(c * x + s * y / grid().aspect, c * y - s * x * grid().aspect);
        }
        zones.push_back(sum / (kFine * kFine));
      }
    return zones;
  }
  std::vector<double> levels(const ViewPlace& at = {}) const {
    std::vector<double> levels = zones(at);
    for (double& v : levels) v = std::log2(v);
    return levels;
  }

 private:
  /// A random number, -1...1, of a square of `size` zones.
  double square(double x, double y, double size) const {
    const auto i = static_cast<std::int64_t>(std::floor(x / size)), k = static_cast<std::int64_t>(std::floor(y / size));
    SplitMix random(seed_ * 1000003 + static_cast<std::uint64_t>(i + 1000) * 4001 +
                    static_cast<std::uint64_t>(k + 1000));
    random.next();
    return 2 * random.uniform() - 1;
  }
  double patch(double x, double y) const { return std::exp2(2.5 * square(x, y, 2) + 2.5 * square(x + 99, y, 0.7)); }

  std::uint64_t seed_;
  int columns_, rows_;
};

}  // namespace framequality::test
