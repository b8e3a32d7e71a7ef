// SPDX-License-Identifier: LGPL-2.1-or-later
// Cases for denoisers of 8-bit codes, and their means as the definition has them, summed in double precision.
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
};

inline std::string describe(const Case& c) {
  static constexpr const char* kBorders[] = {"symmetric", "reflect", "edge"};
  static constexpr const char* kContents[] = {"noisy", "random", "extreme", "flat"};
  return std::to_string(c.width) + "x" + std::to_string(c.height) + " patch " + std::to_string(c.patch) + " search " +
         std::to_string(c.search) + " range " + std::to_string(c.range) + " spatial " + std::to_string(c.spatial) +
         " sigma " + (c.estimate ? "estimated" : std::to_string(c.sigma)) +
         (c.center == CenterWeight::kMax ? " max" : " one") + " border " + kBorders[static_cast<int>(c.border)] +
         " fields " + std::to_string(c.fields) + " frames " + std::to_string(c.frames) + " step " +
         std::to_string(c.step) + (c.upside_down ? " upside down " : " ") + kContents[static_cast<int>(c.content)];
}

using Codes = std::vector<std::uint8_t>;  // rows without gaps

inline Codes make_codes(const Case& c, std::uint64_t seed) {
  Random random(seed);
  Codes codes;
  for (int y = 0; y < c.height; ++y)
    for (int x = 0; x < c.width; ++x) {
      const double noise = random.below(41) - 20, wave = 128 + 90 * std::sin(x * 0.13) * std::cos(y * 0.11);
      int v = 255;
      if (c.content == Content::kNoisy) v = std::clamp(static_cast<int>(wave + noise), 0, 255);
      if (c.content == Content::kRandom) v = random.below(256);
      if (c.content == Content::kExtremes) v = 255 * (((x / 9 + y / 7) & 1) ^ (random.one_in(50) ? 1 : 0));
      codes.push_back(static_cast<std::uint8_t>(v));
    }
  return codes;
}

/// One field of a frame with so many pixels around it as the border makes them.
struct Padded {
  int pad, width, height, pitch;
  std::vector<int> codes;
  Padded(const Case& c, const Codes& from, int field)
      : pad(c.patch + c.search),
        width(c.width),
        height((c.height - field + c.fields - 1) / c.fields),
        pitch(width + 2 * pad) {
    for (int y = -pad; y < height + pad; ++y)
      for (int x = -pad; x < width + pad; ++x) {
        const int row = denoise::bordered(y, height, c.border) * c.fields + field;
        codes.push_back(from[static_cast<std::size_t>(row * width + denoise::bordered(x, width, c.border))]);
      }
  }
  const int* at(int x, int y) const { return &codes[static_cast<std::size_t>((y + pad) * pitch + x + pad)]; }
};

inline double noise_variance(const Padded& p) {
  return plain_noise_variance(p.width, p.height, 8, [&](int x, int y) { return *p.at(x, y); });
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

/// Means before rounding; frames[middle] is filtered.
inline std::vector<double> reference(const Case& c, const std::vector<Codes>& frames, std::size_t middle) {
  std::vector<double> means(frames[0].size());
  for (int field = 0; field < std::min(c.fields, c.height); ++field) {
    std::vector<Padded> padded;
    for (const Codes& f : frames) padded.emplace_back(c, f, field);
    const Padded& own = padded[middle];
    const double sigma = c.estimate ? std::sqrt(noise_variance(own)) : c.sigma;
    const double side = 2 * c.patch + 1;
    for (int y = 0; y < own.height; ++y)
      for (int x = 0; x < own.width; ++x) {
        double weights = 0, values = 0, largest = denoise::kLeastCenter;
        for (const Padded& other : padded)
          for (int ty = -c.search; ty <= c.search; ++ty)
            for (int tx = -c.search; tx <= c.search; ++tx) {
              if (&other == &own && tx == 0 && ty == 0) continue;
              const int* const q = other.at(x + tx, y + ty);
              const double d = squares(own, own.at(x, y), other, q, c.patch) / (side * side);
              const double w =
                  std::exp(-std::max(d - 2 * sigma * sigma, 0.0) / c.range - (tx * tx + ty * ty) * c.spatial);
              weights += w;
              values += w * *q;
              largest = std::max(largest, w);
            }
        const double w = c.center == CenterWeight::kMax ? largest : 1;
        means[static_cast<std::size_t>((y * c.fields + field) * c.width + x)] =
            (values + w * *own.at(x, y)) / (weights + w);
      }
  }
  return means;
}

}  // namespace framequality::test
