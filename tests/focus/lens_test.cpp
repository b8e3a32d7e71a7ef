// SPDX-License-Identifier: LGPL-2.1-or-later
// Lag, speed, play and rest of a lens, as a focus search learns them from frames.
#include "algorithms/focus/lens.h"

#include "algorithms/split_mix.h"
#include "tests/focus/lens_bench.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace framequality::focus {
namespace {

FocusSettings settings() {
  FocusSettings s;
  s.min = 0, s.max = 100, s.step = 1;
  return s;
}

FocusFrame scored(double score) {
  FocusFrame f;
  f.score = score;
  return f;
}

/// Scores of frames 10, 11, ... that follow a command; the first was seen before it.
std::vector<Seen> trail(const std::vector<double>& scores) {
  std::vector<Seen> all;
  for (const double s : scores) all.push_back({10 + all.size(), s});
  return all;
}

std::optional<Effect> effect(const std::vector<double>& scores, double noise = 0, bool on_a_flank = false) {
  return effect_of(trail(scores), 11, scores.back(), noise, on_a_flank);
}

TEST(FocusEffect, OneJumpIsTheLag) {
  EXPECT_EQ(effect({100, 200, 200})->lag, 0);
  EXPECT_EQ(effect({100, 100, 100, 200, 200})->lag, 2);
  EXPECT_TRUE(effect({100, 100, 100, 200, 200})->is_clean);
}

TEST(FocusEffect, StepsOnTheWayAreALensThatTakesTime) {
  const auto slow = effect({100, 100, 130, 160, 200, 200});
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->lag, 3);
  EXPECT_FALSE(slow->is_clean);
}

TEST(FocusEffect, WhatWasUnderWayOnAFlankIsNoSlowness) {
  // Frames of the sweep that are still to come only fall; then the stop is seen.
  EXPECT_FALSE(effect({300, 220, 150, 200, 200})->is_clean);
  EXPECT_FALSE(effect({300, 150, 158, 200, 200}, 0, true)->is_clean);
  EXPECT_TRUE(effect({300, 220, 150, 200, 200}, 0, true)->is_clean);
}

TEST(FocusEffect, TooLittleTellsNothing) {
  EXPECT_FALSE(effect({100, 104, 104}));                               // below 5% of the score
  EXPECT_FALSE(effect({100, 100, 200, 200}, 20));                      // below 8 standard deviations of noise
  EXPECT_FALSE(effect_of(trail({100}), 11, 100, 0, false));            // one frame
  EXPECT_FALSE(effect_of(trail({100, 200, 200}), 12, 200, 0, false));  // before a frame could show it
  std::vector<Seen> gap = trail({100, 200, 200});
  gap[1].frame = 12, gap[2].frame = 13;
  EXPECT_FALSE(effect_of(gap, 11, 200, 0, false)) << "it may have been the frame that is missing";
}

TEST(FocusLens, PositionsAreOnTheGrid) {
  FocusSettings s = settings();
  s.min = -3, s.max = 4.1, s.step = 0.25;
  const Lens lens(s, 0);
  EXPECT_EQ(lens.last(), 28);
  EXPECT_EQ(lens.position_of(28), 4);
  EXPECT_EQ(lens.nearest(0.1), 12);
  EXPECT_EQ(lens.nearest(1e300), 28);
  EXPECT_EQ(lens.clamped(-1e300), 0);
  EXPECT_FALSE(Lens(s, std::nan("")).here());
}

TEST(FocusLens, IsSentOnlyWhereItIsNot) {
  Lens lens(settings(), 20);
  EXPECT_FALSE(lens.send(20));
  EXPECT_EQ(lens.send(30), 30);
  EXPECT_FALSE(lens.send_on(30));
  EXPECT_EQ(lens.commands(), 1);
  lens.lose();
  EXPECT_EQ(lens.send(30), 30) << "it may be anywhere";
  EXPECT_FALSE(lens.send(30));
}

