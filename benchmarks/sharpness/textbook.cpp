// SPDX-License-Identifier: LGPL-2.1-or-later
// Every metric as its formula reads, one pixel at a time. Compiled twice, as FQ_TEXTBOOK: plain and vectorised.
#include "benchmarks/sharpness/textbook.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

namespace framequality::textbook::FQ_TEXTBOOK {
namespace {

struct Picture {
  const std::uint8_t* pixels;
  int w, h;
  int operator()(int x, int y) const { return pixels[static_cast<std::ptrdiff_t>(y) * w + x]; }
  double count() const { return static_cast<double>(w) * h; }
};

template <class F>
double mean(const Picture& g, int x0, int x1, int y0, int y1, F&& f) {
  std::int64_t sum = 0;
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) sum += f(x, y);
  return static_cast<double>(sum) / g.count();
}

double variance(const Picture& g) {
  std::int64_t sum = 0, squares = 0;
  for (int y = 0; y < g.h; ++y)
    for (int x = 0; x < g.w; ++x) {
      const int v = g(x, y);
      sum += v;
      squares += v * v;
    }
  const double m = static_cast<double>(sum) / g.count();
  return static_cast<double>(squares) / g.count() - m * m;
}

double laplacian_variance(const Picture& g) {
  const auto reflect = [](int v, int n) { return v < 0 ? -v : v >= n ? 2 * n - 2 - v : v; };
  std::int64_t sum = 0, squares = 0;
  for (int y = 0; y < g.h; ++y)
    for (int x = 0; x < g.w; ++x) {
      const int v = g(reflect(x - 1, g.w), y) + g(reflect(x + 1, g.w), y) + g(x, reflect(y - 1, g.h)) +
                    g(x, reflect(y + 1, g.h)) - 4 * g(x, y);
      sum += v;
      squares += v * v;
    }
  const double m = static_cast<double>(sum) / g.count();
  return static_cast<double>(squares) / g.count() - m * m;
}

double entropy(const Picture& g) {
  int bins[256] = {};
  for (int y = 0; y < g.h; ++y)
    for (int x = 0; x < g.w; ++x) ++bins[g(x, y)];
  double bits = 0;
  for (const int b : bins)
    if (b) bits -= b / g.count() * std::log2(b / g.count());
  return bits;
}

}  // namespace

double score(const char* name, const std::uint8_t* pixels, int width, int height) {
  const Picture g{pixels, width, height};
  const int w = width, h = height;
  const auto is = [&](const char* n) { return std::strcmp(name, n) == 0; };
  if (is("variance")) return variance(g);
  if (is("normalized-variance")) return variance(g) / mean(g, 0, w, 0, h, [&](int x, int y) { return g(x, y); });
  if (is("laplacian-variance")) return laplacian_variance(g);
  if (is("entropy")) return entropy(g);
  if (is("roberts"))
    return mean(g, 0, w - 1, 0, h - 1, [&](int x, int y) {
      return std::abs(g(x + 1, y + 1) - g(x, y)) + std::abs(g(x, y + 1) - g(x + 1, y));
    });
  if (is("tenengrad"))
    return mean(g, 1, w - 1, 1, h - 1, [&](int x, int y) {
      const int gx =
          g(x + 1, y - 1) + 2 * g(x + 1, y) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x - 1, y) - g(x - 1, y + 1);
      const int gy =
          g(x - 1, y + 1) + 2 * g(x, y + 1) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x, y - 1) - g(x + 1, y - 1);
      return gx * gx + gy * gy;
    });
  if (is("mean-square-frequency")) {
    double bends = 0, slopes = 0;
    for (int y = 1; y < h - 1; ++y)
      for (int x = 1; x < w - 1; ++x) {
        const int l = g(x + 1, y) + g(x - 1, y) + g(x, y + 1) + g(x, y - 1) - 4 * g(x, y);
        const int gx =
            g(x + 1, y - 1) + 2 * g(x + 1, y) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x - 1, y) - g(x - 1, y + 1);
        const int gy =
            g(x - 1, y + 1) + 2 * g(x, y + 1) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x, y - 1) - g(x + 1, y - 1);
        bends += l * l;
        slopes += gx * gx + gy * gy;
      }
    return slopes > 0 ? 64 * bends / slopes : 0;
  }
  if (is("directional-frequency")) {
    double inverse = 0;
    for (const auto& [dx, dy] : {std::pair{1, 0}, {0, 1}, {1, 1}, {1, -1}}) {
      double bends = 0, slopes = 0;
      for (int y = 1; y < h - 1; ++y)
        for (int x = 1; x < w - 1; ++x) {
          const int bend = g(x + dx, y + dy) - 2 * g(x, y) + g(x - dx, y - dy), slope = g(x + dx, y + dy) - g(x, y);
          bends += bend * bend;
          slopes += slope * slope;
        }
      inverse += slopes * (dx * dx + dy * dy) / bends;
    }
    return 4 / inverse;
  }
  if (is("laplacian"))
    return mean(g, 1, w - 1, 1, h - 1, [&](int x, int y) {
      return std::abs(g(x + 1, y) + g(x - 1, y) - 2 * g(x, y)) + std::abs(g(x, y + 1) + g(x, y - 1) - 2 * g(x, y));
    });
  if (is("gray-difference"))
    return mean(g, 0, w - 1, 0, h - 1,
                [&](int x, int y) { return std::abs(g(x, y) - g(x + 1, y)) + std::abs(g(x, y) - g(x, y + 1)); });
  if (is("gray-difference-product"))
    return mean(g, 0, w - 1, 0, h - 1,
                [&](int x, int y) { return std::abs(g(x, y) - g(x + 1, y)) * std::abs(g(x, y) - g(x, y + 1)); });
  if (is("max-min"))
    return mean(g, 1, w - 1, 1, h - 1, [&](int x, int y) {
      int low = g(x, y), high = low;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          low = std::min(low, g(x + i, y + j));
          high = std::max(high, g(x + i, y + j));
        }
      return high - low;
    });
  if (is("brenner"))
    return mean(g, 0, w - 2, 0, h, [&](int x, int y) {
      const int d = g(x + 2, y) - g(x, y);
      return d * d;
    });
  if (is("vollath-f4"))
    return mean(g, 0, w - 2, 0, h, [&](int x, int y) { return g(x, y) * (g(x + 1, y) - g(x + 2, y)); });
  return std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t read(const std::uint8_t* pixels, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    std::uint64_t w;
    std::memcpy(&w, pixels + i, 8);
    sum += w;
  }
  return sum;
}

}  // namespace framequality::textbook::FQ_TEXTBOOK
