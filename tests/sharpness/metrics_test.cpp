// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores that can be worked out by hand, flat and tiny images, and what must not depend on depth or memory layout.
#include "tests/sharpness/measure.h"
#include "tests/support/effort.h"
#include "tests/support/layouts.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

/// A small picture of codes given by a function of (x, y).
template <class F>
Picture drawn(int width, int height, const PixelLayout& layout, F&& code) {
  std::vector<std::uint16_t> codes;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) codes.push_back(static_cast<std::uint16_t>(code(x, y)));
  return Picture(Geometry{width, height, layout}, codes);
}

const PixelLayout kGray8 = luma_layout(8, 1);

/// Expects this score of each metric; every metric of the list must be there.
void expect_scores(Picture& picture, const std::map<std::string, double>& expected, Request request = {}) {
  for (int m = 0; m < kMetricCount; ++m) {
    request.metric = m;
    const std::string name = metric_info(m).name;
    ASSERT_TRUE(expected.contains(name)) << name << " has no known answer";
    const double wanted = expected.at(name);
    EXPECT_NEAR(scores_of(picture, request).score, wanted, 1e-12 * std::abs(wanted)) << name;
  }
}

// One pixel of 100 in the middle of a black 5x5; N = 25.
TEST(KnownAnswers, Impulse) {
  Picture picture = drawn(5, 5, kGray8, [](int x, int y) { return x == 2 && y == 2 ? 100 : 0; });
  expect_scores(picture, {
                             {"variance", 384},        // (25 * 10000 - 100^2) / 625
                             {"roberts", 16},          // four squares see it on one diagonal: 400 / 25
                             {"tenengrad", 9600},      // (1+4+1 + 1+4+1) * 2 * 10000 / 25
                             {"laplacian", 32},        // 200 + 200 at it, 100 at each of 4 neighbours: 800 / 25
                             {"gray-difference", 16},  // 100 + 100 at it, 100 left, 100 above: 400 / 25
                             {"gray-difference-product", 400},  // only at it both differ: 10000 / 25
                             {"max-min", 36},                   // nine squares: 900 / 25
                             {"entropy", -(0.04 * std::log2(0.04) + 0.96 * std::log2(0.96))},
                             {"laplacian-variance", 8000},                       // sum 0; (400^2 + 4 * 100^2) / 25
                             {"brenner", 800},                                   // from x = 0 and to x = 4: 20000 / 25
                             {"normalized-variance", 96},                        // 384 / mean 4
                             {"vollath-f4", 0},                                  // its right neighbours are both 0
                             {"mean-square-frequency", 64 * 200000.0 / 240000},  // of the two above, x 25
                             // (200^2 + 2 * 100^2) / (2 * 100^2) = 3 along x and y; half of it along the diagonals
                             {"directional-frequency", 4 / (2 / 3.0 + 2 / 1.5)},
                         });
}

// Columns 0...2 are 10, columns 3...5 are 50, four rows; N = 24.
TEST(KnownAnswers, StepEdge) {
  Picture picture = drawn(6, 4, kGray8, [](int x, int) { return x < 3 ? 10 : 50; });
  expect_scores(picture, {
                             {"variance", 400},                     // 20 from the mean 30 everywhere
                             {"roberts", 10},                       // both diagonals, 3 rows: 3 * 80 / 24
                             {"tenengrad", 102400.0 / 24},          // Gx = 160 at x = 2, 3 in 2 rows
                             {"laplacian", 160.0 / 24},             // 40 at x = 2, 3 in 2 rows
                             {"gray-difference", 5},                // 40 at x = 2 in 3 rows
                             {"gray-difference-product", 0},        // nothing changes downwards
                             {"max-min", 160.0 / 24},               // 40 at x = 2, 3 in 2 rows
                             {"entropy", 1},                        // two equal halves
                             {"laplacian-variance", 12800.0 / 24},  // +40 and -40 at x = 2, 3 in 4 rows
                             {"brenner", 12800.0 / 24},             // 40 at x = 1, 2 in 4 rows
                             {"normalized-variance", 400.0 / 30},
                             {"vollath-f4", -1600.0 / 24},  // 10 * (10 - 50) at x = 1 in 4 rows
                             {"mean-square-frequency", 4},  // 64 * 40^2 / 160^2 at x = 2, 3 in 2 rows
                             // 2 * 40^2 / 40^2 along x, nothing along y, half of it along the diagonals
                             {"directional-frequency", 3 / (1 / 2.0 + 1 + 1)},
                         });
}

