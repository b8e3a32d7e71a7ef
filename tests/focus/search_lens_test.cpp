// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus search on lenses with lag, play and limited speed, in front of peaks whose top is known.
#include "algorithms/focus/lens_drive.h"
#include "algorithms/focus/search.h"
#include "algorithms/split_mix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <numbers>
#include <vector>

namespace framequality::test {
namespace {

using Scene = std::function<double(double)>;

double gaussian(SplitMix& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

/// A lens in front of a scene whose score is a function of the position of the lens.
class Bench {
 public:
  Bench(const FocusSettings& settings, double start, const DriveSettings& drive, Scene curve)
      : scene(std::move(curve)), search(settings, start), drive_(drive), target_(start) {}

  /// One frame; true if the lens was told to move.
  bool frame() {
    ++frames;
    double score = 0;
    const auto positions = drive_.frame(target_);
    for (const double at : positions) score += scene(at) / static_cast<double>(positions.size());
    FocusFrame f;
    f.score = score * (1 + noise * gaussian(random)) * std::pow(light, f.light_power = light_power);
    if (light_power > 0) f.mean = 60 * light;
    if (sigma >= 0) f.noise = sigma, *f.score += gain * sigma * sigma;
    if (queue > 0) f.known = told.size();
    waiting_.push_back(f);
    if (static_cast<int>(waiting_.size()) <= queue) return false;
    const std::optional<double> to = search.frame(waiting_.front());
    waiting_.pop_front();
    was_coarse |= search.state() == FocusState::kCoarse;
    if (!to) return false;
    target_ = *to;
    told.push_back({frames, *to});
    return true;
  }
  bool has_ended() const { return search.state() == FocusState::kFocused || search.state() == FocusState::kFailed; }
  /// Frames until it is in focus or has failed.
  int run(int most = 3000) {
    const int before = frames;
    do frame();
    while (!has_ended() && frames - before < most);
    EXPECT_TRUE(has_ended()) << "the search does not end";
    return frames - before;
  }
  int moves_in(int count) {
    int moves = 0;
    while (count-- > 0) moves += frame();
    return moves;
  }
  double lens() const { return drive_.position(); }
  bool is_focused() const { return search.state() == FocusState::kFocused; }

  struct Command {
    int frame;
    double to;
  };
  Scene scene;
  focus::Search search;
  std::vector<Command> told;
  int frames = 0, queue = 0, light_power = 0;
  double noise = 0, sigma = -1, gain = 0, light = 1;
  bool was_coarse = false;
  SplitMix random{1};

 private:
  LensDrive drive_;
  double target_;
  std::deque<FocusFrame> waiting_;
};

enum class Shape { kRound, kTent, kLeaning };

/// width: half of that at half height.
Scene peak(Shape shape, double top, double width) {
  return [=](double x) {
    const double d = x - top;
    if (shape == Shape::kTent) return 50 + 1000 * std::exp2(-std::abs(d) / width);
    const double w = shape == Shape::kLeaning && d > 0 ? 1.3 * width : width;
    return 50 + 1000 / (1 + d * d / (w * w));
  };
}

/// A lens and a scene of any shape and width, 3...20 of 101 steps.
struct Case {
  Case(std::uint64_t seed, int positions, int settle = 3) {
    SplitMix random(1000 + seed);
    last = positions - 1;
    shape = static_cast<Shape>(random.next() % 3);
    width = (3 + 17 * random.uniform()) * last / 100;
    top = last * random.uniform();
    start = std::floor(positions * random.uniform());
    settings.max = last;
    settings.settle_frames = settle;
    drive.lag = 2;
  }
  Bench bench(double noise = 0.003) const {
    Bench b(settings, start, drive, peak(shape, top, width));
    b.noise = noise;
    b.random = SplitMix(static_cast<std::uint64_t>(top * 1e6));
    return b;
  }

  /// Within one step, or a hundredth of the range, or where a wide peak has lost less than 1% of its height.
  bool is_near(double at) const { return std::abs(at - top) <= std::max({1.0, last / 100, width / 12}); }
  bool is_at_top(const Bench& b) const { return b.is_focused() && is_near(b.lens()); }

  double last, width, top, start;
  Shape shape;
  FocusSettings settings;
  DriveSettings drive;
};

/// Until it is in focus; how many commands were those of the sweep.
std::size_t run_telling_sweep(Bench& b) {
  std::size_t sweep = 0;
  do {
    b.frame();
    if (b.search.state() == FocusState::kCoarse) sweep = b.told.size();
  } while (!b.has_ended() && b.frames < 3000);
  return sweep;
}

int median(std::vector<int> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

TEST(LensSearch, FocusesInFewFramesWhateverTheNumberOfPositions) {
  for (const int positions : {16, 36, 101, 256, 337}) {
    std::vector<int> frames;
    int good = 0, exact = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Case c(seed, positions);
      Bench b = c.bench();
      frames.push_back(b.run());
      good += c.is_at_top(b);
      exact += b.is_focused() && std::abs(b.lens() - c.top) <= 1;
    }
    std::printf("%d positions: median %d frames, %d of 200 at the top, %d within one step\n", positions, median(frames),
                good, exact);
    // Seen: 26...30. The sweep is of 20 steps or so whatever the range, and five stops of lag and settling follow.
    EXPECT_LE(median(frames), 36) << positions;
    EXPECT_GE(good, 194) << positions;
  }
}

TEST(LensSearch, FewPositionsAreEnoughForALensWithoutPlay) {
  for (const int positions : {101, 337}) {
    std::vector<int> frames;
    int good = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Case c(seed, positions);
      c.shape = Shape::kRound;
      c.settings.backlash = 0;
      Bench b = c.bench();
      frames.push_back(b.run());
      good += c.is_at_top(b);
    }
    std::printf("%d positions, no play: median %d frames, %d of 200 at the top\n", positions, median(frames), good);
    // Seen: 22; with a sweep of 20 steps 25.
    EXPECT_LE(median(frames), 23) << positions;
    EXPECT_GE(good, 194) << positions;
  }
}

TEST(LensSearch, LearnsTheLagOfTheLens) {
  for (int lag = 0; lag <= 6; ++lag) {
    int learned = 0, good = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      Case c(seed, 101, 0);
      c.drive.lag = lag;
      Bench b = c.bench();
      b.run();
      learned += b.search.lag() == lag;
      good += c.is_at_top(b);
    }
    std::printf("lag %d: learned by %d, %d of 400 at the top\n", lag, learned, good);
    EXPECT_GE(learned, 370) << lag;
    EXPECT_GE(good, 372) << lag;
  }
}

TEST(LensSearch, LagThatIsSetIsUsed) {
  for (const int lag : {0, 3, 6}) {
    int good = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Case c(seed, 101, 0);
      c.drive.lag = c.settings.lag_frames = lag;
      Bench b = c.bench();
      EXPECT_EQ(b.search.lag(), lag) << "before it has seen a frame";
      b.run();
      EXPECT_EQ(b.search.lag(), lag);
      good += c.is_at_top(b);
    }
    std::printf("lag %d set: %d of 100 at the top\n", lag, good);
    EXPECT_GE(good, 95) << lag;
  }
}

