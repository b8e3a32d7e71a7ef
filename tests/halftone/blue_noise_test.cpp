// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning by the blue-noise mask on the host: every code at every place of the mask.
#include "cpu/dispatch.h"
#include "cpu/halftone/filter.h"
#include "tests/halftone/pictures.h"
#include "tests/halftone/reference.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using namespace halftone;
using namespace halftone_pictures;

TEST(HalftoneBlueNoise, MaskHoldsEveryRankOnce) {
  std::vector<bool> seen(std::size_t{kMaskSide} * kMaskSide);
  for (const std::uint16_t rank : kBlueNoiseMask) {
    ASSERT_LT(rank, seen.size());
    EXPECT_FALSE(seen[rank]);
    seen[rank] = true;
  }
}

TEST(HalftoneBlueNoise, FilterGivesTheDefinedBits) {
  std::uint64_t seed = 200;
  for (const Fill fill : kFills)
    for (const int levels : {2, 4, 16}) {
      Settings s;
      s.method = Method::kBlueNoise;
      s.levels = levels;
      s.strength = seed % 3 ? kFullStrength : 100;
      s.packed = levels == 2;
      Picture picture(301, 150, seed % 2 ? 8 : 10, fill, seed);
      ++seed;
      for (const auto isa : cpu::instruction_sets()) expect_defined(picture, s, 3, isa);
    }
}

/// Frames of the mask's size: a code for each of its places.
class MaskFrame {
 public:
  explicit MaskFrame(int depth) : bytes_(kPlaces * (depth == 8 ? 1 : 2)), out_(kPlaces) {
    g_.width = g_.height = kMaskSide;
    g_.layout.depth = static_cast<std::uint8_t>(depth);
    g_.layout.word_bytes = g_.layout.pixel_stride = depth == 8 ? 1 : 2;
  }
  const Geometry& geometry() const { return g_; }
  std::uint32_t most() const { return (1u << g_.layout.depth) - 1; }
  void set(std::size_t place, std::uint32_t code) {
    bytes_[place * g_.layout.word_bytes] = static_cast<std::uint8_t>(code);
    if (g_.layout.word_bytes == 2) bytes_[place * 2 + 1] = static_cast<std::uint8_t>(code >> 8);
  }
  const std::vector<std::uint8_t>& halftoned(Filter& filter, const Settings& s) {
    Frame frame;
    frame.plane[0] = bytes_.data();
    frame.stride[0] = std::ptrdiff_t{kMaskSide} * g_.layout.word_bytes;
    filter.submit({frame, {out_.data(), kMaskSide, Memory::kHost}, s, 1});
    filter.collect();
    return out_;
  }
  static constexpr std::size_t kPlaces = std::size_t{kMaskSide} * kMaskSide;

 private:
  Geometry g_;
  std::vector<std::uint8_t> bytes_, out_;
};

/// By place.
std::vector<int> thresholds_of(int strength) {
  std::vector<int> thresholds;
  for (const std::uint16_t rank : kBlueNoiseMask) thresholds.push_back(threshold_of(rank, strength));
  return thresholds;
}

std::vector<Settings> mask_settings() {
  std::vector<Settings> all;
  for (const int levels : {2, 4, 16})
    for (const int strength : {kFullStrength, 100, 0})
      for (const ToneSettings& tone : {ToneSettings{}, {true, Light::kCode, false}, {true, Light::kBt709, true}}) {
        Settings s;
        s.method = Method::kBlueNoise;
        s.levels = levels;
        s.strength = strength;
        s.tone = tone;
        all.push_back(s);
      }
  return all;
}

