// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus search: on a score that is known, and on measured pictures of virtual lenses.
#include "algorithms/focus/search.h"

#include "algorithms/focus/virtual_lens.h"
#include "tests/sharpness/measure.h"

#include <cmath>
#include <deque>
#include <functional>
#include <gtest/gtest.h>

namespace framequality::test {
namespace {

/// A lens that obeys with a lag, in front of a scene whose score is a function of the position.
class Bench {
 public:
  using Scene = std::function<double(double)>;
  Bench(const FocusSettings& settings, double position, int lag, Scene scene)
      : scene(std::move(scene)), search(settings, position), sent_(static_cast<std::size_t>(lag), position) {
    sent_.push_back(position);
  }

  /// One frame; true if the lens was told to move.
  bool frame() {
    ++frames;
    const double shown = sent_.front();
    sent_.pop_front();
    const std::optional<double> to = search.frame(scene(shown));
    if (to) commands.push_back(*to);
    sent_.push_back(to ? *to : sent_.empty() ? last_ : sent_.back());
    last_ = sent_.back();
    return to.has_value();
  }
  /// Frames until the search has ended, or so many.
  void run(int most = 5000) {
    do {
      frame();
    } while (is_searching() && frames < most);
    EXPECT_LT(frames, most) << "the search does not end";
  }
  bool is_searching() const {
    const FocusState s = search.state();
    return s == FocusState::kCoarse || s == FocusState::kFine || s == FocusState::kSettle;
  }
  /// Moves in so many frames.
  int moves_in(int count) {
    int moves = 0;
    while (count-- > 0) moves += frame();
    return moves;
  }

  Scene scene;
  FocusSearch search;
  std::vector<double> commands;
  int frames = 0;

