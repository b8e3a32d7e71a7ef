// SPDX-License-Identifier: LGPL-2.1-or-later
// The largest totals there can be: white, checkered and striped images at 16 bits, expected in 128-bit arithmetic.
#include "tests/sharpness/measure.h"
#include "tests/support/gpu.h"
#include "tests/support/layouts.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

/// The first totals of each metric, from closed formulas in M = 65535, w and h; those behind them are 0.
using Expected = std::map<std::string, std::vector<Wide>>;

constexpr Wide kMax = 65535;

void expect_totals(const Geometry& geometry, const Frame& frame, const Expected& expected) {
  for (const std::string_view isa : cpu::instruction_sets()) {
    const auto meter = cpu::make_meter(geometry, isa);
    for (const auto& [nick, totals] : expected) {
      Request request;
      request.metric = metric_index(nick);
      const Plan plan = make_plan(geometry, request);
      ASSERT_EQ(plan.refusal, "") << nick;
      const std::vector<std::int64_t> got = totals_of(*meter, frame, plan);
      ASSERT_LE(totals.size(), got.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        const Wide wanted = i < totals.size() ? totals[i] : 0;
        EXPECT_TRUE(got[i] == wanted) << isa << " " << nick << ": expected " << static_cast<std::int64_t>(wanted)
                                      << " in total " << i << ", got " << got[i];
      }
    }
  }
}

constexpr int kWidth = 2051, kHeight = 517;
constexpr Wide kPixels = Wide{kWidth} * kHeight, kInterior = Wide{kWidth - 2} * (kHeight - 2),
               kForward = Wide{kWidth - 1} * (kHeight - 1);

TEST(Extremes, WhiteAt16Bits) {
  const Geometry geometry{kWidth, kHeight, luma_layout(16, 2)};
  Picture picture(geometry, Fill::kMax, Placement::kTight, 1);
  expect_totals(geometry, picture.frame(),
                {{"variance", {kPixels * kMax, kPixels * kMax * kMax}},
                 {"normalized-variance", {kPixels * kMax, kPixels * kMax * kMax}},
                 {"roberts", {0}},
                 {"tenengrad", {0}},
                 {"laplacian", {0}},
                 {"gray-difference", {0}},
                 {"gray-difference-product", {0}},
                 {"max-min", {0}},
                 {"laplacian-variance", {0}},
                 {"brenner", {0}},
                 {"vollath-f4", {0}},
                 {"mean-square-frequency", {0}}});
}

TEST(Extremes, CheckerboardAt16Bits) {
  const Geometry geometry{kWidth, kHeight, luma_layout(16, 2)};
  Picture picture(geometry, Fill::kChecker, Placement::kTight, 1);
  const Wide whites = kPixels / 2;      // (x + y) odd; w and h are odd
  const Wide black = kPixels - whites;  // one more
  const Wide firsts = Wide{kWidth - 2 + 1} / 2 * (kHeight / 2) + Wide{kWidth - 2} / 2 * (kHeight - kHeight / 2);
  expect_totals(geometry, picture.frame(),
                {{"variance", {whites * kMax, whites * kMax * kMax}},
                 {"roberts", {0}},    // diagonals are alike
                 {"tenengrad", {0}},  // both sides of a pixel are alike
                 {"laplacian", {kInterior * 4 * kMax}},
                 {"gray-difference", {kForward * 2 * kMax}},
                 {"gray-difference-product", {kForward * kMax * kMax}},
                 {"max-min", {kInterior * kMax}},
                 {"laplacian-variance", {(black - whites) * 4 * kMax, kPixels * 16 * kMax * kMax}},
                 {"brenner", {0}},
                 {"mean-square-frequency", {kInterior * 16 * kMax * kMax}},
                 {"directional-frequency",
                  {kInterior * 4 * kMax * kMax, kInterior * 4 * kMax * kMax, 0, 0, kInterior * kMax * kMax,
                   kInterior * kMax * kMax}},
                 // White pixels with x <= w-3: right neighbour black, the next white.
                 {"vollath-f4", {-firsts * kMax * kMax}}});
}

TEST(Extremes, ColumnPairsAt16Bits) {
  const Geometry geometry{kWidth, kHeight, luma_layout(16, 2)};
  Picture picture(geometry, Fill::kColumns, Placement::kTight, 1);
  expect_totals(geometry, picture.frame(),
                {{"tenengrad", {kInterior * 16 * kMax * kMax}},
                 {"mean-square-frequency", {kInterior * kMax * kMax, kInterior * 16 * kMax * kMax}},
                 {"brenner", {Wide{kWidth - 2} * kHeight * kMax * kMax}},
                 {"max-min", {kInterior * kMax}}});
}

TEST(Extremes, RowPairsAt16Bits) {
  const Geometry geometry{kWidth, kHeight, luma_layout(16, 2)};
  Picture picture(geometry, Fill::kRows, Placement::kTight, 1);
  expect_totals(geometry, picture.frame(),
                {{"tenengrad", {kInterior * 16 * kMax * kMax}},
                 {"brenner", {0}},
                 {"max-min", {kInterior * kMax}},
                 {"laplacian", {kInterior * kMax}}});
}

// One row of memory, shown 8192 times: 2^26 samples at 16 bits, totals up to 2^62.
TEST(Extremes, LargestFrameKeepsWithin64Bits) {
  constexpr int kSide = 8192;
  const Geometry geometry{kSide, kSide, luma_layout(16, 2)};
  const Geometry row{kSide, 1, geometry.layout};
  const Wide all = Wide{kSide} * kSide;
  Picture columns(row, Fill::kColumns, Placement::kTight, 1);
  Frame frame = columns.frame();
  frame.stride[0] = 0;
  expect_totals(geometry, frame,
                {{"tenengrad", {Wide{kSide - 2} * (kSide - 2) * 16 * kMax * kMax}},
                 {"brenner", {Wide{kSide - 2} * kSide * kMax * kMax}},
                 {"variance", {all / 2 * kMax, all / 2 * kMax * kMax}}});
  Picture white(row, Fill::kMax, Placement::kTight, 1);
  frame.plane[0] = white.frame().plane[0];
  expect_totals(geometry, frame, {{"variance", {all * kMax, all * kMax * kMax}}});
}

}  // namespace
}  // namespace framequality::test
