// SPDX-License-Identifier: LGPL-2.1-or-later
// Whatever command a focus search gets, and whatever it sees, it keeps within its range and comes to an end.
#include "algorithms/focus/lens_drive.h"
#include "algorithms/focus/search.h"
#include "algorithms/split_mix.h"

#include <cmath>
#include <cstdio>
#include <deque>
#include <gtest/gtest.h>
#include <span>

namespace framequality::test {
namespace {

/// Random settings of a random range.
FocusSettings random_settings(SplitMix& random) {
  constexpr int kPositions[] = {1, 2, 9, 101, 2000};
  FocusSettings s;
  s.min = -50 + 100 * random.uniform();
  s.step = 0.01 + 3 * random.uniform();
  s.max = s.min + s.step * (kPositions[random.next() % std::size(kPositions)] - 1 + 0.4 * random.uniform());
  s.coarse_step = random.next() % 6 ? 0 : s.step * (1 + 20 * random.uniform());
  s.settle_frames = static_cast<int>(random.next() % 6);
  s.lag_frames = static_cast<int>(random.next() % 8) - 1;
  s.average_frames = 1 + static_cast<int>(random.next() % 3);
  s.stop_and_go = random.next() % 5 == 0;
  s.backlash = random.next() % 3 ? -1 : 10 * random.uniform() * s.step;
  s.approach = static_cast<FocusApproach>(random.next() % 3);
  s.loss = random.uniform();
  s.loss_frames = 1 + static_cast<int>(random.next() % 20);
  s.tracking = random.next() % 2;
  s.mode = static_cast<FocusMode>(random.next() % 3);
  return s;
}

/// Score of a scene, some of which no lens would make.
double score_of(int scene, double x, SplitMix& random) {
  switch (scene) {
    case 0:
      return 1 / (1 + x * x) + 0.05;
    case 1:
      return -std::abs(x);
    case 2:
      return 100 * random.uniform() - 50;
    case 3:
      return 0;
    default:
      return 1e6 * std::exp(-x * x) + (random.next() % 50 ? 0 : 1e12 * random.uniform());
  }
}

void run(std::uint64_t seed, FocusGoal goal = FocusGoal::kPeak) {
  SplitMix random(seed);
  FocusSettings s = random_settings(random);
  s.goal = goal;
  const double start = random.next() % 5 ? s.min + (s.max - s.min) * (1.5 * random.uniform() - 0.25) : std::nan("");
  focus::Search search(s, start);
  const int scene = static_cast<int>(random.next() % 5);
  const double width = (s.max - s.min) * (0.02 + 0.3 * random.uniform()) + 1e-9, noise = random.uniform();
  double best = s.min, sent = start;
  std::deque<double> shown(1 + random.next() % 8, start);
  std::deque<std::uint64_t> known(1 + random.next() % 4, 0);
  std::uint64_t commands = 0;
  for (int k = 0; k < 1000; ++k) {
    if (random.next() % 300 == 0) best = s.min + (s.max - s.min) * random.uniform();
    if (random.next() % 400 == 0) search.trigger();
    if (random.next() % 900 == 0) search.cancel();
    if (random.next() % 900 == 0) search.give_up();
    if (random.next() % 500 == 0) {
      s.backlash = 5 * random.uniform() * s.step;
      s.mode = static_cast<FocusMode>(random.next() % 3);
      search.configure(s);
    }
    FocusFrame frame;
    const double x = std::isnan(shown.front()) ? 0 : (shown.front() - best) / width;
    if (random.next() % 7) frame.score = score_of(scene, x, random) + noise * (random.uniform() - 0.5);
    if (random.next() % 2) frame.noise = 5 * random.uniform(), frame.mean = 255 * random.uniform();
    frame.light_power = static_cast<int>(random.next() % 3);
    frame.known = known.front();
    if (const std::optional<double> to = search.frame(frame)) {
      ++commands;
      sent = *to;
      const bool back = *to == start;  // where it began may be outside
      ASSERT_TRUE(back || (*to >= s.min && *to <= s.max)) << *to << ", seed " << seed << ", frame " << k;
    }
    shown.push_back(sent), shown.pop_front();
    known.push_back(commands), known.pop_front();
  }
  const FocusCurve& curve = search.curve();
  ASSERT_EQ(curve.positions.size(), curve.scores.size());
  EXPECT_TRUE(std::isfinite(curve.top) && std::isfinite(curve.width) && std::isfinite(curve.error)) << seed;
}

TEST(FocusSearch, KeepsWithinItsRangeWhateverItSees) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) run(seed);
  for (std::uint64_t seed = 0; seed < 100; ++seed) run(seed, seed % 2 ? FocusGoal::kNearest : FocusGoal::kFarthest);
}

TEST(FocusSearch, EndsWhateverItSees) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SplitMix random(seed);
    FocusSettings s = random_settings(random);
    s.max = s.min + 100 * s.step;
    s.mode = FocusMode::kOneShot;
    s.goal = static_cast<FocusGoal>(seed / 50);
    focus::Search search(s, s.min);
    const auto has_ended = [&] {
      return search.state() == FocusState::kFocused || search.state() == FocusState::kFailed;
    };
    int frames = 0;
    for (; frames < 20000 && !has_ended(); ++frames) search.frame(100 * random.uniform());
    EXPECT_TRUE(has_ended()) << "seed " << seed;
  }
}