/// The answer of a lens that is sent from 50 to 0 and, two frames later, up again in strides of 10.
Answer answer_of(Lens& lens, const std::vector<double>& scores) {
  Answer answer = Answer::kNone;
  lens.frame(scored(scores[0]));
  lens.send(0);
  for (std::size_t i = 1; i < scores.size() && answer == Answer::kNone; ++i) {
    lens.frame(scored(scores[i]));
    lens.follow();
    if (i >= 2) answer = lens.learn_answer();
    if (i >= 2) lens.send_on(10 * static_cast<int>(i - 1));
  }
  return answer;
}

TEST(FocusLens, TwoFramesTellThatItAnsweredAtOnce) {
  for (const int lag : {0, 1, 3}) {
    Lens lens(settings(), 50);
    std::vector<double> scores(static_cast<std::size_t>(lag + 1), 80);
    for (const double s : {20.0, 20.1, 35.0, 60.0}) scores.push_back(s);
    EXPECT_EQ(answer_of(lens, scores), Answer::kAtOnce) << lag;
    EXPECT_EQ(lens.motion().lag(), lag);
    EXPECT_TRUE(lens.motion().lag_is_known());
  }
}

TEST(FocusLens, EvenStepsTellThatItIsOnItsWay) {
  Lens lens(settings(), 50);
  EXPECT_EQ(answer_of(lens, {80, 80, 80, 76, 72, 68}), Answer::kSlow);
  EXPECT_FALSE(lens.motion().lag_is_known());
}

TEST(FocusLens, WhatIsNoAnswerToOneCommandIsUnclear) {
  Lens flank(settings(), 50);
  EXPECT_EQ(answer_of(flank, {20, 20, 20, 20.1, 23, 40, 80}), Answer::kUnclear) << "the later commands show";
  Lens flat(settings(), 50);
  EXPECT_EQ(answer_of(flat, std::vector<double>(12, 20)), Answer::kUnclear);
  Lens soon(settings(), 50);
  EXPECT_EQ(answer_of(soon, std::vector<double>(6, 20)), Answer::kNone);
}

/// The answer of a lens that is sent from 0 to 10, and on only when it is seen; and how many scores that took.
std::pair<Answer, std::size_t> answer_at_rest(Lens& lens, const std::vector<double>& scores) {
  Answer answer = Answer::kNone;
  lens.frame(scored(scores[0]));
  lens.send(10);
  std::size_t i = 1;
  for (; i < scores.size() && answer == Answer::kNone; ++i) {
    lens.frame(scored(scores[i]));
    lens.follow();
    answer = lens.learn_answer_at_rest();
  }
  return {answer, i};
}

TEST(FocusLens, AStepAboveNoiseTellsThatItAnsweredAtOnce) {
  const std::vector<double> noise = {0.1, -0.2, 0.15, 0.05, -0.1, 0.2, -0.05};
  for (const std::size_t lag : {0, 1, 2, 3}) {
    Lens lens(settings(), 0);
    std::vector<double> scores;
    for (std::size_t i = 0; i < noise.size(); ++i) scores.push_back((i <= lag ? 20 : 23) + noise[i]);
    EXPECT_EQ(answer_at_rest(lens, scores).first, Answer::kAtOnce) << lag;
    EXPECT_EQ(lens.motion().lag(), static_cast<int>(lag));
    EXPECT_TRUE(lens.motion().lag_is_known());
  }
}

TEST(FocusLens, NoAnswerIsLearnedFromNoise) {
  SplitMix random(1);
  int learned = 0;
  for (int run = 0; run < 2000; ++run) {
    Lens lens(settings(), 0);
    std::vector<double> scores;
    for (int i = 0; i < 9; ++i) scores.push_back(20 + test::lens_bench::gaussian(random));
    const auto [answer, taken] = answer_at_rest(lens, scores);
    EXPECT_NE(answer, Answer::kNone);
    EXPECT_LE(taken, 9u);
    learned += lens.motion().lag_is_known();
  }
  std::printf("taken for an answer: noise in %d of 2000\n", learned);
  EXPECT_LE(learned, 30);
}