// g = 4x + 7y on 7x5; N = 35.
TEST(KnownAnswers, Ramp) {
  Picture picture = drawn(7, 5, kGray8, [](int x, int y) { return 4 * x + 7 * y; });
  expect_scores(picture, {
                             {"variance", 162},                // 16 * var(0...6) + 49 * var(0...4) = 16*4 + 49*2
                             {"roberts", 336.0 / 35},          // |4+7| + |7-4| in 6 * 4 squares
                             {"tenengrad", 62400.0 / 35},      // (8*4)^2 + (8*7)^2 in 5 * 3 pixels
                             {"laplacian", 0},                 // no bend
                             {"gray-difference", 264.0 / 35},  // (4 + 7) * 24
                             {"gray-difference-product", 672.0 / 35},  // 4 * 7 * 24
                             {"max-min", 330.0 / 35},                  // (2*4 + 2*7) * 15
                             {"entropy", std::log2(35.0)},             // all 35 differ
                             // The reflected border bends: 8, -8 at the sides, 14, -14 above and below; sum 0,
                             // squares 5 * (64 + 64) + 7 * (196 + 196), cross terms cancel.
                             {"laplacian-variance", 3384.0 / 35},
                             {"brenner", 1600.0 / 35},             // 8^2 in 5 * 5
                             {"normalized-variance", 162.0 / 26},  // mean 4*3 + 7*2
                             {"vollath-f4", -2200.0 / 35},         // -4 * sum over x <= 4: 25 * (4*2 + 7*2)
                             {"mean-square-frequency", 0},         // no bend
                             {"directional-frequency", 0},
                         });
}

// binomial3 turns an impulse of 100 into 100 / 16 * {1 2 1, 2 4 2, 1 2 1}: sum 100, squares 10000 / 256 * 6^2.
TEST(KnownAnswers, ImpulseThroughBinomial3) {
  Picture picture = drawn(5, 5, kGray8, [](int x, int y) { return x == 2 && y == 2 ? 100 : 0; });
  Request request;
  request.prefilter = Prefilter::kBinomial3;
  request.metric = metric_index("variance");
  EXPECT_DOUBLE_EQ(scores_of(picture, request).score, (25 * 1406.25 - 10000) / 625);
  request.metric = metric_index("max-min");  // 25 at the nine interior pixels: each sees the middle, 4/16, and a 0...
  // ...but the middle one, which sees no less than 1/16.
  EXPECT_DOUBLE_EQ(scores_of(picture, request).score, (8 * 25 + 18.75) / 25);
}

// An edge pixel is repeated beyond the border, so a flat frame stays flat and a corner keeps (1+2)^2 / 16 of itself.
TEST(KnownAnswers, CornerThroughBinomial3) {
  Picture picture = drawn(3, 3, kGray8, [](int x, int y) { return x == 0 && y == 0 ? 160 : 0; });
  Request request;
  request.prefilter = Prefilter::kBinomial3;
  request.metric = metric_index("max-min");  // the one interior pixel: 9/16 of 160, less 0
  EXPECT_DOUBLE_EQ(scores_of(picture, request).score, 90.0 / 9);
}

