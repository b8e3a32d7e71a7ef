// SPDX-License-Identifier: LGPL-2.1-or-later
// The play of a lens, from scores on the way across a peak and back.
#include "algorithms/focus/play.h"

#include "algorithms/split_mix.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::focus {
namespace {

constexpr BlurPeak kPeak{.top = 33, .height = 40, .width = 14, .power = 1.2};

/// Where a lens with play came to, that was sent along a path in this direction or back; it came from the other side.
std::vector<double> lens_on(const std::vector<int>& path, int direction, double play) {
  std::vector<double> all;
  double lens = path[0] * direction + play;
  for (const int to : path) {
    // Pushed up by the motor, and pulled down where the play is used up.
    if (lens < to * direction) lens = to * direction;
    if (lens > to * direction + play) lens = to * direction + play;
    all.push_back(lens * direction);
  }
  return all;
}

std::vector<PlayLook> looks_on(const std::vector<int>& path, int direction, double play, const BlurPeak& peak,
                               double noise = 0, std::uint64_t seed = 1) {
  SplitMix random(seed);
  std::vector<PlayLook> looks;
  for (const double at : lens_on(path, direction, play))
    looks.push_back({looks.size(), peak.score(at) * (1 + noise * (2 * random.uniform() - 1))});
  return looks;
}

std::vector<int> there_and_back(int direction) {
  std::vector<int> path;
  for (int at = 0; at <= 60; at += 10) path.push_back(direction > 0 ? at : 60 - at);
  for (const int at : {50, 20, 0}) path.push_back(direction > 0 ? at : 60 - at);
  return path;
}

TEST(FocusPlay, LooksAreWhereTheLensWas) {
  const std::vector<int> path{0, 10, 20, 10, 0};
  const std::vector<PlayLook> looks{{0, 1}, {1, 2}, {2, 3, false}, {3, 4}, {4, 5}};
  const auto seen = where_seen(path, looks, 1, 4);
  ASSERT_EQ(seen.size(), 4u);
  const double at[] = {4, 10, 14, 4}, score[] = {1, 2, 4, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(seen[i].at, at[i]);
    EXPECT_EQ(seen[i].score, score[i]);
  }
  EXPECT_EQ(where_seen(path, looks, 1, 0)[0].at, 0);
  EXPECT_EQ(where_seen(path, looks, -1, 4)[1].at, 6) << "upward it follows late, where that is the way back";
  EXPECT_TRUE(where_seen(path, {}, 1, 4).empty());
}

TEST(FocusPlay, IsToldWithTheTop) {
  for (const int direction : {1, -1})
    for (const double play : {0.0, 1.0, 2.0, 5.0, 9.5, 14.0}) {
      const std::vector<int> path = there_and_back(direction);
      const auto fit = play_of(path, looks_on(path, direction, play, kPeak), direction, 15, 0, 30, 12);
      ASSERT_TRUE(fit) << play;
      EXPECT_NEAR(fit->play, play, 0.2) << direction;
      EXPECT_NEAR(fit->peak.top, kPeak.top, 0.3) << direction << " " << play;
      EXPECT_LT(fit->error, 1) << play;
      if (play == 0) {
        EXPECT_LT(fit->gain, 0.5);
      } else if (play >= 2) {
        EXPECT_GT(fit->gain, 5) << play;
      }
    }
}

TEST(FocusPlay, OfAPeakWhereTheSweepBeganToo) {
  const BlurPeak early{.top = 11, .height = 40, .width = 14, .power = 1.2};
  const std::vector<int> path{0, 10, 20, 30, 40, 50, 60, 40, 30, 20, 0};
  for (const double play : {0.0, 4.0, 8.0}) {
    const auto fit = play_of(path, looks_on(path, 1, play, early), 1, 15, 0, 10, 12);
    ASSERT_TRUE(fit) << play;
    EXPECT_NEAR(fit->play, play, 0.5);
    EXPECT_NEAR(fit->peak.top, early.top, 2) << play;
  }
}

TEST(FocusPlay, ErrorIsThatOfNoise) {
  const std::vector<int> path = there_and_back(1);
  for (const double noise : {0.02, 0.06}) {
    double off = 0, told = 0;
    constexpr int kRuns = 200;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const auto fit =
          play_of(path, looks_on(path, 1, 6, kPeak, noise, seed), 1, 15, noise * 40 / std::sqrt(3), 30, 12);
      ASSERT_TRUE(fit);
      off += (fit->play - 6) * (fit->play - 6) / kRuns, told += fit->error * fit->error / kRuns;
    }
    EXPECT_LT(std::sqrt(off), 1.5 * std::sqrt(told)) << noise;
    EXPECT_GT(std::sqrt(off), 0.2 * std::sqrt(told)) << noise;
  }
}

TEST(FocusPlay, IsUnknownWithoutTheWayBack) {
  const std::vector<int> path{0, 10, 20, 30, 40, 50, 60};
  const BlurPeak late{.top = 46, .height = 40, .width = 14, .power = 1.2};
  const auto fit = play_of(path, looks_on(path, 1, 6, late, 0.05), 1, 15, 1, 50, 12);
  EXPECT_TRUE(!fit || fit->error > 3);
  EXPECT_FALSE(play_of({}, {}, 1, 15, 0, 30, 12));
  const std::vector<PlayLook> dark(path.size(), PlayLook{0, 0});
  EXPECT_FALSE(play_of(path, dark, 1, 15, 0, 30, 12)) << "scores that are not positive have no such peak";
}

}  // namespace
}  // namespace framequality::focus
