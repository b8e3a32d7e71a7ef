// SPDX-License-Identifier: LGPL-2.1-or-later
// The gate's decisions: sequences by hand, and the running median against sorting the window each time.
#include "algorithms/gate.h"

#include "tests/support/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace framequality::test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();

/// P for each frame that passes, - for one that does not.
std::string judged(const std::vector<double>& scores, double min_score, double resume_score) {
  Hysteresis hysteresis;
  std::string text;
  for (const double score : scores) text += hysteresis.judge(score, min_score, resume_score).pass ? 'P' : '-';
  return text;
}

TEST(Hysteresis, BlocksBelowMinAndResumesAtResume) {
  EXPECT_EQ(judged({10, 9.9, 10, 14.9, 15, 10, 9.9, 20}, 10, 15), "P---PP-P");
}

TEST(Hysteresis, FirstFrameBetweenTheTwoPasses) { EXPECT_EQ(judged({12, 9, 12}, 10, 15), "P--"); }

TEST(Hysteresis, ResumeBelowMinCountsAsMin) {
  EXPECT_EQ(judged({10, 9, 9.5, 10, 9}, 10, 0), "P--P-");
  EXPECT_EQ(judged({-5, -7, -6, -5}, -5, -std::numeric_limits<double>::max()), "P--P");
}

TEST(Hysteresis, ThresholdsMayChangeBetweenFrames) {
  Hysteresis hysteresis;
  EXPECT_EQ(hysteresis.judge(5, 10, 20), (Verdict{false, Reason::kBelowMinScore}));
  EXPECT_EQ(hysteresis.judge(15, 10, 20), (Verdict{false, Reason::kBelowMinScore}));
  EXPECT_EQ(hysteresis.judge(15, 10, 12), (Verdict{true, Reason::kAboveResumeScore}));
  EXPECT_EQ(hysteresis.judge(15, 16, 12), (Verdict{false, Reason::kBelowMinScore}));
  EXPECT_EQ(hysteresis.judge(16, 16, 12), (Verdict{true, Reason::kAboveResumeScore}));
  EXPECT_EQ(hysteresis.judge(16, 16, 12), (Verdict{true, Reason::kAboveMinScore}));
}

/// The same with frames at these times.
std::string judged_at(const std::vector<std::pair<std::int64_t, double>>& frames, std::int64_t hold_time) {
  Hysteresis hysteresis;
  std::string text;
  for (const auto& [time, score] : frames) text += hysteresis.judge(score, 10, 15, time, hold_time).pass ? 'P' : '-';
  return text;
}

TEST(HoldTime, NothingChangesForSoLongAfterAChange) {
  EXPECT_EQ(judged_at({{0, 20}, {10, 5}, {20, 20}, {39, 20}, {40, 20}, {50, 5}, {69, 5}, {70, 5}}, 30), "P---PPP-");
}

TEST(HoldTime, FirstFramesAreNoChange) { EXPECT_EQ(judged_at({{0, 5}, {10, 20}, {30, 20}}, 30), "--P"); }

TEST(HoldTime, AShortChangeIsNeverSeen) {
  EXPECT_EQ(judged_at({{0, 20}, {10, 5}, {20, 20}, {30, 5}, {40, 20}, {50, 5}}, 30), "P---PP");
}

TEST(HoldTime, JumpsInTimeEndIt) {
  EXPECT_EQ(judged_at({{kMin, 20}, {kMin + 1, 5}, {kMax, 20}}, kMax), "P-P") << "further away than any time is long";
  EXPECT_EQ(judged_at({{1000, 20}, {1010, 5}, {20, 20}, {40, 5}, {60, 5}}, 30), "P-PP-") << "and counts from there";
}

TEST(RunningMedian, OfFramesByHand) {
  RunningMedian median;
  const WindowLength three{.frames = 3};
  std::vector<double> medians;
  for (const double score : {5., 1., 9., 9., 2., 2.}) medians.push_back(median.add(score, 0, three));
  EXPECT_EQ(medians, (std::vector<double>{5, 3, 5, 9, 9, 2}));
}

TEST(RunningMedian, WindowOfTimeIsOpenAtItsOldEnd) {
  RunningMedian median;
  const WindowLength window{.time = 10};
  EXPECT_EQ(median.add(1, 0, window), 1);
  EXPECT_EQ(median.add(3, 9, window), 2);
  EXPECT_EQ(median.add(5, 10, window), 4) << "the frame 10 before has left";
  EXPECT_EQ(median.add(7, 18, window), 5);
  EXPECT_EQ(median.add(7, 1000, window), 7);
}

