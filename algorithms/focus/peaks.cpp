// SPDX-License-Identifier: LGPL-2.1-or-later
// The peaks of a sweep that stand out.
#include "algorithms/focus/peaks.h"

#include "algorithms/focus/tuning.h"

#include <algorithm>
#include <limits>

namespace framequality::focus {
namespace {

/// The lowest level on the way from `top` to a higher one on this side; infinity where none is higher.
double lowest_before_higher(std::span<const double> levels, std::size_t top, int side) {
  double lowest = levels[top];
  const auto n = static_cast<std::ptrdiff_t>(levels.size());
  for (auto i = static_cast<std::ptrdiff_t>(top) + side; i >= 0 && i < n; i += side) {
    const double level = levels[static_cast<std::size_t>(i)];
    // Of equal ones, the first is the higher one.
    if (level > levels[top] || (side < 0 && level == levels[top])) return lowest;
    lowest = std::min(lowest, level);
  }
  return std::numeric_limits<double>::infinity();
}

/// Index of the lowest level from `first` to `last`.
std::size_t lowest_of(std::span<const double> levels, std::size_t first, std::size_t last) {
  const auto begin = levels.begin();
  return static_cast<std::size_t>(
      std::min_element(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last) + 1) -
      begin);
}

/// How far the level at `top` is above the ways that lead to higher ones; its height above `floor` if none is higher.
double prominence(std::span<const double> levels, std::size_t top, double floor) {
  const double left = lowest_before_higher(levels, top, -1), right = lowest_before_higher(levels, top, 1);
  const bool is_left = left < std::numeric_limits<double>::infinity();
  const bool is_right = right < std::numeric_limits<double>::infinity();
  return levels[top] - (is_left && is_right ? std::max(left, right) : is_left ? left : is_right ? right : floor);
}

}  // namespace

std::vector<Summit> summits_of(std::span<const FocusSample> samples, double noise) {
  const SampleRow row(samples, noise);
  std::vector<double> levels;
  for (std::ptrdiff_t i = 0; i < row.size(); ++i) levels.push_back(row.level(i));
  const std::size_t lowest = lowest_of(levels, 0, levels.size() - 1);
  const auto highest = static_cast<std::size_t>(std::max_element(levels.begin(), levels.end()) - levels.begin());
  const double floor = levels[lowest], rise = levels[highest] - floor;
  const double wanted = std::max(kTuning.plane_share * rise, kTuning.plane_noise * noise);
  std::vector<std::size_t> tops;
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (i == highest || prominence(levels, i, floor) > wanted) tops.push_back(i);
  std::vector<Summit> summits;
  for (std::size_t k = 0; k < tops.size(); ++k) {
    const bool is_first = k == 0, is_last = k + 1 == tops.size();
    Summit s{tops[k], is_first ? 0 : lowest_of(levels, tops[k - 1], tops[k]),
             is_last ? levels.size() - 1 : lowest_of(levels, tops[k], tops[k + 1])};
    // One side falls farther than the other, which a fit of both would take for another shape.
    const double way = std::max(is_first ? floor : levels[s.first], is_last ? floor : levels[s.last]);
    while (s.first < s.top && levels[s.first] < way) ++s.first;
    while (s.last > s.top && levels[s.last] < way) --s.last;
    summits.push_back(s);
  }
  return summits;
}

}  // namespace framequality::focus
