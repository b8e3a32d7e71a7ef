// SPDX-License-Identifier: LGPL-2.1-or-later
// Red of YUV: by hand, against the definition in doubles, and measured out of every layout.
#include "cpu/bliinds/meter.h"
#include "cpu/dispatch.h"
#include "tests/bliinds/yuv_picture.h"

#include <gtest/gtest.h>
#include <string>

namespace framequality::test {
namespace {

using namespace bliinds;

std::uint32_t red_of(const Colorimetry& colours, int depth, std::uint32_t y, std::uint32_t v) {
  return red_code(red_gains(colours, depth), y, v);
}

TEST(BliindsRed, IsWhatComesOutByHand) {
  const Colorimetry &bt601 = kColorimetries[0], &bt709 = kColorimetries[1], &jpeg = kColorimetries[5];
  // 255/219 (Y - 16) + 1.402 255/224 (V - 128)
  EXPECT_EQ(red_of(bt601, 8, 16, 128), 0u);
  EXPECT_EQ(red_of(bt601, 8, 235, 128), 255u);
  EXPECT_EQ(red_of(bt601, 8, 81, 240), 254u);   // 75.685 + 178.755
  EXPECT_EQ(red_of(bt601, 8, 145, 34), 0u);     // 150.205 - 150.027 = 0.179
  EXPECT_EQ(red_of(bt601, 8, 100, 100), 53u);   // 97.808 - 44.689 = 53.119
  EXPECT_EQ(red_of(bt601, 8, 0, 0), 0u);        // below black
  EXPECT_EQ(red_of(bt601, 8, 255, 255), 255u);  // above white
  // 255/219 (Y - 16) + 1.5748 255/224 (V - 128)
  EXPECT_EQ(red_of(bt709, 8, 63, 240), 255u);  // 54.726 + 200.787 = 255.513
  EXPECT_EQ(red_of(bt709, 8, 100, 100), 48u);  // 97.808 - 50.197 = 47.612
  // Y + 1.402 (V - 128)
  EXPECT_EQ(red_of(jpeg, 8, 76, 255), 254u);   // 76 + 178.054
  EXPECT_EQ(red_of(jpeg, 8, 200, 100), 161u);  // 200 - 39.256
  // 1023/876 (Y - 64) + 1.402 1023/896 (V - 512)
  EXPECT_EQ(red_of(bt601, 10, 940, 512), 1023u);
  EXPECT_EQ(red_of(bt601, 10, 400, 400), 213u);  // 392.384 - 179.283 = 213.101
  // 65535/56064 (Y - 4096) + 1.402 65535/57344 (V - 32768)
  EXPECT_EQ(red_of(bt601, 16, 60160, 32768), 65535u);
  EXPECT_EQ(red_of(bt601, 16, 30000, 30000), 25845u);  // 30280.0 - 4435.1
}

TEST(BliindsRed, IsWithinACodeOfTheDefinition) {
  Random random(3);
  for (const Colorimetry& colours : kColorimetries)
    for (const int depth : {8, 10, 12, 16}) {
      const RedOfYuv red = red_gains(colours, depth);
      const int n = depth == 8 ? 65536 : 200'000, most = (1 << depth) - 1;
      double worst = 0;
      for (int i = 0; i < n; ++i) {
        const bool extreme = depth > 8 && i % 8 == 0;  // of either
        const auto y = static_cast<std::uint32_t>(depth == 8 ? i >> 8
                                                  : extreme  ? most - i % 3
                                                             : random.below(most + 1));
        const auto v = static_cast<std::uint32_t>(depth == 8 ? i & 255 : i % 16 == 0 ? i % 3 : random.below(most + 1));
        const std::uint32_t code = red_code(red, y, v);
        ASSERT_LE(code, static_cast<std::uint32_t>(most));
        worst = std::max(worst, std::abs(code - exact_red(colours, depth, y, v)));
      }
      EXPECT_LE(worst, 0.55) << colours.name << " " << depth;
    }
}

TEST(BliindsRed, GrayIsItsOwnAtFullRange) {
  for (const Colorimetry& colours : kColorimetries)
    if (colours.full)
      for (std::uint32_t y = 0; y < 65536; ++y) {
        ASSERT_EQ(red_of(colours, 16, y, 32768), y);
      }
}

TEST(BliindsRed, ChromaRowsBelongToFieldsWhereFramesAreInterlaced) {
  RedOfYuv red;
  red.y_shift = 1;
  const auto rows = [&](int height, bool interlaced) {
    std::vector<int> list;
    for (int y = 0; y < height; ++y) list.push_back(red.row(y, height, interlaced));
    return list;
  };
  EXPECT_EQ(rows(8, false), (std::vector{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(rows(8, true), (std::vector{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(rows(6, true), (std::vector{0, 1, 0, 1, 2, 2})) << "there is no fourth row";
  EXPECT_EQ(rows(5, true), (std::vector{0, 1, 0, 1, 2}));
  EXPECT_EQ(rows(5, false), (std::vector{0, 0, 1, 1, 2}));
  red.y_shift = 0;
  EXPECT_EQ(rows(4, true), (std::vector{0, 1, 2, 3}));
}

TEST(BliindsRed, EveryLayoutMeasuresAsItsRed) {
  int n = 0;
  for (const NamedYuv& named : yuv_layouts())
    for (const auto& [width, height] : {std::pair{66, 28}, {67, 29}, {4, 4}, {5, 7}})
      for (const bool interlaced : {false, true}) {
        const Colorimetry& colours = kColorimetries[static_cast<std::size_t>(n) % std::size(kColorimetries)];
        const YuvPicture picture(named.input(width, height, colours), n % 2, n % 3 == 0, static_cast<std::uint64_t>(n));
        ++n;
        SCOPED_TRACE(named.name + " " + std::to_string(width) + "x" + std::to_string(height) + " " + colours.name);
        double error = 0;
        const std::vector<std::uint16_t> red = picture.red(interlaced, colours, &error);
        EXPECT_LE(error, 0.55);
        const int depth = named.y.depth;
        Picture plain(Geometry{width, height, luma_layout(depth, depth > 8 ? 2 : 1)}, red);
        const auto expected = cpu::make_bliinds_meter(plain.geometry());
        expected->submit({plain.frame()});
        const Features want = expected->collect();
        for (const std::string_view isa : cpu::instruction_sets()) {
          const auto meter = cpu::make_bliinds_meter(picture.input(), isa);
          meter->submit({picture.frame(), Channel::kRed, interlaced});
          EXPECT_EQ(meter->collect(), want) << isa;
          meter->submit({picture.frame(), Channel::kLuma, interlaced});
          EXPECT_NE(meter->collect(), want) << isa;
        }
      }
}

TEST(BliindsRed, OnlyThePlanesThatItNeedsAreRead) {
  const auto extents = [](const std::string& name, Channel channel) {
    for (const NamedYuv& named : yuv_layouts())
      if (named.name == name) {
        std::string text;
        for (int p = 0; p < 3; ++p) {
          const PlaneExtent e = channel_extent(named.input(67, 29, kColorimetries[0]), channel, p);
          text += std::to_string(e.row_bytes) + "x" + std::to_string(e.rows) + " ";
        }
        return text;
      }
    return std::string();
  };
  EXPECT_EQ(extents("I420", Channel::kLuma), "67x29 0x0 0x0 ");
  EXPECT_EQ(extents("I420", Channel::kRed), "67x29 0x0 34x15 ");
  EXPECT_EQ(extents("YV12", Channel::kRed), "67x29 34x15 0x0 ");
  EXPECT_EQ(extents("NV12", Channel::kRed), "67x29 68x15 0x0 ");
  EXPECT_EQ(extents("YUY2", Channel::kLuma), "133x29 0x0 0x0 ");
  EXPECT_EQ(extents("YUY2", Channel::kRed), "136x29 0x0 0x0 ");
  const Geometry gbr{67, 29, planar_rgb(8, 2, 0, 1)};
  EXPECT_EQ(channel_extent(gbr, Channel::kRed, 0).rows, 0);
  EXPECT_EQ(channel_extent(gbr, Channel::kRed, 2).row_bytes, 67u);
  EXPECT_EQ(channel_extent(gbr, Channel::kLuma, 0).rows, 29);
}

}  // namespace
}  // namespace framequality::test
