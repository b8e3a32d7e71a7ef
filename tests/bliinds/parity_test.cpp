// SPDX-License-Identifier: LGPL-2.1-or-later
// BLIINDS-II on the GPU against the host twin: block values to the bit, features to 1e-12, scores the same.
#include "algorithms/bliinds/gamma.h"
#include "algorithms/bliinds/model.h"
#include "cpu/bliinds/meter.h"
#include "cuda/bliinds/meter.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "tests/bliinds/same_bits.h"
#include "tests/bliinds/yuv_picture.h"
#include "tests/support/gpu.h"
#include "tests/support/layouts.h"
#include "tests/support/memory_kinds.h"
#include "tests/support/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using namespace bliinds;

/// Of features, relative: the twins add in different orders.
constexpr double kTolerance = 1e-12;

class BliindsParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    device_ = cuda::find_device().id;
  }

  std::unique_ptr<bliinds::Meter> make(const Input& input, int depth = 1) const {
    return cuda::make_bliinds_meter(input, device_, depth);
  }

  static void expect_features(const Features& expected, const Features& got) {
    for (std::size_t i = 0; i < kFeatures; ++i)
      EXPECT_LE(std::abs(got[i] - expected[i]), kTolerance * std::abs(expected[i]))
          << "feature " << i << ": expected " << expected[i] << ", got " << got[i];
    static const Model model = published_model();
    EXPECT_EQ(score_of(model, expected).score, score_of(model, got).score);
  }

  /// One frame by both twins: everything they can be asked for, the device twice.
  static void check(bliinds::Meter& host, bliinds::Meter& device, const Frame& frame, const Frame& input,
                    Channel channel = Channel::kLuma, bool interlaced = false) {
    host.submit({frame, channel, interlaced});
    const Features expected = host.collect();
    device.submit({input, channel, interlaced});
    const Features got = device.collect();
    expect_features(expected, got);
    for (int scale = 0; scale < kScales; ++scale) {
      const BlockValues wanted = host.blocks(scale), values = device.blocks(scale);
      EXPECT_TRUE(same_bits(wanted.zeta, values.zeta)) << "zeta, scale " << scale;
      EXPECT_TRUE(same_bits(wanted.shape, values.shape)) << "shape, scale " << scale;
      EXPECT_TRUE(same_bits(wanted.energy, values.energy)) << "energy, scale " << scale;
      EXPECT_TRUE(same_bits(wanted.orient, values.orient)) << "orient, scale " << scale;
    }
    device.submit({input, channel, interlaced});
    EXPECT_TRUE(same_bits(got, device.collect())) << "not the same features again";
  }

  void check(Picture& picture, MemoryKind where = MemoryKind::kPageable, Channel channel = Channel::kLuma) const {
    const Geometry& g = picture.geometry();
    SCOPED_TRACE(std::to_string(g.width) + "x" + std::to_string(g.height) + " " +
                 kWhereNames[static_cast<std::size_t>(where)] + (channel == Channel::kRed ? " red" : ""));
    const FrameIn input(picture, where, device_);
    check(*cpu::make_bliinds_meter(g), *make(g), picture.frame(), input.frame(), channel);
    EXPECT_TRUE(picture.untouched());
  }

  int device_ = -1;
};

/// Codes between smooth and noisy, where statistics are most delicate.
std::vector<std::uint16_t> any_codes(const Geometry& g, Random& random) {
  std::vector<std::uint16_t> codes;
  const int slope = random.below(4), amplitude = 1 << random.below(9);
  for (int y = 0; y < g.height; ++y)
    for (int x = 0; x < g.width; ++x)
      codes.push_back(static_cast<std::uint16_t>((x * slope / 2 + y + random.below(amplitude)) & 255));
  return codes;
}

TEST_F(BliindsParity, RandomPicturesOfOddSizes) {
  Random random(200);
  for (int n = 0; n < 200; ++n) {
    SCOPED_TRACE("picture " + std::to_string(n));
    const int largest = n % 8 == 0 ? 400 : 100;
    const Geometry g{4 + random.below(largest), 4 + random.below(largest), luma_layout(8, 1)};
    Picture picture(g, any_codes(g, random));
    check(picture, static_cast<MemoryKind>(n % 3));
  }
}