TEST(LensSearch, CopesWithPlay) {
  for (const double play : {0.0, 1.0, 3.0, 6.0, 10.0, 20.0}) {
    int good = 0, far = 0, known = 0, near = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Case c(seed, 101);
      c.drive.backlash = play;
      Bench b = c.bench();
      // What is reachable from both sides.
      c.top = play + (c.last - play) * c.top / c.last;
      b.scene = peak(c.shape, c.top, c.width);
      b.run();
      const double off = std::abs(b.lens() - c.top);
      good += c.is_at_top(b);
      far += b.is_focused() && off > 3;
      if (!b.search.backlash()) continue;
      ++known;
      near += std::abs(*b.search.backlash() - play) <= std::max(2.0, 0.3 * play);
    }
    std::printf("play %.0f: %d of 100 at the top, focused farther than 3: %d, learned %d, near %d\n", play, good, far,
                known, near);
    // A fifth of the range is play: the sweep sees little of what is left at its ends.
    EXPECT_GE(good, play < 20 ? 93 : 87) << play;
    EXPECT_LE(far, 4) << play;
    EXPECT_GE(near, known * 7 / 10) << play;
  }
}

TEST(LensSearch, PlayThatIsSetIsTakenUp) {
  for (const double play : {2.0, 8.0}) {
    int good = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Case c(seed, 101);
      c.drive.backlash = c.settings.backlash = play;
      Bench b = c.bench();
      c.top = play + (c.last - play) * c.top / c.last;
      b.scene = peak(c.shape, c.top, c.width);
      b.run();
      EXPECT_EQ(b.search.backlash(), play);
      good += c.is_at_top(b);
    }
    std::printf("play %.0f set: %d of 100 at the top\n", play, good);
    EXPECT_GE(good, 93) << play;
  }
}

