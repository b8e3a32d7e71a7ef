// SPDX-License-Identifier: LGPL-2.1-or-later
// From totals to scores: exact variances, units, normalisation, and never a NaN.
#include "tests/sharpness/measure.h"
#include "tests/support/cases.h"
#include "tests/support/layouts.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

// Half the samples 0, half 65535, 2^26 of them: N * squares is near 2^84.
TEST(Score, VarianceIsFinishedIn128Bits) {
  constexpr std::int64_t kN = std::int64_t{1} << 26, kMax = 65535;
  EXPECT_DOUBLE_EQ(exact_variance(kN / 2 * kMax, kN / 2 * kMax * kMax, kN), 65535.0 * 65535.0 / 4);
  EXPECT_EQ(exact_variance(kN * kMax, kN * kMax * kMax, kN), 0);
}

// 2^26 samples of 65534 but one of 65535: the difference of two numbers near 2^84 is N - 1.
TEST(Score, VarianceOfNearlyFlatWhiteIsNotCancelled) {
  constexpr std::int64_t kN = std::int64_t{1} << 26, kLevel = 65534;
  const std::int64_t sum = kN * kLevel + 1, squares = kN * kLevel * kLevel + 2 * kLevel + 1;
  const double n = static_cast<double>(kN);
  EXPECT_DOUBLE_EQ(exact_variance(sum, squares, kN), (n - 1) / (n * n));
}

TEST(Score, NothingMeasuredScoresZero) {
  for (int m = 0; m < kMetricCount; ++m)
    for (const bool mean : {false, true}) {
      Request request;
      request.metric = m;
      request.mean = mean;
      request.roi = Rect{100, 100, 5, 5};
      request.extra = {Rect{0, 0, 0, 0}};
      request.zone_columns = 3;
      const Plan plan = make_plan(Geometry{16, 16, luma_layout(8, 1)}, request);
      const std::vector<std::int64_t> totals(static_cast<std::size_t>(plan.cells * plan.words), 0);
      const Scores s = finish(plan, totals);
      EXPECT_EQ(s.score, 0);
      EXPECT_EQ(s.zones, (std::vector<double>{0, 0, 0}));
      EXPECT_EQ(s.extra, (std::vector<double>{0}));
    }
}

// A frame of 40 and 60 in columns: mean 50, gray-difference g, variance 100.
TEST(Score, NormalizeDividesByTheMeanAboveBlackToTheUnitsPower) {
  for (const int depth : {8, 10, 16}) {
    const Geometry geometry{16, 4, luma_layout(depth, depth > 8 ? 2 : 1)};
    std::vector<std::uint16_t> codes;
    for (int i = 0; i < 64; ++i) codes.push_back(static_cast<std::uint16_t>((i % 2 ? 60 : 40) << (depth - 8)));
    Picture picture(geometry, codes);
    Request request;
    const auto score = [&](const char* nick, bool mean, int black) {
      request.metric = metric_index(nick);
      request.mean = mean;
      request.limited = black > 0;
      return scores_of(picture, request).score;
    };
    EXPECT_DOUBLE_EQ(score("variance", true, 0), 100.0 / (50 * 50));
    EXPECT_DOUBLE_EQ(score("variance", true, 16), 100.0 / (34 * 34));
    EXPECT_DOUBLE_EQ(score("normalized-variance", true, 0), 2.0 / 50);
    EXPECT_DOUBLE_EQ(score("normalized-variance", false, 16), 2.0);
    const double plain = score("gray-difference", false, 0);
    EXPECT_DOUBLE_EQ(score("gray-difference", true, 16), plain / 34);
    EXPECT_EQ(score("entropy", true, 16), score("entropy", false, 0));
  }
}

TEST(Score, NormalizeOfAFrameNotAboveBlackIsZero) {
  const Geometry geometry{8, 8, luma_layout(8, 1)};
  std::vector<std::uint16_t> codes;
  for (int i = 0; i < 64; ++i) codes.push_back(static_cast<std::uint16_t>(i % 2 ? 4 : 20));  // mean 12
  Picture picture(geometry, codes);
  for (int m = 0; m < kMetricCount; ++m) {
    Request request;
    request.metric = m;
    request.mean = true;
    request.limited = true;
    const double v = scores_of(picture, request).score;
    // Entropy is 1 bit. Columns one pixel wide have no Sobel gradient, but first differences: R is 4 along x, 2 along
    // the diagonals.
    const double wanted = m == metric_index("entropy") ? 1 : m == metric_index("directional-frequency") ? 2.4 : 0;
    EXPECT_DOUBLE_EQ(v, wanted) << metric_info(m).name;
  }
}

TEST(Score, BlackFrameHasNoNormalizedVariance) {
  Picture picture(Geometry{8, 8, luma_layout(8, 1)}, Fill::kZero, Placement::kTight, 1);
  Request request;
  request.metric = metric_index("normalized-variance");
  EXPECT_EQ(scores_of(picture, request).score, 0);
}

