// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus search on measured images of virtual lenses.
#include "algorithms/focus/search.h"
#include "algorithms/focus/virtual_lens.h"
#include "tests/focus/scorer.h"

#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>

namespace framequality::test {
namespace {

FocusSettings settings(int lag) {
  FocusSettings s;
  s.settle_frames = lag;
  return s;
}

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
  focus::Search search;

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
