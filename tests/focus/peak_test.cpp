// SPDX-License-Identifier: LGPL-2.1-or-later
// The peak of a score: on curves whose top, width and noise are known.
#include "algorithms/focus/peak.h"

#include "algorithms/split_mix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using Curve = std::function<double(double)>;
using Row = std::vector<FocusSample>;

double gaussian(SplitMix& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

Row row_of(const Curve& curve, double from, double to, double step, double noise = 0, std::uint64_t seed = 1) {
  SplitMix random(seed);
  Row row;
  for (double at = from; at <= to + 1e-9; at += step) row.push_back({at, curve(at) + noise * gaussian(random), 1});
  return row;
}

Curve bell(double top, double width, double height = 1000, double floor = 50) {
  return [=](double x) { return floor + height * std::exp(-(x - top) * (x - top) / (2 * width * width)); };
}
/// An edge at the top; leaning: its right flank is so many times as wide as the left one.
Curve tent(double top, double width, double leaning = 1) {
  return [=](double x) { return 50 + 1000 * std::exp(-std::abs(x - top) / width / (x > top ? leaning : 1)); };
}
/// Round, with a flank that is wider than the other.
Curve leaning(double top, double width, double factor) {
  return [=](double x) {
    const double d = (x - top) / (x > top ? width * factor : width);
    return 50 + 1000 / (1 + d * d);
  };
}

double rms(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(FocusPeak, DistanceIsTheInverseOfScore) {
  const FocusPeak peak{.top = 30, .floor = -5, .height = 70, .width = 4};
  EXPECT_EQ(peak.score(30), 65);
  for (const double off : {0.1, 1.0, 4.0, 11.0}) {
    EXPECT_NEAR(peak.distance(peak.score(30 + off), 9), off, 1e-6 * off) << off;
    EXPECT_EQ(peak.score(30 + off), peak.score(30 - off));
  }
  EXPECT_EQ(peak.distance(1000, 9), 0) << "higher than its top";
  EXPECT_EQ(peak.distance(-5, 9), 36) << "the floor";
  EXPECT_EQ(peak.distance(-100, 9), 36) << "below it";
  EXPECT_EQ(peak.distance(peak.score(42), 2), 8);
}

TEST(FocusPeak, MedianIsTheMiddleOne) {
  EXPECT_EQ(focus::median({}), 0);
  EXPECT_EQ(focus::median({7}), 7);
  EXPECT_EQ(focus::median({9, -1, 3}), 3);
  EXPECT_EQ(focus::median({1, 1, 1, 1e9}), 1);
}

// --- Noise -----------------------------------------------------------------------------------------------------------

TEST(FocusNoise, OfAConstantRowIsItsOwn) {
  for (const double sigma : {0.01, 1.0, 300.0}) {
    const double told = focus::noise_of(row_of([](double) { return 500.0; }, 0, 2000, 1, sigma));
    // Neighbouring differences are correlated: the median of 2000 of them is within 5% or so.
    EXPECT_NEAR(told, sigma, 0.1 * sigma);
  }
}

TEST(FocusNoise, CurvesThatAParabolaFollowsHaveNone) {
  for (const Curve& curve : {Curve([](double) { return 3.0; }), Curve([](double x) { return 7 * x; }),
                             Curve([](double x) { return 4 - x * x; })})
    EXPECT_NEAR(focus::noise_of(row_of(curve, 0, 20, 1)), 0, 1e-9);
}

TEST(FocusNoise, OfAPeakIsAnUpperBoundThatIsNotFarAbove) {
  // Samples half a width apart, as a sweep has them: third differences of a bell are as much as 0.1 of its height,
  // within a width or two, and these are fewer than half of the row.
  for (const double sigma : {2.0, 10.0, 50.0}) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
      sum += focus::noise_of(row_of(bell(37, 8), 0, 100, 4, sigma, seed)) / sigma / 50;
    EXPECT_GT(sum, 0.85) << sigma;
    EXPECT_LT(sum, sigma > 5 ? 1.7 : 4) << sigma;
  }
}

TEST(FocusNoise, FewOutliersDoNotCount) {
  Row row = row_of([](double) { return 100.0; }, 0, 100, 1, 1);
  const double before = focus::noise_of(row);
  for (const std::size_t i : {20u, 60u}) row[i].score = 5000;
  EXPECT_NEAR(focus::noise_of(row), before, 0.3 * before);
}

TEST(FocusNoise, OfFewerThanFourIsNotKnown) {
  const Row row{{0, 5}, {1, 900}, {2, -3}, {3, 5}};
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(focus::noise_of(std::span(row).first(n)), 0) << n;
  EXPECT_GT(focus::noise_of(row), 0);
}

// --- Significance ----------------------------------------------------------------------------------------------------

TEST(FocusSignificance, CountsStandardDeviations) {
  // Windows of one sample: the rise itself. Of 21 samples the sixth lowest is the level.
  Row row;
  for (int i = 0; i <= 20; ++i) row.push_back({static_cast<double>(i), 100, 1});
  row[9].score = 130;
  EXPECT_NEAR(focus::significance(row, 1, 5), 6, 1e-9);
  row[9].frames = 4;
  EXPECT_NEAR(focus::significance(row, 1, 5), 12, 1e-9) << "the mean of four frames is as noisy as half of one";
}

TEST(FocusSignificance, WideWindowsSeeWidePeaksThroughNoise) {
  const Row row = row_of(bell(50, 12, 50), 0, 100, 2, 20);
  EXPECT_GT(focus::significance(row, 12, 20), 1.3 * focus::significance(row, 2, 20));
}

TEST(FocusSignificance, ConstantRowsHaveNone) {
  const Row row = row_of([](double) { return 7.0; }, 0, 20, 1);
  EXPECT_LT(focus::significance(row, 3, 1), 1e-9) << "more than rounding";
  EXPECT_LT(focus::significance(row, 6, 1), 1e-9);
}

TEST(FocusSignificance, WithoutNoiseEverythingStandsOut) {
  EXPECT_GT(focus::significance(row_of(bell(10, 3), 0, 20, 1), 3, 0), 1000);
}

TEST(FocusSignificance, OfASingleSampleIsNone) {
  EXPECT_EQ(focus::significance({}, 3, 1), 0);
  EXPECT_EQ(focus::significance(Row{{0, 1e6}}, 3, 1), 0);
  EXPECT_GT(focus::significance(Row{{0, 1}, {1, 1e6}}, 1.5, 1), 1000);
}

TEST(FocusSignificance, NoiseAloneSeldomStandsOut) {
  int stands_out = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Row row = row_of([](double) { return 300.0; }, 0, 100, 5, 10, seed);
    stands_out += focus::significance(row, 7.5, 10) > 6 || focus::significance(row, 15, 10) > 6;
  }
  EXPECT_LE(stands_out, 2);
}