TEST(LensSearch, LastCommandComesFromTheSideThatIsSet) {
  for (const FocusApproach approach : {FocusApproach::kFromBelow, FocusApproach::kFromAbove}) {
    const bool below = approach == FocusApproach::kFromBelow;
    int wrong = 0, good = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Case c(seed, 101);
      c.settings.approach = approach;
      c.drive.backlash = 5;
      Bench b = c.bench();
      c.top = 5 + 0.95 * c.top;
      b.scene = peak(c.shape, c.top, c.width);
      const std::size_t sweep = run_telling_sweep(b);
      good += c.is_at_top(b);
      const auto is_right = [&](std::size_t i) { return (b.told[i].to > b.told[i - 1].to) == below; };
      // Where it goes the other way it passes a stop, to come back to it; at the end of the range there is no room.
      for (std::size_t i = sweep + 1; i < b.told.size(); ++i)
        wrong += !is_right(i) && b.told[i].to != (below ? 0 : c.last) && (i + 1 == b.told.size() || !is_right(i + 1));
    }
    std::printf("from %s: %d of 100 at the top, %d from the other side\n", below ? "below" : "above", good, wrong);
    EXPECT_GE(good, 92);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(LensSearch, StopAndGoWaitsForTheLens) {
  int good = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Case c(seed, 101, 4);
    c.settings.stop_and_go = true;
    c.settings.approach = seed % 2 ? FocusApproach::kAuto : FocusApproach::kFromBelow;
    Bench b = c.bench();
    const std::size_t sweep = run_telling_sweep(b);
    good += c.is_at_top(b);
    EXPECT_GT(sweep, 3u);
    for (std::size_t i = 1; i < b.told.size(); ++i)
      EXPECT_GT(b.told[i].frame - b.told[i - 1].frame, 4) << "seed " << seed << ", command " << i;
  }
  std::printf("stop and go: %d of 100 at the top\n", good);
  EXPECT_GE(good, 90);
}

TEST(LensSearch, SlowLensesAreFocusedToo) {
  for (const double slew : {8.0, 4.0}) {
    int good = 0;
    std::vector<int> frames;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Case c(seed, 101);
      c.drive.slew = slew;
      Bench b = c.bench();
      frames.push_back(b.run());
      good += c.is_at_top(b);
    }
    std::printf("slew %.0f: %d of 100 at the top, median %d frames\n", slew, good, median(frames));
    EXPECT_GE(good, 85) << slew;
  }
}

TEST(LensSearch, FramesThatWaitInAQueueAreCreditedRight) {
  for (const int queue : {1, 2, 4}) {
    int good = 0, learned = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const Case c(seed, 101);
      Bench b = c.bench();
      b.queue = queue;
      b.run();
      // Its last command may still be on its way to a frame.
      good += b.is_focused() && c.is_near(b.search.position());
      learned += b.search.lag() == 2;
    }
    std::printf("queue %d: %d of 100 at the top, lag learned by %d\n", queue, good, learned);
    EXPECT_GE(good, 95) << queue;
    EXPECT_GE(learned, 80) << queue;
  }
}

TEST(LensSearch, FlatScenesFailAndReturn) {
  for (const double noise : {0.0, 0.005, 0.03}) {
    int failed = 0, back = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Case c(seed, 101);
      Bench b = c.bench(noise);
      b.scene = [](double) { return 400.0; };
      b.run();
      failed += b.search.state() == FocusState::kFailed;
      back += b.search.position() == c.start;
    }
    std::printf("flat, noise %.1f%%: %d of 100 fail, %d return\n", 100 * noise, failed, back);
    EXPECT_GE(failed, 95) << noise;
    EXPECT_GE(back, failed) << noise;
  }
}

TEST(LensSearch, CurveIsThatOfTheScene) {
  int near = 0, wide = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Case c(seed, 101);
    // Both flanks are to be seen.
    if (c.top < 1.5 * c.width || c.last - c.top < 1.5 * c.width) continue;
    Bench b = c.bench();
    const double sigma = c.width / 1.1774;
    b.scene = [=](double x) { return 50 + 1000 * std::exp(-(x - c.top) * (x - c.top) / (2 * sigma * sigma)); };
    b.run();
    const FocusCurve& curve = b.search.curve();
    ASSERT_EQ(curve.positions.size(), curve.scores.size());
    ASSERT_GE(curve.positions.size(), 5u);
    EXPECT_TRUE(std::is_sorted(curve.positions.begin(), curve.positions.end())) << seed;
    ++all;
    near += std::abs(curve.top - c.top) <= 1;
    wide += std::abs(curve.width - c.width) <= 0.3 * c.width;
    const auto best = std::max_element(curve.scores.begin(), curve.scores.end()) - curve.scores.begin();
    EXPECT_LE(std::abs(curve.positions[static_cast<std::size_t>(best)] - c.top), std::max(1.5, 0.5 * c.width)) << seed;
  }
  std::printf("curve: of %d, %d tops within one step, %d widths within 30%%\n", all, near, wide);
  EXPECT_GE(near, all * 95 / 100);
  EXPECT_GE(wide, all * 90 / 100);
}

