// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning to palettes on the CPU: every order, output and layout against the definition.
#include "cpu/halftone/colour.h"

#include "cpu/dispatch.h"
#include "tests/halftone/colour_pictures.h"
#include "tests/support/effort.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using namespace halftone;
using namespace halftone_colours;

Grid2<int> halftone_of(Grid2<Colour> tones, const ColourSettings& s) {
  const ColourBasis basis{s.palette, s.linear, s.relative};
  const GamutTables gamut = make_gamut(basis);
  if (s.method == Method::kBlueNoise) return masked_of(tones, gamut.mixed, s.strength);
  if (s.relative)
    for (Colour& t : tones.values) t = interpolated(gamut.mapped, t);
  return diffused_of(tones, make_choice(basis), s.strength, s.serpentine);
}

// --- Filters --------------------------------------------------------------------------------------------------------

constexpr int kSides[][2] = {{1, 1}, {1, 9}, {2, 3}, {3, 2}, {7, 5}, {8, 4}, {33, 17}, {131, 70}, {601, 37}};

void expect_defined(const Photo& photo, const ColourSettings& s) {
  const auto expected = rows_of(halftone_of(photo.tones(s), s), s);
  for (const auto isa : cpu::instruction_sets()) {
    const int threads = isa == cpu::instruction_sets().front() ? 3 : 1;
    const auto filter = cpu::make_colour_halftone(photo.geometry, threads, isa);
    EXPECT_TRUE(rows_of(*filter, photo.geometry, photo.frame(), s) == expected)
        << text_of(s.palette) << " " << photo.geometry.width << "x" << photo.geometry.height << " method "
        << static_cast<int>(s.method) << " linear " << s.linear << " relative " << s.relative << " strength "
        << s.strength << " isa " << isa << " serpentine " << s.serpentine << " threads " << threads;
  }
}

TEST(HalftoneColour, EveryOrderGivesTheDefinedColours) {
  const auto all = palettes();
  for (std::size_t i = 0; i < std::size(kSides); i += is_quick() ? 3 : 1)
    for (const Method method : {Method::kFloydSteinberg, Method::kBlueNoise})
      for (const bool relative : {false, true}) {
        ColourSettings s;
        s.palette = all[i % all.size()];
        s.method = method;
        s.relative = relative;
        s.output = static_cast<ColourOutput>(i % 3);
        expect_defined({kSides[i][0], kSides[i][1], i}, s);
      }
}

TEST(HalftoneColour, SettingsAreThoseOfTheDefinition) {
  const Photo photo(131, 70, 2);
  ColourSettings s;
  for (const Palette& palette : palettes()) {
    s.palette = palette;
    expect_defined(photo, s);
  }
  s.palette = named_palettes()[0].palette;
  const auto check = [&](auto&& change) {
    for (const Method method : {Method::kFloydSteinberg, Method::kBlueNoise}) {
      ColourSettings changed = s;
      changed.method = method;
      change(changed);
      expect_defined(photo, changed);
    }
  };
  check([](auto& c) { c.linear = true, c.tone.light = Light::kSrgb; });
  check([](auto& c) { c.tone.invert = true; });
  check([](auto& c) { c.strength = 100; });
  check([](auto& c) { c.strength = 0; });
  check([](auto& c) { c.serpentine = true; });
  check([](auto& c) { c.output = ColourOutput::kCodes; });
}

TEST(HalftoneColour, MeansAreThoseOfTheImage) {
  for (const Palette& palette : {kCube, named_palettes()[0].palette})
    for (const Method method : {Method::kFloydSteinberg, Method::kBlueNoise})
      for (const bool linear : {false, true}) {
        ColourSettings s;
        s.palette = palette;
        s.method = method;
        s.linear = linear;
        if (linear) s.tone.light = Light::kSrgb;
        constexpr int kSide = 256;
        Photo photo(kSide, kSide, 0);
        for (const int red : {20, 128, 230})
          for (const int blue : {60, 200}) {
            if (is_quick() && (red != 128 || blue != 60)) continue;
            for (std::size_t i = 0; i < photo.bytes.size(); i += 3) {
              photo.bytes[i] = static_cast<std::uint8_t>(red);
              photo.bytes[i + 1] = 128;
              photo.bytes[i + 2] = static_cast<std::uint8_t>(blue);
            }
            const GamutTables gamut = make_gamut({palette, linear, true});
            const auto tone = photo.tones(s).at(0, 0);
            const Colour wanted = interpolated(gamut.mapped, tone);
            const auto rows = rows_of(*cpu::make_colour_halftone(photo.geometry, 1), photo.geometry, photo.frame(), s);
            for (std::size_t c = 0; c < 3; ++c) {
              double sum = 0;
              for (std::size_t i = c; i < rows.size(); i += 3) sum += palette_tone(rows[i], linear);
              EXPECT_NEAR(sum / (kSide * kSide), wanted[c], 0.012 * kFull)
                  << text_of(palette) << " " << static_cast<int>(method) << " linear " << linear << " channel " << c;
            }
          }
      }
}

