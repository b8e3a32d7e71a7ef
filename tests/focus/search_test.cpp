// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus search on a score that is known: where it goes, what it says of itself, what it decides by.
#include "algorithms/focus/search.h"

#include "algorithms/split_mix.h"

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
  focus::Search search;
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

// Subjects at three depths: the sharpest is found, though the sweep comes to the others first.
TEST(FocusSearch, HighestOfSeveralPeaksIsFound) {
  const auto scene = [](double x) {
    const auto peak = [x](double at, double height) { return height * std::exp(-(x - at) * (x - at) / (2 * 8 * 8)); };
    return 100 + peak(24, 190) + peak(54, 150) + peak(82, 150);
  };
  for (const int lag : {0, 2})
    for (double start = 0; start <= 100; start += 10) {
      FocusSettings s = settings(3);
      s.coarse_step = 2;  // fine enough for the sweep to see that a peak is behind it
      Bench bench(s, start, lag, scene);
      bench.run();
      EXPECT_EQ(bench.search.state(), FocusState::kFocused);
      EXPECT_NEAR(bench.search.position(), 24, 1) << "from " << start << " lag " << lag;
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
    focus::Search search(s, 0);
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
  focus::Search search(settings(3), 0);
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
  for (int i = 0; i < 1000; ++i) {
    Bench bench(settings(), 35, 0, [&](double) { return 300 + 20 * random.uniform(); });
    bench.run();
    failed += bench.search.state() == FocusState::kFailed;
  }
  EXPECT_GE(failed, 995);
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

// --- What it says of itself ------------------------------------------------------------------------------------------

TEST(FocusSearch, SaysWhyItSearchesAndWhyItEnds) {
  Bench bench(settings(), 0, 0, peak_at(40));
  EXPECT_EQ(bench.search.phase(), focus::Phase::kStart);
  EXPECT_STREQ(bench.search.cause(), "it is the first search");
  bench.run();
  EXPECT_EQ(bench.search.phase(), focus::Phase::kWatch);
  EXPECT_STREQ(bench.search.reason(), "the peak follows from the sweep");
  bench.moves_in(100);
  bench.scene = peak_at(44);
  for (bench.frames = 0; bench.search.state() == FocusState::kFocused && bench.frames < 200;) bench.frame();
  EXPECT_STREQ(bench.search.cause(), "a small loss of focus lasts");
  bench.run();
  bench.moves_in(100);
  bench.scene = peak_at(90);
  for (bench.frames = 0; !bench.is_searching() && bench.frames < 200;) bench.frame();
  EXPECT_STREQ(bench.search.cause(), "the score changed and stayed changed");
  bench.run();
  bench.search.trigger();
  EXPECT_STREQ(bench.search.cause(), "it was triggered");
  bench.frame();
  bench.search.cancel();
  EXPECT_STREQ(bench.search.reason(), "the search was cancelled");
  EXPECT_EQ(bench.search.phase(), focus::Phase::kIdle);
  EXPECT_STREQ(bench.search.cause(), "it was triggered");
}

TEST(FocusSearch, SaysWhyItFails) {
  Bench bench(settings(), 35, 0, [](double) { return 300.0; });
  bench.run();
  EXPECT_STREQ(bench.search.reason(), "all scores are alike");
  bench.search.give_up();
  EXPECT_STREQ(bench.search.reason(), "the search was given up");
}

TEST(FocusSearch, PhasesHaveNames) {
  EXPECT_STREQ(focus::name_of(focus::Phase::kIdle), "idle");
  EXPECT_STREQ(focus::name_of(focus::Phase::kLegEnd), "leg-end");
  EXPECT_STREQ(focus::name_of(focus::Phase::kWatch), "watch");
}

// --- What it decides -------------------------------------------------------------------------------------------------

TEST(FocusLoss, IsLookedForAsFarOutAsTheScoreSays) {
  using Sign = FocusWatch::Sign;
  const FocusPeak shape{.top = 40, .floor = 100, .height = 1000, .width = 10};
  const auto at = [&](double level, Sign sign = Sign::kLost) { return focus::loss_of(sign, &shape, 1100, level); };
  EXPECT_EQ(at(shape.score(52)).kind, focus::Kind::kLocal);
  EXPECT_NEAR(at(shape.score(52)).distance, 12, 1e-9);
  EXPECT_NEAR(at(shape.score(52)).share, std::exp(-0.72), 1e-9);
  EXPECT_EQ(at(300).kind, focus::Kind::kSweep) << "too little is left";
  EXPECT_EQ(at(1500).kind, focus::Kind::kLocal) << "another scene, and sharper";
  EXPECT_EQ(at(1500).distance, 6);
  EXPECT_EQ(at(shape.score(43), Sign::kSlipped).kind, focus::Kind::kTracking);
  EXPECT_EQ(at(300, Sign::kSlipped).distance, 10) << "a probe goes no farther than the depth of focus";
  EXPECT_EQ(focus::loss_of(Sign::kLost, nullptr, 1100, 900).kind, focus::Kind::kSweep);
}

TEST(FocusLoss, HeightIsThatOfTheSceneAtRest) {
  const FocusPeak shape{.top = 40, .floor = 100, .height = 1000, .width = 10};
  EXPECT_NEAR(focus::loss_of(FocusWatch::Sign::kLost, &shape, 600, 350).share, 0.5, 1e-9);
  EXPECT_NEAR(focus::loss_of(FocusWatch::Sign::kLost, &shape, 50, 150).share, 0.5, 1e-9) << "a tenth at least";
}

TEST(FocusRemedy, GoesFromTheLensToTheSweepToTheScene) {
  using focus::Remedy;
  EXPECT_EQ(focus::remedy_for(true, true, false, 0), Remedy::kSuspectPlay);
  EXPECT_EQ(focus::remedy_for(false, true, false, 0), Remedy::kDistrustSweep);
  EXPECT_EQ(focus::remedy_for(false, false, false, 0), Remedy::kBeginAgain);
  EXPECT_EQ(focus::remedy_for(false, false, true, 1), Remedy::kBeginAgain);
  EXPECT_EQ(focus::remedy_for(false, false, false, 2), Remedy::kBestStop);
  EXPECT_EQ(focus::remedy_for(false, false, true, 2), Remedy::kEnd);
  EXPECT_EQ(focus::remedy_for(false, false, false, 3), Remedy::kEnd);
}

}  // namespace
}  // namespace framequality::test