// --- In focus --------------------------------------------------------------------------------------------------------

TEST(LensSearch, SmallJumpsAreFollowedWithoutASweep) {
  std::vector<int> frames;
  int swept = 0, good = 0, far = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Case c(seed, 101);
    c.top = 10 + 0.8 * c.top;
    c.width = 3 + 0.25 * c.width;  // so that a jump is a loss
    Bench b = c.bench();
    b.run();
    b.moves_in(100);
    const double jump = (2 + 3 * b.random.uniform()) * (seed % 2 ? 1 : -1);
    c.top += jump;
    b.scene = peak(c.shape, c.top, c.width);
    b.was_coarse = false;
    const int before = b.frames;
    while (b.is_focused() && b.frames - before < 300) b.frame();
    while (!b.has_ended() && b.frames - before < 1000) b.frame();
    frames.push_back(b.frames - before);
    swept += b.was_coarse;
    b.moves_in(100);  // and what tracking makes better
    good += c.is_at_top(b);
    far += std::abs(b.lens() - c.top) > 2;
  }
  std::printf("jumps of 2...5 steps: median %d frames, %d sweep, %d of 100 at the top, %d farther than 2\n",
              median(frames), swept, good, far);
  EXPECT_LE(median(frames), 25);
  EXPECT_LE(swept, 2);
  // A local search has few stops, and takes the peak for a bell: tents and leaning ones are missed by a step.
  EXPECT_GE(good, 87);
  EXPECT_EQ(far, 0);
}

TEST(LensSearch, TrackingFollowsASlowDrift) {
  constexpr double kWidth = 8;
  for (const double speed : {0.001, 0.002, 0.005, 0.01})
    for (const bool tracking : {true, false}) {
      double worst = 0;
      std::vector<int> moves;
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Case c(seed, 101);
        c.settings.tracking = tracking;
        c.settings.loss = 0.9;  // so that nothing else follows
        Bench b = c.bench();
        double top = 30;
        b.scene = [&](double x) { return peak(Shape::kRound, top, kWidth)(x); };
        b.run();
        const std::size_t before = b.told.size();
        while (top < 50) {
          top += speed;
          b.frame();
          // While it probes it is elsewhere.
          if (b.is_focused()) worst = std::max(worst, std::abs(b.lens() - top));
        }
        moves.push_back(static_cast<int>(b.told.size() - before));
      }
      std::printf("drift of %.3f steps a frame, tracking %d: worst off by %.1f, %d moves\n", speed, tracking, worst,
                  median(moves));
      if (tracking) {
        EXPECT_LT(worst, 0.3 * kWidth) << speed;
      } else {
        EXPECT_GT(worst, kWidth) << speed;
      }
    }
}

TEST(LensSearch, NothingChangesNothingMoves) {
  for (const double noise : {0.001, 0.003, 0.01, 0.03})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Case c(seed, 101);
      // A few frames of such noise in a row may look like a small loss.
      c.settings.tracking = true;
      Bench b = c.bench(noise);
      b.run();
      EXPECT_EQ(b.moves_in(3000), 0) << "noise " << noise << ", seed " << seed;
    }
}

TEST(LensSearch, NoiseThatIsToldOfMovesNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Case c(seed, 101);
    Bench b = c.bench();
    // 50 of the floor is noise of this deviation.
    b.gain = 2;
    b.sigma = 5;
    b.run();
    ASSERT_TRUE(b.is_focused());
    for (const double sigma : {5.0, 10.0, 5.0, 2.0, 12.0, 0.5}) {
      b.sigma = sigma;
      EXPECT_EQ(b.moves_in(300), 0) << "seed " << seed << ", to noise of " << sigma;
    }
  }
}

TEST(LensSearch, LightThatIsToldOfMovesNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case c(seed, 101);
    Bench b = c.bench();
    b.light_power = 2;
    b.run();
    ASSERT_TRUE(b.is_focused());
    for (const double light : {1.0, 0.6, 1.0, 2.0, 1.3, 0.8}) {
      b.light = light;
      EXPECT_EQ(b.moves_in(300), 0) << "seed " << seed << ", to light of " << light;
    }
  }
}

}  // namespace
}  // namespace framequality::test
