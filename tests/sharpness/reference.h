// SPDX-License-Identifier: LGPL-2.1-or-later
// The sharpness totals by definition: one pixel at a time, in wide integers, sharing no arithmetic with algorithms/.
#pragma once

#include "algorithms/sharpness/plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

namespace framequality::test {

/// Wide enough for any sum here.
__extension__ typedef __int128 Wide;

/// Working samples of one field.
struct Samples {
  int width = 0, height = 0;
  int fraction = 0;
  std::vector<std::int64_t> values;
  std::int64_t at(int x, int y) const {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
};

/// Totals as Meter::collect returns them, and N of each cell.
struct Totals {
  int words = 0;
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> pixels;
};

/// The metrics by what a pixel adds. Found by nick, so that the list in metrics.h may grow and still be checked.
enum class Share {
  kSquares,
  kRoberts,
  kSobel,
  kBends,
  kDifferences,
  kDifferenceProduct,
  kRange,
  kBin,
  kLaplace,
  kSecondNeighbour,
  kVollath,
  kLaplaceAndSobel,
  kDirections
};

inline Share share_of(std::string_view nick) {
  static const std::map<std::string_view, Share> all{{"variance", Share::kSquares},
                                                     {"normalized-variance", Share::kSquares},
                                                     {"roberts", Share::kRoberts},
                                                     {"tenengrad", Share::kSobel},
                                                     {"laplacian", Share::kBends},
                                                     {"gray-difference", Share::kDifferences},
                                                     {"gray-difference-product", Share::kDifferenceProduct},
                                                     {"max-min", Share::kRange},
                                                     {"entropy", Share::kBin},
                                                     {"laplacian-variance", Share::kLaplace},
                                                     {"brenner", Share::kSecondNeighbour},
                                                     {"vollath-f4", Share::kVollath},
                                                     {"mean-square-frequency", Share::kLaplaceAndSobel},
                                                     {"directional-frequency", Share::kDirections}};
  const auto found = all.find(nick);
  if (found == all.end()) throw std::invalid_argument("the reference does not know a metric");
  return found->second;
}

/// Words of a cell: totals and, but for bins, the sum of samples.
inline int words_of(Share share) {
  switch (share) {
    case Share::kBin:
      return 256;
    case Share::kDirections:
      return 9;
    case Share::kSquares:
    case Share::kLaplace:
    case Share::kLaplaceAndSobel:
      return 3;
    default:
      return 2;
  }
}

/// Totals of one picture's luma codes, for any request.
class Reference {
 public:
  /// cell: in how many of the regions' units each way a code is made.
  Reference(std::span<const std::uint16_t> codes, int width, int height, int depth, int cell = 1)
      : codes_(codes), width_(width), height_(height), depth_(depth), cell_(cell) {}

  Totals totals(const sharpness::Request& request) {
    if (request.downscale == 0) return at_all_scales(request);
    const Share share = share_of(sharpness::metric_info(request.metric).name);
    Totals t;
    t.words = words_of(share);
    const int zones = request.zone_columns * request.zone_rows;
    const auto cells = static_cast<std::size_t>(zones) + request.extra.size();
    std::vector<Wide> sums(cells * static_cast<std::size_t>(t.words), 0);
    t.pixels.assign(cells, 0);
    const int fields = request.interlaced ? 2 : 1;
    for (int p = 0; p < fields; ++p) {
      const Samples& s = samples(p, fields, request.prefilter, request.downscale);
      const auto measure = [&](const sharpness::Rect& r, int columns, int rows, std::size_t first_cell) {
        const Wide right = (static_cast<Wide>(r.x) + r.width) / cell_,
                   bottom = (static_cast<Wide>(r.y) + r.height) / cell_;
        const int x0 = edge(r.x / cell_, 0, 1, request.downscale, s.width),
                  x1 = edge(right, 0, 1, request.downscale, s.width);
        const int y0 = edge(r.y / cell_, p, fields, request.downscale, s.height),
                  y1 = edge(bottom, p, fields, request.downscale, s.height);
        if (x1 <= x0 || y1 <= y0) return;
        for (int j = 0; j < rows; ++j)
          for (int i = 0; i < columns; ++i) {
            const std::size_t cell = first_cell + static_cast<std::size_t>(j * columns + i);
            for (int y = y0 + part(j, rows, y1 - y0); y < y0 + part(j + 1, rows, y1 - y0); ++y)
              for (int x = x0 + part(i, columns, x1 - x0); x < x0 + part(i + 1, columns, x1 - x0); ++x) {
                ++t.pixels[cell];
                add(share, s, x, y, request.mean, &sums[cell * static_cast<std::size_t>(t.words)]);
              }
          }
      };
      measure(request.roi.value_or(whole()), request.zone_columns, request.zone_rows, 0);
      for (std::size_t e = 0; e < request.extra.size(); ++e)
        measure(request.extra[e], 1, 1, static_cast<std::size_t>(zones) + e);
    }
    for (const Wide v : sums) {
      if (v != static_cast<std::int64_t>(v)) throw std::overflow_error("total beyond 64 bits");
      t.values.push_back(static_cast<std::int64_t>(v));
    }
    if (request.statistics || request.noise_correction) add_statistics(request, t.values);
    if (request.statistics && share != Share::kDirections) add_directions(request, t.values);
    return t;
  }

