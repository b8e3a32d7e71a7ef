// SPDX-License-Identifier: LGPL-2.1-or-later
// The ground that the sweeps cover: sizes, fills, placements and requests, the same list for every backend.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "tests/support/pictures.h"
#include "tests/support/random.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace framequality::test {

struct Size {
  int width, height;
};

/// One picture and all that is measured on it.
struct Shot {
  Fill fill;
  Placement placement;
  std::uint64_t seed;
  std::vector<sharpness::Request> requests;
};

enum class Effort {
  kQuick,  ///< every metric on every size up to 640x480, options at random: for slow instruments
  kUsual,  ///< every metric x prefilter x downscale on small sizes, a sample on the large
  kFull,   ///< every metric x prefilter x downscale on every size
};

/// Tiny, smaller and larger than vectors and tiles, one off their multiples, very wide, very high, and real.
inline const std::vector<Size>& sizes() {
  static const std::vector<Size> all{{1, 1},     {2, 2},     {3, 3},     {1, 9},      {9, 1},    {2, 7},
                                     {5, 4},     {16, 16},   {31, 7},    {33, 5},     {63, 65},  {64, 64},
                                     {66, 3},    {77, 55},   {129, 40},  {640, 48},   {1921, 9}, {640, 480},
                                     {65, 4099}, {20011, 4}, {8192, 16}, {1921, 1081}};
  return all;
}

/// A rectangle: inside, across the border, outside, empty, or absurd.
inline sharpness::Rect random_rect(Random& random, Size size) {
  const auto around = [&](int n) { return random.below(n + n / 2 + 3) - n / 4 - 1; };
  sharpness::Rect r;
  switch (random.below(8)) {
    case 0:
      r = {around(size.width), around(size.height), around(size.width), around(size.height)};
      break;
    case 1: {
      static constexpr std::int64_t kWild[] = {std::numeric_limits<std::int32_t>::min(), -1, 0, 1,
                                               std::numeric_limits<std::int32_t>::max()};
      r = {kWild[random.below(5)], kWild[random.below(5)], kWild[random.below(5)], kWild[random.below(5)]};
      break;
    }
    case 2:
      r = {random.below(size.width), random.below(size.height), 1, 1};
      break;
    case 3:
      r = {-5, random.below(size.height), size.width + 10, 1 + random.below(3)};
      break;
    case 4:
      r = {random.below(size.width), -5, 1 + random.below(3), size.height + 10};
      break;
    default:
      r.x = random.below(size.width);
      r.y = random.below(size.height);
      r.width = 1 + random.below(size.width - static_cast<int>(r.x));
      r.height = 1 + random.below(size.height - static_cast<int>(r.y));
  }
  return r;
}

/// Chooses what a request leaves open: zones, roi, extra regions, mean, interlaced.
inline void choose_regions(sharpness::Request& request, Random& random, Size size) {
  static constexpr int kZones[] = {1, 1, 1, 2, 3, 5, 7, 16, 64};
  if (!random.one_in(3)) {
    request.zone_columns = kZones[random.below(9)];
    request.zone_rows = kZones[random.below(9)];
  }
  if (random.one_in(2)) request.roi = random_rect(random, size);
  if (random.one_in(4))
    for (int n = random.one_in(12) ? 64 : 1 + random.below(3); n > 0; --n)
      request.extra.push_back(random_rect(random, size));
  request.mean = random.one_in(2);
  request.interlaced = random.one_in(3);
  request.limited = random.one_in(2);
  request.statistics = random.one_in(3);
  request.noise_correction = random.one_in(6);
}

/// Shots of one layout (any number that names it) at one size. The same arguments give the same list.
inline std::vector<Shot> shots(int layout, Size size, Effort effort) {
  const std::int64_t area = static_cast<std::int64_t>(size.width) * size.height;
  const bool tiny = area <= 256, large = area > 40000;
  Random random(static_cast<std::uint64_t>(layout) * 1000003u + static_cast<std::uint64_t>(size.width) * 8209u +
                static_cast<std::uint64_t>(size.height));
  if (effort == Effort::kQuick && area > 640 * 480) return {};
  std::vector<Shot> list;
  const auto add_shot = [&](std::size_t i) {
    // Fill and placement advance at different paces, so that each layout meets all pairs over the sizes.
    list.push_back({kFills[i % kFills.size()],
                    kPlacements[(i / 3 + static_cast<std::size_t>(random.below(4))) % kPlacements.size()],
                    random.next() % 1000000,
                    {}});
  };
  const auto request = [&](int metric, int prefilter, int downscale) {
    sharpness::Request r;
    r.metric = metric;
    r.prefilter = static_cast<sharpness::Prefilter>(prefilter);
    r.downscale = downscale;
    choose_regions(r, random, size);
    return r;
  };
  if (effort == Effort::kQuick || (large && effort == Effort::kUsual)) {
    // Every metric; one prefilter and downscale for each picture.
    const std::size_t count = area > 1000000 || (large && effort == Effort::kQuick) ? 1 : 3;
    const auto start = static_cast<std::size_t>(random.below(static_cast<int>(kFills.size())));
    for (std::size_t i = 0; i < count; ++i) {
      add_shot(start + i);
      const int prefilter = random.below(3), downscale = random.below(4) * 2 % 5;  // 0, 2, 4, 1
      const bool interlaced = random.one_in(3);
      for (int m = 0; m < sharpness::kMetricCount; ++m) {
        list.back().requests.push_back(request(m, prefilter, downscale));
        list.back().requests.back().interlaced = interlaced;
      }
    }
    return list;
  }
  const std::size_t count = area > 1000000 ? 3 : kFills.size();
  for (std::size_t i = 0; i < count; ++i) add_shot(area > 1000000 ? i + static_cast<std::size_t>(random.below(8)) : i);
  std::size_t turn = 0;
  for (int metric = 0; metric < sharpness::kMetricCount; ++metric)
    for (int prefilter = 0; prefilter < 3; ++prefilter)
      for (const int downscale : {1, 2, 4})
        for (std::size_t i = 0; i < (tiny ? count / 2 : 2); ++i)
          list[turn++ % count].requests.push_back(request(metric, prefilter, downscale));
  // All scales at once.
  for (int metric = 0; metric < sharpness::kMetricCount; ++metric)
    list[turn++ % count].requests.push_back(request(metric, random.below(3), 0));
  return list;
}

}  // namespace framequality::test
