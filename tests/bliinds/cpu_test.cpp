// SPDX-License-Identifier: LGPL-2.1-or-later
// BLIINDS-II: one text for all numbers, all instruction sets the same bits, pooling, layouts, sizes, misuse.
#include "algorithms/bliinds/arithmetic.h"
#include "algorithms/bliinds/block.h"
#include "algorithms/bliinds/gamma.h"
#include "cpu/bliinds/meter.h"
#include "cpu/dispatch.h"
#include "tests/bliinds/reference.h"
#include "tests/bliinds/same_bits.h"
#include "tests/support/layouts.h"
#include "tests/support/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using namespace bliinds;

/// Sizes whose last blocks, vectors and scales end in every way.
constexpr std::pair<int, int> kSizes[] = {{4, 4},   {5, 4},   {4, 7},   {6, 6},   {8, 8},    {9, 40},   {12, 13},
                                          {31, 33}, {47, 25}, {96, 17}, {25, 96}, {129, 67}, {333, 58}, {1021, 20}};

Features features_of(bliinds::Meter& meter, const Frame& frame, Channel channel = Channel::kLuma) {
  meter.submit({frame, channel});
  return meter.collect();
}

GrayPicture gray_of(const std::vector<std::uint16_t>& codes, const Geometry& g) {
  GrayPicture out{g.width, g.height, {codes.begin(), codes.end()}};
  for (double& v : out.pixels) v *= std::ldexp(1.0, 8 - g.layout.depth);
  return out;
}

/// The next scale by the arithmetic that the twins share.
GrayPicture shared_half(const GrayPicture& p) {
  GrayPicture out{p.width / 2, p.height / 2, {}};
  for (int y = 1; y < p.height; y += 2)
    for (int x = 1; x < p.width; x += 2) {
      const auto column = [&](int i) { return weigh(p.at(i, y - 1), p.at(i, y), p.at(i, y + 1)); };
      out.pixels.push_back(weigh(column(x - 1), column(x), column(x + 1)));
    }
  return out;
}

/// Block values with the shared text and one double at a time.
BlockValues scalar_blocks(const GrayPicture& p) {
  BlockValues out;
  const Scale scale{p.width, p.height};
  for (int j = 0; j < scale.rows(); ++j)
    for (int i = 0; i < scale.columns(); ++i) {
      const auto s = block_statistics<Real>([&](int y, int x) { return Real(p.at(3 * i + x - 1, 3 * j + y - 1)); });
      out.zeta.push_back(s.zeta.v);
      out.energy.push_back(s.energy.v);
      out.orient.push_back(s.orient.v);
      out.shape.push_back(static_cast<std::uint16_t>(shape_of(shape_table(), s.rho.v)));
    }
  return out;
}

/// Mean, and mean of a tenth after a full sort, in long doubles.
std::pair<double, double> sorted_means(std::vector<long double> v, bool low) {
  std::sort(v.begin(), v.end());
  if (!low) std::reverse(v.begin(), v.end());
  const auto n = static_cast<std::ptrdiff_t>((v.size() + 9) / 10);
  return {static_cast<double>(std::accumulate(v.begin(), v.end(), 0.0L) / static_cast<long double>(v.size())),
          static_cast<double>(std::accumulate(v.begin(), v.begin() + n, 0.0L) / static_cast<long double>(n))};
}

void expect_pooled(const Features& features, std::size_t at, const std::vector<long double>& values, bool low,
                   const std::string& what) {
  const auto [mean, tenth_mean] = sorted_means(values, low);
  // Rounding of sums; a last difference would be 1e-16, the twins promise each other 1e-12.
  EXPECT_NEAR(features[at], mean, 1e-13 * std::abs(mean)) << what << " feature " << at;
  EXPECT_NEAR(features[at + 1], tenth_mean, 1e-13 * std::abs(tenth_mean)) << what << " feature " << at + 1;
}