  /// Downscale 1 with statistics and directions, then cells alone at 2 and 4, as far as they have samples.
  Totals at_all_scales(sharpness::Request request) {
    request.downscale = 1;
    Totals t = totals(request);
    request.statistics = request.noise_correction = false;
    for (const int k : {2, 4}) {
      request.downscale = k;
      const Totals other = totals(request);
      std::uint64_t pixels = 0;
      for (const std::uint64_t n : other.pixels) pixels += n;
      if (pixels > 0) t.values.insert(t.values.end(), other.values.begin(), other.values.end());
    }
    return t;
  }

  /// Working samples of field p of `fields`. The answer is kept for the next call alike.
  const Samples& samples(int p, int fields, sharpness::Prefilter prefilter, int downscale) {
    const auto [kept, is_new] = samples_.try_emplace(std::tuple(p, fields, prefilter, downscale));
    if (!is_new) return kept->second;
    // Box sums of the field.
    const int rows = (height_ - p + fields - 1) / fields;
    Samples& s = kept->second;
    s.width = width_ / downscale;
    s.height = rows / downscale;
    if (s.width == 0 || s.height == 0) s.width = s.height = 0;
    Samples box{s.width, s.height, 0, {}};
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x) {
        std::int64_t sum = 0;
        for (int j = 0; j < downscale; ++j)
          for (int i = 0; i < downscale; ++i) sum += code(x * downscale + i, (y * downscale + j) * fields + p);
        box.values.push_back(sum);
      }
    // Smoothed both ways at once, edges repeated.
    static constexpr int kTaps[3][5] = {{0, 0, 1, 0, 0}, {0, 1, 2, 1, 0}, {1, 4, 6, 4, 1}};
    const int r = static_cast<int>(prefilter);
    const int a = (downscale == 1 ? 0 : downscale == 2 ? 2 : 4) + 4 * r;
    s.fraction = std::min({a, 4, 16 - depth_});
    const std::int64_t divisor = std::int64_t{1} << (a - s.fraction);
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x) {
        std::int64_t sum = 0;
        for (int j = -r; j <= r; ++j)
          for (int i = -r; i <= r; ++i)
            sum += kTaps[r][2 + j] * kTaps[r][2 + i] *
                   box.at(std::clamp(x + i, 0, s.width - 1), std::clamp(y + j, 0, s.height - 1));
        s.values.push_back((sum + divisor / 2) / divisor);
      }
    return s;
  }