TEST(RunningMedian, TimeThatRunsBackwardsStartsAnew) {
  RunningMedian median;
  const WindowLength window{.time = kMax};
  EXPECT_EQ(median.add(1, kMin, window), 1);
  EXPECT_EQ(median.add(3, kMax, window), 3) << "further away than any window is long";
  EXPECT_EQ(median.add(9, kMax - 1, window), 9);
}

TEST(RunningMedian, TimeThatRunsBackwardsWithinTheWindowStartsAnew) {
  for (const WindowLength& window : {WindowLength{.time = 10}, WindowLength{.frames = 10}}) {
    RunningMedian median;
    median.add(1, 0, window);
    median.add(1, 9, window);
    EXPECT_EQ(median.add(7, 5, window), 7);
    EXPECT_EQ(median.add(9, 5, window), 8) << "the same time again is not backwards";
  }
}

TEST(RunningMedian, LargestScoresDoNotOverflow) {
  RunningMedian median;
  constexpr double kHuge = std::numeric_limits<double>::max();
  median.add(kHuge, 0, {});
  EXPECT_EQ(median.add(kHuge, 1, {}), kHuge);
  EXPECT_EQ(median.add(-kHuge, 2, {}), kHuge);
  EXPECT_EQ(median.add(-kHuge, 3, {}), 0);
}

TEST(RunningMedian, EqualsSortingTheWindow) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    RunningMedian median;
    std::vector<std::pair<std::int64_t, double>> all;
    WindowLength window;
    std::int64_t time = 0;
    for (int i = 0; i < 700; ++i) {
      // The window changes now and then, as a property may; few distinct scores, so that equals meet.
      if (i % 100 == 0) window = {.time = 1 + random.below(300), .frames = random.one_in(2) ? 0 : 1 + random.below(90)};
      time += random.below(4);
      const double score = random.below(30) - 5;
      all.emplace_back(time, score);
      const double got = median.add(score, time, window);
      std::vector<double> inside;
      for (std::size_t k = all.size(); k-- > 0;) {
        if (window.frames > 0 ? std::cmp_equal(inside.size(), window.frames) : all[k].first <= time - window.time) {
          // What has left does not come back when the window grows.
          all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k) + 1);
          break;
        }
        inside.push_back(all[k].second);
      }
      std::sort(inside.begin(), inside.end());
      const std::size_t n = inside.size();
      ASSERT_EQ(got, (inside[n / 2] + inside[(n - 1) / 2]) / 2) << "seed " << seed << ", frame " << i;
    }
  }
}

TEST(RunningMedian, HoldsNoMoreThanTheMostFrames) {
  RunningMedian median;
  const auto most = static_cast<std::int64_t>(kMaxWindowFrames);
  for (std::int64_t i = 0; i < most; ++i) median.add(0, i, {});
  double last = 0;
  for (std::int64_t i = 0; i < most / 2 + 1; ++i) last = median.add(1, most + i, {});
  EXPECT_EQ(last, 1) << "more than half of what is held, not of what was added";
}

/// Levels of frames 40 ms apart, each as soon as `ahead` frames after it are there.
std::vector<double> levels(const std::vector<double>& scores, int ahead, const WindowLength& window = {}) {
  RunningLevel level;
  std::vector<double> all;
  std::int64_t time = 0;
  for (const double score : scores) {
    level.add(score, time += kSecond / 25, window);
    if (std::cmp_greater(level.waiting(), ahead)) all.push_back(level.next(ahead));
  }
  while (level.waiting() > 0) all.push_back(level.next(ahead));
  return all;
}

/// P for each frame of at least 0.8 of its level, - for others.
std::string passed(const std::vector<double>& scores, int ahead, const WindowLength& window = {}) {
  const std::vector<double> all = levels(scores, ahead, window);
  std::string text;
  for (std::size_t i = 0; i < scores.size(); ++i) text += judge_by_median(scores[i], all[i], 0.8, 0).pass ? 'P' : '-';
  return text;
}

/// Runs of scores, one after the other.
std::vector<double> runs(const std::vector<std::pair<int, double>>& parts) {
  std::vector<double> scores;
  for (const auto& [count, score] : parts) scores.insert(scores.end(), static_cast<std::size_t>(count), score);
  return scores;
}

std::string all_pass(std::size_t count) { return std::string(count, 'P'); }

