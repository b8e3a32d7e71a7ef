// SPDX-License-Identifier: LGPL-2.1-or-later
// YUV frames laid out in memory as formats have them, and their red, worked out sample by sample.
#pragma once

#include "algorithms/bliinds/meter.h"
#include "tests/support/layouts.h"
#include "tests/support/pictures.h"
#include "tests/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace framequality::test {

/// A matrix and a range, by the share of red in luma and the codes of 8 bits.
struct Colorimetry {
  const char* name;
  double kr;
  bool full;
};
inline constexpr Colorimetry kColorimetries[] = {
    {"bt601", 0.299, false}, {"bt709", 0.2126, false}, {"bt2020", 0.2627, false},    {"smpte240m", 0.212, false},
    {"fcc", 0.30, false},    {"jpeg", 0.299, true},    {"bt709 full", 0.2126, true}, {"bt2020 full", 0.2627, true}};

/// Red by the definition of these colours, in doubles: 0 ... 2^depth - 1, not rounded.
inline double exact_red(const Colorimetry& c, int depth, std::uint32_t y, std::uint32_t v) {
  const double unit = std::ldexp(1, depth - 8), most = std::ldexp(1, depth) - 1;
  const double luma = c.full ? y / most : (y - 16 * unit) / (219 * unit);
  const double cr = (v - 128 * unit) / (c.full ? most : 224 * unit);
  return std::clamp(luma + 2 * (1 - c.kr) * cr, 0.0, 1.0) * most;
}

/// The gains of these colours.
inline bliinds::RedOfYuv red_gains(const Colorimetry& c, int depth) {
  const int unit = 1 << (depth - 8), most = (1 << depth) - 1;
  bliinds::RedOfYuv red;
  red.v.depth = static_cast<std::uint8_t>(depth);
  red.y_gain = static_cast<std::int32_t>(std::lround(std::ldexp(most, 20) / (c.full ? most : 219 * unit)));
  red.v_gain =
      static_cast<std::int32_t>(std::lround(2 * (1 - c.kr) * std::ldexp(most, 20) / (c.full ? most : 224 * unit)));
  red.y_zero = c.full ? 0 : 16 * unit;
  red.v_zero = 128 * unit;
  return red;
}

/// Where V lies.
struct NamedYuv {
  std::string name;  ///< of a GStreamer video format
  PixelLayout y;
  int plane, offset, pixel_stride, x_shift, y_shift;

  bliinds::Input input(int width, int height, const Colorimetry& colours) const {
    bliinds::RedOfYuv red = red_gains(colours, y.depth);
    red.v = y;
    red.v.plane[0] = static_cast<std::uint8_t>(plane);
    red.v.offset[0] = static_cast<std::uint8_t>(offset);
    red.v.pixel_stride = static_cast<std::uint8_t>(pixel_stride);
    red.x_shift = static_cast<std::uint8_t>(x_shift);
    red.y_shift = static_cast<std::uint8_t>(y_shift);
    return {Geometry{width, height, y}, red};
  }
};

inline const std::vector<NamedYuv>& yuv_layouts() {
  static const std::vector<NamedYuv> all{
      {"I420", luma_layout(8, 1), 2, 0, 1, 1, 1},
      {"YV12", luma_layout(8, 1), 1, 0, 1, 1, 1},
      {"Y42B", luma_layout(8, 1), 2, 0, 1, 1, 0},
      {"Y444", luma_layout(8, 1), 2, 0, 1, 0, 0},
      {"Y41B", luma_layout(8, 1), 2, 0, 1, 2, 0},
      {"YUV9", luma_layout(8, 1), 2, 0, 1, 2, 2},
      {"NV12", luma_layout(8, 1), 1, 1, 2, 1, 1},
      {"NV21", luma_layout(8, 1), 1, 0, 2, 1, 1},
      {"NV16", luma_layout(8, 1), 1, 1, 2, 1, 0},
      {"NV24", luma_layout(8, 1), 1, 1, 2, 0, 0},
      {"YUY2", luma_layout(8, 1, 0, false, 2, 0), 0, 3, 4, 1, 0},
      {"UYVY", luma_layout(8, 1, 0, false, 2, 1), 0, 2, 4, 1, 0},
      {"YVYU", luma_layout(8, 1, 0, false, 2, 0), 0, 1, 4, 1, 0},
      {"VYUY", luma_layout(8, 1, 0, false, 2, 1), 0, 0, 4, 1, 0},
      {"AYUV", luma_layout(8, 1, 0, false, 4, 1), 0, 3, 4, 0, 0},
      {"VUYA", luma_layout(8, 1, 0, false, 4, 2), 0, 0, 4, 0, 0},
      {"v308", luma_layout(8, 1, 0, false, 3, 0), 0, 2, 3, 0, 0},
      {"IYU2", luma_layout(8, 1, 0, false, 3, 1), 0, 2, 3, 0, 0},
      {"I420_10LE", luma_layout(10, 2), 2, 0, 2, 1, 1},
      {"I420_12BE", luma_layout(12, 2, 0, true), 2, 0, 2, 1, 1},
      {"P010_10LE", luma_layout(10, 2, 6), 1, 2, 4, 1, 1},
      {"P012_BE", luma_layout(12, 2, 4, true), 1, 2, 4, 1, 1},
      {"P016_LE", luma_layout(16, 2), 1, 2, 4, 1, 1},
      {"Y444_16LE", luma_layout(16, 2), 2, 0, 2, 0, 0},
      {"Y212_LE", luma_layout(12, 2, 4, false, 4, 0), 0, 6, 8, 1, 0},
      {"AYUV64", luma_layout(16, 2, 0, false, 8, 2), 0, 6, 8, 0, 0},
  };
  return all;
}

