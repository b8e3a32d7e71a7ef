// SPDX-License-Identifier: LGPL-2.1-or-later
// Luma values and working samples are read from memory as the layouts say.
#include "algorithms/layout.h"

#include "algorithms/sharpness/samples.h"
#include "tests/support/layouts.h"
#include "tests/support/pictures.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

namespace framequality::test {

using namespace sharpness;

namespace {

TEST(Layout, LumaCodesAreThoseWritten) {
  for (const NamedLayout& named : layouts())
    for (const Placement placement : kPlacements) {
      Picture picture(Geometry{23, 5, named.layout}, Fill::kRandom, placement, 4);
      const Frame f = picture.frame();
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 23; ++x) {
          const std::uint8_t* rows[3];
          for (int p = 0; p < 3; ++p) rows[p] = f.plane[p] ? f.plane[p] + y * f.stride[p] : nullptr;
          ASSERT_EQ(luma_code(named.layout, rows[0], rows[1], rows[2], x),
                    picture.codes()[static_cast<std::size_t>(y * 23 + x)])
              << named.name << " " << x << "," << y;
        }
      EXPECT_TRUE(picture.untouched());
    }
}

TEST(Layout, RowBytesEndWithTheLastByteRead) {
  for (const NamedLayout& named : layouts())
    for (const int width : {1, 2, 3, 4, 7, 64}) {
      Picture picture(Geometry{width, 1, named.layout}, Fill::kZero, Placement::kTight, 1);
      ASSERT_EQ(named.layout.planes(), picture.planes()) << named.name;
      for (int p = 0; p < picture.planes(); ++p)
        EXPECT_EQ(named.layout.row_bytes(p, width), picture.block(p).size()) << named.name << " plane " << p;
    }
  EXPECT_EQ(luma_layout(8, 1).row_bytes(0, 0), 0u);
}

TEST(Layout, PlainMeansTheCodesStandInMemory) {
  for (const NamedLayout& named : layouts())
    EXPECT_EQ(named.layout.is_plain(), named.name == "GRAY8" || named.name == "GRAY16_LE") << named.name;
}

TEST(Layout, GrayHasItsOwnLuma) {
  for (std::uint32_t v = 0; v < 65536; ++v) ASSERT_EQ(luma_of(v, v, v), v);
}

// (38 (R + G + G) + 14 B + 64) / 128, rounded down, worked out by hand.
TEST(Layout, LumaOfACell) {
  struct Case {
    std::uint32_t r, g, h, b, luma;
  };
  for (const auto& [r, g, h, b, luma] : {Case{255, 0, 0, 0, 76},
                                         {0, 255, 0, 0, 76},
                                         {0, 0, 255, 0, 76},
                                         {0, 0, 0, 255, 28},
                                         {0, 255, 255, 0, 151},
                                         {1, 1, 0, 0, 1},
                                         {1, 0, 0, 1, 0},
                                         {100, 50, 30, 200, 75},
                                         {65535, 65535, 65535, 65535, 65535}})
    EXPECT_EQ(luma_of_cell(r + g + h, b), luma) << r << " " << g << " " << h << " " << b;
  for (std::uint32_t v = 0; v < 65536; ++v) ASSERT_EQ(luma_of_cell(3 * v, v), v);
}

// Two cells of the same bytes, whose names say where R and B are.
TEST(Layout, NamesSayWhereTheColoursOfACellAre) {
  const std::uint8_t upper[] = {200, 10, 0, 20}, lower[] = {40, 100, 60, 80};
  const auto codes = [&](int row, int column) {
    const PixelLayout l = bayer(8, row, column);
    return std::pair(luma_code(l, upper, lower, nullptr, 0), luma_code(l, upper, lower, nullptr, 1));
  };
  EXPECT_EQ(codes(0, 0), std::pair(85u, 33u));   // rggb: 38 (200 + 10 + 40) + 14 * 100; 38 * 80 + 14 * 80
  EXPECT_EQ(codes(1, 1), std::pair(66u, 48u));   // bggr: 38 (10 + 40 + 100) + 14 * 200; 38 (20 + 60 + 80)
  EXPECT_EQ(codes(0, 1), std::pair(96u, 36u));   // grbg: 38 (200 + 10 + 100) + 14 * 40; 38 (20 + 80) + 14 * 60
  EXPECT_EQ(codes(1, 0), std::pair(102u, 44u));  // gbrg: 38 (200 + 40 + 100) + 14 * 10; 38 (60 + 80) + 14 * 20
}

// Fraction bits: min(a, 4, 16 - depth), where samples are scaled by 2^a before rounding.
TEST(Samples, FormatFollowsDepthPrefilterAndDownscale) {
  for (int depth = 8; depth <= 16; ++depth)
    for (int radius = 0; radius < 3; ++radius)
      for (const int downscale : {1, 2, 4}) {
        const int a = (downscale == 1 ? 0 : downscale == 2 ? 2 : 4) + 4 * radius;
        const SampleFormat s = sample_format(depth, static_cast<Prefilter>(radius), downscale);
        EXPECT_EQ(s.fraction, std::min({a, 4, 16 - depth}));
        EXPECT_EQ(s.fraction + s.shift, a);
        EXPECT_EQ(s.is_identity(), a == 0);
        EXPECT_LE(s.bits(), 16);
        const std::uint32_t white = (1u << depth) - 1;
        EXPECT_EQ(s.largest(), white << s.fraction);
        EXPECT_EQ(s.round(white << a), s.largest()) << "white must not round beyond the largest sample";
        if (s.shift) {
          EXPECT_EQ(s.round((1u << (s.shift - 1)) - 1), 0u);
          EXPECT_EQ(s.round(1u << (s.shift - 1)), 1u);
        }
      }
}

TEST(Samples, BinomialTapsSumToAPowerOfFour) {
  for (int radius = 0; radius < 3; ++radius) {
    std::uint32_t sum = 0;
    for (int d = -radius; d <= radius; ++d) sum += binomial_tap(radius, d);
    EXPECT_EQ(sum, 1u << (2 * radius));
  }
}

}  // namespace
}  // namespace framequality::test
