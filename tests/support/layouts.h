// SPDX-License-Identifier: LGPL-2.1-or-later
// The pixel layouts that the tests sweep: one or more of each class of video format, and a few that no format has.
#pragma once

#include "algorithms/layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace framequality::test {

struct NamedLayout {
  std::string name;  ///< of a GStreamer video format with this layout, in letters, digits and _
  PixelLayout layout;
};

/// One luma sample of `bytes` bytes per pixel.
inline PixelLayout luma_layout(int depth, int bytes, int shift = 0, bool big_endian = false, int pixel_stride = 0,
                               int offset = 0) {
  PixelLayout l;
  l.depth = static_cast<std::uint8_t>(depth);
  l.word_bytes = static_cast<std::uint8_t>(bytes);
  l.shift = static_cast<std::uint8_t>(shift);
  l.big_endian = big_endian;
  l.pixel_stride = static_cast<std::uint8_t>(pixel_stride ? pixel_stride : bytes);
  l.offset[0] = static_cast<std::uint8_t>(offset);
  return l;
}

/// R, G, B samples in one plane, at these byte offsets into a pixel.
inline PixelLayout packed_rgb(int depth, int pixel_stride, int r, int g, int b, bool big_endian = false) {
  PixelLayout l = luma_layout(depth, depth > 8 ? 2 : 1, 0, big_endian, pixel_stride);
  l.kind = PixelLayout::Kind::kRgb;
  l.offset[0] = static_cast<std::uint8_t>(r);
  l.offset[1] = static_cast<std::uint8_t>(g);
  l.offset[2] = static_cast<std::uint8_t>(b);
  return l;
}

/// R, G, B each in the plane of that number.
inline PixelLayout planar_rgb(int depth, int r, int g, int b, bool big_endian = false) {
  PixelLayout l = luma_layout(depth, depth > 8 ? 2 : 1, 0, big_endian);
  l.kind = PixelLayout::Kind::kRgb;
  l.plane[0] = static_cast<std::uint8_t>(r);
  l.plane[1] = static_cast<std::uint8_t>(g);
  l.plane[2] = static_cast<std::uint8_t>(b);
  return l;
}

/// A mosaic whose R is in this row and column of each cell of 2x2.
inline PixelLayout bayer(int depth, int row, int column, bool big_endian = false) {
  const int bytes = depth > 8 ? 2 : 1;
  PixelLayout l = luma_layout(depth, bytes, 0, big_endian, 2 * bytes);
  l.kind = PixelLayout::Kind::kBayer;
  const int r = bytes * column, other = bytes - r;
  l.plane[0] = l.plane[1] = static_cast<std::uint8_t>(row);
  l.plane[2] = static_cast<std::uint8_t>(1 - row);
  l.offset[0] = static_cast<std::uint8_t>(r);
  l.offset[1] = l.offset[2] = static_cast<std::uint8_t>(other);
  return l;
}

inline PixelLayout gray10_le32() {
  PixelLayout l = luma_layout(10, 2);
  l.kind = PixelLayout::Kind::kGray10x3;
  l.word_bytes = 1;
  l.pixel_stride = 1;
  return l;
}

/// Every layout that the sweeps measure.
inline const std::vector<NamedLayout>& layouts() {
  static const std::vector<NamedLayout> all{
      {"GRAY8", luma_layout(8, 1)},
      {"GRAY16_LE", luma_layout(16, 2)},
      {"GRAY16_BE", luma_layout(16, 2, 0, true)},
      {"GRAY10_LE32", gray10_le32()},
      {"I420_10LE", luma_layout(10, 2)},
      {"I420_12LE", luma_layout(12, 2)},
      {"I420_10BE", luma_layout(10, 2, 0, true)},
      {"P010_10LE", luma_layout(10, 2, 6)},
      {"P012_LE", luma_layout(12, 2, 4)},
      {"P012_BE", luma_layout(12, 2, 4, true)},
      {"depth9_in_16", luma_layout(9, 2, 3)},
      {"depth14_in_16_BE", luma_layout(14, 2, 1, true)},
      {"YUY2", luma_layout(8, 1, 0, false, 2, 0)},
      {"UYVY", luma_layout(8, 1, 0, false, 2, 1)},
      {"AYUV", luma_layout(8, 1, 0, false, 4, 1)},
      {"VUYA", luma_layout(8, 1, 0, false, 4, 2)},
      {"Y210", luma_layout(10, 2, 6, false, 4, 0)},
      {"AYUV64", luma_layout(16, 2, 0, false, 8, 2)},
      {"RGB", packed_rgb(8, 3, 0, 1, 2)},
      {"BGR", packed_rgb(8, 3, 2, 1, 0)},
      {"RGBx", packed_rgb(8, 4, 0, 1, 2)},
      {"BGRx", packed_rgb(8, 4, 2, 1, 0)},
      {"xRGB", packed_rgb(8, 4, 1, 2, 3)},
      {"xBGR", packed_rgb(8, 4, 3, 2, 1)},
      {"RGBA64_LE", packed_rgb(16, 8, 0, 2, 4)},
      {"RGBA64_BE", packed_rgb(16, 8, 0, 2, 4, true)},
      {"ARGB64", packed_rgb(16, 8, 2, 4, 6)},
      {"depth10_ARGB64_LE", packed_rgb(10, 8, 2, 4, 6)},
      {"depth12_RGBA64_BE", packed_rgb(12, 8, 0, 2, 4, true)},
      {"depth14_AYUV64", luma_layout(14, 2, 0, false, 8, 2)},
      {"GBR", planar_rgb(8, 2, 0, 1)},
      {"RGBP", planar_rgb(8, 0, 1, 2)},
      {"BGRP", planar_rgb(8, 2, 1, 0)},
      {"GBR_10LE", planar_rgb(10, 2, 0, 1)},
      {"GBR_12LE", planar_rgb(12, 2, 0, 1)},
      {"GBR_12BE", planar_rgb(12, 2, 0, 1, true)},
      {"GBR_16LE", planar_rgb(16, 2, 0, 1)},
      {"bggr", bayer(8, 1, 1)},
      {"gbrg", bayer(8, 1, 0)},
      {"grbg", bayer(8, 0, 1)},
      {"rggb", bayer(8, 0, 0)},
      {"gbrg10le", bayer(10, 1, 0)},
      {"bggr12be", bayer(12, 1, 1, true)},
      {"rggb16le", bayer(16, 0, 0)},
  };
  return all;
}

}  // namespace framequality::test