TEST(HalftoneColour, BlueNoiseStandsStillWithTheScene) {
  ColourSettings s;
  s.palette = named_palettes()[0].palette;
  Photo scene(256, 192, 0), photo = scene;
  const auto filter = cpu::make_colour_halftone(photo.geometry, 1);
  const auto changes = [&](Method method) {
    s.method = method;
    s.output = ColourOutput::kRgbx;
    Random random(8);
    std::vector<std::uint8_t> last;
    double changed = 0;
    for (int frame = 0; frame < 5; ++frame) {
      for (std::size_t i = 0; i < scene.bytes.size(); ++i)
        photo.bytes[i] = static_cast<std::uint8_t>(
            std::clamp(static_cast<int>(scene.bytes[i]) + static_cast<int>(random.below(3)) - 1, 0, 255));
      const auto rows = rows_of(*filter, photo.geometry, photo.frame(), s);
      for (std::size_t i = 0; i < last.size(); i += 4) changed += !std::equal(&rows[i], &rows[i] + 4, &last[i]);
      last = rows;
    }
    return changed / (4.0 * 256 * 192);
  };
  const double masked = changes(Method::kBlueNoise), diffused = changes(Method::kFloydSteinberg);
  EXPECT_LT(masked, 0.03);
  EXPECT_GT(diffused, 10 * masked) << masked;
}

TEST(HalftoneColour, FieldsArePicturesOfTheirOwn) {
  const Photo photo(70, 41, 1);
  for (const Method method : {Method::kFloydSteinberg, Method::kBlueNoise}) {
    ColourSettings s;
    s.palette = named_palettes()[0].palette;
    s.method = method;
    const auto woven = rows_of(*cpu::make_colour_halftone(photo.geometry, 2), photo.geometry, photo.frame(), s, 2);
    const auto tones = photo.tones(s);
    for (int field = 0; field < 2; ++field) {
      Grid2<Colour> half(70, (41 - field + 1) / 2);
      for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < 70; ++x) half.at(x, y) = tones.at(x, 2 * y + field);
      const auto rows = rows_of(halftone_of(half, s), s);
      for (int y = 0; y < half.height; ++y)
        ASSERT_TRUE(std::equal(&rows[static_cast<std::size_t>(y) * 210], &rows[static_cast<std::size_t>(y) * 210] + 210,
                               &woven[static_cast<std::size_t>(2 * y + field) * 210]));
    }
  }
}

// --- Layouts --------------------------------------------------------------------------------------------------------

TEST(HalftoneColour, LayoutsOfRgbAreTheSameImage) {
  const Photo photo(61, 23, 2);
  ColourSettings s;
  s.palette = named_palettes()[1].palette;
  const auto expected = rows_of(*cpu::make_colour_halftone(photo.geometry, 1), photo.geometry, photo.frame(), s);
  const std::size_t pixels = 61 * 23;
  for (const int order : {0, 1, 2}) {  // BGRx, planes, big-endian words that repeat the byte
    PictureGeometry g = photo.geometry;
    PictureLayout& l = g.layout;
    std::vector<std::uint8_t> bytes(pixels * 8);
    Frame frame;
    frame.plane[0] = bytes.data();
    for (std::uint8_t c = 0; c < 3; ++c) {
      if (order == 0) l.component[c] = {0, static_cast<std::uint8_t>(2 - c), 4, 0, 0};
      if (order == 1) l.component[c] = {c, 0, 1, 0, 0};
      if (order == 2) l.component[c] = {0, static_cast<std::uint8_t>(2 * c), 6, 0, 0};
      for (std::size_t i = 0; i < pixels; ++i) {
        const std::uint8_t byte = photo.bytes[3 * i + c];
        if (order == 0) bytes[4 * i + 2 - c] = byte;
        if (order == 1) bytes[c * pixels + i] = byte;
        if (order == 2) bytes[6 * i + 2 * c] = bytes[6 * i + 2 * c + 1] = byte;
      }
      frame.plane[c] = &bytes[order == 1 ? c * pixels : 0];
      frame.stride[c] = 61 * (order == 0 ? 4 : order == 1 ? 1 : 6);
    }
    l.planes = order == 1 ? 3 : 1;
    if (order == 2) l.depth = 16, l.word_bytes = 2, l.big_endian = true;
    const auto rows = rows_of(*cpu::make_colour_halftone(g, 1), g, frame, s);
    double differ = 0;
    for (std::size_t i = 0; i < rows.size(); i += 3) differ += !std::equal(&rows[i], &rows[i] + 3, &expected[i]);
    // Words have 12 bits of tone, which round in other places.
    EXPECT_LE(differ, order < 2 ? 0.0 : 0.2 * pixels) << order;
  }
}