TEST(FocusLens, WhatArrivesLateAnsweredSlowly) {
  Lens lens(settings(), 0);
  EXPECT_EQ(answer_at_rest(lens, {20, 20, 20, 27, 30, 30, 30, 30}).first, Answer::kSlow);
  EXPECT_FALSE(lens.motion().lag_is_known());
}

TEST(FocusLens, TwoFramesThatAreAlikeShowThatNoiseIsLittle) {
  const auto is_calm = [](std::initializer_list<double> scores) {
    Lens lens(settings(), 50);
    for (const double s : scores) {
      lens.frame(scored(s));
      if (s == *scores.begin())
        lens.send(0);
      else
        lens.follow();
    }
    return lens.is_calm();
  };
  EXPECT_TRUE(is_calm({80, 20, 20.05}));
  EXPECT_TRUE(is_calm({80, 80.1, 20}));
  EXPECT_FALSE(is_calm({80, 81, 20}));
}

TEST(FocusLens, LearnsHowLateFramesAre) {
  Lens lens(settings(), 20);
  lens.begin();
  lens.frame(scored(100));
  lens.send(30);
  for (const double score : {100.0, 100.0, 200.0, 200.0}) lens.frame(scored(score)), lens.follow();
  EXPECT_FALSE(lens.motion().lag_is_known());
  lens.learn_lag(0, false);
  EXPECT_EQ(lens.motion().lag(), 2);
  EXPECT_FALSE(lens.is_slow());
  EXPECT_EQ(lens.rest().size(), 2u) << "frames 2 and 3 show it there";
}

TEST(FocusLens, LearnsHowFastItIs) {
  Lens lens(settings(), 0);
  lens.begin();
  lens.frame(scored(100));
  lens.send(40);
  for (const double score : {100.0, 130.0, 160.0, 200.0, 200.0}) lens.frame(scored(score)), lens.follow();
  lens.learn_lag(0, false);
  EXPECT_FALSE(lens.motion().lag_is_known());
  EXPECT_EQ(lens.slew(), 40 / 3.0);
  // A short move takes whole frames too, and tells less.
  lens.send(43);
  for (const double score : {200.0, 210.0, 220.0, 220.0, 220.0}) lens.frame(scored(score)), lens.follow();
  lens.learn_lag(0, false);
  EXPECT_EQ(lens.slew(), 40 / 3.0);
}

TEST(FocusLens, AStepOfAStopAndGoSweepTakesItsOwnTime) {
  FocusSettings s = settings();
  s.stop_and_go = true;
  Lens lens(s, 0);
  lens.begin();
  lens.frame(scored(100));
  lens.send(40);
  for (const double score : {100.0, 130.0, 160.0, 200.0, 200.0}) lens.frame(scored(score)), lens.follow();
  lens.learn_lag(0, false);
  ASSERT_TRUE(lens.is_slow());
  lens.send(100);
  const int way = lens.motion().rest();
  lens.send_on(96);
  EXPECT_LT(lens.motion().rest(), way / 3);
  EXPECT_GT(lens.motion().rest(), 0);
}

TEST(FocusLens, TheRestOfAnEarlierWayIsNoLag) {
  Lens lens(settings(), 0);
  lens.begin();
  lens.frame(scored(100));
  lens.learn_slew(lens.motion().now() + 20);
  EXPECT_TRUE(lens.is_slow());
  EXPECT_FALSE(lens.creeps());
  lens.send(1);
  for (const double score : {200.0, 200.0, 200.0, 200.0}) lens.frame(scored(score)), lens.follow();
  lens.learn_lag(0, false);
  EXPECT_FALSE(lens.motion().lag_is_known());
}