 private:
  std::int64_t code(int x, int y) const {
    return codes_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)];
  }

  /// ceil((v - p) / fields), not below 0, / k rounded down, at most limit.
  static int edge(Wide v, int p, int fields, int k, int limit) {
    v -= p;
    if (v <= 0) return 0;
    const Wide field_row = v / fields + (v % fields != 0);
    return static_cast<int>(std::min<Wide>(field_row / k, limit));
  }

  static int part(int i, int parts, int length) {
    return static_cast<int>(static_cast<std::int64_t>(i) * length / parts);
  }

  static std::int64_t distance(std::int64_t a, std::int64_t b) { return a < b ? b - a : a - b; }

  /// Position v of 0...n-1, reflected at the ends without repeating them; a single one repeats.
  static int reflect(int v, int n) {
    if (n == 1) return 0;
    return v < 0 ? -v : v >= n ? 2 * (n - 1) - v : v;
  }

  sharpness::Rect whole() const { return {0, 0, std::int64_t{width_} * cell_, std::int64_t{height_} * cell_}; }

  /// Sums of codes, clipped ones, and residuals of whole blocks of 16 x 16, or of all of the roi. Of more than 2047
  /// blocks not all count: groups of four in a row do, evenly spread.
  void add_statistics(const sharpness::Request& request, std::vector<std::int64_t>& words) const {
    const sharpness::Rect roi = request.roi.value_or(whole());
    const int fields = request.interlaced ? 2 : 1;
    const std::int64_t black = request.limited ? std::int64_t{16} << (depth_ - 8) : 0,
                       white = request.limited ? std::int64_t{235} << (depth_ - 8) : (std::int64_t{1} << depth_) - 1;
    std::int64_t sum = 0, blacks = 0, whites = 0;
    std::vector<std::int64_t> blocks;
    std::vector<std::vector<std::vector<std::int64_t>>> of_field;  // groups of up to four blocks, their residuals
    std::size_t whole_blocks = 0;
    std::int64_t all = 0;
    std::uint64_t squares_of_blocks = 0, all_squares = 0;
    for (int p = 0; p < fields; ++p) {
      const int rows = (height_ - p + fields - 1) / fields;
      const int x0 = edge(roi.x / cell_, 0, 1, 1, width_),
                x1 = edge((static_cast<Wide>(roi.x) + roi.width) / cell_, 0, 1, 1, width_);
      const int y0 = edge(roi.y / cell_, p, fields, 1, rows),
                y1 = edge((static_cast<Wide>(roi.y) + roi.height) / cell_, p, fields, 1, rows);
      const auto at = [&](int x, int y) { return code(x, y * fields + p); };
      for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x) {
          sum += at(x, y);
          blacks += at(x, y) <= black;
          whites += at(x, y) >= white;
        }
      const auto residual = [&](int x, int y) {
        std::int64_t r = 0;
        for (int j = -1; j <= 1; ++j)
          for (int i = -1; i <= 1; ++i) r += (i ? 1 : -2) * (j ? 1 : -2) * at(x + i, y + j);
        return r < 0 ? -r : r;
      };
      for (int y = y0 + 1; y < y1 - 1; ++y)
        for (int x = x0 + 1; x < x1 - 1; ++x) {
          const std::int64_t r = residual(x, y);
          all += r;
          all_squares += static_cast<std::uint64_t>(r) * static_cast<std::uint64_t>(r);
        }
      std::vector<std::vector<std::int64_t>>& groups = of_field.emplace_back();
      for (int y = y0 + 1; y + 16 <= y1 - 1; y += 16)
        for (int x = x0 + 1; x + 16 <= x1 - 1; x += 16) {
          ++whole_blocks;
          if ((x - x0 - 1) / 16 % 4 == 0) groups.emplace_back();
          for (int i = 0; i < 256; ++i) groups.back().push_back(residual(x + i % 16, y + i / 16));
        }
    }
    const std::size_t step = std::max<std::size_t>(whole_blocks / 1024, 1);
    for (const auto& groups : of_field)
      for (std::size_t i = 0; i < groups.size(); i += step)
        for (std::size_t k = 0; k < groups[i].size(); ++k) {
          if (k % 256 == 0) blocks.push_back(0);
          blocks.back() += groups[i][k];
          squares_of_blocks += static_cast<std::uint64_t>(groups[i][k]) * static_cast<std::uint64_t>(groups[i][k]);
        }
    std::sort(blocks.begin(), blocks.end());
    const bool whole = !blocks.empty();
    words.insert(words.end(), {sum, blacks, whites, whole ? blocks[(blocks.size() - 1) / 4] : all,
                               static_cast<std::int64_t>(whole ? squares_of_blocks : all_squares)});
  }

  /// directional-frequency of the roi for the statistics: of strips if it has more than 2^19 samples.
  void add_directions(const sharpness::Request& request, std::vector<std::int64_t>& words) {
    const sharpness::Rect roi = request.roi.value_or(whole());
    const int fields = request.interlaced ? 2 : 1, k = request.downscale;
    std::vector<std::array<int, 4>> parts;  // x0, x1, y0, y1 of each field
    std::uint64_t count = 0;
    for (int p = 0; p < fields; ++p) {
      const Samples& s = samples(p, fields, request.prefilter, k);
      const int x0 = edge(roi.x / cell_, 0, 1, k, s.width),
                x1 = edge((static_cast<Wide>(roi.x) + roi.width) / cell_, 0, 1, k, s.width);
      const int y0 = edge(roi.y / cell_, p, fields, k, s.height),
                y1 = edge((static_cast<Wide>(roi.y) + roi.height) / cell_, p, fields, k, s.height);
      parts.push_back({x0, std::max(x0, x1), y0, std::max(y0, y1)});
      count += static_cast<std::uint64_t>(parts.back()[1] - x0) * static_cast<std::uint64_t>(parts.back()[3] - y0);
    }
    if (count == 0) return;
    const double share = count <= 1 << 19 ? 1 : (1 << 19) / static_cast<double>(count);
    // Of each sixteenth of the height so much in its middle.
    const auto is_measured = [&](int y, int height) {
      if (share >= 1) return true;
      const int strips = std::min(16, height);
      for (int i = 0; i < strips; ++i) {
        const int a = static_cast<int>(std::int64_t{height} * i / strips),
                  b = static_cast<int>(std::int64_t{height} * (i + 1) / strips);
        const int rows = std::max(1, static_cast<int>(share * (b - a))), begin = a + (b - a - rows) / 2;
        if (y >= begin && y < begin + rows) return true;
      }
      return false;
    };
    Wide sums[9] = {};
    for (int p = 0; p < fields; ++p) {
      const auto [x0, x1, y0, y1] = parts[static_cast<std::size_t>(p)];
      const Samples& s = samples(p, fields, request.prefilter, k);
      for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x)
          if (is_measured(y - y0, y1 - y0)) add(Share::kDirections, s, x, y, false, sums);
    }
    for (const Wide v : sums) words.push_back(static_cast<std::int64_t>(v));
  }

  static std::int64_t sobel_squared(const Samples& s, int x, int y) {
    const std::int64_t gx = s.at(x + 1, y - 1) + 2 * s.at(x + 1, y) + s.at(x + 1, y + 1) - s.at(x - 1, y - 1) -
                            2 * s.at(x - 1, y) - s.at(x - 1, y + 1);
    const std::int64_t gy = s.at(x - 1, y + 1) + 2 * s.at(x, y + 1) + s.at(x + 1, y + 1) - s.at(x - 1, y - 1) -
                            2 * s.at(x, y - 1) - s.at(x + 1, y - 1);
    return gx * gx + gy * gy;
  }

  /// Adds what the sample at (x, y) adds to a cell's words.
  void add(Share share, const Samples& s, int x, int y, bool mean, Wide* words) const {
    const std::int64_t g = s.at(x, y);
    if (mean && share != Share::kBin) words[words_of(share) - 1] += g;
    const bool forward = x + 1 < s.width && y + 1 < s.height;
    const bool interior = x > 0 && y > 0 && forward;
    const bool two_right = x + 2 < s.width;
    switch (share) {
      case Share::kSquares:
        words[0] += g;
        words[1] += g * g;
        return;
      case Share::kRoberts:
        if (forward) words[0] += distance(s.at(x + 1, y + 1), g) + distance(s.at(x, y + 1), s.at(x + 1, y));
        return;
      case Share::kSobel:
        if (interior) words[0] += sobel_squared(s, x, y);
        return;
      case Share::kLaplaceAndSobel:
        if (interior) {
          const std::int64_t l = s.at(x - 1, y) + s.at(x + 1, y) + s.at(x, y - 1) + s.at(x, y + 1) - 4 * g;
          words[0] += l * l;
          words[1] += sobel_squared(s, x, y);
        }
        return;
      case Share::kDirections:
        if (interior)
          for (int d = 0; d < 4; ++d) {
            const int dx = d == 1 ? 0 : 1, dy = std::array{0, 1, 1, -1}[static_cast<std::size_t>(d)];
            const std::int64_t before = s.at(x - dx, y - dy), behind = s.at(x + dx, y + dy);
            words[d] += (before - 2 * g + behind) * (before - 2 * g + behind);
            words[4 + d] += (behind - g) * (behind - g);
          }
        return;
      case Share::kBends:
        if (interior)
          words[0] +=
              distance(s.at(x + 1, y) + s.at(x - 1, y), 2 * g) + distance(s.at(x, y + 1) + s.at(x, y - 1), 2 * g);
        return;
      case Share::kDifferences:
        if (forward) words[0] += distance(g, s.at(x + 1, y)) + distance(g, s.at(x, y + 1));
        return;
      case Share::kDifferenceProduct:
        if (forward) words[0] += distance(g, s.at(x + 1, y)) * distance(g, s.at(x, y + 1));
        return;
      case Share::kRange:
        if (interior) {
          std::int64_t low = g, high = g;
          for (int j = -1; j <= 1; ++j)
            for (int i = -1; i <= 1; ++i) {
              low = std::min(low, s.at(x + i, y + j));
              high = std::max(high, s.at(x + i, y + j));
            }
          words[0] += high - low;
        }
        return;
      case Share::kBin:
        ++words[g >> (s.fraction + depth_ - 8)];
        return;
      case Share::kLaplace: {
        const std::int64_t l = s.at(reflect(x - 1, s.width), y) + s.at(reflect(x + 1, s.width), y) +
                               s.at(x, reflect(y - 1, s.height)) + s.at(x, reflect(y + 1, s.height)) - 4 * g;
        words[0] += l;
        words[1] += l * l;
        return;
      }
      case Share::kSecondNeighbour:
        if (two_right) {
          const std::int64_t step = s.at(x + 2, y) - g;
          words[0] += step * step;
        }
        return;
      case Share::kVollath:
        if (two_right) words[0] += g * (s.at(x + 1, y) - s.at(x + 2, y));
        return;
    }
  }

  std::span<const std::uint16_t> codes_;
  int width_, height_, depth_, cell_;
  std::map<std::tuple<int, int, sharpness::Prefilter, int>, Samples> samples_;
};

}  // namespace framequality::test