TEST_F(BliindsParity, ExtremePictures) {
  for (const auto& [width, height] : {std::pair{4, 4},
                                      {5, 4},
                                      {4, 7},
                                      {6, 6},
                                      {31, 33},
                                      {95, 24},
                                      {96, 25},
                                      {97, 23},
                                      {129, 67},
                                      {1021, 20},
                                      {20, 1021}})
    for (std::size_t fill = 0; fill < kFills.size(); ++fill)
      for (const int depth : {8, 10, 16}) {
        SCOPED_TRACE(std::string(kFillNames[fill]) + " " + std::to_string(depth) + " bits");
        Picture picture(Geometry{width, height, luma_layout(depth, depth > 8 ? 2 : 1)}, kFills[fill], Placement::kOdd,
                        static_cast<std::uint64_t>(width * 1000 + height));
        check(picture);
      }
}

TEST_F(BliindsParity, LargePictures) {
  for (const Fill fill : {Fill::kRandom, Fill::kNearLimits, Fill::kMax, Fill::kRamp})
    for (const auto& [width, height] : {std::pair{1921, 1081}, {512, 512}}) {
      Picture picture(Geometry{width, height, luma_layout(8, 1)}, fill, Placement::kTight, 3);
      check(picture, MemoryKind::kDevice);
    }
}

/// The highest tenth begins in the very place that most blocks share: flat parts, and values that are almost alike.
TEST_F(BliindsParity, MostBlocksAlike) {
  const Geometry g{700, 400, luma_layout(8, 1)};
  for (const int busy : {0, 1, 9, 30, 60, 390}) {
    Random random(static_cast<std::uint64_t>(busy));
    std::vector<std::uint16_t> codes;
    for (int y = 0; y < g.height; ++y)
      for (int x = 0; x < g.width; ++x)
        codes.push_back(static_cast<std::uint16_t>(y < g.height - busy ? 16 : random.below(256)));
    Picture flat(g, codes);
    check(flat);
    for (int y = 0; y < g.height - busy; ++y)
      for (int x = 0; x < g.width; ++x)
        codes[static_cast<std::size_t>(y * g.width + x)] = static_cast<std::uint16_t>(x % 3 == 0 ? 16 + x / 64 : 20);
    Picture stripes(g, codes);
    check(stripes);
  }
}

TEST_F(BliindsParity, EveryLayoutAndPlaceInMemory) {
  for (const NamedLayout& named : layouts())
    for (const Placement placement : kPlacements)
      for (const MemoryKind where : {MemoryKind::kPageable, MemoryKind::kPinned, MemoryKind::kDevice}) {
        SCOPED_TRACE(named.name + " " + kPlacementNames[static_cast<std::size_t>(placement)]);
        Picture picture(Geometry{107, 45, named.layout}, Fill::kRandom, placement, 9);
        check(picture, where);
        check(picture, where, Channel::kRed);
      }
}

/// A YUV frame in one kind of memory: every plane's bytes as they lie there, and no more.
class YuvIn {
 public:
  YuvIn(const YuvPicture& picture, MemoryKind where, int device) : frame_(picture.frame()) {
    frame_.memory = where == MemoryKind::kDevice ? Memory::kCuda : Memory::kHost;
    for (int p = 0; p < 3; ++p) {
      const auto block = picture.block(p);
      if (block.empty() || where == MemoryKind::kPageable) continue;
      if (where == MemoryKind::kDevice) {
        device_.emplace_back(block, device);
        frame_.plane[p] = device_.back().data() + picture.origin(p);
      } else {
        pinned_.push_back(std::make_unique<PinnedBytes>(block.size(), Place{&cuda::kBackend, device}));
        std::memcpy(pinned_.back()->data(), block.data(), block.size());
        frame_.plane[p] = static_cast<const std::uint8_t*>(pinned_.back()->data()) + picture.origin(p);
      }
    }
  }
  const Frame& frame() const { return frame_; }

 private:
  Frame frame_;
  std::vector<cuda::DeviceBytes> device_;
  std::vector<std::unique_ptr<PinnedBytes>> pinned_;
};

