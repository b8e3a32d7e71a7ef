// SPDX-License-Identifier: LGPL-2.1-or-later
// Direct binary search with the correlations kept up to date, as Lieberman and Allebach do it.
#include "apps/train_halftone/dot_search.h"

#include "algorithms/split_mix.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace framequality::tools {
namespace {

/// Distance to which the eye's response is modelled; there it has fallen below 1/500.
constexpr int kReach = 24, kWidth = 2 * kReach + 1;
constexpr int kMostPasses = 40;

/// Autocorrelation of the eye's point spread, by distance in pixels. The model's response at f cycles per degree is
/// exp(-f / (c ln L + d)); that of its square, in two dimensions, has a closed form.
struct Eye {
  std::vector<float> at = std::vector<float>(std::size_t{kWidth} * kWidth);
  double total = 0;
  Eye() {
    const double per_pixel = std::numbers::pi * kScale / 180;  // cycles per degree of one cycle per pixel
    const double k = 2 * per_pixel / (0.525 * std::log(11.0) + 3.91) / (2 * std::numbers::pi);
    for (int y = -kReach; y <= kReach; ++y)
      for (int x = -kReach; x <= kReach; ++x) {
        const double v = std::pow(1 + (x * x + y * y) / (k * k), -1.5);
        at[static_cast<std::size_t>((y + kReach) * kWidth + x + kReach)] = static_cast<float>(v);
        total += v;
      }
  }
  float operator()(int dx, int dy) const { return at[static_cast<std::size_t>((dy + kReach) * kWidth + dx + kReach)]; }
};

class Search {
 public:
  Search(int side, double a, std::uint64_t seed)
      : side_(side), pitch_(side + 2 * kReach), dots_(side, side), seen_(static_cast<std::size_t>(pitch_ * side)) {
    for (float& v : seen_) v = static_cast<float>(-a * eye().total);
    std::vector<int> order(dots_.values.size());
    std::iota(order.begin(), order.end(), 0);
    SplitMix random(seed);
    const auto dots = static_cast<std::size_t>(std::lround(a * static_cast<double>(order.size())));
    for (std::size_t i = 0; i < dots; ++i) {
      std::swap(order[i], order[i + random.next() % (order.size() - i)]);
      toggle(order[i] % side_, order[i] / side_);
    }
  }

  Dots run() {
    for (int pass = 0; pass < kMostPasses; ++pass) {
      int changes = 0;
      for (int y = 0; y < side_; ++y)
        for (int x = 0; x < side_; ++x) changes += improve(x, y);
      if (changes == 0) break;
    }
    return dots_;
  }

 private:
  static const Eye& eye() {
    static const Eye eye;
    return eye;
  }
  int wrapped(int v) const { return v & (side_ - 1); }
  /// Correlation of the eye with the error. Rows are padded so that updates are contiguous.
  float seen(int x, int y) const { return seen_[static_cast<std::size_t>(y * pitch_ + x + kReach)]; }

  void toggle(int x, int y) {
    std::uint8_t& dot = dots_.dot(x, y);
    const float sign = dot ? -1 : 1;
    dot ^= 1;
    for (int dy = -kReach; dy <= kReach; ++dy) {
      float* row = &seen_[static_cast<std::size_t>(wrapped(y + dy) * pitch_)];
      const float* e = &eye().at[static_cast<std::size_t>((dy + kReach) * kWidth)];
      for (int i = 0; i < kWidth; ++i) row[x + i] += sign * e[i];
      // Values in a pad belong to the other end.
      if (x < kReach)
        for (int i = 0; i < kReach - x; ++i) {
          row[side_ + x + i] += sign * e[i];
          row[x + i] = 0;
        }
      if (x + kReach >= side_)
        for (int i = side_ + kReach - x; i < kWidth; ++i) {
          row[x + i - side_] += sign * e[i];
          row[x + i] = 0;
        }
    }
  }

  bool improve(int x, int y) {
    const float sign = dots_.dot(x, y) ? -1 : 1, own = seen(x, y), peak = eye()(0, 0);
    float best = 0;
    int best_x = x, best_y = y;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int nx = wrapped(x + dx), ny = wrapped(y + dy);
        if (dots_.dot(nx, ny) == dots_.dot(x, y)) continue;
        const float change = 2 * (peak - eye()(dx, dy)) + 2 * sign * (own - seen(nx, ny));
        if (change < best) best = change, best_x = nx, best_y = ny;
      }
    // Rounding must not make the search endless.
    if (best > -1e-4F) return false;
    toggle(x, y);
    toggle(best_x, best_y);
    return true;
  }

  int side_, pitch_;
  Dots dots_;
  std::vector<float> seen_;
};

}  // namespace

Dots search_dots(int side, double a, std::uint64_t seed) { return Search(side, a, seed).run(); }

}  // namespace framequality::tools
