// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions, zones, fields and the 64-bit bound of a plan.
#include "algorithms/sharpness/metrics/all.h"
#include "tests/sharpness/measure.h"
#include "tests/support/cases.h"
#include "tests/support/layouts.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kIntLow = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kIntHigh = std::numeric_limits<std::int32_t>::max();

Geometry gray(int width, int height, int depth = 8) { return {width, height, luma_layout(depth, depth > 8 ? 2 : 1)}; }

std::uint64_t sum(const std::vector<std::uint64_t>& v) {
  std::uint64_t s = 0;
  for (const std::uint64_t n : v) s += n;
  return s;
}

TEST(Plan, DefaultsMeasureTheWholeFrame) {
  const Plan plan = make_plan(gray(640, 480), {});
  EXPECT_EQ(plan.cells, 1);
  EXPECT_EQ(plan.words, 2) << "sum of squares, sum of samples";
  EXPECT_EQ(plan.pixels, (std::vector<std::uint64_t>{640 * 480}));
  EXPECT_EQ(plan.first_row, 0);
  EXPECT_EQ(plan.last_row, 480);
  EXPECT_EQ(plan.refusal, "");
}

TEST(Plan, ZoneEdgesAreFloorOfEqualParts) {
  Request request;
  request.zone_columns = 3;
  request.zone_rows = 4;
  request.roi = Rect{10, 20, 11, 6};
  const Plan plan = make_plan(gray(100, 100), request);
  ASSERT_EQ(plan.grids.size(), 1u);
  const Grid& g = plan.grids[0];
  const int columns[] = {10, 13, 17, 21}, rows[] = {20, 21, 23, 24, 26};  // i * 11 / 3, j * 6 / 4
  for (int i = 0; i <= 3; ++i) EXPECT_EQ(g.column(i), columns[i]);
  for (int j = 0; j <= 4; ++j) EXPECT_EQ(g.row(j), rows[j]);
  EXPECT_EQ(plan.pixels, (std::vector<std::uint64_t>{3, 4, 4, 6, 8, 8, 3, 4, 4, 6, 8, 8}));
}

TEST(Plan, RegionsOfAMosaicAreInItsSamples) {
  const Geometry geometry{50, 40, bayer(8, 0, 0)};  // of a sensor of 100 x 80, or one more
  const auto grid = [&](std::optional<Rect> roi, int downscale = 1) {
    Request request;
    request.roi = roi;
    request.downscale = downscale;
    request.statistics = true;
    const Plan plan = make_plan(geometry, request);
    EXPECT_EQ(plan.request.roi, roi) << "as it was asked for";
    std::vector<int> edges;
    for (const Grid& g : plan.grids) edges = {g.x0, g.x1, g.y0, g.y1};
    if (downscale == 1 && plan.statistics.grids > 0) {
      const StatisticsGrid& s = plan.statistics.grid[0];
      EXPECT_EQ(edges, (std::vector{s.x0, s.x1, s.y0, s.y1}));
    }
    return edges;
  };
  EXPECT_EQ(grid(std::nullopt), (std::vector{0, 50, 0, 40}));
  EXPECT_EQ(grid(Rect{10, 20, 30, 40}), (std::vector{5, 20, 10, 30}));
  EXPECT_EQ(grid(Rect{11, 21, 30, 40}), (std::vector{5, 20, 10, 30})) << "from the cell of the first sample on";
  EXPECT_EQ(grid(Rect{10, 20, 31, 41}), (std::vector{5, 20, 10, 30}));
  EXPECT_EQ(grid(Rect{11, 21, 31, 41}), (std::vector{5, 21, 10, 31}));
  EXPECT_EQ(grid(Rect{12, 20, 24, 40}, 2), (std::vector{3, 9, 5, 15}));
  EXPECT_EQ(grid(Rect{-7, -1, 18, 13}), (std::vector{0, 5, 0, 6}));
  EXPECT_EQ(grid(Rect{kLow, kLow, kHigh, kHigh}), (std::vector<int>{}));
  EXPECT_EQ(grid(Rect{3, 5, kHigh, kHigh}), (std::vector{1, 50, 2, 40}));
  EXPECT_EQ(grid(Rect{100, 0, 10, 10}), (std::vector<int>{}));
}

TEST(Plan, MoreZonesThanSamplesLeavesSomeEmpty) {
  Request request;
  request.zone_columns = request.zone_rows = 64;
  const Plan plan = make_plan(gray(3, 2), request);
  EXPECT_EQ(plan.cells, 4096);
  EXPECT_EQ(sum(plan.pixels), 6u);
  for (const std::uint64_t n : plan.pixels) EXPECT_LE(n, 1u);
}