TEST(RunningLevel, WithoutLookAheadIsTheRunningMedian) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    RunningLevel level;
    RunningMedian median;
    std::int64_t time = 0;
    for (int i = 0; i < 300; ++i) {
      time += random.one_in(50) ? -100 : random.below(10);
      const WindowLength window{.time = 1 + random.below(99), .frames = random.one_in(2) ? 0 : 1 + random.below(20)};
      const double score = random.below(30) - 5;
      level.add(score, time, window);
      ASSERT_EQ(level.next(0), median.add(score, time, window)) << "seed " << seed << ", frame " << i;
    }
  }
}

TEST(RunningLevel, ByHand) {
  // Lowest maximum of a window of three: 10 10 8 8 8 9 9. Medians before: 10 10 10 8 8 8.5 8; after: 10 6 6 8 8 8.5 8.
  EXPECT_EQ(levels({10, 10, 4, 6, 8, 9, 8}, 2), (std::vector<double>{10, 10, 8, 8, 8, 8.5, 8}));
}

TEST(RunningLevel, BlurredFramesAreDips) {
  EXPECT_EQ(passed({10, 10, 10, 5, 10, 10, 10, 10}, 3), "PPP-PPPP");
  EXPECT_EQ(passed(runs({{8, 10}, {6, 4}, {8, 10}}), 6), all_pass(8) + "------" + all_pass(8));
  EXPECT_EQ(passed(runs({{8, 10}, {2, 4}, {1, 10}, {2, 4}, {8, 10}}), 6), all_pass(8) + "--P--" + all_pass(8));
}

TEST(RunningLevel, WhatLastsLongerThanTheLookAheadIsAnotherScene) {
  EXPECT_EQ(passed(runs({{8, 10}, {7, 4}, {8, 10}}), 6), all_pass(23));
  EXPECT_EQ(passed(runs({{8, 10}, {7, 4}, {8, 10}}), 0), all_pass(8) + "-------" + all_pass(8));
}

TEST(RunningLevel, CutsDropNothing) {
  for (const double to : {1., 3., 7.9, 12., 40.})
    for (const int frames : {7, 20, 60})
      EXPECT_EQ(passed(runs({{30, 10}, {frames, to}, {30, 10}}), 6), all_pass(static_cast<std::size_t>(60 + frames)));
}

TEST(RunningLevel, BlurBesideACutIsSeen) {
  for (const double to : {3., 40.}) {
    // The frame before the cut, and two of the new scene after its first.
    const auto scores = runs({{30, 10}, {1, to < 10 ? 2. : 5.}, {1, to}, {2, to / 2}, {30, to}});
    EXPECT_EQ(passed(scores, 6), all_pass(30) + "-P--" + all_pass(30)) << to;
  }
}

TEST(RunningLevel, RampsDropNothing) {
  std::vector<double> fade;
  for (int i = 0; i < 60; ++i) fade.push_back(100 * std::pow(0.95, i < 30 ? i : 60 - i));
  fade.insert(fade.end(), 10, 100);
  EXPECT_EQ(passed(fade, 6), all_pass(70));
  std::vector<double> blurred = fade;
  blurred[10] /= 3;
  blurred[50] /= 3;
  EXPECT_EQ(passed(blurred, 6), all_pass(10) + "-" + all_pass(39) + "-" + all_pass(19));
}

TEST(RunningLevel, SharperFramesNowAndThenDoNotRaiseIt) {
  std::vector<double> scores;
  for (int i = 0; i < 60; ++i) scores.push_back(i % 3 ? 10 : 14);
  EXPECT_EQ(passed(scores, 6), all_pass(60));
  scores.assign(40, 10);
  scores[20] = 1e6;
  EXPECT_EQ(passed(scores, 6), all_pass(40));
}

TEST(RunningLevel, StartPassesAndEndIsComparedWithWhatWasBefore) {
  EXPECT_EQ(passed({2, 4, 10, 10, 10, 10}, 3), "PPPPPP") << "a rise";
  EXPECT_EQ(passed({10, 10, 10, 10, 10, 3, 3}, 3), "PPPPP--");
  EXPECT_EQ(passed({10}, 3), "P");
  EXPECT_EQ(passed({10, 3}, 3), "P-");
}

