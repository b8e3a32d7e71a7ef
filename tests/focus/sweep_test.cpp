// SPDX-License-Identifier: LGPL-2.1-or-later
// A focus search's sweep: its pace, its legs, what they saw, and whether that is a peak.
#include "algorithms/focus/sweep.h"

#include "algorithms/split_mix.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace framequality::focus {
namespace {

FocusSettings range_to(double last) {
  FocusSettings s;
  s.min = 0, s.max = last, s.step = 1, s.lag_frames = 0;
  return s;
}

TEST(FocusStride, IsAShareOfTheRange) {
  EXPECT_EQ(stride_of({.last = 100}), 5);
  EXPECT_EQ(stride_of({.last = 336}), 17);
  EXPECT_EQ(stride_of({.last = 140, .stop_and_go = true}), 10);
  EXPECT_EQ(stride_of({.last = 3}), 1);
  EXPECT_EQ(stride_of({.last = 0}), 1);
}

TEST(FocusStride, IsWideWhereTheLensIsAtOnceWhereItIsSent) {
  EXPECT_EQ(stride_of({.last = 100, .is_prompt = true}), 10);
  EXPECT_EQ(stride_of({.wanted = 4, .last = 100, .is_prompt = true}), 4);
}

TEST(FocusStride, IsWhatIsAskedForWithinTheRange) {
  EXPECT_EQ(stride_of({.wanted = 12, .last = 100, .width = 3, .slew = 1}), 12);
  EXPECT_EQ(stride_of({.wanted = 1e300, .last = 100}), 100);
  EXPECT_EQ(stride_of({.wanted = 0.2, .last = 100}), 1);
}

TEST(FocusStride, FollowsTheWidthOfTheLastPeak) {
  EXPECT_EQ(stride_of({.last = 200, .width = 9}), 8);
  EXPECT_EQ(stride_of({.last = 200, .width = 100}), 14) << "but no more than 1.4 times that of one that is not known";
  EXPECT_EQ(stride_of({.last = 200, .width = 1}), 5) << "nor less than half of it";
}

TEST(FocusStride, IsEvenWhereAnotherSweepFollowsHalfway) {
  EXPECT_EQ(stride_of({.last = 100, .is_halved = true}), 6);
  EXPECT_EQ(stride_of({.last = 120, .is_halved = true}), 6);
  EXPECT_EQ(stride_of({.last = 20, .is_halved = true}), 1);
  EXPECT_EQ(stride_of({.wanted = 5, .last = 100, .is_halved = true}), 5) << "as set";
}

TEST(FocusStride, IsNearerForAPeakThatWasMissedAndForASlowLens) {
  EXPECT_EQ(stride_of({.last = 250, .times_slower = 1}), 5);
  EXPECT_EQ(stride_of({.last = 250, .times_slower = 2}), 2);
  EXPECT_EQ(stride_of({.last = 250, .slew = 4}), 4);
}

TEST(FocusStride, IsTheWholeRangeForALensThatCreeps) {
  EXPECT_EQ(stride_of({.last = 250, .slew = 1, .creeps = true}), 250);
  EXPECT_EQ(stride_of({.wanted = 7, .last = 250, .creeps = true}), 250);
}

TEST(FocusLegs, BeginAtTheNearerEnd) {
  const FocusSettings s = range_to(100);
  const auto legs = [&](double position, bool from_here = false) { return legs_of(Lens(s, position), s, from_here); };
  EXPECT_EQ(legs(30).front().from, 0);
  EXPECT_EQ(legs(70).front().from, 100);
  EXPECT_EQ(legs(std::nan("")).front().to, 100);
  const auto both = legs(70, true);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].from, 70);
  EXPECT_EQ(both[0].to, 100) << "the shorter way first";
  EXPECT_EQ(both[1].to, 0);
}

TEST(FocusLegs, BeginAtTheSideThatIsSet) {
  FocusSettings s = range_to(100);
  s.approach = FocusApproach::kFromAbove;
  EXPECT_EQ(legs_of(Lens(s, 10), s, true).front().from, 100);
  s.approach = FocusApproach::kFromBelow;
  EXPECT_EQ(legs_of(Lens(s, 90), s, true).front().from, 0);
}

/// A sweep of a range in steps of 5, by a lens that is at once where it is sent.
struct Swept {
  explicit Swept(const std::function<double(int)>& scene, int last = 100) : lens(range_to(last), 0) {
    lens.begin();
    sweep.begin(5, {{0, last}});
    sweep.begin_leg();
    run(scene);
  }
  void run(const std::function<double(int)>& scene) {
    for (std::optional<int> at = lens.at(); at; at = sweep.next(*at)) {
      lens.send_on(*at);
      FocusFrame f;
      f.score = scene(*at);
      lens.frame(f);
      sweep.add({lens.motion().now(), *f.score});
      if (!past_at && sweep.is_past(0)) past_at = *at;
    }
    sweep.end(lens.motion());
  }
  Verdict verdict() const { return sweep.verdict(lens.last(), sweep.noise()); }

  Lens lens;
  Sweep sweep;
  std::optional<int> past_at;
};

double bell(int x) { return 50 + 1000 * std::exp(-(x - 40) * (x - 40) / 200.0); }

TEST(FocusSweep, GoesToTheEndOfTheLegWithoutASmallLastStep) {
  Sweep sweep;
  sweep.begin(5, {{0, 11}});
  sweep.begin_leg();
  EXPECT_EQ(sweep.next(0), 5);
  EXPECT_EQ(sweep.next(5), 11) << "not by 10";
  EXPECT_FALSE(sweep.next(11));
  EXPECT_FALSE(sweep.has_legs());
}