TEST(Plan, RoiIsClippedToTheFrame) {
  const struct {
    Rect roi;
    std::uint64_t pixels;
  } kCases[] = {
      {{0, 0, 100, 50}, 5000},
      {{-10, -10, 20, 20}, 100},
      {{90, 40, 20, 20}, 100},
      {{100, 0, 5, 5}, 0},
      {{0, 50, 5, 5}, 0},
      {{-5, 0, 5, 50}, 0},
      {{10, 10, 0, 10}, 0},
      {{10, 10, -3, 10}, 0},
      {{10, 10, 10, -1}, 0},
      {{kIntLow, kIntLow, kIntHigh, kIntHigh}, 0},
      {{0, 0, kIntHigh, kIntHigh}, 5000},
      {{99, 49, kIntHigh, kIntHigh}, 1},
      {{kIntHigh, kIntHigh, kIntHigh, kIntHigh}, 0},
      {{kIntLow, kIntLow, kIntLow, kIntLow}, 0},
      {{1, 1, kHigh, kHigh}, 99 * 49},
      {{kLow, kLow, kHigh, kHigh}, 0},
      {{kHigh, kHigh, kHigh, kHigh}, 0},
      {{kLow, kLow, kLow, kLow}, 0},
      {{-1, -1, kHigh, kHigh}, 5000},
  };
  for (const auto& c : kCases)
    for (const bool interlaced : {false, true})
      for (const int metric : {kDefaultMetric, metric_index("entropy")}) {
        Request request;
        request.metric = metric;
        request.interlaced = interlaced;
        request.roi = c.roi;
        const Plan plan = make_plan(gray(100, 50), request);
        EXPECT_EQ(plan.pixels[0], c.pixels) << describe(request);
        EXPECT_EQ(plan.grids.empty(), c.pixels == 0) << describe(request);
        EXPECT_EQ(plan.first_row == plan.last_row, c.pixels == 0) << describe(request);
      }
}

TEST(Plan, EveryRectangleCountsItsPixelsLikeTheDefinition) {
  static constexpr std::int64_t kEdges[] = {kLow, kLow + 1, kIntLow, -101, -2,       -1,        0,
                                            1,    2,        3,       7,    kIntHigh, kHigh - 1, kHigh};
  const std::vector<std::uint16_t> codes(7 * 9, 1);
  Reference reference(codes, 7, 9, 8);
  for (const std::int64_t at : kEdges)
    for (const std::int64_t extent : kEdges)
      for (const bool interlaced : {false, true})
        for (const int downscale : {1, 2, 4}) {
          Request request;
          request.interlaced = interlaced;
          request.downscale = downscale;
          request.roi = Rect{at, 0, extent, 9};
          request.extra = {Rect{0, at, 7, extent}, Rect{extent, at, at, extent}};
          EXPECT_EQ(make_plan(gray(7, 9), request).pixels, reference.totals(request).pixels) << describe(request);
        }
}

// Field p holds rows y = p mod 2; a roi edge at y becomes ceil((y - p) / 2).
TEST(Plan, FieldsTakeTheirOwnRows) {
  Request request;
  request.interlaced = true;
  request.roi = Rect{0, 3, 4, 5};  // rows 3...7: 4, 6 of field 0; 3, 5, 7 of field 1
  const Plan plan = make_plan(gray(4, 11), request);
  EXPECT_EQ(plan.size[0].height, 6);
  EXPECT_EQ(plan.size[1].height, 5);
  ASSERT_EQ(plan.grids.size(), 2u);
  EXPECT_EQ(plan.grids[0].y0, 2);
  EXPECT_EQ(plan.grids[0].y1, 4);
  EXPECT_EQ(plan.grids[1].y0, 1);
  EXPECT_EQ(plan.grids[1].y1, 4);
  EXPECT_EQ(plan.grids[0].first_cell, plan.grids[1].first_cell);
  EXPECT_EQ(plan.pixels[0], 4u * 5u);
}

TEST(Plan, OneRowHasOneField) {
  Request request;
  request.interlaced = true;
  const Plan plan = make_plan(gray(8, 1), request);
  EXPECT_EQ(plan.grids.size(), 1u);
  EXPECT_EQ(plan.pixels[0], 8u);
}