TEST(HalftoneColour, YuvIsTheColourThatItStandsFor) {
  struct Case {
    Matrix matrix;
    bool limited;
    int y, u, v, red, green, blue;
  };
  // By the recommendations' own equations.
  const Case cases[] = {
      {Matrix::kBt601, true, 81, 90, 240, 255, 0, 0},  {Matrix::kBt601, true, 145, 54, 34, 0, 255, 0},
      {Matrix::kBt601, true, 41, 240, 110, 0, 0, 255}, {Matrix::kBt709, true, 63, 102, 240, 255, 0, 0},
      {Matrix::kBt709, true, 173, 42, 26, 0, 255, 0},  {Matrix::kBt709, true, 32, 240, 118, 0, 0, 255},
      {Matrix::kBt601, false, 76, 85, 255, 254, 0, 0}, {Matrix::kBt2020, true, 235, 128, 128, 255, 255, 255},
      {Matrix::kBt709, true, 16, 128, 128, 0, 0, 0},   {Matrix::kBt709, false, 128, 128, 128, 128, 128, 128}};
  for (const Case& c : cases) {
    // 4:2:0, so that one sample of chroma serves four pixels.
    PictureGeometry g{64, 64, {}};
    PictureLayout& l = g.layout;
    l.components = l.planes = 3;
    for (std::uint8_t p = 0; p < 3; ++p)
      l.component[p] = {p, 0, 1, static_cast<std::uint8_t>(p > 0), static_cast<std::uint8_t>(p > 0)};
    const std::vector<std::uint8_t> y(64 * 64, static_cast<std::uint8_t>(c.y)),
        u(32 * 32, static_cast<std::uint8_t>(c.u)), v(32 * 32, static_cast<std::uint8_t>(c.v));
    Frame frame;
    frame.plane[0] = y.data(), frame.plane[1] = u.data(), frame.plane[2] = v.data();
    frame.stride[0] = 64, frame.stride[1] = frame.stride[2] = 32;
    ColourSettings s;
    s.palette = kCube;
    s.tone.limited = c.limited;
    s.matrix = c.matrix;
    const auto rows = rows_of(*cpu::make_colour_halftone(g, 1), g, frame, s);
    const int wanted[3] = {c.red, c.green, c.blue};
    for (std::size_t channel = 0; channel < 3; ++channel) {
      double sum = 0;
      for (std::size_t i = channel; i < rows.size(); i += 3) sum += rows[i];
      EXPECT_NEAR(sum / (64 * 64), wanted[channel], 3.5) << c.y << " " << c.u << " " << c.v << " channel " << channel;
    }
  }
}

TEST(HalftoneColour, SettingsThatCannotBeAreRefused) {
  const Photo photo(8, 8, 1);
  const auto filter = cpu::make_colour_halftone(photo.geometry, 1);
  std::vector<std::uint8_t> out(8 * 24);
  const auto refused = [&](auto&& change) {
    ColourSettings s;
    s.palette = kCube;
    change(s);
    EXPECT_THROW(filter->submit({photo.frame(), {out.data(), 24, Memory::kHost}, s, 1}), std::invalid_argument);
  };
  refused([](auto& s) { s.palette.count = 1; });
  refused([](auto& s) { s.palette.count = 17; });
  refused([](auto& s) { s.method = Method::kToneDependent; });
  refused([](auto& s) { s.strength = 257; });
}

}  // namespace
}  // namespace framequality::test