TEST(FocusSweep, IsPastAPeakOnceItHasComeDownFromIt) {
  EXPECT_EQ(Swept(bell).past_at, 55);
  EXPECT_FALSE(Swept([](int x) { return x + 1.0; }).past_at);
  EXPECT_FALSE(Swept([](int x) { return 500 + bell(x) / 10; }).past_at) << "too small a peak to leave the rest unseen";
  EXPECT_FALSE(Swept([](int x) { return bell(x) - 1000; }).past_at) << "no ratio of scores below zero";
}

TEST(FocusSweep, IsNotPastWhatMayBeNoise) {
  EXPECT_FALSE(Swept([](int x) { return bell(x) + (x / 5 % 2 ? 150 : 0); }).past_at);
  // A single frame below, or a best that frames under way may still belong to.
  EXPECT_EQ(Swept([](int x) { return x == 35 ? 51 : bell(x); }).past_at, 55);
  Swept late(bell);
  EXPECT_FALSE(late.sweep.is_past(8)) << "the best was seen with the first frames";
}

TEST(FocusSweep, CreditsEachScoreToWhatItsFrameShows) {
  const Swept s(bell);
  ASSERT_EQ(s.sweep.row().size(), 21u);
  for (const FocusSample& sample : s.sweep.row()) EXPECT_EQ(sample.score, bell(static_cast<int>(sample.at)));
  EXPECT_EQ(s.sweep.best().at, 40);
  EXPECT_EQ(s.sweep.score_at(52), bell(50));
}

TEST(FocusSweep, NarrowedItHasSeenOnlyThePeakThatIsWanted) {
  Swept s([](int x) { return bell(x) + 500 * std::exp(-(x - 85) * (x - 85) / 50.0); });
  EXPECT_EQ(s.sweep.highest(), 1050);
  s.sweep.narrow(FocusGoal::kNearest, 0);
  EXPECT_EQ(s.sweep.best().at, 85);
  EXPECT_LT(s.sweep.highest(), 560);
  EXPECT_GE(s.sweep.row().front().at, 65);
  EXPECT_EQ(s.sweep.seen().size(), 21u);
  s.sweep.credit(s.lens.motion());
  EXPECT_EQ(s.sweep.row().size(), 21u) << "credited anew, it is whole again";
  Swept one(bell);
  one.sweep.narrow(FocusGoal::kNearest, 0);
  EXPECT_EQ(one.sweep.row().size(), 21u) << "there is one peak";
}

TEST(FocusSweep, APeakStandsOut) {
  EXPECT_EQ(Swept(bell).verdict().is, Verdict::Is::kPeak);
  EXPECT_EQ(Swept([](int) { return 7.0; }, 0).verdict().is, Verdict::Is::kPeak) << "a range of one position";
}

TEST(FocusSweep, FlatScoresAreSweptAgainOnlyForANarrowPeak) {
  EXPECT_EQ(Swept([](int) { return 300.0; }).verdict().is, Verdict::Is::kNothing);
  Swept wide([](int) { return 300.0; }, 20);
  const Verdict verdict = wide.verdict();
  EXPECT_EQ(verdict.is, Verdict::Is::kDoubt);
  EXPECT_STREQ(verdict.reason, "all scores are alike, but a narrow peak may lie between them");
}

TEST(FocusSweep, NoiseIsSweptAgainInBetweenUntilItIsCertain) {
  SplitMix random(5);
  const auto noise = [&](int) { return 300 + 20 * random.uniform(); };
  Swept s(noise);
  EXPECT_EQ(s.verdict().is, Verdict::Is::kDoubt);
  s.sweep.begin_between(s.lens.at(), s.lens);
  const Leg leg = s.sweep.begin_leg();
  EXPECT_EQ(leg.from, 97) << "from the end where it is, half a stride in";
  EXPECT_EQ(leg.to, 0);
  s.lens.send_on(leg.from);
  s.run(noise);
  EXPECT_EQ(s.verdict().is, Verdict::Is::kNothing);
  EXPECT_STREQ(s.verdict().reason, "no peak stands out of the noise");
}

TEST(FocusSweep, TellsHowFarFromTheTopItSawAShare) {
  const Swept s(bell);
  const FocusPeak peak{.top = 40, .floor = 50, .height = 1000, .width = 10};
  EXPECT_NEAR(s.sweep.distance(peak, 0.5, 1), 11.77, 0.2);
  EXPECT_NEAR(s.sweep.distance(peak, 0.5, -1), 11.77, 0.2);
  EXPECT_EQ(s.sweep.distance(peak, -1, 1), 60) << "as far as it went";
}

TEST(FocusSweep, OneFrameTellsNoMove) {
  const Swept s([](int) { return 7.0; }, 0);
  EXPECT_FALSE(s.sweep.is_moving());
  EXPECT_FALSE(s.sweep.ran_until_now());
}

TEST(FocusSweep, ALensThatIsOnItsWayShows) {
  Swept s(bell);
  EXPECT_FALSE(s.sweep.is_moving());
  s.sweep.add({1000, 300});
  EXPECT_TRUE(s.sweep.is_moving());
  EXPECT_FALSE(s.sweep.ran_until_now()) << "one change may be the scene's";
  for (const double score : {400.0, 520.0, 640.0}) s.sweep.add({1001, score});
  EXPECT_TRUE(s.sweep.is_moving());
  s.sweep.add({1004, 641});
  EXPECT_FALSE(s.sweep.is_moving());
  EXPECT_TRUE(s.sweep.ran_until_now());
  s.sweep.add({1005, 640});
  EXPECT_FALSE(s.sweep.ran_until_now());
}

}  // namespace
}  // namespace framequality::focus