/// Holds every instruction set against the shared text, one number at a time, and the pooling against full sorts.
void check_picture(Picture& picture, const std::string& what) {
  const Geometry& g = picture.geometry();
  GrayPicture gray = gray_of(picture.codes(), g);
  BlockValues expected[kScales];
  for (BlockValues& blocks : expected) {
    blocks = scalar_blocks(gray);
    gray = shared_half(gray);
  }
  Features first{};
  for (const std::string_view isa : cpu::instruction_sets()) {
    const std::string label =
        what + " " + std::to_string(g.width) + "x" + std::to_string(g.height) + " " + std::string(isa);
    const auto meter = cpu::make_bliinds_meter(g, isa);
    const Features features = features_of(*meter, picture.frame());
    if (isa == cpu::instruction_sets().front()) first = features;
    EXPECT_EQ(std::memcmp(&features, &first, sizeof first), 0) << label;
    for (int scale = 0; scale < kScales; ++scale) {
      const BlockValues got = meter->blocks(scale), &wanted = expected[scale];
      EXPECT_TRUE(same_bits(wanted.zeta, got.zeta)) << label << " zeta, scale " << scale;
      EXPECT_TRUE(same_bits(wanted.energy, got.energy)) << label << " energy, scale " << scale;
      EXPECT_TRUE(same_bits(wanted.orient, got.orient)) << label << " orient, scale " << scale;
      EXPECT_TRUE(same_bits(wanted.shape, got.shape)) << label << " shape, scale " << scale;
      const auto at = static_cast<std::size_t>(scale) * 8;
      const auto wide = [](const auto& v) { return std::vector<long double>(v.begin(), v.end()); };
      expect_pooled(features, at, wide(wanted.zeta), false, label);
      std::vector<long double> shapes = wide(wanted.shape);
      for (long double& s : shapes) s /= 1000;
      expect_pooled(features, at + 2, shapes, true, label);
      expect_pooled(features, at + 4, wide(wanted.energy), false, label);
      expect_pooled(features, at + 6, wide(wanted.orient), false, label);
    }
    for (const double f : features) EXPECT_TRUE(std::isfinite(f)) << label;
  }
  EXPECT_TRUE(picture.untouched()) << what;
}

TEST(Bliinds, EveryInstructionSetGivesTheBitsOfOneNumberAtATime) {
  for (const auto& [width, height] : kSizes)
    for (std::size_t fill = 0; fill < kFills.size(); ++fill)
      for (const int depth : {8, 10, 16}) {
        Picture picture(Geometry{width, height, luma_layout(depth, depth > 8 ? 2 : 1)}, kFills[fill], Placement::kOdd,
                        static_cast<std::uint64_t>(width * 1000 + height));
        check_picture(picture, std::string(kFillNames[fill]) + " " + std::to_string(depth) + " bits");
      }
}

/// 200 random pictures of odd sizes, half of them smooth, where the statistics are most delicate.
TEST(Bliinds, RandomPicturesOfOddSizesAgree) {
  Random random(200);
  const BliindsReference reference;
  for (int n = 0; n < 200; ++n) {
    const Geometry g{4 + random.below(90), 4 + random.below(90), luma_layout(8, 1)};
    std::vector<std::uint16_t> codes;
    const int slope = random.below(4), amplitude = 1 << random.below(9);
    for (int y = 0; y < g.height; ++y)
      for (int x = 0; x < g.width; ++x)
        codes.push_back(static_cast<std::uint16_t>((x * slope / 2 + y + random.below(amplitude)) & 255));
    Picture picture(g, codes);
    check_picture(picture, "picture " + std::to_string(n));
    const auto meter = cpu::make_bliinds_meter(g);
    const Features got = features_of(*meter, picture.frame());
    const Features wanted = reference.features(gray_of(picture.codes(), g));
    // Another order of operations everywhere: as close as the authors' own program, see oracle_test.cpp.
    for (std::size_t i = 0; i < kFeatures; ++i)
      EXPECT_NEAR(got[i], wanted[i], 1e-6) << "picture " << n << " feature " << i;
  }
}

TEST(Bliinds, LargePictureAddsUpWithin1em13) {
  Picture picture(Geometry{1499, 1201, luma_layout(8, 1)}, Fill::kNearLimits, Placement::kTight, 3);
  check_picture(picture, "large");
}

TEST(Bliinds, FlatPictureHasNoFrequenciesInside) {
  Picture picture(Geometry{60, 60, luma_layout(8, 1)}, Fill::kMax, Placement::kTight, 1);
  const auto meter = cpu::make_bliinds_meter(picture.geometry());
  features_of(*meter, picture.frame());
  const BlockValues blocks = meter->blocks(0);
  const std::size_t inside = 20 * 5 + 5;
  EXPECT_EQ(blocks.zeta[inside], 0);
  EXPECT_EQ(blocks.energy[inside], 0);
  EXPECT_EQ(blocks.orient[inside], 0);
  EXPECT_EQ(blocks.shape[inside], kNoShape);
  EXPECT_GT(blocks.zeta[0], 0) << "the zeros around the picture are an edge";
}

