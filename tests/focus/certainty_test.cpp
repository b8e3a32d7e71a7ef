// SPDX-License-Identifier: LGPL-2.1-or-later
// The certainty of a search: what it grows with, and what a search does that ends with less than is wanted.
#include "algorithms/focus/certainty.h"

#include "tests/focus/lens_bench.h"

#include <limits>

namespace framequality::test {
namespace {

using namespace lens_bench;

TEST(FocusCertainty, FallsWithWhatMakesASearchUncertain) {
  const focus::Evidence good{.error = 0.2, .blind = 0.3, .short_of_best = 0.01, .trusts_sweep = true};
  const auto with = [&](auto change) {
    focus::Evidence e = good;
    change(e);
    return focus::certainty_of(e);
  };
  const double best = focus::certainty_of(good);
  EXPECT_GT(best, 0.9);
  EXPECT_LT(best, 1);
  EXPECT_LT(with([](auto& e) { e.error = 2; }), best);
  EXPECT_LT(with([](auto& e) { e.blind = 3; }), best);
  EXPECT_LT(with([](auto& e) { e.short_of_best = 0.1; }), best);
  EXPECT_LT(with([](auto& e) { e.trusts_sweep = false; }), best);
}

TEST(FocusCertainty, IsAProbabilityWhateverTheEvidence) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const double value : {nan, inf, -inf, -1.0, 0.0, 1e300}) {
    const double p = focus::certainty_of({value, value, std::isnan(value) ? 0 : value, true});
    EXPECT_TRUE(p > 0 && p < 1) << value << ": " << p;
  }
  EXPECT_LT(focus::certainty_of({nan, 0.1, 0, true}), focus::certainty_of({1, 0.1, 0, true})) << "unknown is not sure";
}

TEST(FocusCertainty, ClearPeakTakesNoFrameMore) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Case c(seed, 101);
    c.shape = Shape::kRound, c.width = 8, c.top = 30 + 2.0 * static_cast<double>(seed);
    Bench usual = c.bench();
    c.settings.min_certainty = 0;
    Bench any = c.bench();
    EXPECT_EQ(usual.run(), any.run());
    EXPECT_TRUE(usual.is_focused());
    EXPECT_GT(usual.search.curve().certainty, 0.9) << seed;
    EXPECT_EQ(usual.search.curve().certainty, any.search.curve().certainty);
  }
}

TEST(FocusCertainty, LessThanWantedSearchesOnOnceAndFailsWhereItIs) {
  int longer = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Case c(seed, 101);
    c.settings.min_certainty = 0;
    Bench any = c.bench(0.02);
    const int frames = any.run();
    c.settings.min_certainty = 1;
    Bench sure = c.bench(0.02);
    // Where the end scored less than the sweep, both have searched on.
    const int more = sure.run() - frames;
    EXPECT_GE(more, 0) << seed;
    longer += more > 0;
    EXPECT_EQ(sure.search.state(), FocusState::kFailed) << seed;
    EXPECT_STREQ(sure.search.reason(), "the position is less certain than wanted");
    EXPECT_GT(sure.search.curve().certainty, 0);
    EXPECT_GT(sure.search.curve().width, 0) << "it tells the peak that it saw";
    EXPECT_LE(std::abs(sure.search.position() - c.top), 10) << "it stays near the peak, seed " << seed;
  }
  EXPECT_GE(longer, 15);
}

TEST(FocusCertainty, SceneWithoutPeakHasNone) {
  FocusSettings s;
  Bench bench(s, 35, {}, [](double) { return 300.0; });
  bench.run();
  EXPECT_EQ(bench.search.state(), FocusState::kFailed);
  EXPECT_EQ(bench.search.curve().certainty, 0);
}

}  // namespace
}  // namespace framequality::test