TEST(FocusLens, LearnsThatItCreepsFromALongMove) {
  Lens lens(settings(), 0);
  lens.begin();
  lens.frame(scored(100));
  lens.send(40);
  for (const double score : {100., 120., 140., 160., 180., 200., 220., 240., 240.})
    lens.frame(scored(score)), lens.follow();
  // The lag is not known: it may have been that of two frames less.
  EXPECT_LT(lens.learn_lag(0, false), 40 / 5.0);
  EXPECT_FALSE(lens.creeps());
}

TEST(FocusLens, IsNotSteadyWhileScoresRiseEvenly) {
  Lens lens(settings(), 0);
  lens.begin();
  lens.frame(scored(100));
  lens.send(40);
  for (int i = 0; i < 60; ++i) {
    lens.frame(scored(100 + i)), lens.follow();
    EXPECT_FALSE(i >= 6 && lens.is_steady()) << i;
  }
  for (int i = 0; i < 3; ++i) lens.frame(scored(159)), lens.follow();
  EXPECT_TRUE(lens.is_steady());
}

TEST(FocusLens, SpeedFollowsFromTheFrameOfItsArrival) {
  Lens lens(settings(), 0);
  lens.begin();
  lens.frame(scored(100));
  lens.learn_creeping();
  lens.send(100);
  const std::uint64_t sent = lens.motion().now();
  for (int i = 0; i < 60; ++i) lens.frame(scored(100)), lens.follow();
  // Frames sent + 1 + lag and later show it on its way.
  lens.learn_slew(sent + static_cast<std::uint64_t>(lens.motion().lag()) + 50);
  EXPECT_TRUE(lens.creeps());
  EXPECT_NEAR(lens.slew(), 2, 0.03);
  EXPECT_EQ(lens.motion().shown(sent + static_cast<std::uint64_t>(lens.motion().lag()) + 25), 50);
}

/// n scores from a function of their number.
std::vector<Seen> trail_of(int n, const std::function<double(int)>& score) {
  std::vector<Seen> trail;
  for (int i = 0; i < n; ++i) trail.push_back({static_cast<std::uint64_t>(i), score(i)});
  return trail;
}

TEST(FocusRest, BeginsWithTheFirstScoreThatIsLikeTheLast) {
  SplitMix random(1);
  const auto noise = [&] { return random.uniform() - 0.5; };
  EXPECT_EQ(came_to_rest(trail_of(60, [&](int i) { return 10.0 * std::min(i, 30) + noise(); })), 30u);
  EXPECT_EQ(came_to_rest(trail_of(60, [](int) { return 5.0; })), 0u) << "without noise";
}

TEST(FocusRest, IsNotSeenInAMoveNotEvenPastATop) {
  EXPECT_FALSE(came_to_rest(trail_of(60, [](int i) { return 10.0 * i; })));
  EXPECT_FALSE(came_to_rest(trail_of(60, [](int i) { return -std::pow(i - 52, 2); })));
  EXPECT_FALSE(came_to_rest(trail_of(10, [](int) { return 5.0; }))) << "too few";
}

TEST(FocusRest, LargeChangesThatAreAboutEqualAreALensOnItsWay) {
  EXPECT_TRUE(is_running(trail({100, 110, 120})));
  EXPECT_TRUE(is_running(trail({7, 100, 90, 75})));
  EXPECT_FALSE(is_running(trail({100, 130, 131}))) << "it has arrived";
  EXPECT_FALSE(is_running(trail({100, 101, 130}))) << "it arrives";
  EXPECT_FALSE(is_running(trail({100, 110, 100}))) << "noise";
  EXPECT_FALSE(is_running(trail({100, 102, 104}))) << "noise, or a scene that moves";
  EXPECT_FALSE(is_running(trail({100, 110}))) << "too few";
  EXPECT_FALSE(is_running(trail({0, 0, 0})));
}

TEST(FocusLens, IsSteadyOnceItsFramesAre) {
  Lens lens(settings(), 20);
  lens.begin();
  lens.frame(scored(100));
  lens.send(30);
  const auto after = [&](double score) {
    lens.frame(scored(score));
    lens.follow();
    return lens.is_steady({{.height = 1000, .width = 4}, 0});
  };
  EXPECT_FALSE(after(100)) << "nothing has changed yet, though its way could be seen";
  EXPECT_FALSE(after(300));
  EXPECT_FALSE(after(600));
  EXPECT_TRUE(after(601));
}

