// SPDX-License-Identifier: LGPL-2.1-or-later
// Words that use fewer bits than they have: as layouts say it, and as they are noticed.
#include "algorithms/significant_bits.h"

#include "algorithms/picture.h"
#include "tests/support/layouts.h"
#include "tests/support/pictures.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::test {
namespace {

TEST(SignificantBits, FullWordsGetTheDepthOfTheirSource) {
  for (const NamedLayout& named : layouts())
    for (const unsigned bits : {0u, 9u, 10u, 12u, 14u, 16u}) {
      PixelLayout want = named.layout;
      if (bits != 0 && want.depth == 16) want.depth = static_cast<std::uint8_t>(bits);
      EXPECT_TRUE(with_significant_bits(named.layout, bits) == want) << named.name << " " << bits;
    }
  EXPECT_TRUE(with_significant_bits(luma_layout(16, 2), 10) == luma_layout(10, 2));
  EXPECT_TRUE(with_significant_bits(luma_layout(16, 2, 0, true), 12) == luma_layout(12, 2, 0, true));
  PictureLayout picture;
  picture.depth = 16;
  picture.word_bytes = 2;
  EXPECT_EQ(with_significant_bits(picture, 10).largest(), 1023);
  picture.depth = 12;
  EXPECT_TRUE(with_significant_bits(picture, 10) == picture);
}

/// Frames of 16-bit words, each filled with one code but for the last pixel of the last row.
class Words {
 public:
  explicit Words(const PixelLayout& layout, int width = 37, int height = 21) : geometry{width, height, layout} {
    for (int p = 0; p < layout.planes(); ++p) {
      stride_[p] = layout.row_bytes(p, width) + 6;
      bytes_[p].resize(stride_[p] * static_cast<std::size_t>(height));
    }
  }
  Frame frame() const {
    Frame f;
    for (int p = 0; p < geometry.layout.planes(); ++p) {
      f.plane[p] = bytes_[p].data();
      f.stride[p] = static_cast<std::ptrdiff_t>(stride_[p]);
    }
    return f;
  }
  /// All bytes that hold no code are 255.
  Frame filled(unsigned code) {
    for (auto& plane : bytes_) std::fill(plane.begin(), plane.end(), std::uint8_t{255});
    for (int c = 0; c < geometry.layout.components(); ++c)
      for (int y = 0; y < geometry.height; ++y)
        for (int x = 0; x < geometry.width; ++x) set(c, x, y, code);
    return frame();
  }
  void set(int c, int x, int y, unsigned code) {
    const PixelLayout& l = geometry.layout;
    const int p = l.plane[c];
    std::uint8_t* at = bytes_[p].data() + static_cast<std::size_t>(y) * stride_[p] +
                       static_cast<std::size_t>(x) * l.pixel_stride + l.offset[c];
    at[l.big_endian ? 1 : 0] = static_cast<std::uint8_t>(code);
    at[l.big_endian ? 0 : 1] = static_cast<std::uint8_t>(code >> 8);
  }
  Geometry geometry;

