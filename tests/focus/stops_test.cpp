// SPDX-License-Identifier: LGPL-2.1-or-later
// A focus search's stops: what they tell of the peak and of play, and where the next one is.
#include "algorithms/focus/stops.h"

#include <cmath>
#include <gtest/gtest.h>

namespace framequality::focus {
namespace {

using Is = Choice::Is;

/// A search between two stops: a peak of width 10 at 40 of 100 is expected, unless a test says otherwise.
struct Scene {
  explicit Scene(Kind search = Kind::kSweep, double backlash = 0) : kind(search), lens(settings(backlash), 0) {
    lens.begin();
    sweep.begin(5, {{0, 100}});
    sweep.begin_leg();
    stops.begin(lens.motion().now());
  }
  static FocusSettings settings(double backlash) {
    FocusSettings s;
    s.min = 0, s.max = 100, s.step = 1;
    s.lag_frames = 0;
    s.backlash = backlash;
    return s;
  }
  double score(double at) const { return expected.peak.score(at); }

  /// All of the range, with what is expected.
  void swept() {
    for (int at = 0; at <= 100; at += 5) {
      lens.send_on(at);
      FocusFrame f;
      f.score = score(at);
      lens.frame(f);
      sweep.add({lens.motion().now(), *f.score});
    }
    sweep.end(lens.motion());
    stops.begin(lens.motion().now());
  }
  void stop(int at, double seen) {
    lens.send(at);
    stops.go(false);
    stops.add({static_cast<double>(at), seen, 1});
  }
  void stop(int at) { stop(at, score(at)); }
  Choice choose() {
    stops.make_fit(view());
    return stops.choose(view());
  }
  View view() const { return {lens, sweep, expected, kind, ended_at, times_slower}; }