 private:
  std::deque<double> sent_;  ///< front: what the next frame shows
  double last_ = 0;
};

/// A peak of this half width on a floor.
Bench::Scene peak_at(double best, double width = 8, double floor = 50) {
  return [=](double x) { return 1000 / (1 + (x - best) * (x - best) / (width * width)) + floor; };
}

FocusSettings settings(int lag = 0) {
  FocusSettings s;
  s.settle_frames = lag;
  return s;
}

TEST(FocusSearch, PeakBelowZeroIsInFocus) {
  Bench bench(settings(), 0, 0, [peak = peak_at(40)](double x) { return peak(x) - 2000; });
  bench.run();
  EXPECT_EQ(bench.search.state(), FocusState::kFocused);
  EXPECT_NEAR(bench.search.position(), 40, 1);
}

TEST(FocusSearch, CoarseStepBeyondTheRangeIsTheRange) {
  for (const double step : {150.0, 5e9, 1e300}) {
    FocusSettings s = settings();
    s.coarse_step = step;
    Bench bench(s, 0, 0, peak_at(40));
    bench.run();
    EXPECT_EQ(bench.commands.front(), 100) << step;
  }
}

TEST(FocusSearch, FindsThePeakFromEveryStart) {
  for (double best = 0; best <= 100; best += 3.7) {
    for (const double start : {0.0, 31.5, 100.0, std::nan("")}) {
      Bench bench(settings(2), start, 2, peak_at(best));
      bench.run();
      EXPECT_EQ(bench.search.state(), FocusState::kFocused);
      EXPECT_LE(std::abs(bench.search.position() - best), 1) << "from " << start;
      EXPECT_LE(bench.search.moves(), 32) << best << " from " << start;
      EXPECT_EQ(bench.search.moves(), static_cast<int>(bench.commands.size()));
    }
  }
}

TEST(FocusSearch, CommandsStayInRangeOnTheGrid) {
  FocusSettings s = settings();
  s.min = -3, s.max = 4.1, s.step = 0.25;
  for (double best = -4; best <= 5; best += 0.6) {
    Bench bench(s, 0, 0, peak_at(best, 0.5));
    bench.run();
    for (const double to : bench.commands) {
      EXPECT_GE(to, s.min);
      EXPECT_LE(to, s.max);
      EXPECT_NEAR(std::remainder(to - s.min, s.step), 0, 1e-9);
    }
    EXPECT_LE(std::abs(bench.search.position() - std::clamp(best, s.min, 4.0)), s.step);
  }
}

TEST(FocusSearch, RangeOfOnePositionFocusesThere) {
  FocusSettings s = settings();
  s.min = s.max = 7;
  Bench bench(s, 0, 0, peak_at(3));
  bench.run();
  EXPECT_EQ(bench.search.state(), FocusState::kFocused);
  EXPECT_EQ(bench.commands, std::vector<double>{7});
}

TEST(FocusSearch, ScoresBelowZeroAreSearchedToo) {  // vollath-f4 of a noisy defocused picture
  Bench bench(settings(), 0, 0, [](double x) { return 100 / (1 + (x - 60) * (x - 60) / 50) - 20; });
  bench.run();
  EXPECT_EQ(bench.search.state(), FocusState::kFocused);
  EXPECT_LE(std::abs(bench.search.position() - 60), 1);
}

TEST(FocusSearch, FramesBeforeTheLensArrivedAreNotUsed) {
  // Whatever is in flight scores ten times too high: using one such frame would end the search in a wrong place.
  for (int lag = 1; lag <= 5; ++lag) {
    double commanded = 0;
    FocusSettings s = settings(lag);
    s.stop_and_go = true;
    FocusSearch search(s, 0);
    std::deque<double> sent(static_cast<std::size_t>(lag), 0);
    const auto score = peak_at(42);
    for (int i = 0; i < 1000 && search.state() != FocusState::kFocused; ++i) {
      sent.push_back(commanded);
      const double shown = sent.front();
      sent.pop_front();
      if (const auto to = search.frame(shown == commanded ? score(shown) : 10000)) commanded = *to;
    }
    EXPECT_LE(std::abs(search.position() - 42), 1) << "lag " << lag;
  }
}

TEST(FocusSearch, UnmeasuredFramesLetTheLensSettleButAreNoScores) {
  Bench bench(settings(3), 0, 3, peak_at(70));
  FocusSearch search(settings(3), 0);
  std::deque<double> sent(3, 0.0);
  double commanded = 0;
  for (int i = 0; i < 2000 && search.state() != FocusState::kFocused; ++i) {
    sent.push_back(commanded);
    const double shown = sent.front();
    sent.pop_front();
    const bool measured = i % 4 == 0;
    if (const auto to = search.frame(measured ? std::optional(peak_at(70)(shown)) : std::nullopt)) commanded = *to;
  }
  EXPECT_EQ(search.state(), FocusState::kFocused);
  EXPECT_LE(std::abs(search.position() - 70), 1);
}

TEST(FocusSearch, SceneWithoutPeakFailsAndReturns) {
  for (const double level : {0.0, 300.0}) {
    Bench bench(settings(), 35, 0, [=](double) { return level; });
    bench.run();
    EXPECT_EQ(bench.search.state(), FocusState::kFailed);
    EXPECT_EQ(bench.search.position(), 35);
    EXPECT_EQ(bench.moves_in(1000), 0) << "searched again though nothing changed";
    bench.scene = peak_at(80);
    bench.frames = 0;
    while (bench.search.state() == FocusState::kFailed && bench.frames < 1000) bench.frame();
    bench.run();
    EXPECT_LE(std::abs(bench.search.position() - 80), 1) << "a scene that came later";
  }
}

TEST(FocusSearch, NoiseWithoutPeakFails) {
  SplitMix random(3);
  int failed = 0;
  for (int i = 0; i < 50; ++i) {
    Bench bench(settings(), 35, 0, [&](double) { return 300 + 20 * random.uniform(); });
    bench.run();
    failed += bench.search.state() == FocusState::kFailed;
  }
  EXPECT_GE(failed, 45);
}

TEST(FocusSearch, LensThatIsLaterThanSettleFramesIsFoundOut) {
  for (const int lag : {2, 4, 6}) {
    Bench bench(settings(0), 0, lag, peak_at(50, 6));
    bench.run();
    EXPECT_EQ(bench.search.state(), FocusState::kFocused);
    EXPECT_NEAR(bench.search.position(), 50, 1) << lag;
    EXPECT_EQ(bench.search.lag(), lag);
  }
}

TEST(FocusSearch, PeakThatMovesIsFollowed) {
  Bench bench(settings(1), 0, 1, peak_at(20));
  bench.run();
  for (const double best : {75.0, 12.0, 100.0, 33.0}) {
    EXPECT_EQ(bench.moves_in(100), 0);
    bench.scene = peak_at(best);
    bench.frames = 0;
    while (!bench.is_searching() && bench.frames < 200) bench.frame();
    EXPECT_LT(bench.frames, 20) << "noticed late";
    bench.run();
    EXPECT_LE(std::abs(bench.search.position() - best), 1);
  }
}

TEST(FocusSearch, ShortDisturbanceIsIgnored) {
  Bench bench(settings(), 0, 0, peak_at(20));
  bench.run();
  EXPECT_EQ(bench.moves_in(100), 0);
  const auto scene = std::exchange(bench.scene, peak_at(90));
  EXPECT_EQ(bench.moves_in(9), 0);
  bench.scene = scene;
  EXPECT_EQ(bench.moves_in(1000), 0);
}

TEST(FocusSearch, NothingChangesNothingMoves) {
  // Exposure flickers by 10% and the score is not normalized: it wanders between 0.81 and 1.21.
  SplitMix random(9);
  Bench bench(settings(), 0, 0, [&](double x) {
    const double gain = 0.9 + 0.2 * random.uniform();
    return gain * gain * peak_at(64)(x);
  });
  bench.run();
  EXPECT_EQ(bench.search.state(), FocusState::kFocused);
  EXPECT_EQ(bench.moves_in(10000), 0);
}

TEST(FocusSearch, SceneThatFlickersForEverIsSearchedLessAndLess) {
  // Lasting changes by half, but the focus is where it was: each search is useless.
  int i = 0;
  Bench bench(settings(), 0, 0, [&](double x) { return (++i / 40 % 2 ? 1 : 0.5) * peak_at(64)(x); });
  int searches = 0;
  for (int frame = 0; frame < 20000; ++frame) {
    const bool was = bench.is_searching();
    bench.frame();
    searches += !was && bench.is_searching();
  }
  EXPECT_LT(searches, 20);
}

TEST(FocusSearch, OneShotSearchesOnceAndWhenTriggered) {
  FocusSettings s = settings();
  s.mode = FocusMode::kOneShot;
  Bench bench(s, 0, 0, peak_at(20));
  bench.run();
  EXPECT_LE(std::abs(bench.search.position() - 20), 1);
  bench.scene = peak_at(80);
  EXPECT_EQ(bench.moves_in(500), 0);
  bench.search.trigger();
  bench.frames = 0;
  bench.run();
  EXPECT_LE(std::abs(bench.search.position() - 80), 1);
}

TEST(FocusSearch, ManualWaitsForTrigger) {
  FocusSettings s = settings();
  s.mode = FocusMode::kManual;
  Bench bench(s, 5, 0, peak_at(20));
  EXPECT_EQ(bench.moves_in(100), 0);
  EXPECT_EQ(bench.search.state(), FocusState::kIdle);
  EXPECT_EQ(bench.search.position(), 5);
  bench.search.trigger();
  bench.run();
  EXPECT_LE(std::abs(bench.search.position() - 20), 1);
}

TEST(FocusSearch, CancelLeavesTheLensWhereItIs) {
  Bench bench(settings(), 0, 0, peak_at(60));
  EXPECT_GT(bench.moves_in(12), 0);
  bench.search.cancel();
  const double position = bench.search.position();
  EXPECT_EQ(bench.moves_in(500), 0);
  EXPECT_EQ(bench.search.state(), FocusState::kIdle);
  EXPECT_EQ(bench.search.position(), position);
  bench.search.trigger();
  bench.run();
  EXPECT_LE(std::abs(bench.search.position() - 60), 1);
}

TEST(FocusSearch, AnotherRangeStartsAnew) {
  Bench bench(settings(), 0, 0, peak_at(60));
  bench.run();
  FocusSettings s = settings();
  s.min = 50, s.max = 55, s.step = 0.5;
  bench.search.configure(s);
  bench.frames = 0;
  bench.commands.clear();
  bench.frame();
  bench.run();
  EXPECT_EQ(bench.search.position(), 55);
  for (const double to : bench.commands) EXPECT_GE(to, 50);
}

TEST(FocusSearch, OtherWatchSettingsDoNotSearch) {
  Bench bench(settings(), 0, 0, peak_at(60));
  bench.run();
  FocusSettings s = settings();
  s.loss = 0.5, s.loss_frames = 30;
  bench.search.configure(s);
  EXPECT_EQ(bench.moves_in(200), 0);
  EXPECT_EQ(bench.search.state(), FocusState::kFocused);
}

TEST(FocusSearch, LegThatBeginsWhereTheLensStandsTakesTheScoresOfItsOwnFrames) {
  FocusSettings s = settings();
  s.stop_and_go = true;
  s.average_frames = 3;
  Bench bench(s, 0, 0, peak_at(0));
  bench.run();
  ASSERT_EQ(bench.search.position(), 0);
  bench.moves_in(60);
  // From 0 the sweep goes to both ends, one of which is where it is: that leg's three frames, and three of the next.
  double score = 100;
  bench.scene = [&](double x) { return x == 0 ? score : peak_at(60)(x); };
  while (!bench.is_searching()) bench.frame();
  for (const double next : {101.0, 102.0, 104.0, 108.0}) {
    score = next;
    bench.frame();
  }
  bench.run();
  EXPECT_EQ(bench.search.curve().positions.front(), 0);
  EXPECT_NEAR(bench.search.curve().scores.front(), ((100 + 101 + 102) / 3.0 + (102 + 104 + 108) / 3.0) / 2, 1e-9);
}

// --- Measured pictures -----------------------------------------------------------------------------------------------

/// Score of 8-bit pictures as sharpnessmeter prefilter=binomial5 normalize=mean gives it.
class Scorer {
 public:
  Scorer(int width, int height) : geometry_{.width = width, .height = height, .layout = {}} {
    Request request;
    request.prefilter = Prefilter::kBinomial5;
    request.mean = true;
    plan_ = std::make_shared<const Plan>(make_plan(geometry_, request));
    meter_ = cpu::make_meter(geometry_);
  }
  double operator()(const std::uint8_t* picture) {
    Frame frame;
    frame.plane[0] = picture;
    frame.stride[0] = geometry_.width;
    meter_->submit({frame, plan_});
    return finish(*plan_, meter_->collect()).score;
  }

