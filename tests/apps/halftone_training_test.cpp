// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of framequality-train-halftone: spectra, dot search, masks, and training on a small problem.
#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/tables.h"
#include "apps/train_halftone/dot_search.h"
#include "apps/train_halftone/downhill.h"
#include "apps/train_halftone/report.h"
#include "apps/train_halftone/training.h"
#include "apps/train_halftone/void_and_cluster.h"
#include "tests/support/random.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <numbers>
#include <set>

namespace framequality::test {
namespace {

using namespace framequality::tools;
using namespace halftone;

Dots random_dots(int width, int height, double a, std::uint64_t seed) {
  Dots dots(width, height);
  Random random(seed);
  for (std::uint8_t& v : dots.values) v = random.uniform() < a ? 1 : 0;
  return dots;
}

TEST(HalftoneSpectrum, IsTheWindowedFourierTransform) {
  constexpr double kTone = 0.3;
  const Dots dots = random_dots(kSegment, kSegment, kTone, 1);
  Analyser analyser;
  const Spectrum spectrum = analyser.reference(std::vector<Dots>{dots}, kTone);
  // One segment at each multiple of the hop, wrapped; all symmetric copies.
  const int u = 5, v = 17;
  double sum = 0;
  for (const auto& [p, q] : {std::pair{u, v}, {-u, v}, {v, u}, {-v, u}})
    for (int y0 = 0; y0 < kSegment; y0 += kHop)
      for (int x0 = 0; x0 < kSegment; x0 += kHop) {
        std::complex<double> f = 0;
        for (int y = 0; y < kSegment; ++y)
          for (int x = 0; x < kSegment; ++x) {
            const auto hann = [](int i) { return 0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / kSegment); };
            const double value = dots.dot((x0 + x) % kSegment, (y0 + y) % kSegment) - kTone;
            f += value * hann(x) * hann(y) * std::polar(1.0, -2 * std::numbers::pi * (p * x + q * y) / kSegment);
          }
        sum += std::abs(f) / std::sqrt(kTone * (1 - kTone));
      }
  EXPECT_NEAR(static_cast<double>(spectrum.amplitude[v * kSegment + u]), sum / 16, 1e-3 * sum / 16);
}

TEST(HalftoneSpectrum, WhiteNoiseIsIsotropicUpToItsNumberOfSegments) {
  Analyser analyser;
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    mean += anisotropy(analyser.patch(random_dots(kPatchWidth, kPatchHeight, 0.5, seed), 0.5)) / 4;
  EXPECT_NEAR(mean, -17.8, 0.3);  // 64 segments, half overlapping, would give -18.1 if they were independent
}

TEST(HalftoneSpectrum, CostIsNothingForItselfAndOneForWhatIsElsewhere) {
  Analyser analyser;
  const Spectrum s = analyser.patch(random_dots(kPatchWidth, kPatchHeight, 0.5, 1), 0.5);
  Spectrum none = s;
  std::fill(none.amplitude.begin(), none.amplitude.end(), 0.0F);
  EXPECT_EQ(cost(s, s), 0);
  EXPECT_NEAR(cost(s, none), 1, 1e-12);
}

TEST(HalftoneDotSearch, KeepsTheMeanAndPushesNoiseToHighFrequencies) {
  constexpr int kSide = 128;
  for (const double a : {0.05, 0.2, 0.5}) {
    const Dots dots = search_dots(kSide, a, 3);
    EXPECT_EQ(std::count(dots.values.begin(), dots.values.end(), 1), std::lround(a * kSide * kSide));
    Analyser analyser;
    const Spectrum found = analyser.reference(std::vector<Dots>{dots}, a);
    const Spectrum noise = analyser.reference(std::vector<Dots>{random_dots(kSide, kSide, a, 4)}, a);
    double low = 0, low_noise = 0;
    for (int v = 2; v < 6; ++v)
      for (int u = 2; u < 6; ++u) {
        low += static_cast<double>(found.power[static_cast<std::size_t>(v * kSegment + u)]);
        low_noise += static_cast<double>(noise.power[static_cast<std::size_t>(v * kSegment + u)]);
      }
    EXPECT_LT(low, low_noise / 20) << a;
  }
}

TEST(HalftoneDotSearch, SeedDecides) {
  EXPECT_EQ(search_dots(64, 0.3, 1).values, search_dots(64, 0.3, 1).values);
  EXPECT_NE(search_dots(64, 0.3, 1).values, search_dots(64, 0.3, 2).values);
}

TEST(HalftoneDotSearch, PatternInUseIsTheOneItMakes) {
  const Dots dots = search_dots(kPatternSide, 0.5, 1);
  int same = 0;
  for (int y = 0; y < kPatternSide; ++y)
    for (int x = 0; x < kPatternSide; ++x) same += pattern_at(kDotPattern, x, y) == (dots.dot(x, y) != 0);
  EXPECT_EQ(same, kPatternSide * kPatternSide);
}

TEST(HalftoneMask, RanksAreAPermutationAndTheOneInUseIsTheOneItMakes) {
  const auto small = void_and_cluster(32, 5);
  EXPECT_EQ(std::set<std::uint16_t>(small.begin(), small.end()).size(), 32u * 32u);
  const auto full = void_and_cluster(kMaskSide, 1);
  EXPECT_TRUE(std::equal(full.begin(), full.end(), std::begin(kBlueNoiseMask), std::end(kBlueNoiseMask)));
}

TEST(HalftoneDownhill, FindsTheLowestPointOfAValley) {
  int calls = 0;
  const auto f = [&](const std::array<double, 2>& p) {
    ++calls;
    return std::pow(1 - p[0], 2) + 100 * std::pow(p[1] - p[0] * p[0], 2);  // Rosenbrock's
  };
  const auto found = search_downhill<2>(f, {-1.2, 1}, {0.5, 0.5}, 400, 1e-8);
  EXPECT_NEAR(found.at[0], 1, 1e-4);
  EXPECT_NEAR(found.at[1], 1, 1e-4);
  EXPECT_LE(calls, 410);
}

TEST(HalftoneTraining, IsTheSameOnEveryNumberOfThreadsAndBetterThanItsStart) {
  TrainingOptions options;
  options.patterns = 1;
  options.pattern_side = 128;
  options.evaluations = 12;
  options.first_tone = 111;  // the last of one group and the first of the next
  options.last_tone = 112;
  const auto ignore = [](int, int) {};
  const ToneTable one = train_tones(options, kDotPattern, ignore);
  options.threads = 3;
  const ToneTable three = train_tones(options, kDotPattern, ignore);
  EXPECT_EQ(file_of(one, "k", "c"), file_of(three, "k", "c"));
  Analyser analyser;
  options.first_tone = options.last_tone = 0;
  const ToneTable start = train_tones(options, kDotPattern, ignore);
  for (const int tone : {111, 112}) {
    const Spectrum reference = analyser.reference(reference_patterns(tone, 1, 128, 77), tone / 255.0);
    const auto cost_of = [&](const ToneTable& t) {
      return cost(reference, analyser.patch(tone_dependent_patch(tone, t, kDotPattern), tone / 255.0));
    };
    EXPECT_LT(cost_of(one), cost_of(start) / 2) << tone;
  }
}

TEST(HalftoneQuality, TablesKeepWhatTheyWereTrainedFor) {
  const auto all = evaluate(30, 1000, 1, [](int, int) {});
  double floyd_steinberg = 0;
  for (const Quality& q : all) {
    EXPECT_LT(q.tone_error, 0.002) << q.method;
    if (q.method == "floyd-steinberg") floyd_steinberg = q.cost;
    if (q.method == "white noise") {
      EXPECT_NEAR(q.cost, 0.0014, 0.0003);
      EXPECT_NEAR(q.anisotropy, -17.8, 0.2);
    }
    if (q.method == "tdfed, 4 rows") {
      EXPECT_LT(q.cost, 0.010);
      EXPECT_LT(q.anisotropy, -11.5);
      EXPECT_GT(floyd_steinberg, 4 * q.cost);
    }
  }
}

}  // namespace
}  // namespace framequality::test