TEST(RunningLevel, FramesThatLeftTheWindowAreForgotten) {
  const auto scores = runs({{5, 10}, {1, 3}, {9, 10}});
  EXPECT_EQ(passed(scores, 3, {.frames = 2}), "PPPPP-PPPPPPPPP");
  EXPECT_EQ(passed(scores, 3, {.frames = 1}), all_pass(15)) << "nothing is before a frame";
  RunningLevel level;
  for (const std::int64_t time : {0, 10, 20}) level.add(10, time, {.time = 100});
  while (level.waiting() > 0) level.next(2);
  EXPECT_TRUE(level.begins_anew(19));
  EXPECT_FALSE(level.begins_anew(20));
  level.add(3, 5, {.time = 100});
  EXPECT_EQ(level.next(2), 3) << "time ran backwards";
  level.clear();
  EXPECT_FALSE(level.begins_anew(kMin));
}

TEST(RunningLevel, LargestScoresDoNotOverflow) {
  constexpr double kHuge = std::numeric_limits<double>::max();
  for (const double level : levels({kHuge, kHuge, -kHuge, kHuge, kHuge, -kHuge, -kHuge, kHuge, kHuge}, 2))
    EXPECT_TRUE(std::isfinite(level));
}

TEST(RunningLevel, LookAheadMayChangeBetweenFrames) {
  Random random(7);
  RunningLevel level;
  int ahead = 0;
  for (int i = 0; i < 2000; ++i) {
    if (random.one_in(20)) ahead = random.one_in(10) ? kMaxLookAhead : random.below(8);
    level.add(random.below(100), i, {.frames = 50});
    while (std::cmp_greater(level.waiting(), ahead)) ASSERT_TRUE(std::isfinite(level.next(ahead)));
  }
}

TEST(RunningLevel, EqualsTheDefinition) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const int ahead = 1 + random.below(8), frames = 1 + random.below(60);
    const WindowLength window{.frames = 1 + random.below(20)};
    std::vector<double> s;
    for (int i = 0; i < frames; ++i) s.push_back(random.below(100));
    const std::vector<double> got = levels(s, ahead, window);
    const auto median = [&](int from, int to) {
      std::vector<double> part(s.begin() + from, s.begin() + to);
      std::sort(part.begin(), part.end());
      return (part[part.size() / 2] + part[(part.size() - 1) / 2]) / 2;
    };
    for (int i = 0; i < frames; ++i) {
      const int first = std::max(0, i - std::min(ahead, window.frames - 1));
      double want = std::numeric_limits<double>::max();
      for (int from = i - ahead; from <= i; ++from) {
        if (from > i - ahead && from + ahead >= frames) continue;  // it would end after the last frame
        const int to = std::min(from + ahead + 1, frames);
        want = std::min(want, *std::max_element(s.begin() + std::max(from, first), s.begin() + to));
      }
      const double before = median(std::max(0, i + 1 - window.frames), i + 1);
      want = std::min(want, std::max(before, median(i, std::min(i + ahead + 1, frames))));
      ASSERT_EQ(got[static_cast<std::size_t>(i)], want) << "seed " << seed << ", frame " << i;
    }
  }
}

TEST(JudgeByMedian, BothEndsBelong) {
  EXPECT_EQ(judge_by_median(8, 10, 0.8, 2), (Verdict{true, Reason::kNearMedian}));
  EXPECT_EQ(judge_by_median(7.9, 10, 0.8, 2), (Verdict{false, Reason::kBelowMedian}));
  EXPECT_EQ(judge_by_median(20, 10, 0.8, 2), (Verdict{true, Reason::kNearMedian}));
  EXPECT_EQ(judge_by_median(20.1, 10, 0.8, 2), (Verdict{false, Reason::kAboveMedian}));
}

TEST(JudgeByMedian, NoUpperLimitAndNoMedianPass) {
  EXPECT_TRUE(judge_by_median(1e9, 10, 0.8, 0).pass);
  for (const double median : {0., -3.})
    for (const double score : {-1e9, 0., 1e9}) EXPECT_TRUE(judge_by_median(score, median, 0.8, 2).pass);
}

struct Shot {
  std::int64_t time;
  double score;
  std::int64_t duration = 0;
};

/// Index of the frame picked from each window, in the order in which they leave; "n<i" = n is known when i comes, or
/// with i, if "n=i".
std::string picked(const std::vector<Shot>& shots, const WindowLength& window) {
  BestOf best_of;
  std::string text;
  int best = -1;
  const auto leave = [&](bool complete, char how, int i) {
    best_of.close(complete, window);
    if (best < 0) return;
    text += (text.empty() ? "" : " ") + std::to_string(best) + how + std::to_string(i);
    best = -1;
  };
  int i = 0;
  for (const Shot& shot : shots) {
    if (best_of.begins_window(shot.time, window)) leave(false, '<', i);
    if (best_of.offer(shot.score)) best = i;
    if (best_of.is_complete(shot.time + shot.duration, window)) leave(true, '=', i);
    ++i;
  }
  leave(false, '<', i);
  return text;
}

