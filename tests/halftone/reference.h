// SPDX-License-Identifier: LGPL-2.1-or-later
// Reference for the halftoning methods: whole images of errors, one pixel at a time, nothing clever.
#pragma once

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/filter.h"
#include "algorithms/halftone/tone_dependent.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace framequality::test {

/// Rows of numbers without gaps.
template <class T>
struct Grid2 {
  int width = 0, height = 0;
  std::vector<T> values;
  Grid2(int w, int h, T value = {})
      : width(w), height(h), values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), value) {}
  T& at(int x, int y) {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
  const T& at(int x, int y) const { return const_cast<Grid2*>(this)->at(x, y); }
};

inline int floor_div(int a, int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// Level nearest to u: classically with two levels, halves up with more.
inline int nearest_level(int u, int levels) {
  if (levels == 2) return u >= 2048 ? 1 : 0;
  return std::clamp(static_cast<int>(std::floor(static_cast<double>(u) * (levels - 1) / 4080 + 0.5)), 0, levels - 1);
}

/// Floyd-Steinberg in signed errors, as the method is published: each pixel hands its error on. Levels.
inline Grid2<int> floyd_steinberg_of(const Grid2<int>& tones, int levels, int strength, bool serpentine) {
  Grid2<int> out(tones.width, tones.height), sums(tones.width, tones.height);
  const auto give = [&](int x, int y, int share) {
    if (x >= 0 && x < tones.width && y < tones.height) sums.at(x, y) += share;
  };
  for (int y = 0; y < tones.height; ++y)
    for (int i = 0; i < tones.width; ++i) {
      const bool back = serpentine && y % 2 == 1;
      const int x = back ? tones.width - 1 - i : i, on = back ? -1 : 1;
      const int u = tones.at(x, y) + floor_div(sums.at(x, y) + 8, 16);
      const int level = nearest_level(u, levels);
      const int e = floor_div((u - level * (4080 / (levels - 1))) * strength + 128, 256);
      out.at(x, y) = level;
      give(x + on, y, 7 * e);
      give(x - on, y + 1, 3 * e);
      give(x, y + 1, 5 * e);
      give(x + on, y + 1, e);
    }
  return out;
}

/// A place of the picture and the time at which it is visited; equal times in the order of `tie`.
struct Visit {
  int x, y, time, tie;
};
/// Order of a picture in swaths by t = x + skew * k: the upper row of one t first, or the lower.
inline std::vector<Visit> visits(int width, int height, int swath_rows, int skew, bool upper_first = true) {
  std::vector<Visit> all;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int swath = y / swath_rows, k = y % swath_rows;
      const int along = swath % 2 ? width - 1 - x : x;
      all.push_back({x, y, swath * (width + skew * swath_rows) + along + skew * k, upper_first ? k : swath_rows - k});
    }
  std::stable_sort(all.begin(), all.end(),
                   [](const Visit& a, const Visit& b) { return a.time != b.time ? a.time < b.time : a.tie < b.tie; });
  return all;
}

/// The tone-dependent method in any order of visits; sums of a whole picture.
inline Grid2<int> tone_dependent_of(const Grid2<int>& tones, const halftone::ToneTable& table,
                                    const std::uint32_t* pattern, int levels, int strength,
                                    const std::vector<Visit>& order) {
  const int w = tones.width, h = tones.height;
  Grid2<int> out(w, h), sums(w, h);
  for (const Visit& v : order) {
    const auto d =
        halftone::tone_dependent(tones.at(v.x, v.y), sums.at(v.x, v.y), halftone::pattern_at(pattern, v.x, v.y),
                                 table.row, halftone::Levels{levels}, strength);
    out.at(v.x, v.y) = d.level;
    const bool back = v.y / table.swath_rows % 2 != 0;
    halftone::give(d, back ? w - 1 - v.x : v.x, w, table, [&](int down, int column, int share) {
      if (v.y + down < h) sums.at(back ? w - 1 - column : column, v.y + down) += share;
    });
  }
  return out;
}

inline Grid2<int> blue_noise_of(const Grid2<int>& tones, const std::uint16_t* mask, int levels, int strength) {
  Grid2<int> out(tones.width, tones.height);
  for (int y = 0; y < tones.height; ++y)
    for (int x = 0; x < tones.width; ++x) {
      const int t = halftone::threshold_of(halftone::rank_at(mask, x, y), strength);
      out.at(x, y) = halftone::masked_level(tones.at(x, y), t, halftone::Levels{levels});
    }
  return out;
}

/// By settings.
inline Grid2<int> halftone_of(const Grid2<int>& tones, const halftone::Settings& s) {
  using halftone::Method;
  if (s.method == Method::kFloydSteinberg) return floyd_steinberg_of(tones, s.levels, s.strength, s.serpentine);
  if (s.method == Method::kBlueNoise) return blue_noise_of(tones, halftone::kBlueNoiseMask, s.levels, s.strength);
  return tone_dependent_of(tones, *halftone::find_table(s.swath_rows), halftone::kDotPattern, s.levels, s.strength,
                           visits(tones.width, tones.height, s.swath_rows, halftone::kDelay));
}

}  // namespace framequality::test
