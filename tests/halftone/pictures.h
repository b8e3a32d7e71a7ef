// SPDX-License-Identifier: LGPL-2.1-or-later
// Images that make errors pile up, and a halftone filter's output compared with the expected one.
#pragma once

#include "cpu/halftone/filter.h"
#include "tests/halftone/reference.h"
#include "tests/support/random.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::test::halftone_pictures {

using namespace halftone;

enum class Fill { kRandom, kRamp, kBlack, kWhite, kMiddle, kChecks, kStripes, kNoisyEnds };
inline constexpr Fill kFills[] = {Fill::kRandom, Fill::kRamp,   Fill::kBlack,   Fill::kWhite,
                                  Fill::kMiddle, Fill::kChecks, Fill::kStripes, Fill::kNoisyEnds};

inline std::uint32_t code_of(Fill fill, int x, int y, int width, std::uint32_t most, Random& random) {
  const auto r = static_cast<std::uint32_t>(random.next() >> 40);
  switch (fill) {
    case Fill::kRandom:
      return r % (most + 1);
    case Fill::kRamp:
      return static_cast<std::uint32_t>(static_cast<std::uint64_t>(most) * static_cast<std::uint64_t>(x) /
                                        static_cast<std::uint64_t>(std::max(1, width - 1)));
    case Fill::kBlack:
      return 0;
    case Fill::kWhite:
      return most;
    case Fill::kMiddle:
      return most / 2;
    case Fill::kChecks:
      return (x + y) % 2 ? most : 0;
    case Fill::kStripes:
      return x / 3 % 2 ? most : most / 2;  // errors of one sign pile up, then meet the end
    case Fill::kNoisyEnds:
      return r % 8 ? r % 4 : most - r / 8 % 4;
  }
  return 0;
}

/// A frame of one plane, and the settings' picture of it.
class Picture {
 public:
  Picture(int width, int height, int depth, Fill fill, std::uint64_t seed) : tones_(width, height) {
    g_.width = width;
    g_.height = height;
    g_.layout.depth = static_cast<std::uint8_t>(depth);
    g_.layout.word_bytes = g_.layout.pixel_stride = depth == 8 ? 1 : 2;
    Random random(seed);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const std::uint32_t code = code_of(fill, x, y, width, (1u << depth) - 1, random);
        codes_.push_back(code);
        bytes_.push_back(static_cast<std::uint8_t>(code));
        if (depth > 8) bytes_.push_back(static_cast<std::uint8_t>(code >> 8));
      }
  }
  const Geometry& geometry() const { return g_; }
  Frame frame() const {
    Frame f;
    f.plane[0] = bytes_.data();
    f.stride[0] = std::ptrdiff_t{g_.width} * g_.layout.word_bytes;
    return f;
  }
  const Grid2<int>& tones(const ToneSettings& s) {
    for (std::size_t i = 0; i < codes_.size(); ++i) tones_.values[i] = tone_of(codes_[i], g_.layout.depth, s);
    return tones_;
  }

 private:
  Geometry g_;
  std::vector<std::uint32_t> codes_;
  std::vector<std::uint8_t> bytes_;
  Grid2<int> tones_;
};

inline constexpr std::uint8_t kSentinel = 0x5a;

/// Halftones with the filter, into rows with room behind them that has to stay untouched.
inline std::vector<std::uint8_t> rows_of(Filter& filter, const Picture& picture, const Settings& s, int fields = 1) {
  const int height = picture.geometry().height;
  const std::size_t bytes = target_row_bytes(picture.geometry().width, s.packed), stride = bytes + 5;
  std::vector<std::uint8_t> padded(stride * static_cast<std::size_t>(height), kSentinel), rows;
  filter.submit({picture.frame(), {padded.data(), static_cast<std::ptrdiff_t>(stride), Memory::kHost}, s, fields});
  filter.collect();
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    const std::uint8_t* row = &padded[y * stride];
    rows.insert(rows.end(), row, row + bytes);
    for (std::size_t i = bytes; i < stride; ++i) EXPECT_EQ(row[i], kSentinel) << "row " << y;
  }
  return rows;
}

inline std::vector<std::uint8_t> rows_of(const Grid2<int>& levels, const Settings& s) {
  std::vector<std::uint8_t> rows;
  for (int y = 0; y < levels.height; ++y)
    if (s.packed)
      for (int x = 0; x < levels.width; x += 8) {
        int byte = 0;
        for (int i = 0; i < 8 && x + i < levels.width; ++i) byte |= levels.at(x + i, y) << (7 - i);
        rows.push_back(static_cast<std::uint8_t>(byte));
      }
    else
      for (int x = 0; x < levels.width; ++x)
        rows.push_back(static_cast<std::uint8_t>(levels.at(x, y) * 255 / (s.levels - 1)));
  return rows;
}

inline std::string name_of(const Settings& s, const Geometry& g) {
  return std::to_string(g.width) + "x" + std::to_string(g.height) + " depth " + std::to_string(g.layout.depth) +
         " method " + std::to_string(static_cast<int>(s.method)) + " levels " + std::to_string(s.levels) +
         " strength " + std::to_string(s.strength) + (s.packed ? " packed" : "") + (s.serpentine ? " serpentine" : "") +
         (s.tone.limited ? " limited" : "") + (s.tone.invert ? " inverted" : "");
}

inline void expect_defined(Picture& picture, const Settings& s, int threads, std::string_view isa) {
  const auto expected = rows_of(halftone_of(picture.tones(s.tone), s), s);
  const auto filter = cpu::make_halftone(picture.geometry(), threads, isa);
  const auto got = rows_of(*filter, picture, s);
  ASSERT_EQ(got.size(), expected.size());
  const auto differ = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
  EXPECT_TRUE(got == expected) << name_of(s, picture.geometry()) << " isa " << isa << " threads " << threads
                               << ": first different byte " << differ << " of " << got.size();
}

}  // namespace framequality::test::halftone_pictures
