// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus search among objects at several distances: the nearest and the farthest.
#include "algorithms/focus/search.h"
#include "algorithms/focus/virtual_lens.h"
#include "tests/focus/lens_bench.h"
#include "tests/focus/scorer.h"
#include "tests/support/effort.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::test {
namespace {

double object(double x, double best, double height) { return height / (1 + (x - best) * (x - best) / 25); }

/// The sharpest in the middle.
double three_objects(double x) { return object(x, 20, 500) + object(x, 52, 1000) + object(x, 80, 300) + 50; }

lens_bench::Bench bench_of(FocusGoal goal, double start, int lag) {
  FocusSettings s;
  s.settle_frames = lag + 1;
  s.goal = goal;
  return {s, start, {.lag = lag}, three_objects};
}

TEST(FocusGoal, IsFoundFromEveryStart) {
  for (const auto& [goal, best] : {std::pair(FocusGoal::kNearest, 80), {FocusGoal::kFarthest, 20}})
    for (const int lag : {0, 2})
      for (double start = 0; start <= 100; start += 10) {
        lens_bench::Bench b = bench_of(goal, start, lag);
        b.run();
        EXPECT_TRUE(b.is_focused());
        EXPECT_NEAR(b.lens(), best, 1) << "from " << start << " lag " << lag;
        const FocusCurve& curve = b.search.curve();
        EXPECT_LE(curve.positions.front(), 3) << "the curve is that of the whole range";
        EXPECT_GE(curve.positions.back(), 97);
        EXPECT_NEAR(curve.top, best, 1);
      }
}

TEST(FocusGoal, ThatIsNewIsSearchedForAtOnce) {
  lens_bench::Bench b = bench_of(FocusGoal::kFarthest, 0, 1);
  b.run();
  FocusSettings s;
  s.settle_frames = 2;
  s.goal = FocusGoal::kNearest;
  b.search.configure(s);
  EXPECT_STREQ(b.search.cause(), "the settings changed");
  b.run();
  EXPECT_NEAR(b.lens(), 80, 1);
}

TEST(FocusGoal, IsAnObjectThatComesNearer) {
  lens_bench::Bench b = bench_of(FocusGoal::kNearest, 0, 1);
  b.scene = [](double x) { return object(x, 30, 1000) + 50; };
  b.run();
  EXPECT_NEAR(b.lens(), 30, 1);
  EXPECT_EQ(b.moves_in(100), 0);
  b.scene = [](double x) { return object(x, 30, 500) + object(x, 75, 1000) + 50; };
  for (int i = 0; i < 200 && b.has_ended(); ++i) b.frame();
  b.run();
  EXPECT_NEAR(b.lens(), 75, 1) << "though the last peak is still there";
}

constexpr int kWidth = 160, kHeight = 120;

struct Plane {
  double best;  ///< position where it is sharp
  int to;       ///< column where its stripe of the image ends
};

/// Stripes of one image, which share the lens; each is sharp at a position of its own.
class Planes {
 public:
  Planes(const std::vector<Plane>& planes, LensSettings lens, std::uint64_t scene)
      : planes_(planes), image_(std::size_t{kWidth} * kHeight), stripe_(image_.size()) {
    for (const Plane& p : planes) {
      lens.best_position = p.best;
      lenses_.emplace_back(kWidth, kHeight, dead_leaves(kWidth, kHeight, scene++), lens);
    }
  }
  const std::uint8_t* render(double position) {
    int from = 0;
    for (std::size_t i = 0; i < planes_.size(); from = planes_[i++].to) {
      lenses_[i].render(position, stripe_.data());
      for (std::ptrdiff_t row = 0; row < kHeight * kWidth; row += kWidth)
        std::copy(&stripe_[0] + row + from, &stripe_[0] + row + planes_[i].to, &image_[0] + row + from);
    }
    return image_.data();
  }
  double lens() const { return lenses_.front().shown(); }

 private:
  std::vector<Plane> planes_;
  std::vector<VirtualLens> lenses_;
  std::vector<std::uint8_t> image_, stripe_;
};

/// So many planes, at least a quarter of the range apart, and where a lens with play can come to from both sides; each
/// has about the same share of the image.
std::vector<Plane> random_planes(int count, double play, SplitMix& random) {
  constexpr double kApart = 25, kEnd = 4;
  const double room = 100 - 2 * kEnd - play - kApart * (count - 1);
  std::vector<double> offs;
  for (int i = 0; i < count; ++i) offs.push_back(room * random.uniform());
  std::sort(offs.begin(), offs.end());
  std::vector<Plane> planes;
  for (int i = 0; i < count; ++i) {
    const double end = i + 1 < count ? i + 0.8 + 0.4 * random.uniform() : count;
    planes.push_back(
        {kEnd + play + kApart * i + offs[static_cast<std::size_t>(i)], static_cast<int>(kWidth * end / count)});
  }
  return planes;
}

struct Case {
  int planes;
  double noise, play;
  FocusGoal goal;
};

/// How many of so many searches end within a step of the wanted plane.
int good_of(const Case& c, int runs) {
  SplitMix random(static_cast<std::uint64_t>(c.planes));
  Scorer scorer(kWidth, kHeight);
  int good = 0, other = 0, failed = 0, frames = 0;
  for (int run = 0; run < runs; ++run) {
    const std::vector<Plane> planes = random_planes(c.planes, c.play, random);
    LensSettings lens;
    lens.blur_per_unit = 0.15 + 0.15 * random.uniform();
    lens.drive = {.lag = 2, .backlash = c.play};
    lens.noise = c.noise;
    lens.seed = random.next();
    Planes scene(planes, lens, random.next());
    FocusSettings s;
    s.goal = c.goal;
    s.settle_frames = 3;
    double position = std::floor(101 * random.uniform());
    focus::Search search(s, position);
    for (int most = frames + 1000; frames < most; ++frames) {
      if (const std::optional<double> to = search.frame(scorer(scene.render(position)))) position = *to;
      if (search.state() == FocusState::kFocused || search.state() == FocusState::kFailed) break;
    }
    const double off = std::abs(scene.lens() - (c.goal == FocusGoal::kNearest ? planes.back() : planes.front()).best);
    const bool focused = search.state() == FocusState::kFocused;
    good += focused && off <= 1;
    other += focused && off > 5;
    failed += !focused;
  }
  std::printf(
      "%d planes, noise %.0f, play %.0f, %s: %d of %d within a step, %d at another plane, %d failed; mean %d frames\n",
      c.planes, c.noise, c.play, c.goal == FocusGoal::kNearest ? "nearest" : "farthest", good, runs, other, failed,
      frames / runs);
  return good;
}

class FocusGoals : public ::testing::TestWithParam<int> {};

TEST_P(FocusGoals, AreFoundAmongPlanes) {
  const int runs = is_quick() ? 3 : 10;
  // Of three planes, the peak of one often is but a bend in the flank of another.
  const int wanted = (GetParam() < 3 ? 9 : 7) * runs / 10;
  for (const double noise : {0.0, 5.0}) {
    if (is_quick() && noise > 0) continue;
    for (const double play : {0.0, 5.0})
      for (const FocusGoal goal : {FocusGoal::kNearest, FocusGoal::kFarthest})
        EXPECT_GE(good_of({GetParam(), noise, play, goal}, runs), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Planes, FocusGoals, ::testing::Values(2, 3));

}  // namespace
}  // namespace framequality::test