// --- The peak of a row -----------------------------------------------------------------------------------------------

TEST(FocusPeakOf, BellsHaveTheirTopAndWidth) {
  for (const double width : {4.0, 7.0, 12.0})
    for (double top = 30; top <= 40; top += 0.7) {
      const FocusPeak peak = focus::peak_of(row_of(bell(top, width), 0, 100, 4), 0);
      // Its floor is the lowest sample: the bell's own to less than a part in a thousand. Crossings are on straight
      // lines between samples.
      EXPECT_NEAR(peak.top, top, 0.05) << width;
      EXPECT_NEAR(peak.width, width, 0.12 * width) << top;
      EXPECT_NEAR(peak.floor, 50, 1);
      EXPECT_NEAR(peak.height, 1000, 125) << "of the best sample, at most half a step of 4 off";
    }
}

TEST(FocusPeakOf, TopsOfOtherShapesAreWithinAStep) {
  for (double top = 30; top <= 40; top += 0.7)
    for (const Curve& curve : {tent(top, 8), tent(top, 8, 1.5), leaning(top, 6, 1.4), leaning(top, 9, 0.6)})
      EXPECT_NEAR(focus::peak_of(row_of(curve, 0, 100, 4), 0).top, top, 4);
}

TEST(FocusPeakOf, NoiseDoesNotChooseTheTop) {
  std::vector<double> off;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const double top = 30 + 0.1 * static_cast<double>(seed);
    off.push_back(focus::peak_of(row_of(bell(top, 10), 0, 100, 4, 100, seed), 100).top - top);
  }
  // A tenth of the height as noise: with five samples within a width it is 0.1 * 10 / sqrt(5) at best.
  EXPECT_LT(rms(off), 3);
}

TEST(FocusPeakOf, PeaksAtTheEndsAreThere) {
  for (const double top : {0.0, 100.0, -6.0, 106.0}) {
    const FocusPeak peak = focus::peak_of(row_of(bell(top, 10), 0, 100, 4), 0);
    EXPECT_NEAR(peak.top, std::clamp(top, 0.0, 100.0), 1) << top;
    EXPECT_GE(peak.top, 0);
    EXPECT_LE(peak.top, 100);
    if (top >= 0 && top <= 100) {
      EXPECT_NEAR(peak.width, 10, 1.5) << "told from the side that is there";
    }
  }
}

