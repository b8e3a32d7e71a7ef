// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes of colour halftones, bad ones among them, and what the tables made of them promise.
#include "algorithms/halftone/colour_tables.h"

#include "tests/halftone/colour_pictures.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using namespace halftone;
using namespace halftone_colours;

// --- Palettes -------------------------------------------------------------------------------------------------------

TEST(HalftonePalette, NamedOnesCanBeWrittenDown) {
  for (const NamedPalette& n : named_palettes()) EXPECT_TRUE(parse_palette(text_of(n.palette)) == n.palette) << n.name;
  EXPECT_EQ(text_of(parse_palette("#000000, #Ff8000=5")), "#000000=0,#ff8000=5");
}

TEST(HalftonePalette, BitsHoldEveryCode) {
  EXPECT_EQ(parse_palette("#000000,#ffffff").bits(), 1);
  EXPECT_EQ(parse_palette("#000000,#ffffff=2").bits(), 2);
  EXPECT_EQ(parse_palette("#000000,#ffffff,#ff0000,#00ff00").bits(), 2);
  EXPECT_EQ(parse_palette("#000000,#ffffff=4").bits(), 4);
  EXPECT_EQ(named_palettes()[0].palette.bits(), 4);
}

TEST(HalftonePalette, BadOnesAreRefusedWithAReason) {
  const auto reason = [](const std::string& text) -> std::string {
    try {
      parse_palette(text);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(reason("#000000"), "a palette has at least 2 colours");
  EXPECT_EQ(reason(""), "'' is not a colour: write #rrggbb, such as #ff8000");
  EXPECT_EQ(reason("#000000,#fff"), "'#fff' is not a colour: write #rrggbb, such as #ff8000");
  EXPECT_EQ(reason("#000000,ffffff1"), "'ffffff1' is not a colour: write #rrggbb, such as #ff8000");
  EXPECT_EQ(reason("#000000,#-12345"), "'#-12345' is not a colour: write #rrggbb, such as #ff8000");
  EXPECT_EQ(reason("#000000,#00000g"), "'#00000g' is not a colour: write #rrggbb, such as #ff8000");
  EXPECT_EQ(reason("#000000,#ffffff,"), "'' is not a colour: write #rrggbb, such as #ff8000");
  EXPECT_EQ(reason("#000000,#ffffff,#000000"), "the colour '#000000' is there twice");
  EXPECT_EQ(reason("#000000,#ffffff=0"), "the code of '#ffffff=0' is already used");
  EXPECT_EQ(reason("#000000,#ffffff=16"), "the code of '#ffffff=16' must be a number from 0 to 15");
  EXPECT_EQ(reason("#000000,#ffffff=x"), "the code of '#ffffff=x' must be a number from 0 to 15");
  std::string many = "#000000";
  for (int i = 1; i < 17; ++i) many += ",#0000" + std::to_string(10 + i);
  EXPECT_EQ(reason(many), "a palette has at most 16 colours");
}

// --- Tables ---------------------------------------------------------------------------------------------------------

TEST(HalftoneColour, WhatCanBeMixedIsLeftAsItIs) {
  const GamutTables gamut = make_gamut({kCube, false, true});
  Random random(5);
  for (int i = 0; i < 20000; ++i) {
    const auto tone = [&] { return random.below(kFull + 1); };
    const Triple t = triple(tone(), tone(), tone());
    ASSERT_EQ(mapped_tone(t, gamut.mapped.data()), t);
  }
  for (const int c : {0, kFull})
    EXPECT_EQ(mapped_tone(triple(static_cast<unsigned>(c)), gamut.mapped.data()), triple(static_cast<unsigned>(c)));
}

TEST(HalftoneColour, MixturesAreThoseOfTheirTones) {
  for (const Palette& palette : palettes())
    for (const bool relative : {false, true}) {
      const GamutTables gamut = make_gamut({palette, false, relative});
      Random random(6);
      for (int i = 0; i < 3000; ++i) {
        const auto node =
            static_cast<std::size_t>(random.below(kNodes) | random.below(kNodes) << 6 | random.below(kNodes) << 12);
        const Mixture m = gamut.mixed[node];
        int before = 0;
        double mean[3] = {};
        for (int k = 0; k < 4; ++k) {
          const int until = k < 3 ? static_cast<int>(m >> (16 * k + 16) & 0xffff) : kWhite;
          ASSERT_GE(until, before);
          ASSERT_LE(until, kWhite);
          const PaletteColour& c = palette.colour[m >> 4 * k & 15];
          const double share = static_cast<double>(until - before) / kWhite;
          mean[0] += share * palette_tone(c.red, false);
          mean[1] += share * palette_tone(c.green, false);
          mean[2] += share * palette_tone(c.blue, false);
          before = until;
        }
        for (int c = 0; c < 3; ++c) ASSERT_NEAR(mean[c], field(gamut.mapped[node], c), 4) << text_of(palette);
      }
    }
}

TEST(HalftoneColour, BlackAndWhiteBecomeThePalettes) {
  const Palette palette = named_palettes()[0].palette;
  const GamutTables gamut = make_gamut({palette, false, true});
  const auto expect = [&](Triple tone, std::size_t colour) {
    const Mixture m = gamut.mixed[node_of(tone)];
    EXPECT_EQ(m & 15, colour);
    EXPECT_EQ(m >> 16 & 0xffff, static_cast<unsigned>(kWhite)) << "nothing else is mixed in";
    const PaletteColour& c = palette.colour[colour];
    EXPECT_EQ(gamut.mapped[node_of(tone)], triple(static_cast<unsigned>(palette_tone(c.red, false)),
                                                  static_cast<unsigned>(palette_tone(c.green, false)),
                                                  static_cast<unsigned>(palette_tone(c.blue, false))));
  };
  expect(triple(0), 0);
  expect(triple(kFull), 1);
}

TEST(HalftoneColour, TonesBeyondThePaletteBecomeTheNearest) {
  for (const Palette& palette : palettes()) {
    const GamutTables gamut = make_gamut({palette, false, false});
    Random random(7);
    const auto distance = [](const double* a, const double* b) {
      const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
      const double luma = 0.299 * d[0] + 0.587 * d[1] + 0.114 * d[2], u = 0.5 * (d[0] - luma), v = 0.5 * (d[2] - luma);
      return std::sqrt(luma * luma + u * u + v * v);
    };
    for (int i = 0; i < 500; ++i) {
      const Triple node = triple(random.below(kNodes), random.below(kNodes), random.below(kNodes)) * kNodeStep;
      double wanted[3], mapped[3], other[3] = {}, sum = 0;
      for (int c = 0; c < 3; ++c) wanted[c] = field(node, c), mapped[c] = field(gamut.mapped[node_of(node)], c);
      // Mixtures of the palette at random are no nearer.
      std::vector<double> weights;
      for (int k = 0; k < palette.count; ++k)
        sum += weights.emplace_back(std::pow(static_cast<double>(random.below(1000)) + 1, 3));
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const PaletteColour& p = palette.colour[k];
        const int tone[3] = {palette_tone(p.red, false), palette_tone(p.green, false), palette_tone(p.blue, false)};
        for (int c = 0; c < 3; ++c) other[c] += tone[c] * weights[k] / sum;
      }
      EXPECT_LE(distance(wanted, mapped), distance(wanted, other) + 1.5) << text_of(palette);
    }
  }
}

}  // namespace
}  // namespace framequality::test
