// SPDX-License-Identifier: LGPL-2.1-or-later
// Focus peaking: marks the strong edges of a frame.
#include "cpu/overlay/edges.h"

#include "cpu/luma.h"

#include <algorithm>
#include <cstring>

namespace framequality::cpu {

namespace {

constexpr int kStripe = 4;  // pixels

/// Start of row y's stripes in stripes_.
int phase(int y) { return (y & 2 * kStripe ? ~y : y) & (2 * kStripe - 1); }

/// Marks pixels 1...n-2 of a row, given its neighbours; returns whether there are any. limit: square of Sobel's
/// magnitude. In two loops that compilers vectorise.
bool mark_row(const std::uint8_t* __restrict above, const std::uint8_t* __restrict row,
              const std::uint8_t* __restrict below, int n, std::int32_t limit, const std::uint32_t* __restrict marks,
              std::uint32_t* __restrict out) {
  std::uint32_t any = 0;
  for (int x = 1; x < n - 1; ++x) {
    const auto gx = static_cast<std::int16_t>(above[x + 1] - above[x - 1] + 2 * (row[x + 1] - row[x - 1]) +
                                              below[x + 1] - below[x - 1]);
    const auto gy = static_cast<std::int16_t>(below[x - 1] + 2 * below[x] + below[x + 1] - above[x - 1] - 2 * above[x] -
                                              above[x + 1]);
    const std::uint32_t all = std::int32_t{gx} * gx + std::int32_t{gy} * gy >= limit ? ~std::uint32_t{0} : 0;
    const std::uint32_t v = marks[x] & all;
    any |= v;
    out[x] = v;
  }
  return any != 0;
}

}  // namespace

EdgeMarker::EdgeMarker(const Geometry& geometry) : geometry_(geometry) {
  const auto width = static_cast<std::size_t>(geometry.width);
  if (geometry.layout.depth > 8) deep_.resize(2 * width);
  for (auto& row : codes_) row.resize(width);
  stripes_.resize(width + std::size_t{2} * kStripe);
}

const std::uint8_t* EdgeMarker::codes(const Frame& frame, int y) {
  const PixelLayout& layout = geometry_.layout;
  const std::uint8_t* rows[3];
  rows[0] = rows[1] = rows[2] = frame.plane[0] + y * frame.stride[0];
  for (int p = 1; p < layout.planes(); ++p) rows[p] = frame.plane[p] + y * frame.stride[p];
  if (layout.is_plain() && layout.depth == 8) return rows[0];
  std::uint8_t* to = codes_[y % 3].data();
  if (layout.depth == 8) {
    luma(layout, rows, 0, geometry_.width, to);
    return to;
  }
  luma(layout, rows, 0, geometry_.width, deep_.data());
  const int drop = layout.depth - 8;
  for (int x = 0; x < geometry_.width; ++x) {
    std::uint16_t code;
    std::memcpy(&code, deep_.data() + 2 * static_cast<std::size_t>(x), sizeof code);
    to[x] = static_cast<std::uint8_t>(code >> drop);
  }
  return to;
}

RowRange EdgeMarker::mark(const Frame& frame, int threshold, Marks marks, std::uint8_t* out, std::ptrdiff_t stride) {
  const int width = geometry_.width, height = geometry_.height;
  const auto row_of = [&](int y) { return reinterpret_cast<std::uint32_t*>(out + y * stride); };
  for (const int y : {0, height - 1}) std::fill_n(row_of(y), width, 0);
  if (height < 3) return {};
  for (std::size_t i = 0; i < stripes_.size(); ++i) stripes_[i] = i & kStripe ? marks.second : marks.first;
  RowRange rows{height, 0};
  const std::uint8_t *above = codes(frame, 0), *row = codes(frame, 1);
  for (int y = 1; y < height - 1; ++y) {
    const std::uint8_t* below = codes(frame, y + 1);
    std::uint32_t* to = row_of(y);
    to[0] = to[width - 1] = 0;
    if (mark_row(above, row, below, width, 16 * threshold * threshold, stripes_.data() + phase(y), to)) {
      rows.first = std::min(rows.first, y);
      rows.last = y + 1;
    }
    above = row;
    row = below;
  }
  return rows.first < rows.last ? rows : RowRange{};
}

}  // namespace framequality::cpu