// 2x2 boxes of 5x5: the last row and column are left out; boxes 10, 20 / 30, 41.5 are kept to a quarter of a code.
TEST(KnownAnswers, DownscaleKeepsFractionsAndDropsTheRest) {
  const int codes[5][5] = {{10, 10, 20, 20, 255},
                           {10, 10, 20, 20, 255},
                           {30, 30, 41, 42, 255},
                           {30, 30, 42, 41, 255},
                           {255, 255, 255, 255, 255}};
  Picture picture = drawn(5, 5, kGray8, [&](int x, int y) { return codes[y][x]; });
  Request request;
  request.downscale = 2;
  request.metric = metric_index("roberts");
  EXPECT_DOUBLE_EQ(scores_of(picture, request).score, (31.5 + 10) / 4);
  request.metric = metric_index("gray-difference");
  EXPECT_DOUBLE_EQ(scores_of(picture, request).score, (10 + 20) / 4.0);
}

// Two fields, each a picture of its own: lines of a comb do not show as edges.
TEST(KnownAnswers, CombHasNoVerticalDetailWhenInterlaced) {
  Picture picture = drawn(6, 6, kGray8, [](int, int y) { return y % 2 ? 200 : 0; });
  Request request;
  EXPECT_EQ(scores_of(picture, request).score, 0);  // Sobel sees rows y-1 and y+1, which are equal...
  request.metric = metric_index("laplacian");
  EXPECT_DOUBLE_EQ(scores_of(picture, request).score, 400.0 * 16 / 36);
  request.interlaced = true;
  EXPECT_EQ(scores_of(picture, request).score, 0);
}

TEST(Metrics, FlatFieldScoresZero) {
  for (const NamedLayout& named : layouts())
    for (const int level : {0, 1, 2}) {
      const int code = level * ((1 << named.layout.depth) - 1) / 2;
      Picture picture = drawn(13, 11, named.layout, [&](int, int) { return code; });
      for (int m = is_quick() ? level : 0; m < kMetricCount; m += is_quick() ? 3 : 1)
        for (const Prefilter prefilter : {Prefilter::kNone, Prefilter::kBinomial3, Prefilter::kBinomial5}) {
          Request request;
          request.metric = m;
          request.prefilter = prefilter;
          const double score = scores_of(picture, request).score;
          EXPECT_EQ(score, 0) << named.name << " " << describe(request);
          EXPECT_FALSE(std::signbit(score)) << named.name << " " << describe(request);
        }
    }
}

TEST(Metrics, FramesSmallerThanTheWindowScoreZero) {
  for (int w = 1; w <= 3; ++w)
    for (int h = 1; h <= 3; ++h) {
      Picture picture(Geometry{w, h, kGray8}, Fill::kRandom, Placement::kTight, 77);
      for (int m = 0; m < kMetricCount; ++m) {
        Request request;
        request.metric = m;
        const double score = scores_of(picture, request).score;
        EXPECT_TRUE(std::isfinite(score));
        const std::string name = metric_info(m).name;
        const bool forward = name == "roberts" || name.starts_with("gray-difference");
        const bool interior =
            name == "tenengrad" || name == "laplacian" || name == "max-min" || name.ends_with("frequency");
        const bool two_right = name == "brenner" || name == "vollath-f4";
        if ((forward && (w < 2 || h < 2)) || (interior && (w < 3 || h < 3)) || (two_right && w < 3) || w * h == 1) {
          EXPECT_EQ(score, 0) << name << " " << w << "x" << h;
        } else {
          EXPECT_NE(score, 0) << name << " " << w << "x" << h;
        }
      }
    }
}

TEST(Metrics, DownscaledToNothingScoresZero) {
  Picture picture(Geometry{3, 9, kGray8}, Fill::kRandom, Placement::kTight, 5);
  for (int m = 0; m < kMetricCount; ++m) {
    Request request;
    request.metric = m;
    request.downscale = 4;
    EXPECT_EQ(scores_of(picture, request).score, 0) << metric_info(m).name;
  }
}