 private:
  std::size_t stride_[3] = {};
  std::vector<std::uint8_t> bytes_[3];
};

const std::vector<PixelLayout>& full_words() {
  static const std::vector<PixelLayout> all{luma_layout(16, 2), luma_layout(16, 2, 0, true),
                                            luma_layout(16, 2, 0, false, 8, 2), packed_rgb(16, 8, 2, 4, 6, true),
                                            planar_rgb(16, 2, 0, 1)};
  return all;
}

TEST(UsedBits, UnusedOnesAreToldOnceAfterAWhile) {
  for (const PixelLayout& layout : full_words())
    for (const auto& [code, bits] :
         {std::pair{1u, 10u}, {1023u, 10u}, {1025u, 12u}, {4095u, 12u}, {4097u, 14u}, {16383u, 14u}}) {
      Words words(layout);
      UsedBits used(words.geometry, 0);
      for (int i = 1; i <= 200; ++i)
        EXPECT_EQ(used.look(words.filled(code)), i == UsedBits::kFrames ? bits : 0) << code << " frame " << i;
    }
}

TEST(UsedBits, NothingIsToldOfFullOrBlackOrHighAlignedWords) {
  for (const unsigned code : {16385u, 65535u, 0u, 1023u << 2, 15u << 6}) {
    Words words(luma_layout(16, 2));
    UsedBits used(words.geometry, 0);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(used.look(words.filled(code)), 0u) << code;
  }
  // Black comes first: what counts is what has been seen.
  Words words(luma_layout(16, 2));
  UsedBits used(words.geometry, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(used.look(words.filled(0)), 0u);
  unsigned told = 0;
  for (int i = 0; i < UsedBits::kFrames; ++i) told += used.look(words.filled(301));
  EXPECT_EQ(told, 10u);
}

TEST(UsedBits, AllFramesAndComponentsCount) {
  Words gray(luma_layout(16, 2));
  UsedBits brighter(gray.geometry, 0);
  unsigned told = 0;
  for (int i = 0; i < UsedBits::kFrames; ++i) told += brighter.look(gray.filled(i < 3 ? 3001 : 301));
  EXPECT_EQ(told, 12u);
  for (const PixelLayout& layout : {packed_rgb(16, 8, 2, 4, 6, true), planar_rgb(16, 2, 0, 1)})
    for (int c = 0; c < 3; ++c) {
      Words rgb(layout);
      rgb.filled(301);
      for (int y = 0; y < rgb.geometry.height; ++y) rgb.set(c, 20, y, 3001);
      UsedBits used(rgb.geometry, 0);
      told = 0;
      for (int i = 0; i < UsedBits::kFrames; ++i) told += used.look(rgb.frame());
      EXPECT_EQ(told, 12u) << c;
    }
}

TEST(UsedBits, LaterOneFrameInSoManyIsLookedAt) {
  Words words(luma_layout(16, 2));
  UsedBits used(words.geometry, 10);
  for (int i = 0; i < 5 * UsedBits::kFrames; ++i) {
    const bool is_seen = i < UsedBits::kFrames || i % UsedBits::kFrames == 0;
    EXPECT_EQ(used.look(words.filled(is_seen ? 1023 : 1024)), 0u) << i;
  }
  EXPECT_EQ(used.look(words.filled(1024)), 12u);
}

TEST(UsedBits, CodesBeyondWhatIsSaidAreTold) {
  for (const auto& [said, code, bits] :
       {std::tuple{10u, 1024u, 12u}, {10u, 65535u, 16u}, {12u, 1u << 12, 14u}, {14u, 1u << 14, 16u}, {9u, 512u, 10u}}) {
    Words words(luma_layout(16, 2));
    UsedBits used(words.geometry, said);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(used.look(words.filled((1u << said) - 1)), 0u) << said;
    unsigned told = 0;
    int times = 0;
    for (int i = 0; i < 2 * UsedBits::kFrames; ++i)
      if (const unsigned now = used.look(words.filled(code))) told = now, ++times;
    EXPECT_EQ(told, bits) << said;
    EXPECT_EQ(times, 1) << said;
  }
}

TEST(UsedBits, OtherRowsAreSeenInEachFrame) {
  for (const int height : {1, 5, 21, 200}) {
    Words words(luma_layout(16, 2), 16, height);
    words.filled(301);
    words.set(0, 15, height - 1, 40000);
    UsedBits used(words.geometry, 0);
    for (int i = 0; i < UsedBits::kFrames; ++i) EXPECT_EQ(used.look(words.frame()), 0u) << height << " frame " << i;
  }
}

TEST(UsedBits, AllRowsAreSeenInTheEnd) {
  constexpr int kHeight = 8 * 64;
  for (int y = 448; y < kHeight; ++y) {
    Words words(luma_layout(16, 2), 4, kHeight);
    words.filled(301);
    words.set(0, 3, y, 1024);
    UsedBits used(words.geometry, 10);
    unsigned told = 0;
    for (int i = 0; i < (kHeight / 8 + 1) * UsedBits::kFrames; ++i) told += used.look(words.frame());
    EXPECT_EQ(told, 12u) << y;
  }
}

TEST(UsedBits, FramesWithoutFullWordsAreNotLookedAt) {
  for (const NamedLayout& named : layouts()) {
    if (named.layout.depth == 16) continue;
    UsedBits used({64, 48, named.layout}, 0);
    // Planes that are not there would be read.
    Frame nowhere;
    for (auto& plane : nowhere.plane) plane = reinterpret_cast<const std::uint8_t*>(std::uintptr_t{16});
    for (int i = 0; i < 40; ++i) EXPECT_EQ(used.look(nowhere), 0u) << named.name;
  }
  UsedBits all({64, 48, luma_layout(16, 2)}, 16);
  Frame nowhere;
  nowhere.plane[0] = reinterpret_cast<const std::uint8_t*>(std::uintptr_t{16});
  EXPECT_EQ(all.look(nowhere), 0u);
}

TEST(UsedBits, PlanesThatAreNotMappedAreLeftOut) {
  Words words(planar_rgb(16, 0, 1, 2));
  UsedBits used(words.geometry, 0);
  unsigned told = 0;
  for (int i = 0; i < UsedBits::kFrames; ++i) {
    Frame red = words.filled(901);
    red.plane[1] = red.plane[2] = nullptr;
    told += used.look(red);
  }
  EXPECT_EQ(told, 10u);
}

}  // namespace
}  // namespace framequality::test