TEST(Bliinds, EveryLayoutMeasuresAsItsCodes) {
  for (const NamedLayout& named : layouts())
    for (const Placement placement : kPlacements) {
      Picture picture(Geometry{67, 29, named.layout}, Fill::kRandom, placement, 9);
      const int depth = named.layout.depth;
      Picture plain(Geometry{67, 29, luma_layout(depth, depth > 8 ? 2 : 1)}, picture.codes());
      const auto expected = cpu::make_bliinds_meter(plain.geometry());
      for (const std::string_view isa : cpu::instruction_sets()) {
        const auto meter = cpu::make_bliinds_meter(picture.geometry(), isa);
        EXPECT_EQ(features_of(*meter, picture.frame()), features_of(*expected, plain.frame()))
            << named.name << " " << isa;
      }
      EXPECT_TRUE(picture.untouched()) << named.name;
    }
}

TEST(Bliinds, RedMeasuresTheFirstComponent) {
  for (const NamedLayout& named : layouts()) {
    Picture picture(Geometry{67, 29, named.layout}, Fill::kRandom, Placement::kPadded, 9);
    const auto meter = cpu::make_bliinds_meter(picture.geometry());
    const PixelLayout& l = named.layout;
    if (!has_red(l)) {
      EXPECT_EQ(features_of(*meter, picture.frame(), Channel::kRed), features_of(*meter, picture.frame()))
          << named.name << ": gray is its own red";
      continue;
    }
    std::vector<std::uint16_t> red;
    const Frame f = picture.frame();
    for (int y = 0; y < 29; ++y)
      for (int x = 0; x < 67; ++x) {
        const std::uint8_t* at = f.plane[l.plane[0]] + y * f.stride[l.plane[0]] + x * l.pixel_stride + l.offset[0];
        const int word = l.word_bytes == 1 ? at[0] : l.big_endian ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
        red.push_back(static_cast<std::uint16_t>(word >> l.shift & ((1 << l.depth) - 1)));
      }
    Picture plain(Geometry{67, 29, luma_layout(l.depth, l.depth > 8 ? 2 : 1)}, red);
    const auto expected = cpu::make_bliinds_meter(plain.geometry());
    EXPECT_EQ(features_of(*meter, f, Channel::kRed), features_of(*expected, plain.frame())) << named.name;
    EXPECT_NE(features_of(*meter, f, Channel::kLuma), features_of(*expected, plain.frame())) << named.name;
  }
}

TEST(Bliinds, DeeperCodesOfTheSamePictureMeasureTheSame) {
  Picture bytes(Geometry{71, 50, luma_layout(8, 1)}, Fill::kRandom, Placement::kTight, 4);
  const auto meter = cpu::make_bliinds_meter(bytes.geometry());
  const Features expected = features_of(*meter, bytes.frame());
  for (const int depth : {9, 10, 12, 16}) {
    std::vector<std::uint16_t> codes = bytes.codes();
    for (std::uint16_t& c : codes) c = static_cast<std::uint16_t>(c << (depth - 8));
    Picture deep(Geometry{71, 50, luma_layout(depth, 2)}, codes);
    const auto deep_meter = cpu::make_bliinds_meter(deep.geometry());
    EXPECT_EQ(features_of(*deep_meter, deep.frame()), expected) << depth;
  }
}

TEST(Bliinds, NothingIsLeftOfTheFrameBefore) {
  const Geometry g{61, 44, luma_layout(8, 1)};
  Picture a(g, Fill::kRandom, Placement::kTight, 4), b(g, Fill::kRamp, Placement::kTight, 4);
  const auto meter = cpu::make_bliinds_meter(g), fresh = cpu::make_bliinds_meter(g);
  const Features expected = features_of(*meter, a.frame());
  EXPECT_EQ(features_of(*meter, a.frame()), expected);
  EXPECT_EQ(features_of(*meter, b.frame()), features_of(*fresh, b.frame()));
  EXPECT_EQ(features_of(*meter, a.frame()), expected);
}

TEST(Bliinds, MisuseThrows) {
  EXPECT_THROW(cpu::make_bliinds_meter(Geometry{3, 100, {}}), std::invalid_argument);
  EXPECT_THROW(cpu::make_bliinds_meter(Geometry{100, 3, {}}), std::invalid_argument);
  EXPECT_THROW(cpu::make_bliinds_meter(Geometry{8, 8, {}}, "pdp11"), std::invalid_argument);
  Picture picture(Geometry{8, 8, luma_layout(8, 1)}, Fill::kRamp, Placement::kTight, 1);
  const auto meter = cpu::make_bliinds_meter(picture.geometry());
  EXPECT_THROW(meter->collect(), std::logic_error);
  Frame device = picture.frame();
  device.memory = Memory::kCuda;
  EXPECT_THROW(meter->submit({device, Channel::kLuma}), std::invalid_argument);
  meter->submit({picture.frame(), Channel::kLuma});
  EXPECT_THROW(meter->submit({picture.frame(), Channel::kLuma}), std::logic_error);
}

}  // namespace
}  // namespace framequality::test
