// SPDX-License-Identifier: LGPL-2.1-or-later
// Focus peaking marks what its definition says, and touches nothing else.
#include "cpu/overlay/edges.h"

#include "tests/support/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

namespace framequality {
namespace {

/// Codes of a picture and the marks on it, with sentinels beside the rows.
struct Marked {
  Marked(int width, int height, int depth, int shift, int threshold, std::uint64_t seed)
      : width(width), height(height), codes(static_cast<std::size_t>(width * height)), stride(width + 3) {
    test::Random random(seed);
    // Smooth with jumps, so that gradients fall on both sides of the threshold.
    for (auto& code : codes) code = static_cast<std::uint16_t>(random.below(1 << depth) >> random.below(4));
    Geometry geometry{width, height, {}};
    geometry.layout.depth = static_cast<std::uint8_t>(depth);
    geometry.layout.shift = static_cast<std::uint8_t>(shift);
    geometry.layout.word_bytes = geometry.layout.pixel_stride = depth > 8 ? 2 : 1;
    std::vector<std::uint8_t> bytes;
    for (const std::uint16_t code : codes) {
      const auto word = static_cast<std::uint16_t>(code << shift);
      bytes.push_back(static_cast<std::uint8_t>(word));
      if (depth > 8) bytes.push_back(static_cast<std::uint8_t>(word >> 8));
    }
    Frame frame;
    frame.plane[0] = bytes.data();
    frame.stride[0] = geometry.layout.pixel_stride * width;
    out.assign(static_cast<std::size_t>(stride * height), kSentinel);
    rows = cpu::EdgeMarker(geometry).mark(frame, threshold, {kMark, kMark}, reinterpret_cast<std::uint8_t*>(out.data()),
                                          4 * stride);
    for (auto& code : codes) code = static_cast<std::uint16_t>(code >> (depth - 8));
  }
  int code(int x, int y) const { return codes[static_cast<std::size_t>(y * width + x)]; }
  std::uint32_t at(int x, int y) const { return out[static_cast<std::size_t>(y * stride + x)]; }

  static constexpr std::uint32_t kMark = 0xc0ffee11, kSentinel = 0xdeadbeef;
  int width, height;
  std::vector<std::uint16_t> codes;  ///< 8-bit
  std::ptrdiff_t stride;
  std::vector<std::uint32_t> out;
  cpu::RowRange rows;
};

TEST(Edges, MarksAreTheSobelOperatorsPixelByPixel) {
  for (const auto& [width, height] :
       {std::pair{1, 1}, {2, 2}, {3, 3}, {1, 9}, {9, 1}, {2, 8}, {17, 5}, {64, 9}, {131, 33}})
    for (const auto& [depth, shift] : {std::pair{8, 0}, {10, 0}, {10, 6}, {12, 4}, {16, 0}})
      for (const int threshold : {1, 30, 100, 255}) {
        const Marked m(width, height, depth, shift, threshold, static_cast<std::uint64_t>(width * 100 + threshold));
        int first = height, last = 0;
        for (int y = 0; y < height; ++y) {
          for (int x = 0; x < width; ++x) {
            double gradient = 0;
            if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
              const auto sobel = [&](int dx, int dy) {
                int sum = 0;
                for (int k = -1; k <= 1; ++k)
                  sum += (k == 0 ? 2 : 1) *
                         (m.code(x + dx + k * dy, y + dy + k * dx) - m.code(x - dx + k * dy, y - dy + k * dx));
                return sum;
              };
              gradient = std::hypot(sobel(1, 0), sobel(0, 1)) / 4;
            }
            const bool marked = gradient >= threshold;
            ASSERT_EQ(m.at(x, y), marked ? Marked::kMark : 0u)
                << width << "x" << height << " depth " << depth << " at " << x << "," << y << " gradient " << gradient;
            if (marked) {
              first = std::min(first, y);
              last = y + 1;
            }
          }
          for (int x = width; x < m.stride; ++x) ASSERT_EQ(m.at(x, y), Marked::kSentinel);
        }
        EXPECT_EQ(m.rows.last, last);
        EXPECT_EQ(m.rows.first, last > 0 ? first : 0);
      }
}

TEST(Edges, TwoMarksMakeZigzagStripes) {
  constexpr int kWidth = 41, kHeight = 37;
  constexpr std::uint32_t kFirst = 0xffffffff, kSecond = 0xff000000;
  Geometry geometry{kWidth, kHeight, {}};
  geometry.layout.depth = 8;
  geometry.layout.word_bytes = geometry.layout.pixel_stride = 1;
  cpu::EdgeMarker marker(geometry);
  for (const int seed : {1, 2}) {  // the next frame's are in the same place
    test::Random random(static_cast<std::uint64_t>(seed));
    std::vector<std::uint8_t> codes(kWidth * kHeight);
    for (auto& code : codes) code = static_cast<std::uint8_t>(random.next());
    Frame frame;
    frame.plane[0] = codes.data();
    frame.stride[0] = kWidth;
    std::vector<std::uint32_t> out(kWidth * kHeight, 1);
    marker.mark(frame, 40, {kFirst, kSecond}, reinterpret_cast<std::uint8_t*>(out.data()), 4 * kWidth);
    int marked = 0;
    for (int y = 1; y < kHeight - 1; ++y)
      for (int x = 1; x < kWidth - 1; ++x) {
        const std::uint32_t got = out[static_cast<std::size_t>(y * kWidth + x)];
        if (got == 0) continue;
        ++marked;
        const int shift = y % 16 < 8 ? y % 16 : 15 - y % 16;
        ASSERT_EQ(got, (x + shift) / 4 % 2 ? kSecond : kFirst) << x << "," << y;
      }
    EXPECT_GT(marked, 700);
  }
}

}  // namespace
}  // namespace framequality
