// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on the CPU: known answers, and every instruction set, number of threads and order against the definition.
#include "cpu/dispatch.h"
#include "cpu/halftone/filter.h"
#include "tests/halftone/pictures.h"
#include "tests/halftone/reference.h"
#include "tests/support/random.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace framequality::test {
namespace {

using namespace halftone;
using namespace halftone_pictures;

// --- Tones ----------------------------------------------------------------------------------------------------------

TEST(HalftoneTone, EndsAreBlackAndWhiteAtEveryDepth) {
  for (const Light light : {Light::kCode, Light::kSrgb, Light::kBt709})
    for (int depth = 8; depth <= 16; ++depth)
      for (const bool limited : {false, true}) {
        const std::uint32_t unit = 1u << (depth - 8), black = limited ? 16 * unit : 0;
        const std::uint32_t white = limited ? 235 * unit : (1u << depth) - 1;
        EXPECT_EQ(tone_of(black, depth, {limited, light, false}), 0);
        EXPECT_EQ(tone_of(0, depth, {limited, light, false}), 0);
        EXPECT_EQ(tone_of(white, depth, {limited, light, false}), kWhite);
        EXPECT_EQ(tone_of((1u << depth) - 1, depth, {limited, light, false}), kWhite);
        EXPECT_EQ(tone_of(black, depth, {limited, light, true}), kWhite);
      }
}

TEST(HalftoneTone, CodesAreSixteenthsOfTheirGrey) {
  for (std::uint32_t code = 0; code < 256; ++code) EXPECT_EQ(tone_of(code, 8, {}), static_cast<int>(16 * code));
  EXPECT_EQ(tone_of(126, 8, {true, Light::kCode, false}), 2049);    // 110 / 219 of 4080 is 2049.3
  EXPECT_EQ(tone_of(512, 10, {}), 2042);                            // 2041.99
  EXPECT_EQ(tone_of(188, 8, {false, Light::kSrgb, false}), 2052);   // 0.50289 of light
  EXPECT_EQ(tone_of(180, 8, {false, Light::kBt709, false}), 2042);  // 0.50050
}

TEST(HalftoneTone, NeverFallsAlongTheCodes) {
  for (const Light light : {Light::kCode, Light::kSrgb, Light::kBt709})
    for (int depth = 8; depth <= 16; ++depth)
      for (const bool limited : {false, true}) {
        std::vector<std::int16_t> tones(std::size_t{1} << depth);
        fill_tones(tones, depth, {limited, light, false});
        EXPECT_TRUE(std::is_sorted(tones.begin(), tones.end())) << depth << " bits, limited " << limited;
        fill_tones(tones, depth, {limited, light, true});
        EXPECT_TRUE(std::is_sorted(tones.rbegin(), tones.rend())) << depth << " bits, limited " << limited;
      }
}

// --- Floyd-Steinberg ------------------------------------------------------------------------------------------------

TEST(HalftoneFloydSteinberg, SmallPictureByHand) {
  // 1008 everywhere. Row 0: u = 1008, 1449, 1642, 1726: black, errors the same. Row 1: 8 + 5 * 1008 + 3 * 1449 over 16
  // is 587, u 1595; 7 * 1595 + 1008 + 5 * 1449 + 3 * 1642 is 24344, u 1008 + 1522 = 2530: white.
  Grid2<int> tones(4, 2, 1008);
  const auto levels = floyd_steinberg_of(tones, 2, kFullStrength, false);
  const std::vector<int> expected = {0, 0, 0, 0, 0, 1, 0, 0};
  EXPECT_EQ(std::vector<int>(levels.values.begin(), levels.values.begin() + 6),
            std::vector<int>(expected.begin(), expected.begin() + 6));
}

constexpr int kSides[][2] = {{1, 1},  {1, 40}, {2, 3},   {3, 2},   {15, 33},  {16, 16}, {31, 31},  {33, 65},
                             {64, 1}, {95, 7}, {96, 32}, {97, 70}, {131, 34}, {640, 5}, {1201, 99}};

TEST(HalftoneFloydSteinberg, EveryInstructionSetAndThreadCountGivesTheDefinedBits) {
  std::uint64_t seed = 1;
  for (const auto& side : kSides)
    for (const Fill fill : kFills) {
      Picture picture(side[0], side[1], 8, fill, seed++);
      for (const auto isa : cpu::instruction_sets())
        for (const int threads : {1, 3}) expect_defined(picture, {}, threads, isa);
    }
}

TEST(HalftoneFloydSteinberg, LevelsStrengthsDepthsAndRangesGiveTheDefinedBits) {
  std::uint64_t seed = 1000;
  for (const int depth : {8, 10, 16})
    for (const Fill fill : kFills) {
      Picture picture(203, 67, depth, fill, seed++);
      for (const auto isa : cpu::instruction_sets())
        for (const int levels : {2, 4, 16})
          for (const int strength : {0, 1, 200, 255, 256}) {
            Settings s;
            s.levels = levels;
            s.strength = strength;
            s.packed = levels == 2 && seed % 2 == 0;
            s.tone = {strength != 200, strength == 255 ? Light::kSrgb : Light::kCode, strength == 1};
            expect_defined(picture, s, 2, isa);
          }
    }
}

TEST(HalftoneFloydSteinberg, WideAndTallPicturesGiveTheDefinedBits) {
  Picture wide(40000, 35, 8, Fill::kRandom, 5), tall(37, 3000, 8, Fill::kRandom, 6);
  for (const auto isa : cpu::instruction_sets()) {
    expect_defined(wide, {}, 2, isa);
    expect_defined(tall, {}, 2, isa);
  }
  Picture large(2500, 1900, 8, Fill::kNoisyEnds, 7);
  expect_defined(large, {}, 0, {});
}

TEST(HalftoneFloydSteinberg, SerpentineIsTheMirroredDefinition) {
  Picture picture(77, 55, 8, Fill::kRandom, 9);
  Settings s;
  for (const int levels : {2, 4, 16}) {
    s.levels = levels;
    s.serpentine = true;
    expect_defined(picture, s, 1, {});
  }
  s.serpentine = false;
  const auto raster = halftone_of(picture.tones(s.tone), s);
  s.serpentine = true;
  EXPECT_NE(raster.values, halftone_of(picture.tones(s.tone), s).values);
}

// --- The tone-dependent method --------------------------------------------------------------------------------------

TEST(HalftoneToneDependent, VisitsInThePublishedOrder) {
  Grid2<int> number(12, 8);
  int n = 0;
  for (const Visit& v : visits(12, 8, 4, 3)) number.at(v.x, v.y) = ++n;
  EXPECT_EQ(std::vector<int>(number.values.begin(), number.values.begin() + 12),
            (std::vector<int>{1, 2, 3, 4, 6, 8, 10, 13, 16, 19, 23, 27}));
  EXPECT_EQ(number.at(11, 3), 48);
  EXPECT_EQ(number.at(11, 4), 49);
  EXPECT_EQ(number.at(0, 7), 96);
}

TEST(HalftoneToneDependent, WeightsSumToOneAndErrorsStayBehindTheVisits) {
  for (const ToneTable* table : kToneTables)
    for (int tone = 0; tone < kTones; ++tone) {
      const ToneRow& row = table->row[tone];
      EXPECT_EQ(row.weight[0] + row.weight[1] + row.weight[2] + row.weight[3], kWeightOne);
      EXPECT_GE(row.threshold, kWhite / 2);
      EXPECT_LE(row.threshold, kWhite);
      for (int i = 0; i < 4; ++i) {
        EXPECT_GE(row.weight[i], 0) << tone;
        const Place p = place_of(tone, i);
        EXPECT_TRUE(p.down == 1 ? p.on >= -kDelay : p.on == 1) << tone;
      }
    }
}

TEST(HalftoneToneDependent, EveryOrderGivesTheSameBits) {
  std::uint64_t seed = 50;
  for (const ToneTable* table : kToneTables)
    for (const Fill fill : kFills)
      for (const auto& side : {std::pair{1, 9}, {2, 7}, {5, 5}, {61, 23}, {130, 70}}) {
        Picture picture(side.first, side.second, 8, fill, seed++);
        const auto& tones = picture.tones({});
        const auto published = tone_dependent_of(tones, *table, kDotPattern, 2, kFullStrength,
                                                 visits(side.first, side.second, table->swath_rows, kDelay));
        for (const int skew : {kDelay + 1, kDelay + 5, 1000})
          for (const bool upper_first : {true, false})
            EXPECT_EQ(published.values,
                      tone_dependent_of(tones, *table, kDotPattern, 2, kFullStrength,
                                        visits(side.first, side.second, table->swath_rows, skew, upper_first))
                          .values);
      }
}

TEST(HalftoneToneDependent, TooLittleSkewGivesOtherBits) {
  Picture picture(200, 40, 8, Fill::kRandom, 3);
  const ToneTable& table = *find_table(4);
  const auto bits = [&](int skew, bool upper_first) {
    return tone_dependent_of(picture.tones({}), table, kDotPattern, 2, kFullStrength,
                             visits(200, 40, 4, skew, upper_first))
        .values;
  };
  EXPECT_NE(bits(3, true), bits(3, false)) << "rows of one t depend on each other";
  EXPECT_NE(bits(3, true), bits(2, true));
}

TEST(HalftoneToneDependent, FilterGivesTheDefinedBits) {
  std::uint64_t seed = 70;
  for (const ToneTable* table : kToneTables)
    for (const Fill fill : kFills)
      for (const int levels : {2, 4, 16}) {
        Settings s;
        s.method = Method::kToneDependent;
        s.swath_rows = table->swath_rows;
        s.levels = levels;
        s.strength = seed % 3 ? kFullStrength : 180;
        s.packed = levels == 2 && seed % 2;
        s.tone.limited = seed % 4 == 0;
        Picture picture(static_cast<int>(33 + seed % 90), 75, seed % 5 ? 8 : 12, fill, seed);
        expect_defined(picture, s, 2, {});
        ++seed;
      }
}

// --- All methods ----------------------------------------------------------------------------------------------------

std::vector<Settings> all_methods() {
  std::vector<Settings> all(3);
  all[1].serpentine = true;
  all[2].method = Method::kBlueNoise;
  for (const ToneTable* table : kToneTables) {
    Settings s;
    s.method = Method::kToneDependent;
    s.swath_rows = table->swath_rows;
    all.push_back(s);
  }
  return all;
}

TEST(Halftone, BlackHasNoWhiteDotAndWhiteNoBlackOne) {
  for (Settings s : all_methods())
    for (const int levels : {2, 4, 16})
      for (const int depth : {8, 10, 16})
        for (const std::uint32_t grey : {16u, 235u}) {
          Geometry g{200, 90, {}};
          g.layout.depth = static_cast<std::uint8_t>(depth);
          g.layout.word_bytes = g.layout.pixel_stride = depth == 8 ? 1 : 2;
          std::vector<std::uint16_t> words(200 * 90, static_cast<std::uint16_t>(grey << (depth - 8)));
          std::vector<std::uint8_t> bytes(200 * 90, static_cast<std::uint8_t>(grey)), out(200 * 90, 1);
          Frame frame;
          frame.plane[0] = depth == 8 ? bytes.data() : reinterpret_cast<const std::uint8_t*>(words.data());
          frame.stride[0] = depth == 8 ? 200 : 400;
          s.levels = levels;
          s.tone.limited = true;
          const auto filter = cpu::make_halftone(g, 1);
          filter->submit({frame, {out.data(), 200, Memory::kHost}, s, 1});
          filter->collect();
          EXPECT_EQ(std::count(out.begin(), out.end(), grey == 16 ? 0 : 255), 200 * 90) << name_of(s, g);
        }
}

TEST(Halftone, MeanIsTheToneWithinAFifthOfAPercent) {
  constexpr int kSide = 512, kMargin = 64;
  for (const Settings& s : all_methods())
    for (const int code : {1, 2, 7, 20, 43, 63, 64, 85, 100, 127, 128, 170, 191, 192, 230, 254}) {
      Geometry g{kSide, kSide, {}};
      std::vector<std::uint8_t> in(kSide * kSide, static_cast<std::uint8_t>(code)), out(in.size());
      Frame frame;
      frame.plane[0] = in.data();
      frame.stride[0] = kSide;
      const auto filter = cpu::make_halftone(g, 1);
      filter->submit({frame, {out.data(), kSide, Memory::kHost}, s, 1});
      filter->collect();
      double sum = 0;
      for (int y = kMargin; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x) sum += out[static_cast<std::size_t>(y * kSide + x)];
      EXPECT_NEAR(sum / (kSide * (kSide - kMargin)) / 255, code / 255.0, 0.002) << name_of(s, g) << " code " << code;
    }
}

TEST(Halftone, FieldsArePicturesOfTheirOwn) {
  for (const Settings& s : all_methods()) {
    Picture picture(70, 41, 8, Fill::kRandom, 11);
    const auto& tones = picture.tones(s.tone);
    const auto woven = rows_of(*cpu::make_halftone(picture.geometry(), 2), picture, s, 2);
    for (int field = 0; field < 2; ++field) {
      Grid2<int> half(70, (41 - field + 1) / 2);
      for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < 70; ++x) half.at(x, y) = tones.at(x, 2 * y + field);
      const auto levels = halftone_of(half, s);
      for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < 70; ++x)
          ASSERT_EQ(woven[static_cast<std::size_t>((2 * y + field) * 70 + x)], 255 * levels.at(x, y))
              << name_of(s, picture.geometry());
    }
  }
}

