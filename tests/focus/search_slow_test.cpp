// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus search on lenses that move slowly: less than the range, or less than a sweep's step, in a frame.
#include "tests/focus/lens_bench.h"

namespace framequality::test {
namespace {

using namespace lens_bench;

/// Outcomes of 300 searches with a lens of this speed, steps per frame; 0: at once.
struct Searched {
  explicit Searched(double slew, int settle = 3) {
    std::vector<int> all;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Case c(seed, 101, settle);
      c.drive.slew = slew;
      Bench b = c.bench();
      all.push_back(b.run());
      good += c.is_at_top(b);
      elsewhere += b.is_focused() && std::abs(b.lens() - c.top) > 2 && !c.is_near(b.lens());
    }
    std::printf("slew %.0f: %d of 300 at the top, focused elsewhere: %d, median %d frames\n", slew, good, elsewhere,
                median(all));
  }
  int good = 0, elsewhere = 0;
};

TEST(LensSearch, SlowLensesAreFocusedToo) {
  for (const double slew : {8.0, 4.0}) EXPECT_GE(Searched(slew).good, 255) << slew;
}

TEST(LensSearch, NothingNeedsToBeKnownOfTheLens) {
  for (const double slew : {0.0, 8.0, 4.0, 2.0, 1.0}) {
    const Searched all(slew, 0);
    EXPECT_GE(all.good, slew == 8 || slew == 4 ? 255 : 279) << slew;
    EXPECT_LE(all.elsewhere, 15) << slew;
  }
}

TEST(LensSearch, FramesOfALensOnItsWayShowWhereItWas) {
  int good = 0, far = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Case c(seed, 101);
    c.drive.slew = 8;
    c.drive.exposure = 1;
    c.drive.backlash = 5;
    Bench b = c.bench();
    c.top = 5 + (c.last - 5) * c.top / c.last;
    b.scene = peak(c.shape, c.top, c.width);
    b.run();
    good += c.is_at_top(b);
    far += b.is_focused() && std::abs(b.lens() - c.top) > 3;
  }
  std::printf("slew 8, exposure 1, play 5: %d of 400 at the top, focused farther than 3: %d\n", good, far);
  EXPECT_GE(good, 340);
  EXPECT_LE(far, 8);
}

TEST(LensSearch, LensSlowerThanTheSweepIsRecognized) {
  for (const double slew : {2.0, 1.0}) {
    const Searched all(slew);
    EXPECT_GE(all.good, 279) << slew;
    EXPECT_LE(all.elsewhere, 9) << slew;
  }
}

TEST(LensSearch, FirstMoveThatIsShortDoesNotMakeALensPrompt) {
  // It is within a frame where it is sent first, and on its way for several frames later: that is not play.
  for (const double slew : {12.0, 16.0, 20.0, 30.0}) {
    int all = 0, near = 0, wrong = 0, with_play = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Case c(seed, 101);
      if (std::min(c.start, 100 - c.start) > slew) continue;
      c.drive.slew = slew;
      Bench b = c.bench(0.002);
      b.run();
      ++all;
      near += c.is_at_top(b);
      wrong += b.is_focused() && std::abs(b.lens() - c.top) > 2 * std::max(1.0, c.width / 12);
      with_play += b.search.backlash().value_or(0) >= 2;
    }
    std::printf("slew %g: of %d, %d in focus, %d beside, %d with play\n", slew, all, near, wrong, with_play);
    EXPECT_GE(near, all * 95 / 100) << slew;
    EXPECT_LE(wrong, all / 50) << slew;
    EXPECT_LE(with_play, all * 7 / 100) << slew;
  }
}

TEST(LensSearch, FallingBehindASweepIsNotPlay) {
  constexpr int kRuns = 200;
  int near = 0, with_play = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    Case c(seed, 101);
    c.drive.slew = 4;
    Bench b = c.bench(0.002);
    b.run();
    near += c.is_at_top(b);
    with_play += b.search.backlash().value_or(0) >= 2;
  }
  std::printf("slew 4: of %d, %d in focus, %d with play\n", kRuns, near, with_play);
  EXPECT_GE(near, kRuns * 92 / 100);
  EXPECT_LE(with_play, kRuns * 9 / 100);
}

}  // namespace
}  // namespace framequality::test