TEST(FocusPeakOf, OneSampleAndConstantRowsHaveNoHeight) {
  const FocusPeak one = focus::peak_of(Row{{42, 17}}, 0);
  EXPECT_EQ(one.top, 42);
  EXPECT_EQ(one.height, 0);
  EXPECT_EQ(one.floor, 17);
  EXPECT_GT(one.width, 0);
  for (const std::size_t n : {2u, 3u, 4u, 30u}) {
    Row row;
    for (std::size_t i = 0; i < n; ++i) row.push_back({static_cast<double>(i), -4});
    const FocusPeak peak = focus::peak_of(row, 0);
    EXPECT_EQ(peak.height, 0) << n;
    EXPECT_GE(peak.top, 0);
    EXPECT_LE(peak.top, static_cast<double>(n - 1));
    EXPECT_TRUE(std::isfinite(peak.width) && peak.width > 0);
  }
}

TEST(FocusPeakOf, APeakOfOneSampleIsHalfAsWideAsTheNextAreApart) {
  Row row;
  for (int i = 0; i <= 10; ++i) row.push_back({5.0 * i, i == 6 ? 900.0 : 100.0});
  const FocusPeak peak = focus::peak_of(row, 0);
  EXPECT_NEAR(peak.top, 30, 1e-9);
  EXPECT_NEAR(1.1774 * peak.width, 2.5, 1e-3);
}

// --- Both sides ------------------------------------------------------------------------------------------------------

struct Shape {
  const char* name;
  Curve curve;
  double share;  ///< of the step that its top may be off: 1.5 times what is seen, a third of a step at most
};
std::vector<Shape> shapes(double top, double width) {
  return {{"bell", bell(top, width), 0.05},
          {"tent", tent(top, width), 0.22},
          {"leaning tent", tent(top, width, 1.5), 0.24},
          {"leaning to the right", leaning(top, width, 1.5), 0.34},
          {"leaning to the left", leaning(top, width, 0.67), 0.3}};
}

TEST(FocusBisected, FindsTopsOfAnyShapeToAShareOfTheStep) {
  constexpr double kStep = 4;
  for (const double width : {8.0, 12.0, 20.0}) {
    std::map<std::string, double> worst;
    for (double top = 40; top <= 60; top += 0.37)
      for (const Shape& shape : shapes(top, width)) {
        const Row row = row_of(shape.curve, 0, 100, kStep);
        const auto peak = focus::bisected(focus::peak_of(row, 0), row, 0);
        ASSERT_TRUE(peak) << shape.name << ", width " << width << ", top " << top;
        worst[shape.name] = std::max(worst[shape.name], std::abs(peak->top - top) / kStep);
        EXPECT_EQ(peak->error, 0) << "no noise";
      }
    for (const Shape& shape : shapes(0, 1)) {
      EXPECT_LE(worst[shape.name], shape.share) << shape.name << ", width " << width;
      std::printf("bisected, width %.0f, %s: %.2f of a step\n", width, shape.name, worst[shape.name]);
    }
  }
}

TEST(FocusBisected, ErrorIsThatOfTheTop) {
  constexpr double kNoise = 10;
  for (const double width : {8.0, 16.0}) {
    std::vector<double> off, told;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      const double top = 40 + 0.05 * static_cast<double>(seed);
      const Row row = row_of(bell(top, width), 0, 100, 4, kNoise, seed);
      const auto peak = focus::bisected(focus::peak_of(row, kNoise), row, kNoise);
      if (!peak) continue;
      off.push_back(peak->top - top);
      told.push_back(peak->error);
    }
    EXPECT_GE(off.size(), 290u);
    EXPECT_GT(rms(told), rms(off) / 2);
    EXPECT_LT(rms(told), rms(off) * 2);
    std::printf("bisected, width %.0f, noise 1%%: off by %.2f, told %.2f\n", width, rms(off), rms(told));
  }
}

TEST(FocusBisected, NeedsBothSidesDownToHalf) {
  const Curve curve = bell(50, 10);
  const auto bisected = [&](double from, double to) {
    const Row row = row_of(curve, from, to, 3);
    FocusPeak known{.top = 50, .floor = 50, .height = 1000, .width = 10};
    return focus::bisected(known, row, 0);
  };
  // Half of the height is 11.8 off the top.
  EXPECT_TRUE(bisected(35, 65));
  EXPECT_FALSE(bisected(41, 80)) << "no left side";
  EXPECT_FALSE(bisected(20, 59)) << "no right side";
  EXPECT_FALSE(bisected(50, 100)) << "it is an end";
  EXPECT_FALSE(bisected(0, 50));
}

TEST(FocusBisected, NothingOfTooFewOrConstantSamples) {
  const FocusPeak known{.top = 5, .floor = 0, .height = 10, .width = 1};
  EXPECT_FALSE(focus::bisected(known, {}, 0));
  EXPECT_FALSE(focus::bisected(known, Row{{5, 10}}, 0));
  EXPECT_FALSE(focus::bisected(known, Row{{4, 0}, {5, 10}, {6, 0}}, 0));
  EXPECT_FALSE(focus::bisected(known, row_of([](double) { return 10.0; }, 0, 10, 1), 0));
  EXPECT_FALSE(focus::bisected(known, row_of([](double) { return 0.0; }, 0, 10, 1), 0)) << "all is floor";
}