TEST(HalftoneBlueNoise, EveryCodeHasTheDefinedLevelAtEveryPlaceOfTheMask) {
  for (const int depth : {8, 10}) {
    MaskFrame frame(depth);
    std::size_t turn = 0;
    for (const Settings& s : mask_settings()) {
      if (depth > 8 && turn++ % 4) continue;
      const std::vector<int> thresholds = thresholds_of(s.strength);
      std::vector<std::unique_ptr<Filter>> filters;
      for (const auto isa : cpu::instruction_sets()) filters.push_back(cpu::make_halftone(frame.geometry(), 1, isa));
      for (std::uint32_t code = 0; code <= frame.most(); ++code) {
        const int tone = tone_of(code, depth, s.tone);
        std::vector<std::uint8_t> expected(MaskFrame::kPlaces);
        for (std::size_t i = 0; i < MaskFrame::kPlaces; ++i) {
          frame.set(i, code);
          const Levels levels{s.levels};
          expected[i] = static_cast<std::uint8_t>(levels.code(masked_level(tone, thresholds[i], levels)));
        }
        for (const auto& filter : filters)
          ASSERT_TRUE(frame.halftoned(*filter, s) == expected) << name_of(s, frame.geometry()) << " code " << code;
      }
    }
  }
}

TEST(HalftoneBlueNoise, EachLevelBeginsAtItsFirstCodeAtEveryDepth) {
  for (const int depth : {8, 9, 11, 12, 14, 16}) {
    MaskFrame frame(depth);
    for (const Settings& s : mask_settings()) {
      const Levels levels{s.levels};
      const std::vector<int> thresholds = thresholds_of(s.strength);
      std::vector<std::int16_t> tones(frame.most() + 1);
      fill_tones(tones, depth, s.tone);
      const auto code_at = [&](std::size_t from_black) {
        return s.tone.invert ? frame.most() - static_cast<std::uint32_t>(from_black)
                             : static_cast<std::uint32_t>(from_black);
      };
      const auto filter = cpu::make_halftone(frame.geometry(), 1);
      for (const int level : {1, s.levels / 2, s.levels - 1}) {
        std::vector<std::size_t> first(MaskFrame::kPlaces);
        for (std::size_t i = 0; i < first.size(); ++i) {
          std::size_t low = 0, high = frame.most();  // `low` is below the level, `high` is not
          while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            (masked_level(tones[code_at(middle)], thresholds[i], levels) < level ? low : high) = middle;
          }
          first[i] = high;
        }
        for (const int before : {0, 1}) {
          for (std::size_t i = 0; i < first.size(); ++i)
            frame.set(i, code_at(first[i] - static_cast<std::size_t>(before)));
          const std::vector<std::uint8_t> expected(first.size(),
                                                   static_cast<std::uint8_t>(levels.code(level - before)));
          EXPECT_TRUE(frame.halftoned(*filter, s) == expected)
              << name_of(s, frame.geometry()) << " level " << level << " less " << before;
        }
      }
    }
  }
}

TEST(HalftoneBlueNoise, EveryWidthGivesTheDefinedBits) {
  std::uint64_t seed = 400;
  for (const int width : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 193, 257, 300})
    for (const int depth : {8, 12, 16})
      for (const int levels : {2, 4, 16}) {
        Settings s;
        s.method = Method::kBlueNoise;
        s.levels = levels;
        s.packed = levels == 2 && seed % 2;
        s.tone.invert = seed % 3 == 0;
        Picture picture(width, 5, depth, Fill::kRandom, seed++);
        for (const auto isa : cpu::instruction_sets()) expect_defined(picture, s, 2, isa);
        expect_defined(picture, s, 7, {});  // more threads than rows
      }
  Settings s;
  s.method = Method::kBlueNoise;
  Picture large(4100, 2000, 8, Fill::kNoisyEnds, 15);
  expect_defined(large, s, 0, {});
}

TEST(HalftoneBlueNoise, SettingsMayChangeFromFrameToFrame) {
  for (const int depth : {8, 10}) {
    Picture picture(140, 131, depth, Fill::kRandom, 13);
    const auto filter = cpu::make_halftone(picture.geometry(), 2);
    for (int round = 0; round < 2; ++round)
      for (const Settings& s : mask_settings())
        EXPECT_TRUE(rows_of(*filter, picture, s) == rows_of(halftone_of(picture.tones(s.tone), s), s))
            << name_of(s, picture.geometry());
  }
}

}  // namespace
}  // namespace framequality::test
