// SPDX-License-Identifier: LGPL-2.1-or-later
// The watch over a lens in focus: which changes of the score are a loss, and which are noise, light or passers-by.
#include "algorithms/focus/watch.h"

#include "algorithms/split_mix.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>

namespace framequality::test {
namespace {

using Sign = FocusWatch::Sign;

double gaussian(SplitMix& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

FocusFrame frame_of(double score) {
  FocusFrame f;
  f.score = score;
  return f;
}

/// A watch and its settings.
struct Watched {
  explicit Watched(const WatchSettings& s = {}) : settings(s) { watch.begin(); }

  Sign frame(const FocusFrame& f) { return watch.frame(f, settings); }
  Sign frame(double score) { return frame(frame_of(score)); }
  /// Frames until a sign, that one included; -1 if so many bring none.
  int frames_to_sign(const std::function<FocusFrame(int)>& frame_number, int most) {
    for (int i = 0; i < most; ++i)
      if ((sign = frame(frame_number(i))) != Sign::kNone) return i + 1;
    return -1;
  }
  int frames_to_sign(double score, int most) {
    return frames_to_sign([=](int) { return frame_of(score); }, most);
  }

  FocusWatch watch;
  WatchSettings settings;
  Sign sign = Sign::kNone;
};

TEST(FocusWatch, LossIsNoticedAfterLossFrames) {
  for (const int loss_frames : {1, 3, 10, 25})
    for (const double score : {65.0, 20.0, 0.0, 150.0, 500.0}) {
      Watched w({.loss_frames = loss_frames});
      ASSERT_EQ(w.frames_to_sign(100, 100), -1);
      // A scene is calm when five frames were: the first of the new one wiped out those before.
      const int needed = std::max(loss_frames, 5);
      const int found = w.frames_to_sign(score, 100);
      EXPECT_EQ(w.sign, Sign::kLost);
      EXPECT_GE(found, loss_frames) << score;
      EXPECT_LE(found, needed) << score;
    }
}

TEST(FocusWatch, ALossAtTheSameBrightnessIsBelievedSooner) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    double score, mean;
    int loss_frames, expected;
  } cases[] = {
      {50, 100, 10, 5},
      {50, 99.1, 10, 5},
      {50, 98, 10, 10},
      {50, 102, 10, 10},
      {50, kNan, 10, 10},
      {50, 100, 30, 15},
      // Focus that is lost does not raise the score.
      {150, 100, 10, 10},
      // Three frames in a row must be alike.
      {50, 100, 8, 4},
      {50, 100, 6, 3},
      {50, 100, 2, 3},
  };
  for (const auto& c : cases) {
    Watched w({.loss_frames = c.loss_frames});
    const auto frame = [](double score, double mean) {
      FocusFrame f = frame_of(score);
      f.mean = mean;
      return f;
    };
    ASSERT_EQ(w.frames_to_sign([&](int) { return frame(100, 100); }, 100), -1);
    EXPECT_EQ(w.frames_to_sign([&](int) { return frame(c.score, c.mean); }, 100), c.expected)
        << c.score << " at " << c.mean << ", " << c.loss_frames;
  }
}

TEST(FocusWatch, ChangesBelowTheLossAreNone) {
  for (const double loss : {0.1, 0.3, 0.8}) {
    for (const double share : {0.98, 1.02}) {
      const double low = 100 * (1 - loss * share), high = 100 / (1 - loss * share);
      for (const double score : {low, high}) {
        Watched w({.loss = loss, .tracking = false});
        ASSERT_EQ(w.frames_to_sign(100, 100), -1);
        EXPECT_EQ(w.frames_to_sign(score, 300) > 0, share > 1) << loss << ": " << score;
      }
    }
  }
}

TEST(FocusWatch, ScoresBelowZeroAreWatchedToo) {
  Watched w({.tracking = false});
  ASSERT_EQ(w.frames_to_sign(-100, 100), -1);
  EXPECT_EQ(w.frames_to_sign(-110, 100), -1);
  EXPECT_GT(w.frames_to_sign(-200, 100), 0);
  EXPECT_EQ(w.sign, Sign::kLost);
}

TEST(FocusWatch, WaitsForCalmButNotForEver) {
  Watched w({.loss_frames = 10});
  ASSERT_EQ(w.frames_to_sign(100, 100), -1);
  // Between 20 and 40, a third up and down: never steady.
  const auto moving = [](int i) { return frame_of(i % 2 ? 20 : 40); };
  EXPECT_EQ(w.frames_to_sign(moving, 60), -1);
  const int still = w.frames_to_sign(30, 50);
  EXPECT_EQ(w.sign, Sign::kLost);
  EXPECT_GE(still, 4);
  EXPECT_LE(still, 5) << "calm is five frames";

  Watched restless({.loss_frames = 10});
  ASSERT_EQ(restless.frames_to_sign(100, 100), -1);
  const int longest = restless.frames_to_sign(moving, 1000);
  EXPECT_EQ(restless.sign, Sign::kLost);
  EXPECT_GE(longest, 90);
  EXPECT_LE(longest, 105);
}

TEST(FocusWatch, LightThatChangesIsNoCalm) {
  Watched w({.loss_frames = 10});
  const auto lit = [](double score, double mean) {
    FocusFrame f = frame_of(score);
    f.mean = mean;
    return f;
  };
  ASSERT_EQ(w.frames_to_sign([&](int) { return lit(100, 100); }, 100), -1);
  EXPECT_EQ(w.frames_to_sign([&](int i) { return lit(30, 100 + 5 * i); }, 30), -1) << "somebody turns it up";
  EXPECT_LE(w.frames_to_sign([&](int) { return lit(30, 250); }, 30), 5);
  EXPECT_EQ(w.sign, Sign::kLost);
}

TEST(FocusWatch, ShortDisturbancesAreNone) {
  for (const double score : {0.0, 400.0}) {
    Watched w({.loss_frames = 10});
    ASSERT_EQ(w.frames_to_sign(100, 100), -1);
    for (int passer_by = 0; passer_by < 20; ++passer_by) {
      EXPECT_EQ(w.frames_to_sign(score, 9), -1) << passer_by;
      EXPECT_EQ(w.frames_to_sign(100, 40), -1) << passer_by;
    }
  }
}

TEST(FocusWatch, SingleFramesInsideDoNotHideALoss) {
  Watched w({.loss_frames = 10, .tracking = false});
  ASSERT_EQ(w.frames_to_sign(100, 100), -1);
  // 70 is a loss: of these a fifth are none.
  SplitMix random(4);
  const int found = w.frames_to_sign([&](int) { return frame_of(68 + 2.4 * gaussian(random)); }, 200);
  EXPECT_EQ(w.sign, Sign::kLost);
  EXPECT_LE(found, 60);
}

TEST(FocusWatch, UselessSearchesWantTwiceThePatienceUntilAllIsCalm) {
  Watched w({.loss_frames = 10});
  int patience = 1;
  const auto needed = [&] {
    w.watch.begin();
    EXPECT_EQ(w.frames_to_sign(100, 20), -1);
    return w.frames_to_sign(50, 1000);
  };
  EXPECT_EQ(needed(), 10);
  for (int i = 0; i < 8; ++i) {
    w.watch.was_useless(true);
    patience = std::min(2 * patience, 16);
    EXPECT_EQ(needed(), 10 * patience);
  }
  // 4 * 10 * 16 frames halve it.
  w.watch.begin();
  EXPECT_EQ(w.frames_to_sign(100, 10 + 640), -1);
  EXPECT_EQ(w.frames_to_sign(50, 1000), 80);
  w.watch.was_useless(false);
  EXPECT_EQ(needed(), 10);
}

// --- Noise and light -------------------------------------------------------------------------------------------------

/// A score of 100 in focus to which noise adds so much times its variance.
constexpr double kGain = 2;
FocusFrame noisy(double noise, double signal = 100) {
  FocusFrame f = frame_of(signal + kGain * noise * noise);
  f.noise = noise;
  return f;
}

TEST(FocusWatch, NoiseThatRisesAndFallsIsNoSign) {
  for (const auto& [from, to] : {std::pair{1.0, 8.0}, {8.0, 1.0}, {2.0, 5.0}, {5.0, 0.0}}) {
    const double before = from, after = to;  // clang before 16 lets no lambda name what a pair was taken apart into
    Watched w({.noise_gain = kGain, .noise_least = 0.5, .noise_most = 0.5});
    ASSERT_EQ(w.frames_to_sign([&](int) { return noisy(before); }, 200), -1);
    EXPECT_EQ(w.frames_to_sign([&](int) { return noisy(after); }, 200), -1) << before << " to " << after;
    EXPECT_EQ(w.frames_to_sign([&](int) { return noisy(before); }, 200), -1) << "and back";
    // The same is a loss if nobody knows of the noise.
    const auto unknown = [](double noise) { return [=](int) { return frame_of(*noisy(noise).score); }; };
    Watched blind({.tracking = false, .noise_gain = kGain});
    ASSERT_EQ(blind.frames_to_sign(unknown(before), 200), -1);
    EXPECT_EQ(blind.frames_to_sign(unknown(after), 200) > 0,
              std::abs(*noisy(after).score - *noisy(before).score) >
                  0.3 * std::max(*noisy(after).score, *noisy(before).score));
  }
}

TEST(FocusWatch, NoiseExplainsNoMoreThanItAdds) {
  for (const double signal : {5.0, 400.0}) {
    Watched w({.noise_gain = kGain});
    ASSERT_EQ(w.frames_to_sign([&](int) { return noisy(2); }, 100), -1);
    // 5^2 - 2^2 times the gain is 42.
    EXPECT_GT(w.frames_to_sign([&](int) { return noisy(5, signal); }, 100), 0) << signal;
    EXPECT_EQ(w.sign, Sign::kLost);
  }
}

TEST(FocusWatch, WhatFocusDoesToTheEstimateOfNoiseExplainsNothing) {
  // While the lens swept, texture in focus was taken for noise of 4, and out of focus for 1.
  const WatchSettings settings{.noise_gain = 20, .noise_least = 1, .noise_most = 4};
  const auto seen = [](double score, double noise) {
    FocusFrame f = frame_of(score);
    f.noise = noise;
    return f;
  };
  Watched w(settings);
  ASSERT_EQ(w.frames_to_sign([&](int) { return seen(400, 4); }, 100), -1);
  EXPECT_EQ(w.frames_to_sign([&](int) { return seen(150, 1); }, 100), 10) << "out of focus";
  Watched without(settings);
  without.settings.noise_least = without.settings.noise_most = 0;
  ASSERT_EQ(without.frames_to_sign([&](int) { return seen(400, 4); }, 100), -1);
  EXPECT_EQ(without.frames_to_sign([&](int) { return seen(150, 1); }, 29), -1)
      << "20 * (16 - 1) would explain it, were it noise";
}

TEST(FocusWatch, LightScalesTheScoreByItsPower) {
  const auto lit = [](double light, int power, double focus = 1) {
    FocusFrame f = frame_of(100 * focus * std::pow(light, power));
    f.mean = 80 * light;
    f.light_power = power;
    return f;
  };
  for (const int power : {1, 2})
    for (const double light : {0.5, 0.75, 1.4, 2.5}) {
      Watched w;
      ASSERT_EQ(w.frames_to_sign([&](int) { return lit(1, power); }, 100), -1);
      EXPECT_EQ(w.frames_to_sign([&](int) { return lit(light, power); }, 200), -1) << light << "^" << power;
      EXPECT_EQ(w.frames_to_sign([&](int) { return lit(1, power); }, 200), -1) << "and back";
      EXPECT_EQ(w.frames_to_sign([&](int) { return lit(light, power, 0.5); }, 200), 10) << "focus is lost, too";
    }
}

/// In so much light, of which the score is not freed.
FocusFrame lit(double light) {
  FocusFrame f = frame_of(100 * light * light);
  f.mean = 80 * light;
  f.light_power = 2;
  return f;
}

TEST(FocusWatch, LightThatStaysIsWhatIsComparedWithFromNowOn) {
  Watched w;
  ASSERT_EQ(w.frames_to_sign([&](int) { return lit(1); }, 100), -1);
  ASSERT_EQ(w.frames_to_sign([&](int) { return lit(2); }, 20), -1);
  EXPECT_NEAR(w.watch.reference(), 100, 1e-9) << "it may go as it came";
  ASSERT_EQ(w.frames_to_sign([&](int) { return lit(2); }, 80), -1);
  EXPECT_NEAR(w.watch.reference(), 400, 1e-9);
}

TEST(FocusWatch, LightOfAFewStepsIsFollowedForEver) {
  // A day: twice as bright at noon, each level stays long enough to be what is compared with.
  Watched w;
  EXPECT_EQ(
      w.frames_to_sign([&](int i) { return lit(1.5 - 0.5 * std::cos(2 * std::numbers::pi * (i / 100) / 20)); }, 10'000),
      -1);
}

TEST(FocusWatch, FiveTimesTheLightIsAnotherScene) {
  for (const double light : {5.0, 0.2}) {
    Watched w;
    const auto lit = [](double score, double mean) {
      FocusFrame f = frame_of(score);
      f.mean = mean;
      f.noise = 5;
      return f;
    };
    w.settings.noise_gain = 100;  // which would explain anything
    ASSERT_EQ(w.frames_to_sign([&](int) { return lit(100, 40); }, 100), -1);
    EXPECT_EQ(w.frames_to_sign([&](int) { return lit(200, 40 * light); }, 100), 10) << light;
    EXPECT_EQ(w.sign, Sign::kLost);
  }
}

TEST(FocusWatch, NormalizedScoresAreNoisierInTheDark) {
  // Noise of the sensor stays, the score is divided by the light's square.
  const auto lit = [](double light) {
    FocusFrame f = frame_of(100 + 40 / (light * light));
    f.mean = 80 * light;
    f.noise = 4;
    return f;
  };
  Watched w({.noise_gain = 2.5});  // 40 / 4^2
  ASSERT_EQ(w.frames_to_sign([&](int) { return lit(1); }, 100), -1);
  EXPECT_EQ(w.frames_to_sign([&](int) { return lit(0.5); }, 200), -1) << "260";
  Watched unaware({.noise_gain = 0});
  ASSERT_EQ(unaware.frames_to_sign([&](int) { return lit(1); }, 100), -1);
  EXPECT_EQ(unaware.frames_to_sign([&](int) { return lit(0.5); }, 200), 10);
}

// --- Tracking --------------------------------------------------------------------------------------------------------

TEST(FocusWatch, SlowSmallLossSlipsWithTrackingOnly) {
  for (const bool tracking : {true, false}) {
    Watched w({.tracking = tracking});
    SplitMix random(5);
    const auto slow = [&](int i) { return frame_of((100 - 0.02 * i) * (1 + 0.003 * gaussian(random))); };
    const int found = w.frames_to_sign(slow, 1000);
    if (tracking) {
      EXPECT_EQ(w.sign, Sign::kSlipped);
      // 4% are lost after 200 frames, and 30 more are seen first.
      EXPECT_GT(found, 60);
      EXPECT_LT(found, 300);
    } else {
      EXPECT_EQ(found, -1) << "a fifth is less than the loss";
    }
  }
}

TEST(FocusWatch, SmallStepDownSlipsSoon) {
  Watched w;
  ASSERT_EQ(w.frames_to_sign(100, 200), -1);
  EXPECT_LE(w.frames_to_sign(90, 60), 10);
  EXPECT_EQ(w.sign, Sign::kSlipped);
}

TEST(FocusWatch, SmallGainIsNoLoss) {
  Watched w;
  ASSERT_EQ(w.frames_to_sign(100, 200), -1);
  EXPECT_EQ(w.frames_to_sign(112, 500), -1);
}

TEST(FocusWatch, UselessProbesAreRepeatedLessAndLess) {
  Watched w;
  ASSERT_EQ(w.frames_to_sign(100, 200), -1);
  int last = 0;
  for (int probe = 0; probe < 4; ++probe) {
    const int found = w.frames_to_sign(93, 2000);
    ASSERT_EQ(w.sign, Sign::kSlipped);
    EXPECT_GE(found, last);
    last = found;
    w.watch.probe_was_useless(true);
  }
  EXPECT_GE(last, 8 * 30);
}

// --- Nothing happens -------------------------------------------------------------------------------------------------

TEST(FocusWatch, TenThousandQuietFramesGiveNoSign) {
  for (const double sigma : {0.001, 0.003, 0.01, 0.03, 0.05})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SplitMix random(seed);
      // Tracking leaves alone what is less than 4%: single frames below 1% of noise are, whatever was seen first.
      Watched w({.tracking = true});
      const auto quiet = [&](int) { return frame_of(100 * (1 + sigma * gaussian(random))); };
      EXPECT_EQ(w.frames_to_sign(quiet, 10'000), -1) << "sigma " << sigma << ", seed " << seed;
    }
}

TEST(FocusWatch, TellsLevelNoiseAndUnrest) {
  Watched w;
  EXPECT_EQ(w.watch.reference(), 0);
  EXPECT_EQ(w.watch.noise(), 0);
  EXPECT_EQ(w.watch.unrest(), 0);
  EXPECT_EQ(w.watch.level().frames, 0);
  SplitMix random(3);
  for (int i = 0; i < 200; ++i) w.frame(100 + 2 * gaussian(random));
  EXPECT_NEAR(w.watch.reference(), 100, 3);
  // Of a block of 30: within 13% or so, three times that here.
  EXPECT_NEAR(w.watch.noise(), 2, 0.8);
  for (const double score : {96.0, 98.0, 100.0, 102.0, 104.0}) w.frame(score);
  EXPECT_EQ(w.watch.level().frames, 5);
  EXPECT_NEAR(w.watch.level().score, 100, 1e-9);
  EXPECT_NEAR(w.watch.unrest(), std::sqrt(8), 1e-9);
}

}  // namespace
}  // namespace framequality::test