 private:
  Geometry geometry_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Meter> meter_;
};

/// A virtual lens, measured and focused frame by frame.
class Camera {
 public:
  Camera(const LensSettings& lens, const FocusSettings& focus, std::uint64_t scene)
      : lens(kWidth, kHeight, dead_leaves(kWidth, kHeight, scene), lens),
        search(focus, 0),
        scorer_(kWidth, kHeight),
        picture_(std::size_t{kWidth} * kHeight) {}

  bool frame() {
    lens.render(position_, picture_.data());
    const std::optional<double> to = search.frame(scorer_(picture_.data()));
    if (to) position_ = *to;
    return to.has_value();
  }
  /// Frames until it is in focus, or so many.
  int run(int most) {
    int frames = 1;
    for (; frames < most; ++frames) {
      frame();
      if (search.state() == FocusState::kFocused || search.state() == FocusState::kFailed) break;
    }
    return frames;
  }

  static constexpr int kWidth = 160, kHeight = 120;
  VirtualLens lens;
  FocusSearch search;

 private:
  Scorer scorer_;
  std::vector<std::uint8_t> picture_;
  double position_ = 0;
};

LensSettings random_lens(SplitMix& random) {
  LensSettings lens;
  lens.best_position = 100 * random.uniform();
  lens.blur_per_unit = 0.05 + 0.25 * random.uniform();
  lens.drive.lag = static_cast<int>(random.next() % 6);
  lens.noise = 5 * random.uniform();
  lens.flicker = 0.1;
  lens.seed = random.next();
  return lens;
}

TEST(VirtualLensFocus, NinetyEightOfAHundredEndWithinOneStepInHalfTheMoves) {
  SplitMix random(2024);
  int good = 0, worst_moves = 0, total_moves = 0, total_frames = 0;
  for (int i = 0; i < 100; ++i) {
    const LensSettings lens = random_lens(random);
    Camera camera(lens, settings(lens.drive.lag), random.next());
    total_frames += camera.run(2000);
    const double off = std::abs(camera.search.position() - lens.best_position);
    const bool focused = camera.search.state() == FocusState::kFocused && off <= 1;
    good += focused;
    if (!focused)
      std::printf("lens %d: best %.1f found %.0f blur %.2f lag %d noise %.1f moves %d\n", i, lens.best_position,
                  camera.search.position(), lens.blur_per_unit, lens.drive.lag, lens.noise, camera.search.moves());
    worst_moves = std::max(worst_moves, camera.search.moves());
    total_moves += camera.search.moves();
  }
  std::printf("%d of 100 within one step; moves: mean %.1f, most %d of 101; frames: mean %.0f\n", good,
              total_moves / 100.0, worst_moves, total_frames / 100.0);
  EXPECT_GE(good, 98);
  EXPECT_LE(worst_moves, 50);
}

TEST(VirtualLensFocus, RefocusesWhenThePeakMoves) {
  SplitMix random(7);
  int good = 0;
  for (int i = 0; i < 10; ++i) {
    LensSettings lens = random_lens(random);
    Camera camera(lens, settings(lens.drive.lag), random.next());
    camera.run(2000);
    for (int k = 0; k < 60; ++k) camera.frame();
    lens.best_position = std::fmod(lens.best_position + 40, 100);
    camera.lens.configure(lens);
    for (int k = 0; k < 300 && camera.search.state() == FocusState::kFocused; ++k) camera.frame();
    camera.run(2000);
    good += std::abs(camera.search.position() - lens.best_position) <= 1;
  }
  EXPECT_GE(good, 9);
}

TEST(VirtualLensFocus, DoesNotHunt) {
  SplitMix random(11);
  for (int i = 0; i < 5; ++i) {
    LensSettings lens = random_lens(random);
    lens.noise = 5;
    Camera camera(lens, settings(lens.drive.lag), random.next());
    camera.run(2000);
    ASSERT_EQ(camera.search.state(), FocusState::kFocused);
    int moves = 0;
    for (int k = 0; k < 1000; ++k) moves += camera.frame();
    EXPECT_EQ(moves, 0);
  }
}

}  // namespace
}  // namespace framequality::test