  Kind kind;
  Lens lens;
  Sweep sweep;
  Stops stops;
  Expected expected{{.top = 40, .floor = 50, .height = 1000, .width = 10}, 0};
  std::optional<int> ended_at;
  int times_slower = 0;
};

TEST(FocusExpected, NoiseWantsMoreFramesAndStandsMoreDifference) {
  Expected e{{.top = 0, .floor = 0, .height = 1000, .width = 10}, 0};
  EXPECT_EQ(e.frames_wanted(1), 1);
  EXPECT_EQ(e.frames_wanted(20), 20);
  EXPECT_EQ(e.tolerance(), 20);
  e.noise = 80;
  EXPECT_EQ(e.frames_wanted(1), 4);
  EXPECT_EQ(e.tolerance(), 560);
  e.noise = 1e200;
  EXPECT_EQ(e.frames_wanted(1), 8);
}

TEST(FocusExpected, NoiseIsLearnedFromChangesAtRest) {
  Changes changes;
  EXPECT_EQ(changes.noise_with(2, 5), 5) << "one tells nothing";
  EXPECT_DOUBLE_EQ(changes.noise_with(-2, 5), 1.5 * std::sqrt(2.0));
  for (int i = 2; i < 7; ++i) changes.noise_with(2, 5);
  EXPECT_DOUBLE_EQ(changes.noise_with(2, 1), std::sqrt(2.0)) << "enough to say it is more than was thought";
}

TEST(FocusStops, TheFirstIsBesideTheTopOnTheNearSide) {
  Scene s;
  const Choice c = s.choose();
  EXPECT_EQ(c.is, Is::kStop);
  EXPECT_EQ(c.at, 33);
  EXPECT_FALSE(c.directly);
}

TEST(FocusStops, TheFirstComesFromTheOtherSideWherePlayIsNotKnown) {
  Scene s(Kind::kSweep, -1);
  s.swept();  // the lens is at 100
  const Choice c = s.choose();
  EXPECT_EQ(c.at, 24);
  EXPECT_TRUE(c.directly);
  EXPECT_STREQ(c.reason, "approaching from the other side: the lens may have backlash");
}

TEST(FocusStops, OneStopTellsHowFarTheTopIs) {
  Scene s;
  s.stop(33, s.score(30));  // the sweep was off by three
  const Choice c = s.choose();
  EXPECT_EQ(c.is, Is::kStop);
  EXPECT_EQ(c.at, 43);
}

TEST(FocusStops, TheSecondIsElsewhereHoweverNarrowThePeak) {
  Scene s(Kind::kLocal);
  s.expected.peak.width = 0.4;
  s.stop(40);
  s.stops.begin_again(*s.stops.at(40), 0.4);
  const Choice choice = s.choose();
  EXPECT_EQ(choice.is, Is::kStop);
  EXPECT_EQ(choice.at, 41) << "else the search waits where it is, for ever";
}

TEST(FocusStops, TheTopIsWhereTheParabolaIs) {
  Scene s;
  for (const int at : {33, 40, 48}) s.stop(at, s.score(at - 2));
  EXPECT_EQ(s.choose().at, 42);
  EXPECT_NEAR(s.stops.fit().peak->top, 42, 0.1);
  for (const int at : {38, 44, 42}) s.stop(at, s.score(at - 2));
  const Choice c = s.choose();
  EXPECT_EQ(c.is, Is::kFinish);
  EXPECT_STREQ(c.reason, "the peak follows from the stops");
}

TEST(FocusStops, WhatTheSweepSawOnBothSidesIsBelieved) {
  Scene s;
  s.swept();
  s.stop(33);
  const Choice c = s.choose();
  EXPECT_TRUE(s.stops.fit().trusts_sweep);
  EXPECT_EQ(c.is, Is::kTop);
  EXPECT_EQ(c.at, 40);
  EXPECT_STREQ(c.reason, "the peak follows from the sweep");
}

TEST(FocusStops, AStopThatContradictsTheSweepIsBelievedMore) {
  Scene s;
  s.swept();
  s.stop(40, s.score(40) - 200);
  const Fit& fit = s.stops.make_fit(s.view());
  EXPECT_TRUE(fit.contradicts);
  EXPECT_FALSE(fit.trusts_sweep);
  EXPECT_FALSE(s.stops.make_fit(s.view()).contradicts) << "it is not asked again";
}

TEST(FocusStops, APeakThatIsNotWhereTheSweepSawItIsSweptForAgain) {
  Scene s;
  for (const int at : {33, 40, 48}) s.stop(at, 60);
  EXPECT_EQ(s.choose().is, Is::kSlower);
  s.times_slower = 2;
  EXPECT_NE(s.choose().is, Is::kSlower);
}

TEST(FocusStops, StopsThatTakeTooLongEnd) {
  Scene s;
  s.stop(33);
  for (int i = 0; i < 33; ++i) s.lens.frame({});
  const Choice c = s.choose();
  EXPECT_EQ(c.is, Is::kEnd);
  EXPECT_EQ(c.at, 40) << "where the sweep saw the peak";
  s.expected.noise = 100;
  EXPECT_NE(s.choose().reason, c.reason) << "noise takes time";
}

TEST(FocusStops, NarrowPeaksAreSeenOnEachPositionThatCouldBeTheTop) {
  Scene s;
  s.expected.peak.width = 2;
  for (const int at : {38, 40, 42}) s.stop(at);
  for (const int at : {41, 39}) {
    EXPECT_EQ(s.choose().at, at);
    s.stop(at);
  }
  s.stop(40);
  EXPECT_EQ(s.choose().is, Is::kFinish);
}

TEST(FocusStops, BothSidesOfTheTopAreSeenWhileItIsNotCertain) {
  Scene s;
  s.expected.noise = 200;  // so that two stops are not enough
  s.stop(38), s.stop(40);
  EXPECT_EQ(s.choose().at, 48);
  s.stop(48);
  EXPECT_EQ(s.choose().at, 32);
  Scene other;
  other.expected.noise = 200;
  other.stop(40), other.stop(44);
  EXPECT_EQ(other.choose().at, 32) << "44 is beside the top already";
}

TEST(FocusStops, TheTopIsLookedForBeyondWhatWasSeen) {
  Scene s;
  s.stop(20), s.stop(28);
  const Choice c = s.choose();
  EXPECT_EQ(c.is, Is::kEnd);
  EXPECT_NEAR(c.at, 40, 1);
  Scene rising;  // two stops that do not bend: no farther than a parabola is believed
  rising.stop(70, 100), rising.stop(78, 900);
  EXPECT_LE(rising.choose().at, 78 + 15);
}

TEST(FocusStops, WideGapsBesideTheBestAreDividedWhereStopsAloneTell) {
  Scene s;
  for (const int at : {20, 32, 40, 48, 80}) s.stop(at);
  Choice c = s.choose();
  EXPECT_STREQ(c.reason, "the stops next to the best one are far from it");
  EXPECT_EQ(c.at, 43) << "a third of the gap to 48, on the side of the top";
  s.stop(43), s.stop(42);
  EXPECT_EQ(s.choose().at, 37) << "of the other one";
  s.stop(37), s.stop(38);
  EXPECT_EQ(s.choose().is, Is::kTop);
}

TEST(FocusStops, TheBestStopIsTheEndIfItIsBetterThanTheTop) {
  Scene s;
  s.swept();
  s.stop(40, s.score(40) - 40), s.stop(38, s.score(40));
  EXPECT_EQ(s.choose().is, Is::kFinish);
  EXPECT_EQ(s.choose().at, 38);
  s.expected.noise = 30;
  EXPECT_EQ(s.choose().at, 40) << "noise may have made it better";
}

TEST(FocusStops, AStepThatGainsNothingIsNotTaken) {
  Scene s;
  s.expected.peak.top = 40.6;
  s.swept();
  s.stop(40);
  EXPECT_EQ(s.choose().is, Is::kFinish) << "41 is nearer";
  Scene narrow;
  narrow.expected.peak.top = 40.7;
  narrow.expected.peak.width = 2;
  for (const int at : {38, 39, 40, 42, 41, 40}) narrow.stop(at);
  EXPECT_EQ(narrow.choose().at, 41);
}

TEST(FocusStops, ASweepThatSawOneSideIsNotBelieved) {
  for (const double top : {1.0, 99.0}) {
    Scene s;
    s.expected.peak.top = top;
    s.swept();
    EXPECT_FALSE(s.stops.make_fit(s.view()).trusts_sweep) << top;
  }
}

TEST(FocusStops, ALensSlowerThanTheSweepIsNotBelieved) {
  Scene s;
  FocusSettings settings = Scene::settings(0);
  settings.lag_frames = -1;
  s.lens.configure(settings);
  s.swept();
  EXPECT_FALSE(s.stops.make_fit(s.view()).trusts_sweep) << "which position its frames show is not known";
}

TEST(FocusStops, AllLevelIsNothingOrStays) {
  for (const bool is_near : {true, false}) {
    Scene s(Kind::kLocal);
    s.ended_at = 40;
    s.stops.begin_beside(s.lens.motion().now(), 10, is_near ? 0.9 : 0.2);
    for (const int at : {40, 50, 30}) s.stop(at, 300);
    const Choice c = s.choose();
    EXPECT_EQ(c.is, is_near ? Is::kTop : Is::kNothing);
    EXPECT_EQ(c.at, is_near ? 40 : 0);
  }
}

TEST(FocusStops, BesideTheLastPeakTheSecondGoesTheWayThatIsThought) {
  Scene s(Kind::kLocal);
  s.stops.begin_beside(s.lens.motion().now(), -8, 0.9);
  s.stop(40);
  EXPECT_EQ(s.choose().at, 32);
  s.stops.forget();
  s.stop(0);
  EXPECT_EQ(s.choose().at, 8) << "no room there";
}

TEST(FocusStops, TrackingStaysNear) {
  Scene s(Kind::kTracking);
  s.ended_at = 40;
  for (const int at : {40, 46, 52}) s.stop(at, s.score(at - 30));  // it is at 70
  EXPECT_EQ(s.choose().at, 60) << "two widths from where it was";
}

TEST(FocusStops, AnEndFromTheWrongSideIsTriedAgainButNotForEver) {
  Scene s;
  s.swept();
  s.stop(40);
  s.stops.go(true);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(s.choose().is, Is::kTop) << i;
    s.stops.go_to_top();
  }
  EXPECT_EQ(s.choose().is, Is::kFinish);
  s.stops.clear();  // the next search counts its own
  s.stop(40);
  s.stops.go(true);
  EXPECT_EQ(s.choose().is, Is::kTop);
}

TEST(FocusStops, NoMoreIsPromisedThanWasSeen) {
  Scene s;
  for (const int at : {33, 40, 48}) s.stop(at);
  s.choose();
  EXPECT_NEAR(s.stops.promised(40, s.sweep), s.score(40), 1e-9);
  EXPECT_NEAR(s.stops.promised(36, s.sweep), s.stops.fit().peak->score(36), 1e-9);
}

TEST(FocusStops, MeansCountTheirFrames) {
  Stops stops;
  stops.add({40, 100, 1});
  stops.add({30, 50, 1});
  stops.add({40, 130, 2});
  ASSERT_EQ(stops.all().size(), 2u);
  EXPECT_EQ(stops.at(40)->score, 120);
  EXPECT_EQ(stops.at(40)->frames, 3);
  EXPECT_EQ(stops.best().at, 40);
  EXPECT_FALSE(stops.at(31));
}

TEST(FocusPlay, IsHowFarTheOtherSidesStopIsFromWhereItsScoreWas) {
  for (const double play : {0.0, 6.0}) {
    Scene s(Kind::kSweep, -1);
    s.swept();
    s.lens.send(24);
    s.stops.add_other_side({24, s.score(24 + play), 1});
    s.stops.make_fit(s.view());
    const auto seen = s.stops.play_seen(s.view());
    ASSERT_TRUE(seen);
    ASSERT_TRUE(seen->play);
    EXPECT_NEAR(*seen->play, play, 0.5);
  }
}

TEST(FocusPlay, ThatIsSuspectedIsSome) {
  Scene s(Kind::kSweep, -1);
  s.swept();
  s.stops.add_other_side({24, s.score(30), 1});
  s.lens.suspect_play();
  s.stops.make_fit(s.view());
  EXPECT_FALSE(s.stops.play_seen(s.view())) << "not before a stop from the right side";
  s.stop(40);
  s.stops.make_fit(s.view());
  EXPECT_NEAR(*s.stops.play_seen(s.view())->play, 6, 0.5);
  s.stops.add_other_side({24, s.score(40), 1});
  EXPECT_NEAR(*s.stops.play_seen(s.view())->play, 25 / 1.2, 0.1) << "the top tells nothing: as much as may be";
}

TEST(FocusPlay, ThatAStopHasRefutedIsBeyondThePeak) {
  Scene s(Kind::kSweep, -1);
  s.swept();
  s.stops.add_other_side({24, s.score(30), 1});
  s.lens.learn_play(6);
  s.lens.suspect_play();
  s.stop(40);
  s.stops.make_fit(s.view());
  EXPECT_NEAR(*s.stops.play_seen(s.view())->play, 26, 0.5) << "on the other flank, at 50";
}

TEST(FocusPlay, IsNotToldByAScoreAtTheTopOrFarOff) {
  for (const double seen : {1045.0, 55.0}) {
    Scene s(Kind::kSweep, -1);
    s.swept();
    s.stops.add_other_side({24, seen, 1});
    s.stops.make_fit(s.view());
    const auto told = s.stops.play_seen(s.view());
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->play);
  }
}

TEST(FocusPlay, IsNotAskedForWhereItIsKnownOrNothingWasSeen) {
  Scene known(Kind::kSweep, 3);
  known.stops.add_other_side({24, 500, 1});
  EXPECT_FALSE(known.stops.play_seen(known.view()));
  Scene none(Kind::kSweep, -1);
  EXPECT_FALSE(none.stops.play_seen(none.view()));
}

}  // namespace
}  // namespace framequality::focus