TEST(FocusBisected, StaysBetweenTheNeighboursOfTheHighest) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Row row = row_of(bell(50, 9), 0, 100, 4, 150, seed);
    const auto peak = focus::bisected(focus::peak_of(row, 150), row, 150);
    if (!peak) continue;
    const auto highest =
        std::max_element(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
    EXPECT_LE(std::abs(peak->top - highest->at), 4) << seed;
  }
}

// --- Few samples, known width ----------------------------------------------------------------------------------------

TEST(FocusRefined, TwoSamplesOfABellOfKnownWidthSayWhereItIs) {
  for (const double width : {3.0, 10.0})
    for (double off = -0.8; off <= 0.8; off += 0.2) {
      const double top = 50 + off * width;
      const Curve curve = bell(top, width);
      const FocusPeak known{.top = 50, .floor = 50, .height = 400, .width = width};
      const double a = 50 - 0.8 * width, b = 50 + 0.8 * width;
      const auto peak = focus::refined(known, Row{{a, curve(a)}, {b, curve(b)}}, 0);
      ASSERT_TRUE(peak) << off;
      EXPECT_NEAR(peak->top, top, 0.01 * width) << width;
      EXPECT_NEAR(peak->width, width, 0.02 * width);
      EXPECT_NEAR(peak->height, 1000, 20);
      EXPECT_EQ(peak->floor, 50);
    }
}

TEST(FocusRefined, ManySamplesOverruleTheKnownWidth) {
  const FocusPeak known{.top = 48, .floor = 50, .height = 400, .width = 6};
  const auto peak = focus::refined(known, row_of(bell(50, 9), 35, 65, 1), 0);
  ASSERT_TRUE(peak);
  EXPECT_NEAR(peak->width, 9, 0.3);
  EXPECT_NEAR(peak->top, 50, 0.1);
}

TEST(FocusRefined, ErrorIsThatOfTheTop) {
  for (const double noise : {20.0, 60.0}) {
    std::vector<double> off, told;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
      const FocusPeak known{.top = 51, .floor = 50, .height = 1000, .width = 8};
      const auto peak = focus::refined(known, row_of(bell(50, 8), 44, 56, 3, noise, seed), noise);
      ASSERT_TRUE(peak);
      off.push_back(peak->top - 50);
      told.push_back(peak->error);
    }
    // It also allows for a peak that is no bell, and for another width: it may tell more than there is here.
    EXPECT_GT(rms(told), 0.8 * rms(off)) << noise;
    EXPECT_LT(rms(told), 2 * rms(off)) << noise;
    std::printf("refined, noise %.0f%%: off by %.2f, told %.2f\n", noise / 10, rms(off), rms(told));
  }
}

TEST(FocusRefined, MoreFramesAreMoreCertain) {
  const FocusPeak known{.top = 50, .floor = 50, .height = 1000, .width = 8};
  Row row = row_of(bell(51, 8), 44, 56, 6);
  const auto once = focus::refined(known, row, 50);
  for (FocusSample& s : row) s.frames = 9;
  const auto often = focus::refined(known, row, 50);
  ASSERT_TRUE(once && often);
  // Three times, but for the share that a peak may differ from a bell.
  EXPECT_LT(often->error, 0.5 * once->error);
  EXPECT_GT(often->error, 0.3 * once->error);
}

TEST(FocusRefined, NothingAboveTheFloorIsNoPeak) {
  const FocusPeak known{.top = 50, .floor = 100, .height = 1000, .width = 8};
  EXPECT_FALSE(focus::refined(known, Row{{48, 100}, {52, 90}}, 1));
  EXPECT_FALSE(focus::refined(known, {}, 1));
}

TEST(FocusRefined, WhatBendsUpIsNoPeak) {
  const FocusPeak known{.top = 50, .floor = 0, .height = 1000, .width = 8};
  const Row row = row_of([](double x) { return 300 + 2 * (x - 50) * (x - 50); }, 35, 65, 1);
  EXPECT_FALSE(focus::refined(known, row, 0.1));
}

TEST(FocusRefined, ConstantSamplesHaveTheirTopInTheMiddle) {
  // With the known width, what is the same on both sides is centred.
  const FocusPeak known{.top = 47, .floor = 0, .height = 1000, .width = 8};
  const auto peak = focus::refined(known, Row{{46, 700}, {54, 700}}, 1);
  ASSERT_TRUE(peak);
  EXPECT_NEAR(peak->top, 50, 0.01);
}

}  // namespace
}  // namespace framequality::test
