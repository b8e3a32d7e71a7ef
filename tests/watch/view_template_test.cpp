// SPDX-License-Identifier: LGPL-2.1-or-later
// The template of a camera's view: what is learned, and what is found elsewhere, changed or softer.
#include "algorithms/watch/view_template.h"

#include "tests/watch/zone_field.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace framequality::test {
namespace {

constexpr double kFloor = -20;

/// A template of a scene that stands still but for `change`, which alters the levels of a second.
template <typename F>
ViewTemplate learned(const ZoneField& field, F change, int seconds = 120) {
  ViewTemplate t;
  for (int i = 0; i < seconds; ++i) {
    View view{.levels = field.levels(), .floor = kFloor, .seconds = 1};
    change(view.levels, i);
    t.learn(view);
  }
  return t;
}
ViewTemplate learned(const ZoneField& field) {
  return learned(field, [](std::vector<double>&, int) {});
}

TEST(ViewWindow, WhatPassesIsNotInTheView) {
  ViewWindow window;
  std::vector<double> levels(20, 1.0);
  int views = 0;
  for (int i = 0; i < 400; ++i) {  // 0.1 s each
    const bool passes = i % 100 < 35;
    levels[7] = passes ? 9 : 1;
    if (!window.add(levels, passes ? -1 : -3, 0.1)) continue;
    ++views;
    if (i >= 80) {
      EXPECT_EQ(window.view().levels[7], 1) << i;
      EXPECT_EQ(window.view().floor, -3) << i;
    }
  }
  EXPECT_NEAR(views, 37, 3) << "one a second";
}

TEST(ViewWindow, WhatStaysIsInTheViewAfterHalfOfTheWindow) {
  ViewWindow window;
  std::vector<double> levels(20, 1.0);
  for (int i = 0; i < 100; ++i) window.add(levels, 0, 0.1);
  levels.assign(20, 2.0);
  int i = 0;
  while (window.view().levels[0] < 2 && i < 200) window.add(levels, 0, 0.1), ++i;
  EXPECT_GE(i, 30);
  EXPECT_LE(i, 60);
}

TEST(ViewWindow, OtherZonesAndABreakStartAnew) {
  ViewWindow window;
  for (int i = 0; i < 100; ++i) window.add(std::vector<double>(20, 1.0), 0, 0.1);
  int i = 0;
  while (!window.add(std::vector<double>(12, 2.0), 0, 0.5) && i < 20) ++i;
  EXPECT_EQ(window.view().levels, std::vector<double>(12, 2.0));
  window.forget();
  EXPECT_FALSE(window.add(std::vector<double>(12, 3.0), 0, 1));
}

TEST(ViewTemplate, IsLearnedWithinAMinute) {
  const ZoneField field(1);
  EXPECT_FALSE(learned(
                   field, [](std::vector<double>&, int) {}, 40)
                   .learned());
  const ViewTemplate t = learned(
      field, [](std::vector<double>&, int) {}, 60);
  ASSERT_TRUE(t.learned());
  const std::vector<double> levels = field.levels();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    EXPECT_NEAR(t.usual[i] - t.usual[0], levels[i] - levels[0], 1e-9);
    EXPECT_NEAR(t.spread[i], 0, 1e-9);
  }
}

TEST(ViewTemplate, TrafficWidensTheSpreadOfItsZonesAndLightOfNone) {
  const ZoneField field(1);
  SplitMix random(5);
  const ViewTemplate t = learned(field, [&](std::vector<double>& levels, int) {
    const double light = 3 * random.uniform();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i] += light;
      if (i < 48 && random.uniform() < 0.3) levels[i] += 3;              // a busy lane
      if (i >= 48 && i < 64 && random.uniform() < 0.05) levels[i] += 3;  // somebody now and then
    }
  });
  const std::vector<double> levels = field.levels();
  for (std::size_t i = 48; i < levels.size(); ++i) {
    EXPECT_NEAR(t.usual[i] - t.usual[143], levels[i] - levels[143], 0.05) << i;
    EXPECT_LT(t.spread[i], 0.4) << i;
  }
  const auto wide = std::count_if(t.spread.begin(), t.spread.begin() + 48, [](double s) { return s > 0.4; });
  EXPECT_GT(wide, 40);
}

TEST(ViewTemplate, SlowChangeIsFollowedAndWhatParksIsNot) {
  const ZoneField field(1);
  ViewTemplate t = learned(field);
  View view{.levels = field.levels(), .floor = kFloor, .seconds = 1};
  const double before = t.usual[0];
  view.levels[0] += 2;
  for (int i = 0; i < 60; ++i) t.learn(view);
  EXPECT_LT(t.usual[0] - before, 0.5);
  for (int i = 0; i < 4 * 3600; ++i) t.learn(view);
  EXPECT_NEAR(t.usual[0] - before, 2, 0.01);
}

TEST(ViewTemplate, AnotherNumberOfZonesIsLearnedAnew) {
  ViewTemplate t = learned(ZoneField(1));
  const View other{.levels = std::vector<double>(48, 1.0), .floor = kFloor, .seconds = 1};
  t.learn(other);
  EXPECT_FALSE(t.learned());
  for (int i = 0; i < 60; ++i) t.learn(other);
  EXPECT_EQ(t.usual.size(), 48U);
}