TEST(BestOf, FirstOfEqualsWins) {
  EXPECT_EQ(picked({{0, 1}, {1, 2}, {2, 2}, {3, -5}, {4, -5}, {5, -6}}, {.frames = 3}), "1=2 3=5");
}

TEST(BestOf, LessFramesThanAWindowAreOne) { EXPECT_EQ(picked({{0, 1}, {1, 2}}, {.frames = 3}), "1<2"); }

TEST(BestOf, OneFrameWindowsPickEach) { EXPECT_EQ(picked({{0, 3}, {0, 2}, {0, 1}}, {.frames = 1}), "0=0 1=1 2=2"); }

TEST(BestOf, WindowsOfTimeStartAtTheFirstFrame) {
  EXPECT_EQ(picked({{7, 1}, {16, 2}, {17, 1}, {26, 0}, {27, 9}}, {.time = 10}), "1<2 2<4 4<5");
}

TEST(BestOf, WindowThatADurationFillsIsOverAtOnce) {
  EXPECT_EQ(picked({{0, 1, 5}, {5, 2, 5}, {10, 1, 5}, {15, 0, 5}, {20, 1, 5}}, {.time = 10}), "1=1 2=3 4<5");
  EXPECT_EQ(picked({{0, 1, 4}, {4, 2, 4}, {8, 3, 4}, {12, 9, 4}, {16, 1, 4}}, {.time = 10}), "2=2 3=4");
}

TEST(BestOf, FrameALittleEarlyBelongsToTheWindowThatItWasExpectedIn) {
  EXPECT_EQ(picked({{0, 1, 5}, {5, 2, 5}, {9, 1, 5}, {14, 7, 5}, {19, 3, 5}}, {.time = 10}), "1=1 3=4");
}

TEST(BestOf, JumpOverEmptyWindowsPicksNothingMore) {
  EXPECT_EQ(picked({{0, 1}, {1, 2}, {95, 1}, {99, 2}, {100, 5}}, {.time = 10}), "1<2 3<4 4<5") << "90 to 99 is one";
  EXPECT_EQ(picked({{0, 1, 35}, {35, 2, 1}, {39, 3, 1}, {40, 1, 1}}, {.time = 10}), "0=0 2=2 3<4");
}

TEST(BestOf, TimeThatRunsBackStartsAnew) {
  EXPECT_EQ(picked({{1000, 1}, {1003, 2}, {0, 1}, {9, 5}, {10, 1}}, {.time = 10}), "1<2 3<4 4<5");
}

TEST(BestOf, LongestWindowNeverEnds) {
  EXPECT_EQ(picked({{-5, 1}, {kSecond, 2}, {kMax - 6, 1}}, {.time = kMax}), "1<3");
  EXPECT_EQ(picked({{kMin, 1}, {kMax, 2}}, {.time = kMax}), "0<1 1<2");
}

TEST(BestOf, EachWindowPicksItsMaximum) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const WindowLength window{.time = 20 + random.below(100)};
    std::vector<Shot> shots;
    std::int64_t time = random.below(1000);
    for (int i = 0; i < 300; ++i) {
      const int duration = 1 + random.below(random.one_in(20) ? 500 : 12);
      shots.push_back({time, static_cast<double>(random.below(1000)), duration});
      time += duration;
    }
    std::vector<int> best;
    std::int64_t last = -1;
    for (int i = 0; i < 300; ++i) {
      const Shot& shot = shots[static_cast<std::size_t>(i)];
      const std::int64_t index = (shot.time - shots[0].time) / window.time;
      if (index != last) best.push_back(i);
      if (shot.score > shots[static_cast<std::size_t>(best.back())].score) best.back() = i;
      last = index;
    }
    std::string want;
    for (const int b : best) want += std::to_string(b) + " ";
    std::string got = picked(shots, window) + " ", numbers;
    for (std::size_t at = 0; at < got.size(); at = got.find(' ', at) + 1)
      numbers += got.substr(at, got.find_first_of("<=", at) - at) + " ";
    ASSERT_EQ(numbers, want) << "seed " << seed;
  }
}

}  // namespace
}  // namespace framequality::test
