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

std::vector<int> make_codes() {
  test::Random random(3);
  std::vector<int> codes;
  for (int i = 0; i < kSide * kSide; ++i) codes.push_back(random.below(256) - 128);
  return codes;
}

/// Where in a patch a sample is that a lane puts into a step's product `step`: sample i of a pair.
template <class Samples>
struct Place {
  int x, y;
  bool inside;
  Place(int lane, int step, int i, int patch) {
    constexpr int kEach = Samples::kPerWord, kBits = 32 / kEach;
    const int word = i / kEach;
    x = word_x(lane) + Samples::kSecondX * word + i % kEach;
    y = word_y(lane) + 2 * step + Samples::kSecondY * word;
    inside = word_mask<Samples>(patch, lane, step, word) >> kBits * (i % kEach) & 1;
  }
};

// mma.m16n8k32 with 8-bit integers and m16n8k16 with half floats, PTX ISA: lane l has of A rows l / 4 and l / 4 + 8, of
// B column l / 4, of both the k that its place among four lanes and the halves of k say, and of the product columns
// l % 4 * 2 + 0...1.
template <class Samples>
void expect_products() {
  constexpr int kEach = Samples::kPerWord, kDepth = 8 * kEach;
  const std::vector<int> codes = make_codes();
  const auto code = [&](int x, int y) { return codes[static_cast<std::size_t>(y * kSide + x)]; };
  for (int patch = 0; patch <= kMaxPatch; ++patch) {
    int product[16][8] = {};
    for (int step = 0; step < Samples::kProducts; ++step) {
      int a[16][kDepth], b[kDepth][8];
      for (int lane = 0; lane < kWarp; ++lane)
        for (int i = 0; i < 2 * kEach; ++i) {
          const int at = lane % 4 * kEach + i % kEach + i / kEach * 4 * kEach;
          const Place<Samples> place(lane, step, i, patch);
          const int x = pixel_x(lane) + place.x, y = pixel_y(lane) + place.y;
          for (int half = 0; half < 2; ++half)
            a[lane / 4 + 8 * half][at] = place.inside ? code(x, y + half * kRowsPerHalf) : 0;
          b[at][lane / 4] = code(4 + x, 2 + y);
        }
      for (int m = 0; m < 16; ++m)
        for (int n = 0; n < 8; ++n)
          for (int i = 0; i < kDepth; ++i) product[m][n] += a[m][i] * b[i][n];
    }
    for (int lane = 0; lane < kWarp; ++lane)
      for (int half = 0; half < 2; ++half)
        for (int e = 0; e < 2; ++e) {
          const int px = pixel_x(lane), py = pixel_y(lane) + half * kRowsPerHalf;
          const int qx = 4 + candidate_x(lane) + e, qy = 2 + candidate_y(lane);
          int expected = 0;
          for (int j = 0; j <= 2 * patch; ++j)
            for (int i = 0; i <= 2 * patch; ++i) expected += code(px + i, py + j) * code(qx + i, qy + j);
          EXPECT_EQ(product[lane / 4 + 8 * half][lane % 4 * 2 + e], expected) << "lane " << lane << " half " << half;
        }
  }
}
TEST(DenoiseLanes, ProductsOfBytesAreThoseOfTheLanesPixelsAndCandidates) { expect_products<Bytes>(); }
TEST(DenoiseLanes, ProductsOfHalvesAreThoseOfTheLanesPixelsAndCandidates) { expect_products<Halves>(); }

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
    const Layout l = Layout::of<Bytes>(32, 8, radius, 1);
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