TEST(ViewMatcher, ViewInItsPlaceFitsInAnyLight) {
  const ZoneField field(2);
  const ViewTemplate t = learned(field);
  ViewMatcher matcher;
  for (const double light : {-3.0, 0.0, 3.0}) {
    std::vector<double> levels = field.levels();
    for (double& v : levels) v += light;
    const ViewFit fit = matcher.fit(levels, kFloor, t);
    EXPECT_EQ(fit.calm, 144);
    EXPECT_EQ(fit.stays, 1);
    EXPECT_NEAR(fit.misfit, 0, 1e-9);
    EXPECT_EQ(fit.softer + fit.sharper, 0);
    EXPECT_EQ(matcher.search(field.grid()).gain, 0);
  }
}

TEST(ViewMatcher, ViewElsewhereIsFound) {
  for (const ViewPlace at : {ViewPlace{.right = 5}, ViewPlace{.right = -4.4, .down = 1.6}, ViewPlace{.degrees = 8},
                             ViewPlace{.degrees = -8}, ViewPlace{.right = 1, .degrees = 5}, ViewPlace{.scale = 1.2}}) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      const ZoneField field(seed);
      ViewMatcher matcher;
      const ViewFit fit = matcher.fit(field.levels(at), kFloor, learned(field));
      EXPECT_LT(fit.stays, 0.5) << at.right << ' ' << at.degrees << ' ' << at.scale;
      const ViewFound found = matcher.search(field.grid());
      EXPECT_GT(found.gain, 0.25) << at.right << ' ' << at.degrees << ' ' << at.scale;
      EXPECT_NEAR(found.place.right, at.right, 0.6);
      EXPECT_NEAR(found.place.down, at.down, 0.6);
      EXPECT_NEAR(found.place.degrees, at.degrees, 2.5);
      EXPECT_NEAR(found.place.scale, at.scale, 0.06);
    }
  }
}

// It hides what is behind it, and moves nothing.
TEST(ViewMatcher, WhatParksIsNotFoundElsewhere) {
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const ZoneField field(seed), lorry(seed + 50);
    std::vector<double> levels = field.levels();
    const std::vector<double> other = lorry.levels();
    for (std::size_t i = 0; i < levels.size(); ++i)
      if (i % 16 < 5) levels[i] = other[i];
    ViewMatcher matcher;
    const ViewFit fit = matcher.fit(levels, kFloor, learned(field));
    EXPECT_GT(fit.stays, 0.65) << seed;
    EXPECT_LT(matcher.search(field.grid()).gain, 0.25) << seed << ": what counts as moved";
  }
}

TEST(ViewMatcher, SmearIsSofterOnOneSideAndSharperNowhere) {
  const ZoneField field(3);
  std::vector<double> levels = field.levels();
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (i % 16 < 8) levels[i] -= 3;
  ViewMatcher matcher;
  ViewFit fit = matcher.fit(levels, kFloor, learned(field));
  EXPECT_EQ(fit.softer, 0.5);
  EXPECT_EQ(fit.sharper, 0);
  fit = matcher.fit(ZoneField(4).levels(), kFloor, learned(field));
  EXPECT_GT(fit.sharper, 0.15) << "as is another scene";
}

TEST(ViewMatcher, BusyZonesAndZonesInNoiseAreNotJudged) {
  const ZoneField field(6);
  SplitMix random(5);
  const ViewTemplate t = learned(field, [&](std::vector<double>& levels, int) {
    for (std::size_t i = 0; i < 64; ++i) levels[i] += 6 * random.uniform() - 3;
  });
  std::vector<double> levels = field.levels();
  for (std::size_t i = 0; i < 64; ++i) levels[i] += 2.5;
  ViewMatcher matcher;
  ViewFit fit = matcher.fit(levels, kFloor, t);
  EXPECT_EQ(fit.calm, 80);
  EXPECT_EQ(fit.stays, 1);
  EXPECT_LT(fit.misfit, 0.15);
  // A third of the view sinks into noise as night falls: what is left of it has not moved.
  std::vector<double> sorted = levels;
  std::sort(sorted.begin(), sorted.end());
  const double floor = sorted[48];
  for (double& v : levels) v = std::max(v, floor);
  fit = matcher.fit(levels, floor, t);
  EXPECT_LT(fit.calm, 50);
  EXPECT_GT(fit.calm, 10);
  EXPECT_GT(fit.stays, 0.95);
}

TEST(ViewMatcher, WithoutAGridOrATemplateNothingIsKnown) {
  const ZoneField field(1);
  const ViewTemplate t = learned(field);
  ViewMatcher matcher;
  matcher.fit(field.levels({.right = 4}), kFloor, t);
  for (const int columns : {-3, 0, 1, 2, 15, 100, 1000000}) EXPECT_EQ(matcher.search({columns, 1}).gain, 0) << columns;
  EXPECT_GT(matcher.search(field.grid()).gain, 0);
  EXPECT_EQ(matcher.fit(std::vector<double>(48, 1.0), kFloor, t).calm, 0);
  EXPECT_EQ(matcher.search({8, 1}).gain, 0) << "not of the fit before";
  EXPECT_EQ(matcher.fit(field.levels(), kFloor, {}).calm, 0);
}

}  // namespace
}  // namespace framequality::test