TEST_F(BliindsParity, RedOfEveryYuvLayoutAndPlaceInMemory) {
  int n = 0;
  for (const NamedYuv& named : yuv_layouts())
    for (const auto& [width, height] : {std::pair{107, 45}, {96, 48}, {5, 7}, {641, 363}})
      for (const MemoryKind where : {MemoryKind::kPageable, MemoryKind::kPinned, MemoryKind::kDevice})
        for (const bool interlaced : {false, true}) {
          const Colorimetry& colours = kColorimetries[static_cast<std::size_t>(n) % std::size(kColorimetries)];
          const YuvPicture picture(named.input(width, height, colours), n % 2, n % 5 == 0,
                                   static_cast<std::uint64_t>(n));
          ++n;
          SCOPED_TRACE(named.name + " " + std::to_string(width) + "x" + std::to_string(height) + " " + colours.name +
                       " " + kWhereNames[static_cast<std::size_t>(where)] + (interlaced ? " interlaced" : ""));
          const YuvIn input(picture, where, device_);
          const auto host = cpu::make_bliinds_meter(picture.input()), device = make(picture.input());
          for (const auto channel : {Channel::kRed, Channel::kLuma, Channel::kRed})
            check(*host, *device, picture.frame(), input.frame(), channel, interlaced);
        }
}

TEST_F(BliindsParity, ChannelsOfYuvInFlightComeInOrder) {
  for (const char* name : {"I420", "NV12", "P010_10LE"})
    for (int depth = 1; depth <= 4; ++depth) {
      const auto named = std::find_if(yuv_layouts().begin(), yuv_layouts().end(),
                                      [&](const NamedYuv& layout) { return layout.name == name; });
      const Input input = named->input(642, 480, kColorimetries[1]);
      std::vector<YuvPicture> pictures;
      std::vector<std::unique_ptr<YuvIn>> inputs;
      std::vector<Features> expected;
      constexpr std::size_t kPictures = 5;
      const auto task = [&](std::size_t i) {
        return Task{inputs[i % kPictures]->frame(), i % 3 ? Channel::kRed : Channel::kLuma, i % 4 == 0};
      };
      pictures.reserve(kPictures);
      for (std::size_t i = 0; i < kPictures; ++i) pictures.emplace_back(input, i % 2, i % 3 == 0, i + 1);
      for (std::size_t i = 0; i < kPictures; ++i)
        inputs.push_back(std::make_unique<YuvIn>(pictures[i], static_cast<MemoryKind>(i % 3), device_));
      const auto host = cpu::make_bliinds_meter(input);
      const std::size_t frames = 40, ahead = static_cast<std::size_t>(depth);
      for (std::size_t i = 0; i < frames; ++i) {
        Task on_host = task(i);
        on_host.frame = pictures[i % kPictures].frame();
        host->submit(on_host);
        expected.push_back(host->collect());
      }
      const auto meter = make(input, depth);
      for (std::size_t i = 0; i < frames + ahead; ++i) {
        SCOPED_TRACE(std::string(name) + " frame " + std::to_string(i) + ", depth " + std::to_string(depth));
        if (i >= ahead) expect_features(expected[i - ahead], meter->collect());
        if (i < frames) meter->submit(task(i));
      }
    }
}

TEST_F(BliindsParity, FramesInFlightComeInOrder) {
  for (const auto& [width, height] : {std::pair{67, 29}, {641, 480}})
    for (int depth = 1; depth <= 4; ++depth) {
      const Geometry g{width, height, packed_rgb(8, 3, 0, 1, 2)};
      std::vector<std::unique_ptr<Picture>> pictures;
      std::vector<std::unique_ptr<FrameIn>> inputs;
      std::vector<Features> expected;
      const auto host = cpu::make_bliinds_meter(g);
      constexpr std::size_t kPictures = 5;
      const auto channel = [](std::size_t i) { return i % kPictures % 2 ? Channel::kRed : Channel::kLuma; };
      for (std::size_t i = 0; i < kPictures; ++i) {
        pictures.push_back(std::make_unique<Picture>(g, Fill::kRandom, kPlacements[i % kPlacements.size()], i + 1));
        inputs.push_back(std::make_unique<FrameIn>(*pictures[i], static_cast<MemoryKind>(i % 3), device_));
        host->submit({pictures[i]->frame(), channel(i)});
        expected.push_back(host->collect());
      }
      const auto meter = make(g, depth);
      const std::size_t frames = 40, ahead = static_cast<std::size_t>(depth);
      for (std::size_t i = 0; i < frames + ahead; ++i) {
        SCOPED_TRACE("frame " + std::to_string(i) + ", depth " + std::to_string(depth));
        if (i >= ahead) expect_features(expected[(i - ahead) % kPictures], meter->collect());
        if (i < frames) meter->submit({inputs[i % kPictures]->frame(), channel(i)});
      }
    }
}

