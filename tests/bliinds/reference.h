// SPDX-License-Identifier: LGPL-2.1-or-later
// BLIINDS-II as one would write it down: the definition in plain loops, sharing no arithmetic with the twins. Tests
// hold them against it; benchmarks race against it.
#pragma once

#include "algorithms/bliinds/meter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace framequality::test {

/// Width x height pixels in units of 8-bit codes, row by row.
struct GrayPicture {
  int width = 0, height = 0;
  std::vector<double> pixels;
  /// Zero outside.
  double at(int x, int y) const {
    if (x < 0 || y < 0 || x >= width || y >= height) return 0;
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
  GrayPicture half() const {
    const double e = std::exp(-2.0), side = e / (1 + 2 * e), middle = 1 / (1 + 2 * e), weights[] = {side, middle, side};
    GrayPicture out{width / 2, height / 2, {}};
    for (int y = 1; y < height; y += 2)
      for (int x = 1; x < width; x += 2) {
        double sum = 0;
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < 3; ++i) sum += weights[j] * weights[i] * at(x + i - 1, y + j - 1);
        out.pixels.push_back(sum);
      }
    return out;
  }
};

/// Block values and features of a picture.
class BliindsReference {
 public:
  BliindsReference() {
    for (int k = 0; k < 5; ++k)
      for (int i = 0; i < 5; ++i)
        basis_[k][i] = k == 0 ? std::sqrt(0.2) : std::sqrt(0.4) * std::cos(std::numbers::pi * (2 * i + 1) * k / 10);
    for (int j = 0; j < 9971; ++j) {
      const double g = 0.03 + 0.001 * j, m = std::tgamma(2 / g);
      ratios_.push_back(std::tgamma(1 / g) * std::tgamma(3 / g) / (m * m));
    }
  }

  bliinds::Features features(GrayPicture picture) const {
    bliinds::Features out{};
    for (int scale = 0; scale < 3; ++scale) {
      if (scale > 0) picture = picture.half();
      std::array<std::vector<double>, 4> maps = values(picture);
      for (std::size_t s = 0; s < 4; ++s) pool(maps[s], s == 1, &out[static_cast<std::size_t>(scale) * 8 + 2 * s]);
    }
    return out;
  }

  /// Zeta, gamma, energy, orientation of every block.
  std::array<std::vector<double>, 4> values(const GrayPicture& picture) const {
    std::array<std::vector<double>, 4> out;
    for (int y = 0; y < picture.height; y += 3)
      for (int x = 0; x < picture.width; x += 3) {
        double block[5][5];
        for (int j = 0; j < 5; ++j)
          for (int i = 0; i < 5; ++i) block[j][i] = picture.at(x + i - 1, y + j - 1) - picture.at(x + 1, y + 1);
        const std::array<double, 4> v = statistics(block);
        for (std::size_t s = 0; s < 4; ++s) out[s].push_back(v[s]);
      }
    return out;
  }

  std::array<double, 4> statistics(const double (&block)[5][5]) const {
    double rows[5][5], c[5][5];
    for (int j = 0; j < 5; ++j)
      for (int l = 0; l < 5; ++l) {
        rows[j][l] = 0;
        for (int i = 0; i < 5; ++i) rows[j][l] += block[j][i] * basis_[l][i];
      }
    for (int k = 0; k < 5; ++k)
      for (int l = 0; l < 5; ++l) {
        c[k][l] = 0;
        for (int j = 0; j < 5; ++j) c[k][l] += basis_[k][j] * rows[j][l];
      }
    const auto pick = [&](auto&... place) { return std::array{c[place.first][place.second]...}; };
    const auto set = [&](const auto& places) { return std::apply(pick, places); };
    const auto all =
        std::apply([&](auto... p) { return std::array{c[p / 5][p % 5]...}; },
                   std::array{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24});
    const double v1 = variance(set(kLow)), v2 = variance(set(kMiddle)), v3 = variance(set(kHigh));
    const double lower = (v1 + v2) / 2;
    const double energy = (std::abs(v3 - lower) / (v3 + lower + 1e-8) + std::abs(v2 - v1) / (v3 + v1 + 1e-8)) / 2;
    auto steep = kFlat;
    for (auto& [row, column] : steep) std::swap(row, column);
    const std::array orientations{zeta(set(kFlat)), zeta(set(kDiagonal)), zeta(set(steep))};
    return {zeta(all), shape(ratio(all)), energy, variance(orientations)};
  }

  /// Ratio of moments of which shape() finds the shape.
  template <class A>
  static double ratio(const A& x) {
    const double m = mean(x);
    double distance = 0;
    for (const double v : x) distance += std::abs(v - m);
    distance /= static_cast<double>(x.size());
    return variance(x) / (distance * distance + 1e-7);
  }

  /// By binary search for the last ratio that is not below rho.
  double shape(double rho) const {
    const auto after = std::partition_point(ratios_.begin(), ratios_.end(), [&](double r) { return r >= rho; });
    const auto j = after - ratios_.begin() - 1;
    return j >= 0 && j <= 9969 ? 0.03 + 0.001 * static_cast<double>(j) : 11;
  }

 private:
  using Place = std::pair<int, int>;  // row, column
  static constexpr std::array<Place, 5> kLow{{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 1}}};
  static constexpr std::array<Place, 13> kMiddle{
      {{3, 0}, {4, 0}, {2, 1}, {3, 1}, {4, 1}, {1, 2}, {2, 2}, {3, 2}, {0, 3}, {1, 3}, {2, 3}, {0, 4}, {1, 4}}};
  static constexpr std::array<Place, 6> kHigh{{{2, 4}, {3, 3}, {4, 2}, {3, 4}, {4, 3}, {4, 4}}};
  static constexpr std::array<Place, 8> kFlat{{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}, {2, 4}}};
  static constexpr std::array<Place, 8> kDiagonal{{{1, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}, {3, 4}, {4, 3}, {4, 4}}};

  template <class A>
  static double mean(const A& x) {
    double sum = 0;
    for (const double v : x) sum += v;
    return sum / static_cast<double>(x.size());
  }
  template <class A>
  static double variance(const A& x) {
    const double m = mean(x);
    double sum = 0;
    for (const double v : x) sum += (v - m) * (v - m);
    return sum / static_cast<double>(x.size() - 1);
  }
  template <class A>
  static double zeta(A x) {
    for (double& v : x) v = std::abs(v);
    return std::sqrt(variance(x)) / (mean(x) + 1e-7);
  }

  /// Mean, and mean of the highest or lowest tenth.
  static void pool(std::vector<double>& v, bool low, double* out) {
    out[0] = mean(v);
    const auto n = static_cast<std::ptrdiff_t>((v.size() + 9) / 10);
    if (low)
      std::nth_element(v.begin(), v.begin() + n - 1, v.end());
    else
      std::nth_element(v.begin(), v.begin() + n - 1, v.end(), std::greater<>());
    double sum = 0;
    for (auto i = v.begin(); i != v.begin() + n; ++i) sum += *i;
    out[1] = sum / static_cast<double>(n);
  }

  double basis_[5][5];
  std::vector<double> ratios_;
};

}  // namespace framequality::test