// Codes shifted to a deeper format score alike, exactly when no fraction bit is rounded.
TEST(Metrics, ShiftedCodesScoreAlikeAtEveryDepth) {
  Picture shallow(Geometry{61, 23, kGray8}, Fill::kRandom, Placement::kTight, 3);
  for (const int depth : {9, 10, 12, 14, 16}) {
    std::vector<std::uint16_t> codes;
    for (const std::uint16_t c : shallow.codes()) codes.push_back(static_cast<std::uint16_t>(c << (depth - 8)));
    Picture deep(Geometry{61, 23, luma_layout(depth, 2)}, codes);
    for (int m = 0; m < kMetricCount; ++m) {
      Request request;
      request.metric = m;
      EXPECT_DOUBLE_EQ(scores_of(deep, request).score, scores_of(shallow, request).score)
          << metric_info(m).name << " at " << depth << " bits";
    }
  }
}

TEST(Metrics, StrideAndPaddingDoNotMatter) {
  for (const NamedLayout& named : layouts()) {
    const Geometry geometry{45, 19, named.layout};
    Picture tight(geometry, Fill::kRandom, Placement::kTight, 9);
    for (const Placement placement : kPlacements) {
      Picture padded(geometry, tight.codes(), placement);
      Picture plain(Geometry{45, 19, luma_layout(named.layout.depth, named.layout.depth > 8 ? 2 : 1)}, tight.codes());
      for (const char* nick : {"tenengrad", "entropy", "laplacian-variance"}) {
        Request request;
        request.metric = metric_index(nick);
        const double expected = scores_of(plain, request).score;
        EXPECT_EQ(scores_of(tight, request).score, expected) << named.name;
        EXPECT_EQ(scores_of(padded, request).score, expected)
            << named.name << " " << kPlacementNames[static_cast<std::size_t>(placement)];
      }
    }
  }
}

// Sum-type metrics: the zones' scores, weighted by their pixels, average to the frame's.
TEST(Metrics, ZonesAverageToTheFrame) {
  Picture picture(Geometry{53, 37, kGray8}, Fill::kNearLimits, Placement::kTight, 21);
  for (int m = 0; m < kMetricCount; ++m) {
    const std::string name = metric_info(m).name;
    if (name.ends_with("variance") || name == "entropy" || name.ends_with("frequency")) continue;
    Request request;
    request.metric = m;
    request.zone_columns = 5;
    request.zone_rows = 3;
    const Scores scores = scores_of(picture, request);
    const Plan plan = make_plan(picture.geometry(), request);
    double sum = 0;
    for (std::size_t i = 0; i < scores.zones.size(); ++i) sum += scores.zones[i] * static_cast<double>(plan.pixels[i]);
    EXPECT_NEAR(sum / (53 * 37), scores.score, 1e-12 * std::abs(scores.score)) << name;
    Request whole;
    whole.metric = m;
    EXPECT_EQ(scores.score, scores_of(picture, whole).score) << name;
  }
}

// Exposure cancels: twice the light, the same normalized score.
TEST(Metrics, NormalizeMeanCancelsExposure) {
  Picture dim = drawn(31, 17, kGray8, [](int x, int y) { return (x * 37 + y * 91) % 120; });
  Picture bright = drawn(31, 17, kGray8, [](int x, int y) { return 2 * ((x * 37 + y * 91) % 120); });
  for (int m = 0; m < kMetricCount; ++m) {
    Request request;
    request.metric = m;
    request.mean = true;
    const double a = scores_of(dim, request).score, b = scores_of(bright, request).score;
    // normalized-variance is a code metric like any other: variance / mean, then / mean once more.
    if (m != metric_index("entropy")) {
      EXPECT_NEAR(a, b, 1e-12 * std::abs(a)) << metric_info(m).name;
    }
  }
}

}  // namespace
}  // namespace framequality::test