TEST(Halftone, OneFilterTakesSettingsAsTheyCome) {
  Picture picture(150, 60, 8, Fill::kRandom, 12);
  const auto filter = cpu::make_halftone(picture.geometry(), 2);
  for (int round = 0; round < 2; ++round)
    for (Settings s : all_methods())
      for (const bool invert : {false, true}) {
        s.tone.invert = invert;
        EXPECT_EQ(rows_of(*filter, picture, s), rows_of(halftone_of(picture.tones(s.tone), s), s));
      }
}

TEST(Halftone, SmallFramesWakeNobody) {
  constexpr int kFrames = 500;
  Picture picture(64, 64, 8, Fill::kRandom, 14);
  std::vector<std::uint8_t> out(64 * 64);
  const auto filter = cpu::make_halftone(picture.geometry());
  for (const Settings& s : all_methods()) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < kFrames; ++i) {
      filter->submit({picture.frame(), {out.data(), 64, Memory::kHost}, s, 1});
      filter->collect();
    }
    getrusage(RUSAGE_SELF, &after);
    // Whoever is woken goes to sleep again.
    EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, kFrames / 2) << name_of(s, picture.geometry());
  }
}

TEST(Halftone, RgbIsHalftonedByItsLuma) {
  Geometry g{50, 40, {}};
  g.layout.kind = PixelLayout::Kind::kRgb;
  g.layout.pixel_stride = 3;
  for (std::uint8_t i = 0; i < 3; ++i) g.layout.offset[i] = i;
  Random random(4);
  std::vector<std::uint8_t> pixels(50 * 40 * 3), out(50 * 40);
  for (auto& p : pixels) p = static_cast<std::uint8_t>(random.next());
  Grid2<int> tones(50, 40);
  for (std::size_t i = 0; i < tones.values.size(); ++i)
    tones.values[i] = static_cast<int>(16 * luma_of(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]));
  Frame frame;
  frame.plane[0] = pixels.data();
  frame.stride[0] = 150;
  for (const auto isa : cpu::instruction_sets()) {
    const auto filter = cpu::make_halftone(g, 2, isa);
    filter->submit({frame, {out.data(), 50, Memory::kHost}, {}, 1});
    filter->collect();
    EXPECT_EQ(out, rows_of(halftone_of(tones, {}), {}));
  }
}

TEST(Halftone, SettingsThatCannotBeAreRefused) {
  const auto filter = cpu::make_halftone({8, 8, {}}, 1);
  std::vector<std::uint8_t> in(64), out(64);
  Frame frame;
  frame.plane[0] = in.data();
  frame.stride[0] = 8;
  const auto refused = [&](auto&& change) {
    Settings s;
    change(s);
    EXPECT_THROW(filter->submit({frame, {out.data(), 8, Memory::kHost}, s, 1}), std::invalid_argument);
  };
  refused([](Settings& s) { s.levels = 3; });
  refused([](Settings& s) { s.strength = 257; });
  refused([](Settings& s) { s.strength = -1; });
  refused([](Settings& s) { s.packed = true, s.levels = 4; });
  refused([](Settings& s) { s.method = Method::kToneDependent, s.swath_rows = 5; });
}

}  // namespace
}  // namespace framequality::test