// Score of zones, frame and extra regions are finished from their own totals and pixels.
TEST(Score, FrameIsTheSumOfItsZones) {
  Request request;
  request.metric = metric_index("entropy");
  request.zone_columns = 2;
  request.extra = {Rect{0, 0, 1, 1}};
  const Plan plan = make_plan(Geometry{4, 1, luma_layout(8, 1)}, request);
  std::vector<std::int64_t> totals(static_cast<std::size_t>(3 * kHistogramBins), 0);
  totals[0] = 2;                       // left zone: two black pixels
  totals[kHistogramBins + 255] = 2;    // right zone: two white ones
  totals[2 * kHistogramBins + 0] = 1;  // the extra region's one
  const Scores s = finish(plan, totals);
  EXPECT_EQ(s.score, 1);
  EXPECT_EQ(s.zones, (std::vector<double>{0, 0}));
  EXPECT_EQ(s.extra, (std::vector<double>{0}));
}

// The least of three scales, for each cell of those that have a pixel at the scale whose neighbours are all there;
// where noise is taken off, of those that see more than noise.
TEST(Score, OfAllScalesTheLeastCounts) {
  Random random(9);
  for (int n = 0; n < 600; ++n) {
    const Size size{1 + random.below(70), 1 + random.below(70)};
    const int depth = random.one_in(2) ? 8 : 12;
    const Geometry geometry{size.width, size.height, luma_layout(depth, depth > 8 ? 2 : 1)};
    Picture picture(geometry, kFills[static_cast<std::size_t>(random.below(10))], Placement::kTight, random.next());
    Request request;
    request.metric = n % kMetricCount;
    request.prefilter = static_cast<Prefilter>(random.below(3));
    request.statistics = random.one_in(2);
    request.noise_correction = random.one_in(2);
    request.mean = random.one_in(2);
    choose_regions(request, random, size);
    request.downscale = 1;
    Scores least = scores_of(picture, request);
    const bool is_corrected = request.noise_correction;
    const auto take = [&](double& to, double score, std::uint64_t inner) {
      if (inner == 0 || (is_corrected && score == 0)) return false;
      if (!(score < to) && !(is_corrected && to == 0)) return false;
      to = score;
      return true;
    };
    for (const int k : {2, 4}) {
      request.downscale = k;
      const Plan plan = make_plan(geometry, request);
      const Scores s = scores_of(picture, request);
      std::uint64_t inner = 0;
      for (std::size_t cell = 0; cell < plan.inner.size(); ++cell) {
        const bool is_zone = cell < s.zones.size();
        if (is_zone) inner += plan.inner[cell];
        const std::size_t i = is_zone ? cell : cell - s.zones.size();
        take(is_zone ? least.zones[i] : least.extra[i], is_zone ? s.zones[i] : s.extra[i], plan.inner[cell]);
      }
      if (take(least.score, s.score, inner) && request.metric == kDirectionalMetric) least.blur = s.blur;
    }
    request.downscale = 0;
    const Scores all = scores_of(picture, request);
    EXPECT_EQ(all.score, least.score) << describe(request);
    EXPECT_EQ(all.zones, least.zones) << describe(request);
    EXPECT_EQ(all.extra, least.extra) << describe(request);
    ASSERT_EQ(all.blur.has_value(), least.blur.has_value());
    if (all.blur) {
      EXPECT_EQ(all.blur->kind, least.blur->kind) << describe(request);
    }
  }
}

TEST(Score, SharpestZonesAreTheHighest) {
  const double zones[] = {1, 5, 2, 4};
  EXPECT_EQ(sharpest_zones(zones, 1), 5);
  EXPECT_EQ(sharpest_zones(zones, 2), 4.5);
  EXPECT_EQ(sharpest_zones(zones, 9), 3);
  EXPECT_EQ(sharpest_zones({}, 3), 0);
}

TEST(Score, NeverNaNOrInfinite) {
  Random random(4);
  for (int n = 0; n < 4000; ++n) {
    const Size size{1 + random.below(9), 1 + random.below(9)};
    const int depth = 8 + random.below(9);
    const Geometry geometry{size.width, size.height, luma_layout(depth, depth > 8 ? 2 : 1)};
    Picture picture(geometry, kFills[static_cast<std::size_t>(random.below(10))], Placement::kTight, random.next());
    Request request;
    request.metric = n % kMetricCount;
    request.prefilter = static_cast<Prefilter>(random.below(3));
    request.downscale = std::array{0, 1, 2, 4}[static_cast<std::size_t>(random.below(4))];
    request.limited = random.one_in(2);
    request.statistics = random.one_in(2);
    request.noise_correction = random.one_in(2);
    choose_regions(request, random, size);
    const Plan plan = make_plan(geometry, request);
    Reference reference(picture.codes(), size.width, size.height, depth);
    const Scores s = finish(plan, reference.totals(request).values);
    EXPECT_TRUE(std::isfinite(s.score)) << describe(request);
    for (const double v : s.zones) EXPECT_TRUE(std::isfinite(v)) << describe(request);
    for (const double v : s.extra) EXPECT_TRUE(std::isfinite(v)) << describe(request);
  }
}

}  // namespace
}  // namespace framequality::test
