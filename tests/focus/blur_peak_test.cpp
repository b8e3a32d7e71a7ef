// SPDX-License-Identifier: LGPL-2.1-or-later
// The peak as defocus makes it: what its fit recovers from few positions, and when it says nothing.
#include "algorithms/focus/blur_peak.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::focus {
namespace {

std::vector<FocusSample> seen(const BlurPeak& peak, double first, double stride, int count) {
  std::vector<FocusSample> samples;
  for (int i = 0; i < count; ++i) samples.push_back({first + i * stride, peak.score(first + i * stride), 1});
  return samples;
}

TEST(BlurPeak, FiveDistantPositionsTellTheTop) {
  for (const double power : {0.5, 1.0, 1.8})
    for (const double top : {21.0, 24.0, 28.5}) {
      const BlurPeak truth{.top = top, .height = 7, .width = 12, .power = power};
      const auto fit = blur_peak_of(seen(truth, 0, 10, 6), 0, 20, 12);
      ASSERT_TRUE(fit) << power << " " << top;
      EXPECT_NEAR(fit->top, top, 0.3) << power;
      EXPECT_LT(fit->error, 1);
      EXPECT_LT(fit->off, 0.01);
    }
}

TEST(BlurPeak, ScoreAndDistanceAreInverse) {
  const BlurPeak peak{.top = 50, .height = 3, .width = 9, .power = 0.8};
  for (const double d : {2.0, 9.0, 30.0}) EXPECT_NEAR(peak.distance(peak.score(50 + d)), d, 1e-9);
  EXPECT_EQ(peak.distance(4), 0);
  const FocusPeak bell = peak.bell(1);
  EXPECT_NEAR(bell.score(50), 3, 1e-12);
  EXPECT_NEAR(bell.score(50 + peak.distance(2)), 2, 1e-3) << "half its height";
}

TEST(BlurPeak, ThreeLooksPlaceAKnownShape) {
  const BlurPeak known{.top = 50, .height = 3, .width = 9, .power = 0.8};
  for (const double top : {44.0, 50.0, 53.3, 58.0})
    for (const double height : {2.5, 3.0, 3.6}) {
      BlurPeak truth = known;
      truth.top = top, truth.height = height;
      const auto fit = placed_peak(known, seen(truth, 46, 4, 3), 0.001, 37, 63);
      ASSERT_TRUE(fit);
      EXPECT_NEAR(fit->top, top, 0.1) << height;
      EXPECT_NEAR(fit->height, height, 0.02 * height) << top;
      EXPECT_LT(fit->squares, 0.5);
      EXPECT_LT(fit->error, 0.7) << top;
      // A narrower peak is another one.
      truth.width = 4;
      EXPECT_GT(placed_peak(known, seen(truth, 46, 4, 3), 0.001, 37, 63)->squares, 9) << top;
    }
  EXPECT_FALSE(placed_peak(known, std::vector<FocusSample>{{46, 1, 1}, {50, 0, 1}, {54, 1, 1}}, 0, 37, 63));
}

TEST(BlurPeak, OneSideLeavesTheTopUncertain) {
  const BlurPeak truth{.top = 40, .height = 5, .width = 10};
  const auto both = blur_peak_of(seen(truth, 10, 10, 6), 0, 40, 12);
  const auto one = blur_peak_of(seen(truth, -15, 10, 5), 0, 25, 12);
  ASSERT_TRUE(both);
  EXPECT_TRUE(!one || one->error > 5 * both->error);
}

TEST(BlurPeak, AnotherShapeShowsInWhatItIsOff) {
  std::vector<FocusSample> samples;
  for (double x = 0; x <= 60; x += 10) samples.push_back({x, 50 + 1000 * std::exp2(-std::abs(x - 33) / 5), 1});
  const auto fit = blur_peak_of(samples, 0, 30, 12);
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->off, 0.012);
}

TEST(BlurPeak, SaysNothingOfFewSamplesOrScoresBelowZero) {
  const BlurPeak truth{.top = 20, .height = 7, .width = 12};
  EXPECT_FALSE(blur_peak_of({}, 0, 0, 1));
  EXPECT_FALSE(blur_peak_of(seen(truth, 10, 10, 3), 0, 20, 12));
  auto samples = seen(truth, 0, 10, 6);
  samples[1].score = 0;
  EXPECT_FALSE(blur_peak_of(samples, 0, 20, 12));
}

}  // namespace
}  // namespace framequality::focus