/// A frame of random bytes; each plane's memory ends with the last byte that is read of it.
class YuvPicture {
 public:
  YuvPicture(const bliinds::Input& input, bool padded, bool upwards, std::uint64_t seed) : input_(input) {
    const Geometry& g = input.geometry;
    Random random(seed);
    for (int p = 0; p < 3; ++p) {
      const bool has_v = p == input.red.v.plane[0];
      if (p > 0 && !has_v) continue;
      const std::size_t y_end = p == 0 ? end_of(g.layout, g.width) : 0;
      const std::size_t v_end =
          has_v ? end_of(input.red.v, (g.width + (1 << input.red.x_shift) - 1) >> input.red.x_shift) : 0;
      const std::size_t rows = p == 0 ? static_cast<std::size_t>(g.height) : static_cast<std::size_t>(v_rows());
      const std::size_t row = std::max(y_end, v_end), stride = padded ? row + 7 : row;
      block_[p].resize((rows - 1) * stride + row);
      for (std::uint8_t& byte : block_[p]) byte = static_cast<std::uint8_t>(random.next());
      origin_[p] = upwards ? static_cast<std::ptrdiff_t>((rows - 1) * stride) : 0;
      frame_.plane[p] = block_[p].data() + origin_[p];
      frame_.stride[p] = upwards ? -static_cast<std::ptrdiff_t>(stride) : static_cast<std::ptrdiff_t>(stride);
    }
  }

  const bliinds::Input& input() const { return input_; }
  const Frame& frame() const { return frame_; }
  std::span<const std::uint8_t> block(int p) const { return block_[p]; }
  std::ptrdiff_t origin(int p) const { return origin_[p]; }

  /// Red of every pixel, row by row, and how far from the colours' own definition it is at most.
  std::vector<std::uint16_t> red(bool interlaced, const Colorimetry& colours, double* error) const {
    const Geometry& g = input_.geometry;
    const bliinds::RedOfYuv& r = input_.red;
    const int depth = g.layout.depth;
    std::vector<std::uint16_t> codes;
    *error = 0;
    for (int y = 0; y < g.height; ++y)
      for (int x = 0; x < g.width; ++x) {
        int v_row = y / (1 << r.y_shift);
        if (interlaced && r.y_shift > 0) v_row = y / 2 / (1 << r.y_shift) * 2 + y % 2;  // its own field's
        v_row = std::min(v_row, v_rows() - 1);
        const std::uint32_t luma = word(g.layout, 0, x, y);
        const std::uint32_t v = word(r.v, r.v.plane[0], x / (1 << r.x_shift), v_row);
        const double sum = static_cast<double>(r.y_gain) * (static_cast<double>(luma) - r.y_zero) +
                           static_cast<double>(r.v_gain) * (static_cast<double>(v) - r.v_zero);  // exact
        const double code = std::clamp(std::floor((sum + 524288) / 1048576), 0.0, std::ldexp(1, depth) - 1);
        codes.push_back(static_cast<std::uint16_t>(code));
        *error = std::max(*error, std::abs(code - exact_red(colours, depth, luma, v)));
      }
    return codes;
  }

 private:
  static std::size_t end_of(const PixelLayout& l, int samples) {
    return static_cast<std::size_t>(samples - 1) * l.pixel_stride + l.offset[0] + l.word_bytes;
  }
  int v_rows() const { return (input_.geometry.height + (1 << input_.red.y_shift) - 1) / (1 << input_.red.y_shift); }
  std::uint32_t word(const PixelLayout& l, int p, int x, int y) const {
    const std::uint8_t* at = frame_.plane[p] + y * frame_.stride[p] + x * l.pixel_stride + l.offset[0];
    const int word = l.word_bytes == 1 ? at[0] : l.big_endian ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
    return static_cast<std::uint32_t>(word >> l.shift & ((1 << l.depth) - 1));
  }

  bliinds::Input input_;
  Frame frame_;
  std::vector<std::uint8_t> block_[3];
  std::ptrdiff_t origin_[3] = {};
};

}  // namespace framequality::test
