// SPDX-License-Identifier: LGPL-2.1-or-later
// Blur of a defocused lens: the average over a disk, smooth in its radius.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality {

/// Averages 8-bit images of one size over a disk. Allocates when made and when the radius grows.
class DiskBlur {
 public:
  static constexpr double kMaxRadius = 128;   ///< larger radii are clamped to it
  static constexpr double kMinRadius = 1e-6;  ///< smaller radii count as 0: rounding would drown their weights

  DiskBlur(int width, int height) : width_(width), height_(height), sums_(static_cast<std::size_t>(width)) {}

  /// out(x, y) = mean of `in`, bilinearly interpolated, over the disk of this radius (pixels) around (x, y), in 1/256
  /// grey levels. in, out: width x height, no row padding. Radius 0: in * 256. The image is mirrored beyond its edges
  /// (edge pixels repeated), so that the mean level stays the same.
  void operator()(const std::uint8_t* in, double radius, std::uint16_t* out) {
    const auto w = static_cast<std::size_t>(width_), h = static_cast<std::size_t>(height_);
    if (!(radius >= kMinRadius)) {
      for (std::size_t i = 0; i < w * h; ++i) out[i] = static_cast<std::uint16_t>(in[i] * 256);
      return;
    }
    make_kernel(std::min(radius, kMaxRadius));
    extend_rows(in);
    const std::size_t pitch = w + 2 * static_cast<std::size_t>(reach_);
    for (int y = 0; y < height_; ++y) {
      std::fill(sums_.begin(), sums_.end(), 0.5f / 256);  // rounds
      for (int v = -reach_; v <= reach_; ++v) {
        const auto row = static_cast<std::size_t>(mirrored(y + v, height_));
        add_row(&codes_[row * pitch], &prefix_[row * (pitch + 1)], std::abs(v));
      }
      for (std::size_t x = 0; x < w; ++x)
        out[static_cast<std::size_t>(y) * w + x] = static_cast<std::uint16_t>(sums_[x] * 256);
    }
  }

 private:
  static constexpr int kChords = 16;  ///< per pixel row: rows and columns then weigh alike within 1%

  static int mirrored(int i, int n) {
    i = (i % (2 * n) + 2 * n) % (2 * n);
    return i < n ? i : 2 * n - 1 - i;
  }

  /// Integral of the interpolation's tent from -infinity to t.
  static double tent_integral(double t) {
    if (t <= -1) return 0;
    if (t >= 1) return 1;
    return t < 0 ? (t + 1) * (t + 1) / 2 : 1 - (1 - t) * (1 - t) / 2;
  }

  double& weight(int v, int u) { return kernel_[static_cast<std::size_t>(v * (reach_ + 1) + u)]; }

  /// One quadrant of the disk's pixel weights; the disk is cut into horizontal chords.
  void make_kernel(double radius) {
    reach_ = static_cast<int>(std::ceil(radius)) + 1;
    kernel_.assign(static_cast<std::size_t>((reach_ + 1) * (reach_ + 1)), 0.0);
    run_.assign(static_cast<std::size_t>(reach_ + 1), -1);
    const int chords = kChords * static_cast<int>(std::ceil(2 * radius));
    for (int i = 0; i < chords; ++i) {
      const double at = ((i + 0.5) / chords * 2 - 1) * radius, half = std::sqrt(radius * radius - at * at);
      for (int v = std::max(0, static_cast<int>(std::floor(at))); v <= reach_; ++v) {
        const double share = 1 - std::abs(v - at);
        if (share <= 0) {
          if (v > at) break;
          continue;
        }
        for (int u = 0; u <= reach_; ++u) weight(v, u) += share * (tent_integral(u + half) - tent_integral(u - half));
      }
    }
    double sum = 0;
    for (int v = 0; v <= reach_; ++v)
      for (int u = 0; u <= reach_; ++u) sum += weight(v, u) * (v ? 2 : 1) * (u ? 2 : 1);
    for (double& k : kernel_) k /= sum;
    // Inside the disk, weights are constant along a row: a difference of prefix sums covers them.
    for (int v = 0; v <= reach_; ++v) {
      int& run = run_[static_cast<std::size_t>(v)];
      while (run < reach_ && weight(v, run + 1) > 0 && weight(v, run + 1) == weight(v, 0)) ++run;
    }
  }

  /// Mirrors rows out to the kernel's reach and adds up their prefix sums.
  void extend_rows(const std::uint8_t* in) {
    const int pitch = width_ + 2 * reach_;
    codes_.resize(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(height_));
    prefix_.resize(static_cast<std::size_t>(pitch + 1) * static_cast<std::size_t>(height_));
    auto* code = codes_.data();
    auto* prefix = prefix_.data();
    for (int y = 0; y < height_; ++y, in += width_) {
      *prefix++ = 0;
      for (int x = -reach_; x < width_ + reach_; ++x, ++prefix) {
        const std::uint8_t c = in[mirrored(x, width_)];
        *code++ = c;
        *prefix = prefix[-1] + c;
      }
    }
  }

  /// Adds one row of the image, |v| rows from the disk's centre.
  void add_row(const float* code, const std::int32_t* prefix, int v) {
    const int run = run_[static_cast<std::size_t>(v)];
    float* sums = sums_.data();
    if (run >= 0) {
      const auto k = static_cast<float>(weight(v, 0));
      const std::int32_t *left = prefix + reach_ - run, *right = prefix + reach_ + run + 1;
      for (int x = 0; x < width_; ++x) sums[x] += k * static_cast<float>(right[x] - left[x]);
    }
    for (int u = run + 1; u <= reach_ && weight(v, u) > 0; ++u) {
      const auto k = static_cast<float>(weight(v, u));
      const float *left = code + reach_ - u, *right = code + reach_ + u;
      for (int x = 0; x < width_; ++x) sums[x] += k * (left[x] + right[x]);
    }
  }

  int width_, height_;
  int reach_ = 0;               ///< pixels that the kernel extends from its centre
  std::vector<double> kernel_;  ///< quadrant, (reach_ + 1)^2
  std::vector<int> run_;        ///< row v: columns 0...run_[v] weigh the same
  std::vector<float> codes_;
  std::vector<std::int32_t> prefix_;
  std::vector<float> sums_;
};

}  // namespace framequality
