// SPDX-License-Identifier: LGPL-2.1-or-later
#include "algorithms/sharpness/mask.h"

#include <algorithm>
#include <utility>

namespace framequality::sharpness {

std::vector<Rect> rectangles_of(const std::uint8_t* values, std::ptrdiff_t stride, int width, int height,
                                int downscale) {
  const int k = downscale, columns = width / k, rows = height / k;
  std::vector<Rect> all;
  std::vector<std::uint8_t> row(static_cast<std::size_t>(columns));
  std::vector<std::size_t> open, still_open;  // rectangles that reach the row above, by x
  for (int y = 0; y < rows; ++y) {
    std::ranges::fill(row, std::uint8_t{1});
    for (int j = 0; j < k; ++j) {
      const std::uint8_t* p = values + (std::ptrdiff_t{y} * k + j) * stride;
      for (int x = 0; x < columns; ++x)
        for (int i = 0; i < k; ++i) row[static_cast<std::size_t>(x)] &= static_cast<std::uint8_t>(p[x * k + i] != 0);
    }
    still_open.clear();
    auto above = open.begin();
    for (auto begin = std::find(row.begin(), row.end(), 1); begin != row.end();) {
      const auto end = std::find(begin, row.end(), 0);
      const std::int64_t x = (begin - row.begin()) * k, run = (end - begin) * k;
      while (above != open.end() && all[*above].x < x) ++above;
      if (above != open.end() && all[*above].x == x && all[*above].width == run) {
        all[*above].height += k;
        still_open.push_back(*above);
      } else {
        still_open.push_back(all.size());
        all.push_back({x, std::int64_t{y} * k, run, k});
      }
      begin = std::find(end, row.end(), 1);
    }
    std::swap(open, still_open);
  }
  return all;
}

Rect bounds_of(const std::vector<Rect>& rectangles) {
  if (rectangles.empty()) return {};
  std::int64_t x0 = rectangles.front().x, y0 = rectangles.front().y, x1 = x0, y1 = y0;
  for (const Rect& r : rectangles) {
    x0 = std::min(x0, r.x);
    y0 = std::min(y0, r.y);
    x1 = std::max(x1, r.x + r.width);
    y1 = std::max(y1, r.y + r.height);
  }
  return {x0, y0, x1 - x0, y1 - y0};
}

}  // namespace framequality::sharpness
