// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of every layout that two twins halftone to palettes, and cases that reach every path of a device's.
#pragma once

#include "cpu/halftone/colour.h"
#include "tests/halftone/colour_pictures.h"
#include "tests/halftone/scene.h"
#include "tests/support/blocks.h"

#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace framequality::test::halftone_scenes {

/// One frame to be halftoned, and how.
struct ColourCase {
  NamedPicture picture = {"RGB", packed(8, 3, 0, true)};
  Size size{67, 70};
  ColourSettings settings = masked(named_palettes()[0].palette);
  int fields = 1;
  MemoryKind where = MemoryKind::kPageable, out = MemoryKind::kPageable;
  Placement from = Placement::kTight, to = Placement::kTight;
  test::Fill fill = test::Fill::kRandom;
  std::uint64_t seed = 1;

  static ColourSettings masked(const Palette& palette) {
    ColourSettings s;
    s.palette = palette;
    s.method = Method::kBlueNoise;
    return s;
  }
  PictureGeometry geometry() const { return {size.width, size.height, picture.layout}; }
  std::string words() const {
    const auto name = [](const auto& names, auto i) { return names[static_cast<std::size_t>(i)]; };
    std::ostringstream text;
    text << picture.name << " " << size.width << "x" << size.height << " to " << text_of(settings.palette) << ", bits "
         << pixel_bits(settings) << " linear " << settings.linear << " relative " << settings.relative << " strength "
         << settings.strength << " limited " << settings.tone.limited << " light "
         << static_cast<int>(settings.tone.light) << " matrix " << static_cast<int>(settings.matrix) << ", fields "
         << fields << ", " << name(kWhereNames, where) << " " << name(kPlacementNames, from) << " to "
         << name(kWhereNames, out) << " " << name(kPlacementNames, to) << ", " << name(kFillNames, fill) << " seed "
         << seed;
    return text.str();
  }
};

/// A case's frame, and the sheets for the two twins.
class ColourScene {
 public:
  ColourScene(const ColourCase& c, int device)
      : case_(c),
        frame_(c.geometry(), c.from, c.fill, c.seed),
        input_(frame_, c.where, device),
        host_(frame_, MemoryKind::kPageable, device),
        expected_(target_row_bytes(c.size.width, c.settings), c.size.height, c.to, MemoryKind::kPageable, device),
        got_(target_row_bytes(c.size.width, c.settings), c.size.height, c.to, c.out, device) {}

  void expect(ColourFilter& twin) {
    twin.submit({host_.frame(), expected_.target(), case_.settings, case_.fields});
    twin.collect();
  }
  void submit(ColourFilter& filter) { filter.submit({input_.frame(), got_.target(), case_.settings, case_.fields}); }
  testing::AssertionResult same() { return same_bytes(expected_, got_, case_.words()); }

 private:
  ColourCase case_;
  Blocks frame_;
  BlocksIn input_, host_;
  Sheet expected_, got_;
};

/// A palette and an output for each width of a pixel.
inline void set_output(ColourSettings& s, std::uint64_t seed) {
  constexpr const char* kCustom[] = {"#102030,#d0e0f0", "#000000,#ff0000,#00ff00,#ffffff", "#000000,#ffffff=9"};
  if (seed % 5 < 3) s.palette = parse_palette(kCustom[seed % 5]);
  s.output = seed % 5 < 3 ? ColourOutput::kCodes : seed % 5 == 3 ? ColourOutput::kRgb : ColourOutput::kRgbx;
}

/// Every layout with so many of the outputs, from and to every placement, in frames of widths that blocks of eight do
/// and do not divide.
inline std::vector<ColourCase> colour_cases(int outputs) {
  std::vector<ColourCase> all;
  std::uint64_t seed = 1;
  for (const NamedPicture& picture : picture_layouts())
    for (int i = 0; i < outputs; ++i) {
      ColourCase c;
      c.picture = picture;
      c.size = {seed % 3 ? 67 : 128, seed % 2 ? 37 : 5};
      set_output(c.settings, seed);
      c.settings.tone.limited = seed % 2 == 0;
      c.settings.matrix = static_cast<Matrix>(seed % 3);
      c.settings.linear = seed % 4 == 1;
      c.settings.tone.light = c.settings.linear ? Light::kBt709 : Light::kCode;
      c.settings.tone.invert = seed % 7 == 0;
      c.settings.relative = seed % 3 == 1;
      c.settings.strength = seed % 6 == 5 ? 100 : kFullStrength;
      c.fields = seed % 4 == 0 ? 2 : 1;
      c.from = kPlacements[seed % kPlacements.size()];
      c.to = kPlacements[seed / 3 % kPlacements.size()];
      c.seed = seed++;
      all.push_back(c);
    }
  return all;
}