TEST_F(BliindsParity, EveryRunGivesTheSameBits) {
  const Geometry g{1920, 1080, luma_layout(8, 1)};
  Picture picture(g, Fill::kNearLimits, Placement::kTight, 8);
  const FrameIn input(picture, MemoryKind::kDevice, device_);
  Features first{};
  // Other meters have other slots; frames in flight disturb one another.
  for (int turn = 0; turn < 5; ++turn) {
    const auto meter = make(g, 4);
    for (int i = 0; i < 4; ++i) meter->submit({input.frame(), Channel::kLuma});
    for (int i = 0; i < 4; ++i) {
      const Features got = meter->collect();
      if (turn == 0 && i == 0) first = got;
      EXPECT_TRUE(same_bits(first, got)) << turn << " " << i;
    }
  }
}

TEST_F(BliindsParity, PendingFramesMayBeAbandoned) {
  const Geometry g{1920, 1080, luma_layout(8, 1)};
  Picture picture(g, Fill::kRandom, Placement::kTight, 1);
  const FrameIn input(picture, MemoryKind::kPinned, device_);
  for (int turn = 0; turn < 3; ++turn) {
    const auto meter = make(g, 3);
    for (int i = 0; i < 3; ++i) meter->submit({input.frame(), Channel::kLuma});
  }
}

TEST_F(BliindsParity, MisuseThrows) {
  EXPECT_THROW(make(Geometry{3, 100, {}}), std::invalid_argument);
  EXPECT_THROW(make(Geometry{100, 3, {}}), std::invalid_argument);
  Picture picture(Geometry{8, 8, luma_layout(8, 1)}, Fill::kRamp, Placement::kTight, 1);
  const auto meter = make(picture.geometry());
  EXPECT_THROW(meter->collect(), std::logic_error);
  EXPECT_THROW(meter->blocks(0), std::logic_error);
  meter->submit({picture.frame(), Channel::kLuma});
  EXPECT_THROW(meter->submit({picture.frame(), Channel::kLuma}), std::logic_error);
  meter->collect();
  EXPECT_THROW(meter->blocks(3), std::out_of_range);
}

/// A binary PGM file of 8 bits without comments; empty if it is something else.
std::unique_ptr<Picture> read_pgm(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic;
  int width = 0, height = 0, most = 0;
  if (!(in >> magic >> width >> height >> most) || magic != "P5" || most != 255 || width < 1 || height < 1) return {};
  in.get();
  std::vector<char> bytes(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return {};
  std::vector<std::uint16_t> codes;
  codes.reserve(bytes.size());
  for (const char b : bytes) codes.push_back(static_cast<unsigned char>(b));
  return std::make_unique<Picture>(Geometry{width, height, luma_layout(8, 1)}, codes);
}

/// FQ_BLIINDS_PICTURES: a folder of *.pgm, for machines that have no decoder for the pictures of the oracle.
TEST_F(BliindsParity, PicturesOfAFolder) {
  const char* folder = std::getenv("FQ_BLIINDS_PICTURES");
  if (!folder || !*folder) GTEST_SKIP() << "FQ_BLIINDS_PICTURES names no folder of PGM files";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pgm") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto picture = read_pgm(entry.path());
    ASSERT_TRUE(picture) << "not a binary PGM file of 8 bits";
    check(*picture, static_cast<MemoryKind>(count++ % 3));
  }
  EXPECT_GT(count, 0) << "no *.pgm in " << folder;
  RecordProperty("pictures", count);
}

}  // namespace
}  // namespace framequality::test
