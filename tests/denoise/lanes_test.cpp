// SPDX-License-Identifier: LGPL-2.1-or-later
// The index arithmetic of the tensor cores' denoising kernel, with matrices made as the instruction has them.
#include "cuda/denoise/lanes.h"

#include "tests/support/random.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace framequality::cuda::tile {
namespace {

constexpr int kSide = 16;

std::vector<std::int8_t> make_bytes() {
  test::Random random(3);
  std::vector<std::int8_t> bytes;
  for (int i = 0; i < kSide * kSide; ++i) bytes.push_back(static_cast<std::int8_t>(random.below(256) - 128));
  return bytes;
}

/// What a lane puts into a matrix: byte i of 8 (of B; of A for one of the halves) of a product's step k, from the pixel
/// or candidate at (x, y).
int lane_byte(const std::vector<std::int8_t>& bytes, int lane, int k, int i, int x, int y) {
  const int row = y + pixel_y(lane) + word_y(lane) + 2 * k + 4 * (i / 4);
  return bytes[static_cast<std::size_t>(row * kSide + x + pixel_x(lane) + word_x(lane) + i % 4)];
}

// mma.m16n8k32 with 8-bit integers, PTX ISA: lane l has of A rows l / 4 and l / 4 + 8, of B column l / 4, of both
// k = l % 4 * 4 + 0...3 and the same + 16, and of the product columns l % 4 * 2 + 0...1.
TEST(DenoiseLanes, ProductsAreThoseOfTheLanesPixelsAndCandidates) {
  const std::vector<std::int8_t> bytes = make_bytes();
  for (int patch = 0; patch <= kMaxPatch; ++patch) {
    int product[16][8] = {};
    for (int k = 0; k < 2; ++k) {
      int a[16][32], b[32][8];
      for (int lane = 0; lane < kWarp; ++lane)
        for (int i = 0; i < 8; ++i) {
          const int at = lane % 4 * 4 + i % 4 + i / 4 * 16;
          const int row = word_y(lane) + 2 * k + 4 * (i / 4);
          const bool inside = row <= 2 * patch && (row_mask(patch, word_x(lane)) >> 8 * (i % 4) & 1);
          for (int half = 0; half < 2; ++half)
            a[lane / 4 + 8 * half][at] = inside ? lane_byte(bytes, lane, k, i, 0, half * kRowsPerHalf) : 0;
          b[at][lane / 4] = lane_byte(bytes, lane, k, i, 4, 2);
        }
      for (int m = 0; m < 16; ++m)
        for (int n = 0; n < 8; ++n)
          for (int i = 0; i < 32; ++i) product[m][n] += a[m][i] * b[i][n];
    }
    for (int lane = 0; lane < kWarp; ++lane)
      for (int half = 0; half < 2; ++half)
        for (int e = 0; e < 2; ++e) {
          const int px = pixel_x(lane), py = pixel_y(lane) + half * kRowsPerHalf;
          const int qx = 4 + candidate_x(lane) + e, qy = 2 + candidate_y(lane);
          int expected = 0;
          for (int j = 0; j <= 2 * patch; ++j)
            for (int i = 0; i <= 2 * patch; ++i)
              expected += bytes[static_cast<std::size_t>((py + j) * kSide + px + i)] *
                          bytes[static_cast<std::size_t>((qy + j) * kSide + qx + i)];
          EXPECT_EQ(product[lane / 4 + 8 * half][lane % 4 * 2 + e], expected) << "lane " << lane << " half " << half;
        }
  }
}

TEST(DenoiseLanes, StepsMeetEachRowOfAWindowOnce) {
  constexpr int kHalves = 4;
  for (int radius = kHalves; radius <= 16; ++radius)
    for (int half = 0; half < kHalves; ++half)
      for (int lane = 0; lane < kWarp; ++lane) {
        std::multiset<int> met;  // rows of the pixel's window
        const auto visit = [&](Phase phase, int step, int done) {
          const RowPart part = row_part(phase, step, half);
          const int ty = 2 * (done + step) + candidate_y(lane) - radius - half * kRowsPerHalf - pixel_y(lane);
          if (part == RowPart::kInner || (part == RowPart::kFirst && candidate_y(lane) >= pixel_y(lane)) ||
              (part == RowPart::kLast && candidate_y(lane) <= pixel_y(lane)))
            met.insert(ty);
        };
        for (int s = 0; s < kHalves; ++s) visit(Phase::kHead, s, 0);
        for (int s = kHalves; s < radius; ++s) visit(Phase::kMiddle, 0, s);
        for (int s = 0; s < kHalves; ++s) visit(Phase::kTail, s, radius);
        std::multiset<int> expected;
        for (int ty = -radius; ty <= radius; ++ty)
          if ((ty + radius + pixel_y(lane) + half * kRowsPerHalf) % 2 == candidate_y(lane)) expected.insert(ty);
        EXPECT_EQ(met, expected) << "radius " << radius << " half " << half << " lane " << lane;
      }
}

TEST(DenoiseLanes, NoTwoPairsOfHalfAWarpShareABank) {
  for (int radius = 0; radius <= 16; ++radius) {
    const Layout l(32, 8, radius);
    std::set<int> places, banks;
    for (int lane = 0; lane < kWarp / 2; ++lane) {
      const int at = (pixel_y(lane) + word_y(lane)) * l.pair_pitch + pixel_x(lane) + word_x(lane);
      places.insert(at);
      banks.insert(at % 16);
    }
    EXPECT_EQ(banks.size(), places.size()) << "radius " << radius;
    EXPECT_GE(l.pair_pitch, l.columns + 4);
  }
}

TEST(DenoiseLanes, DividersDivide) {
  for (int d = 1; d < Divider::kMost; ++d) {
    const Divider by(d);
    for (int i = 0; i < 256 * d; ++i) ASSERT_EQ(by.quotient(i), i / d) << i << " / " << d;
  }
}

}  // namespace
}  // namespace framequality::cuda::tile