/// Sizes down to a pixel, in the layouts that devices read in ways of their own, by fields too.
inline std::vector<ColourCase> small_colour_cases() {
  std::vector<ColourCase> all;
  std::uint64_t seed = 1;
  for (const char* const name : {"RGB", "xRGB", "I420", "GRAY8"})
    for (const Size size : {Size{1, 1}, {1, 2}, {2, 1}, {7, 3}, {8, 8}, {9, 300}, {16, 2}, {131, 129}, {300, 9}})
      for (const int fields : {1, 2}) {
        ColourCase c;
        for (const NamedPicture& picture : picture_layouts())
          if (picture.name == name) c.picture = picture;
        c.size = size;
        c.fields = fields;
        set_output(c.settings, 4 - seed % 2);  // of few programs
        c.seed = seed++;
        all.push_back(c);
      }
  return all;
}

/// Filters that refuse what is not theirs.
inline void expect_misuse_throws(ColourFilter& filter, Memory foreign) {
  ColourCase c;
  ColourScene scene(c, 0);
  EXPECT_THROW(filter.collect(), std::logic_error);
  std::vector<std::uint8_t> out(c.geometry().row_bytes(0) * 70);
  Frame frame;
  frame.plane[0] = out.data();
  const auto refused = [&](auto&& change) {
    ColourTask task{frame, {out.data(), 3 * 67, Memory::kHost}, c.settings, 1};
    change(task);
    EXPECT_THROW(filter.submit(task), std::invalid_argument);
  };
  refused([](auto& t) { t.settings.method = Method::kFloydSteinberg; });
  refused([](auto& t) { t.settings.method = Method::kToneDependent; });
  refused([](auto& t) { t.settings.palette.count = 1; });
  refused([](auto& t) { t.fields = 3; });
  refused([&](auto& t) { t.out.memory = foreign; });
  scene.submit(filter);
  EXPECT_THROW(scene.submit(filter), std::logic_error);
  filter.collect();
}

/// One filter, settings that change from frame to frame: what earlier frames left must not be taken for this one's.
/// make(geometry, depth): the filter.
template <class Make>
void expect_settings_change(const Make& make) {
  for (const int depth : {1, 3}) {
    ColourCase c;
    c.size = {333, 90};
    const auto twin = cpu::make_colour_halftone(c.geometry(), 1);
    const auto filter = make(c.geometry(), depth);
    const int frames = 2 * depth + 8;
    std::vector<std::unique_ptr<ColourScene>> scenes;
    for (int f = 0; f < frames + depth; ++f) {
      if (f >= depth) {
        filter->collect();
        ASSERT_TRUE(scenes[static_cast<std::size_t>(f - depth)]->same()) << "frame " << f - depth << " depth " << depth;
      }
      if (f >= frames) continue;
      c.seed = static_cast<std::uint64_t>(f) + 1;
      c.settings.palette = named_palettes()[static_cast<std::size_t>(f / 2) % named_palettes().size()].palette;
      c.settings.output = f % 5 == 4 ? ColourOutput::kRgb : ColourOutput::kCodes;
      c.settings.tone.invert = f % 5 == 3;
      c.settings.linear = f % 7 == 4;
      c.settings.strength = f % 6 == 1 ? 50 : kFullStrength;
      c.fields = 1 + (f % 7 == 5);
      scenes.push_back(std::make_unique<ColourScene>(c, 0));
      scenes.back()->expect(*twin);
      scenes.back()->submit(*filter);
    }
  }
}

}  // namespace framequality::test::halftone_scenes
