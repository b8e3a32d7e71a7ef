// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes and images that colour halftones are tested with, and what filters make of them.
#pragma once

#include "algorithms/halftone/colour_filter.h"
#include "tests/halftone/colour_reference.h"
#include "tests/support/random.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::test::halftone_colours {

using namespace halftone;

/// Corners of the cube: everything can be mixed.
inline const Palette kCube = parse_palette("#000000,#ff0000,#00ff00,#0000ff,#ffff00,#ff00ff,#00ffff,#ffffff");

inline std::vector<Palette> palettes() {
  std::vector<Palette> all = {kCube, parse_palette("#102030,#d0e0f0")};
  for (const NamedPalette& n : named_palettes()) all.push_back(n.palette);
  return all;
}

/// A frame of three bytes a pixel.
struct Photo {
  PictureGeometry geometry;
  std::vector<std::uint8_t> bytes;

  Photo(int width, int height, std::uint64_t seed) {
    geometry.width = width;
    geometry.height = height;
    PictureLayout& l = geometry.layout;
    l.components = 3;
    l.is_rgb = true;
    for (std::uint8_t c = 0; c < 3; ++c) l.component[c] = {0, c, 3, 0, 0};
    Random random(seed);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c)
          bytes.push_back(static_cast<std::uint8_t>(
              seed % 2 ? random.next() >> 40
                       : static_cast<std::uint64_t>(127.5 + 127.5 * std::sin(0.05 * x * (c + 1) + 0.03 * y + c))));
  }
  Frame frame() const {
    Frame f;
    f.plane[0] = bytes.data();
    f.stride[0] = std::ptrdiff_t{3} * geometry.width;
    return f;
  }
  Grid2<Colour> tones(const ColourSettings& s) const {
    Grid2<Colour> tones(geometry.width, geometry.height);
    for (std::size_t i = 0; i < tones.values.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        const int tone = palette_tone(bytes[3 * i + c], s.linear);
        tones.values[i][c] = s.tone.invert ? kFull - tone : tone;
      }
    return tones;
  }
};

inline constexpr std::uint8_t kUntouched = 0x5a;

inline std::vector<std::uint8_t> rows_of(ColourFilter& filter, const PictureGeometry& g, const Frame& frame,
                                         const ColourSettings& s, int fields = 1) {
  const std::size_t row = target_row_bytes(g.width, s), stride = row + 7;
  std::vector<std::uint8_t> padded(stride * static_cast<std::size_t>(g.height), kUntouched), rows;
  filter.submit({frame, {padded.data(), static_cast<std::ptrdiff_t>(stride), Memory::kHost}, s, fields});
  filter.collect();
  for (std::size_t y = 0; y < static_cast<std::size_t>(g.height); ++y) {
    rows.insert(rows.end(), &padded[y * stride], &padded[y * stride] + row);
    for (std::size_t i = row; i < stride; ++i) EXPECT_EQ(padded[y * stride + i], kUntouched) << "row " << y;
  }
  return rows;
}

inline std::vector<std::uint8_t> rows_of(const Grid2<int>& places, const ColourSettings& s) {
  std::vector<std::uint8_t> rows;
  for (int y = 0; y < places.height; ++y) {
    int bits = 0, byte = 0;
    for (int x = 0; x < places.width; ++x) {
      const PaletteColour& c = s.palette.colour[static_cast<std::size_t>(places.at(x, y))];
      if (s.output != ColourOutput::kCodes) {
        rows.insert(rows.end(), {c.red, c.green, c.blue});
        if (s.output == ColourOutput::kRgbx) rows.push_back(255);
        continue;
      }
      byte |= c.code << (8 - s.palette.bits() - bits);
      bits += s.palette.bits();
      if (bits < 8 && x + 1 < places.width) continue;
      rows.push_back(static_cast<std::uint8_t>(byte));
      bits = byte = 0;
    }
  }
  return rows;
}

}  // namespace framequality::test::halftone_colours