// Light without noise that changes evenly looks like a lens on its way, and a lens that is not as it was said to be
// shows each stop elsewhere.
TEST(FocusSearch, EndsWhateverLensAndLight) {
  constexpr int kSeeds = 4500, kPositions[] = {1, 2, 3, 5, 9, 16, 33, 64, 101, 256, 337};
  long long frames_in_all = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SplitMix random(seed);
    FocusSettings s = random_settings(random);
    const int positions = kPositions[random.next() % std::size(kPositions)];
    s.max = s.min + s.step * (positions - 1 + 0.4 * random.uniform());
    s.mode = FocusMode::kOneShot;
    s.stop_and_go = false;
    s.goal = static_cast<FocusGoal>(random.next() % 5 ? 0 : random.next() % 3);
    DriveSettings drive;
    drive.lag = static_cast<int>(random.next() % 8);
    drive.slew = random.next() % 2 ? 0 : s.step * std::exp2(6 * random.uniform() - 1);
    drive.backlash = random.next() % 2 ? 0 : 20 * s.step * random.uniform();
    drive.exposure = random.next() % 2 ? 0 : random.uniform();
    LensDrive lens(drive);
    const double width = s.step * (0.5 + 0.4 * positions * random.uniform()), floor = random.next() % 2 ? 0.0 : 0.5;
    const double best = s.min + (s.max - s.min) * (1.4 * random.uniform() - 0.2),
                 slope = 1e-3 * (random.uniform() - 0.5);
    const int shape = static_cast<int>(random.next() % 6);
    const auto score_at = [&](double at) {
      const double x = (at - best) / width;
      return shape == 0   ? 1 / (1 + x * x)
             : shape == 1 ? std::exp(-x * x / 2)
             : shape == 2 ? std::exp(-std::abs(x))
             : shape == 3 ? 0.0
             : shape == 4 ? (std::abs(x) < 1 ? 1 : 0.1)
                          : std::sin(x) * std::sin(x);
    };
    double target = s.min + (s.max - s.min) * random.uniform(), light = 1;
    focus::Search search(s, target);
    const auto has_ended = [&] {
      return search.state() == FocusState::kFocused || search.state() == FocusState::kFailed;
    };
    int frames = 0;
    for (; frames < 20000 && !has_ended(); ++frames) {
      double score = 0;
      const std::span<const double> shown = lens.frame(target);
      for (const double at : shown) score += light * (score_at(at) + floor) / static_cast<double>(shown.size());
      light *= 1 + slope;
      target = search.frame(score).value_or(target);
    }
    EXPECT_TRUE(has_ended()) << "seed " << seed << ": " << search.reason();
    frames_in_all += frames;
  }
  std::printf("frames of a search: %.0f\n", static_cast<double>(frames_in_all) / kSeeds);
}

TEST(FocusSearch, ComesToRestWhereverThePeakHasBeen) {
  int focused = 0;
  constexpr int kSeeds = 1000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SplitMix random(seed);
    FocusSettings s = random_settings(random);
    s.max = s.min + (2 + static_cast<int>(random.next() % 200)) * s.step;
    s.coarse_step = 0;
    s.mode = FocusMode::kContinuous;
    s.average_frames = 1;
    s.stop_and_go = false;
    s.loss_frames = 1 + s.loss_frames / 2;
    focus::Search search(s, s.min);
    const auto has_ended = [&] {
      return search.state() == FocusState::kFocused || search.state() == FocusState::kFailed;
    };
    const double width = s.step + (s.max - s.min) * 0.2 * random.uniform(), power = 0.5 + random.uniform();
    const double missed = random.next() % 2 ? 0 : 0.2 * random.uniform(), noise = 0.01 * random.uniform();
    double best = s.min, height = 1, sent = s.min;
    std::deque<double> shown(1 + random.next() % 6, sent);
    std::deque<std::uint64_t> known(shown.size(), 0);
    std::uint64_t commands = 0;
    for (int k = 0; k < 2500; ++k) {
      if (k < 1500 && has_ended() && random.next() % 60 == 0) best = s.min + (s.max - s.min) * random.uniform();
      if (k < 1500 && has_ended() && random.next() % 200 == 0) height = 0.3 + 2 * random.uniform();
      FocusFrame frame;
      const double x = (shown.front() - best) / width;
      if (random.uniform() >= missed)
        frame.score = height * std::pow(1 + x * x, -power) * (1 + noise * (random.uniform() - 0.5));
      frame.mean = 100;
      frame.known = known.front();
      if (const std::optional<double> to = search.frame(frame)) ++commands, sent = *to;
      shown.push_back(sent), shown.pop_front();
      known.push_back(commands), known.pop_front();
    }
    EXPECT_TRUE(has_ended()) << "seed " << seed;
    focused += search.state() == FocusState::kFocused;
  }
  std::printf("focused at the end: %d of %d\n", focused, kSeeds);
  EXPECT_GE(focused, 950);
}

}  // namespace
}  // namespace framequality::test