// Rows outside first_row...last_row-1 have no say; the first and the last row of that span have.
TEST(Plan, RowsReadAreThoseThatMatter) {
  Random random(8);
  const Size size{21, 48};
  for (int n = 0; n < 3000; ++n) {
    Request request;
    request.metric = n % kMetricCount;
    request.prefilter = static_cast<Prefilter>(random.below(3));
    request.downscale = 1 << random.below(3);
    choose_regions(request, random, size);
    request.roi = random_rect(random, size);
    const Geometry geometry = gray(size.width, size.height);
    const Plan plan = make_plan(geometry, request);
    ASSERT_GE(plan.first_row, 0);
    ASSERT_LE(plan.first_row, plan.last_row);
    ASSERT_LE(plan.last_row, size.height);
    Picture picture(geometry, Fill::kRandom, Placement::kTight, 31);
    const std::vector<std::uint16_t> codes = picture.codes();
    const Totals expected = Reference(codes, size.width, size.height, 8).totals(request);
    picture.spoil_rows(0, plan.first_row);
    picture.spoil_rows(plan.last_row, size.height);
    const auto meter = cpu::make_meter(geometry);
    ASSERT_TRUE(equal_totals(plan, expected.values, totals_of(*meter, picture.frame(), plan))) << describe(request);
  }
}

TEST(Plan, RowsReadFollowTheRoi) {
  Request request;
  request.roi = Rect{0, 20, 64, 10};
  const auto rows = [&] {
    const Plan plan = make_plan(gray(64, 64), request);
    return std::pair(plan.first_row, plan.last_row);
  };
  EXPECT_EQ(rows(), std::pair(19, 31));  // tenengrad: one above, one below
  request.prefilter = Prefilter::kBinomial5;
  EXPECT_EQ(rows(), std::pair(17, 33));
  request.metric = metric_index("variance");
  EXPECT_EQ(rows(), std::pair(18, 32));
  request.downscale = 4;  // samples 5...6, smoothed from 3...8: rows 12...35
  EXPECT_EQ(rows(), std::pair(12, 36));
  request = {};
  request.metric = metric_index("roberts");
  request.roi = Rect{0, 20, 64, 10};
  EXPECT_EQ(rows(), std::pair(20, 31));
}

TEST(Plan, SamplesUpTo26BitsAreAcceptedAt16Bits) {
  for (int m = 0; m < kMetricCount; ++m) {
    Request request;
    request.metric = m;
    EXPECT_EQ(make_plan(gray(8192, 8192, 16), request).refusal, "") << metric_info(m).name;
  }
}

TEST(Plan, TotalsBeyond64BitsAreRefusedWithTheReason) {
  Request request;  // 20 * 65535^2 * 2^27 > 2^63
  const Plan plan = make_plan(gray(16384, 8192, 16), request);
  EXPECT_NE(plan.refusal.find("tenengrad"), std::string::npos) << plan.refusal;
  EXPECT_NE(plan.refusal.find("134217728"), std::string::npos) << plan.refusal;
  EXPECT_EQ(make_plan(gray(16384, 16384, 8), request).refusal, "");
  request.roi = Rect{0, 0, 8192, 8192};
  EXPECT_EQ(make_plan(gray(16384, 8192, 16), request).refusal, "");
  request.extra.push_back(Rect{0, 0, 16384, 8192});
  EXPECT_NE(make_plan(gray(16384, 8192, 16), request).refusal, "");
  request.extra.clear();
  request.roi.reset();
  request.downscale = 2;
  EXPECT_EQ(make_plan(gray(16384, 8192, 16), request).refusal, "");
}

// Eight bits and a prefilter are twelve; the bound counts the fraction bits.
TEST(Plan, RefusalCountsFractionBits) {
  Request request;
  request.prefilter = Prefilter::kBinomial5;
  request.metric = metric_index("laplacian-variance");
  EXPECT_EQ(make_plan(gray(65535, 65535, 8), request).refusal, "");   // 16 * 4080^2 * 2^32 < 2^60
  EXPECT_NE(make_plan(gray(65535, 65535, 12), request).refusal, "");  // 16 * 65520^2 * 2^32 > 2^63
}

// No 3x4 patch of extreme samples adds more than a metric declares.
TEST(Plan, BoundCoversWhatAPixelAdds) {
  for (int pattern = 0; pattern < 1 << 12; ++pattern) {
    std::vector<std::uint16_t> codes;
    for (int i = 0; i < 12; ++i) codes.push_back(pattern >> i & 1 ? 65535 : 0);
    Reference reference(codes, 4, 3, 16);
    for (int m = 0; m < kMetricCount; ++m) {
      Request request;
      request.metric = m;
      request.roi = Rect{1, 1, 1, 1};
      const Totals t = reference.totals(request);
      with_metric(m, [&](auto metric) {
        using M = decltype(metric);
        if constexpr (!M::kHistogram) {
          int word = 0;
          for (const Peak& peak : M::kPeak) {
            Wide most = peak.factor;
            for (int e = 0; e < peak.power; ++e) most *= 65535;
            const Wide v = t.values[static_cast<std::size_t>(word)];
            EXPECT_TRUE(v <= most && -v <= most) << M::kInfo.name << " total " << word << " pattern " << pattern;
            ++word;
          }
        }
      });
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace framequality::test
