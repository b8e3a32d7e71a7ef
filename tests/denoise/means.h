// SPDX-License-Identifier: LGPL-2.1-or-later
// Cases for denoisers, and their means as the definition has them, summed in double precision.
#pragma once

#include "algorithms/denoise/weight.h"
#include "tests/denoise/plain_noise.h"
#include "tests/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace framequality::test {

using denoise::Border;
using denoise::CenterWeight;

enum class Content { kNoisy, kRandom, kExtremes, kFlat };

/// What is filtered, and how. range, spatial, sigma: as in denoise::Settings.
struct Case {
  int width = 0, height = 0;
  int patch = 3, search = 10;
  double range = 100, spatial = 0, sigma = 0;
  bool estimate = false;
  CenterWeight center = CenterWeight::kOne;
  Border border = Border::kSymmetric;
  int fields = 1, frames = 1, step = 1;
  bool upside_down = false;
  Content content = Content::kNoisy;
  int planes = 1, depth = 8;

  int largest() const { return (1 << depth) - 1; }
  double grey() const { return largest() / 255.0; }
};

inline std::string describe(const Case& c) {
  static constexpr const char* kBorders[] = {"symmetric", "reflect", "edge"};
  static constexpr const char* kContents[] = {"noisy", "random", "extreme", "flat"};
  return std::to_string(c.width) + "x" + std::to_string(c.height) + " patch " + std::to_string(c.patch) + " search " +
         std::to_string(c.search) + " range " + std::to_string(c.range) + " spatial " + std::to_string(c.spatial) +
         " sigma " + (c.estimate ? "estimated" : std::to_string(c.sigma)) +
         (c.center == CenterWeight::kMax ? " max" : " one") + " border " + kBorders[static_cast<int>(c.border)] +
         " fields " + std::to_string(c.fields) + " frames " + std::to_string(c.frames) + " step " +
         std::to_string(c.step) + (c.upside_down ? " upside down " : " ") + kContents[static_cast<int>(c.content)] +
         " planes " + std::to_string(c.planes) + " depth " + std::to_string(c.depth);
}

using Codes = std::vector<std::uint16_t>;  // rows without gaps, one plane after the other

inline Codes make_codes(const Case& c, std::uint64_t seed) {
  Random random(seed);
  Codes codes;
  for (int k = 0; k < c.planes; ++k)
    for (int y = 0; y < c.height; ++y)
      for (int x = 0; x < c.width; ++x) {
        const double noise = random.below(41) - 20,
                     wave = 128 + 90 * std::sin(x * (0.13 + 0.05 * k)) * std::cos(y * 0.11);
        const int below = random.below((1 << (c.depth - 8)));  // of a grey level
        int v = c.largest();
        if (c.content == Content::kNoisy)
          v = std::clamp((static_cast<int>(wave + noise) << (c.depth - 8)) + below, 0, c.largest());
        if (c.content == Content::kRandom) v = random.below(c.largest() + 1);
        if (c.content == Content::kExtremes) v = c.largest() * (((x / 9 + y / 7) & 1) ^ (random.one_in(50) ? 1 : 0));
        codes.push_back(static_cast<std::uint16_t>(v));
      }
  return codes;
}

/// One field of a frame with so many pixels around it as the border makes them.
struct Padded {
  int pad, width, height, pitch;
  std::vector<int> codes[3];
  Padded(const Case& c, const Codes& from, int field)
      : pad(c.patch + c.search),
        width(c.width),
        height((c.height - field + c.fields - 1) / c.fields),
        pitch(width + 2 * pad) {
    for (int k = 0; k < c.planes; ++k)
      for (int y = -pad; y < height + pad; ++y)
        for (int x = -pad; x < width + pad; ++x) {
          const int row = denoise::bordered(y, height, c.border) * c.fields + field;
          codes[k].push_back(
              from[static_cast<std::size_t>((k * c.height + row) * width + denoise::bordered(x, width, c.border))]);
        }
  }
  const int* at(int k, int x, int y) const { return &codes[k][static_cast<std::size_t>((y + pad) * pitch + x + pad)]; }
};

/// Of the planes the mean.
inline double noise_variance(const Case& c, const Padded& p) {
  double sum = 0;
  for (int k = 0; k < c.planes; ++k)
    sum += plain_noise_variance(p.width, p.height, c.depth, [&](int x, int y) { return *p.at(k, x, y); });
  return sum / c.planes;
}

inline double squares(const Padded& a, const int* p, const Padded& b, const int* q, int patch) {
  int sum = 0;
  for (int j = -patch; j <= patch; ++j)
    for (int i = -patch; i <= patch; ++i) {
      const int d = p[j * a.pitch + i] - q[j * b.pitch + i];
      sum += d * d;
    }
  return sum;
}

/// Means before rounding, one plane after the other; frames[middle] is filtered.
inline std::vector<double> reference(const Case& c, const std::vector<Codes>& frames, std::size_t middle) {
  std::vector<double> means(frames[0].size());
  for (int field = 0; field < std::min(c.fields, c.height); ++field) {
    std::vector<Padded> padded;
    for (const Codes& f : frames) padded.emplace_back(c, f, field);
    const Padded& own = padded[middle];
    const double sigma = c.estimate ? std::sqrt(noise_variance(c, own)) : c.sigma;
    const double side = 2 * c.patch + 1, samples = side * side * c.planes * c.grey() * c.grey();
    for (int y = 0; y < own.height; ++y)
      for (int x = 0; x < own.width; ++x) {
        double weights = 0, values[3] = {}, largest = denoise::kLeastCenter;
        for (const Padded& other : padded)
          for (int ty = -c.search; ty <= c.search; ++ty)
            for (int tx = -c.search; tx <= c.search; ++tx) {
              if (&other == &own && tx == 0 && ty == 0) continue;
              double d = 0;
              for (int k = 0; k < c.planes; ++k)
                d += squares(own, own.at(k, x, y), other, other.at(k, x + tx, y + ty), c.patch) / samples;
              const double w =
                  std::exp(-std::max(d - 2 * sigma * sigma, 0.0) / c.range - (tx * tx + ty * ty) * c.spatial);
              weights += w;
              for (int k = 0; k < c.planes; ++k) values[k] += w * *other.at(k, x + tx, y + ty);
              largest = std::max(largest, w);
            }
        const double w = c.center == CenterWeight::kMax ? largest : 1;
        for (int k = 0; k < c.planes; ++k)
          means[static_cast<std::size_t>((k * c.height + y * c.fields + field) * c.width + x)] =
              (values[k] + w * *own.at(k, x, y)) / (weights + w);
      }
  }
  return means;
}

}  // namespace framequality::test