TEST(FocusLens, ASweepBeginsOnceTheWayIsDone) {
  Lens lens(settings(), 20);
  lens.begin();
  lens.frame(scored(100));
  lens.send(0);
  const auto after = [&](double score) {
    lens.frame(scored(score));
    lens.follow();
    return lens.is_steady();
  };
  EXPECT_FALSE(after(102)) << "nothing is seen of the way yet";
  EXPECT_FALSE(after(150));
  EXPECT_FALSE(after(200));
  EXPECT_TRUE(after(210));
  lens.send(100);
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(after(210));
  EXPECT_TRUE(after(210)) << "it should have answered by now";
}

TEST(FocusLens, TurningLeavesItBehindByItsPlay) {
  FocusSettings s = settings();
  s.backlash = 4;
  Lens lens(s, 0);
  lens.begin();
  EXPECT_TRUE(lens.takes_up(10, 0));
  EXPECT_FALSE(lens.takes_up(2, 4)) << "where it is in its play at first is not known";
  lens.send(10);
  EXPECT_TRUE(lens.takes_up(12, 4));
  EXPECT_FALSE(lens.takes_up(7, 4));
  lens.send(2);
  EXPECT_FALSE(lens.takes_up(5, 4));
  EXPECT_TRUE(lens.takes_up(6, 4)) << "4 steps of the way back are taken up";
}

TEST(FocusLens, EndOfTheRangeWhereItTurnsInIsOutOfReach) {
  FocusSettings s = settings();
  s.backlash = 4;
  Lens lens(s, 0);
  EXPECT_EQ(lens.reachable(1), 4);
  EXPECT_EQ(lens.reachable(99), 99);
  lens.approach_like(100, 0);
  EXPECT_EQ(lens.reachable(1), 1);
  EXPECT_EQ(lens.reachable(99), 96);
}

TEST(FocusLens, LearnedPlayIsGivenRoomThere) {
  Lens lens(settings(), 0);
  EXPECT_EQ(lens.reachable(1), 1) << "play is not known yet";
  lens.learn_play(4.0);
  EXPECT_EQ(lens.reachable(1), 5) << "4 and 1.5% of the range";
  EXPECT_EQ(lens.reachable(99), 99);
  lens.learn_play(0.0);
  EXPECT_EQ(lens.reachable(1), 1);
}

TEST(FocusLens, PlayIsReckonedWithAsFarAsItMayBe) {
  EXPECT_EQ(Lens(settings(), 0).play_to_take_up(true), 25);
  EXPECT_EQ(Lens(settings(), 0).play_to_take_up(false), 0);
  FocusSettings s = settings();
  s.backlash = 4;
  EXPECT_EQ(Lens(s, 0).play_to_take_up(true), 5);
  s.backlash = 0;
  EXPECT_EQ(Lens(s, 0).play_to_take_up(true), 0);
  s.approach = FocusApproach::kFromBelow;
  EXPECT_EQ(Lens(s, 0).play_to_take_up(true), 1) << "the side is asked for, whatever the play";
}

TEST(FocusLens, PlayThatIsSetIsNotDoubted) {
  FocusSettings s = settings();
  Lens learning(s, 50);
  learning.begin();
  EXPECT_TRUE(learning.may_have_play(50));
  learning.learn_play(3);
  EXPECT_TRUE(learning.may_have_play(50)) << "learned just now";
  learning.suspect_play();
  EXPECT_EQ(learning.refuted_play(), 3);
  EXPECT_FALSE(learning.play());
  EXPECT_FALSE(learning.may_have_play(50)) << "suspected already";
  s.backlash = 3;
  Lens told(s, 50);
  told.begin();
  EXPECT_FALSE(told.may_have_play(50));
}

}  // namespace
}  // namespace framequality::focus
