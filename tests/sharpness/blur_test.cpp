// SPDX-License-Identifier: LGPL-2.1-or-later
// Gradient metrics fall whenever an image is blurred more.
#include "tests/sharpness/measure.h"
#include "tests/support/layouts.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

constexpr const char* kGradientMetrics[] = {"roberts", "tenengrad",          "laplacian", "gray-difference",
                                            "max-min", "laplacian-variance", "brenner",   "gray-difference-product"};

/// Rows, then columns, through a Gaussian; edges repeated.
std::vector<double> blurred(const std::vector<double>& g, int w, int h, double sigma) {
  const int radius = static_cast<int>(std::ceil(4 * sigma));
  std::vector<double> taps;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) sum += taps.emplace_back(std::exp(-i * i / (2 * sigma * sigma)));
  std::vector<double> in = g, out(g.size());
  for (const bool rows : {true, false}) {
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        double v = 0;
        for (int i = -radius; i <= radius; ++i) {
          const int u = rows ? std::clamp(x + i, 0, w - 1) : x, t = rows ? y : std::clamp(y + i, 0, h - 1);
          v += taps[static_cast<std::size_t>(i + radius)] * in[static_cast<std::size_t>(t * w + u)];
        }
        out[static_cast<std::size_t>(y * w + x)] = v / sum;
      }
    in = out;
  }
  return out;
}

/// Rectangles of random place and level over a slope: edges of all heights, corners, smooth ground.
std::vector<double> scene(int w, int h) {
  std::vector<double> g;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) g.push_back(30 + 60.0 * x / w + 40.0 * y / h);
  Random random(12);
  for (int n = 0; n < 60; ++n) {
    const int x0 = random.below(w), y0 = random.below(h), level = random.below(256);
    const int x1 = std::min(w, x0 + 2 + random.below(40)), y1 = std::min(h, y0 + 2 + random.below(30));
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) g[static_cast<std::size_t>(y * w + x)] = level;
  }
  return g;
}

TEST(Blur, GradientMetricsFallWithSigma) {
  const int w = 199, h = 131;
  const std::vector<double> sharp = scene(w, h);
  for (const int depth : {8, 12, 16}) {
    std::vector<double> last;
    for (const double sigma : {0.0, 0.5, 0.8, 1.2, 1.8, 2.7, 4.0}) {
      std::vector<std::uint16_t> codes;
      for (const double v : sigma > 0 ? blurred(sharp, w, h, sigma) : sharp)
        codes.push_back(static_cast<std::uint16_t>(std::lround(std::ldexp(v, depth - 8))));
      Picture picture(Geometry{w, h, luma_layout(depth, depth > 8 ? 2 : 1)}, codes);
      std::vector<double> now;
      for (const char* nick : kGradientMetrics) {
        Request request;
        request.metric = metric_index(nick);
        now.push_back(scores_of(picture, request).score);
        if (!last.empty()) {
          EXPECT_LT(now.back(), last[now.size() - 1]) << nick << " " << depth << " bits sigma " << sigma;
        }
      }
      last = now;
    }
  }
}

}  // namespace
}  // namespace framequality::test
