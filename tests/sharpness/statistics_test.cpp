// SPDX-License-Identifier: LGPL-2.1-or-later
// Noise, exposure and what noise correction is for: scores that noise and darkness do not raise.
#include "algorithms/focus/disk_blur.h"
#include "algorithms/focus/virtual_lens.h"
#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"
#include "tests/sharpness/measure.h"
#include "tests/support/effort.h"
#include "tests/support/layouts.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

constexpr int kWidth = 400, kHeight = 304;

/// Standard normal, Box and Muller.
double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

struct Camera {
  double light = 1;   ///< times the scene's
  double noise = 0;   ///< sigma, 8-bit codes
  double offset = 0;  ///< 8-bit codes above black
  bool limited = false;
  int depth = 8;
};

/// What a camera makes of a scene of 8-bit codes: light, noise, then rounded and clipped. White noise that is the same
/// each time.
Picture taken(const std::vector<double>& scene, const Camera& camera, std::uint64_t seed = 1) {
  Random random(seed);
  const double unit = std::ldexp(1.0, camera.depth - 8), black = camera.limited ? 16 : 0,
               white = camera.limited ? 235 : 256 - 1 / unit;
  std::vector<std::uint16_t> codes;
  for (const double v : scene) {
    const double code = black + camera.offset + v * camera.light + camera.noise * normal(random);
    codes.push_back(static_cast<std::uint16_t>(std::lround(std::clamp(code, black, white) * unit)));
  }
  return Picture(Geometry{kWidth, kHeight, luma_layout(camera.depth, camera.depth > 8 ? 2 : 1)}, codes);
}

std::vector<double> flat(double level) { return std::vector<double>(std::size_t{kWidth} * kHeight, level); }

std::vector<double> leaves(std::uint64_t seed, double blur = 0) {
  const auto picture = dead_leaves(kWidth, kHeight, seed);
  std::vector<std::uint16_t> out(picture.size());
  DiskBlur{kWidth, kHeight}(picture.data(), blur, out.data());  // in 1/256 codes
  std::vector<double> scene;
  for (const std::uint16_t v : out) scene.push_back(v / 256.0);
  return scene;
}

Statistics statistics_of(Picture& picture, Request request = {}) {
  request.statistics = true;
  return scores_of(picture, request).statistics;
}

TEST(Noise, WhiteNoiseIsFoundOnAFlatField) {
  for (const double sigma : {1.0, 2.0, 5.0, 10.0, 20.0})
    for (const int depth : {8, 10, 12, 16}) {
      Picture picture = taken(flat(120), {.noise = sigma, .depth = depth});
      EXPECT_NEAR(statistics_of(picture).noise, sigma, 0.03 * sigma + (sigma < 2 && depth == 8 ? 0.05 : 0)) << depth;
    }
}

// Disks of all sizes hide no more of it than photographs do: the finest leave few blocks without an edge.
TEST(Noise, TextureAddsLittle) {
  for (const double sigma : {2.0, 5.0, 10.0, 20.0}) {
    Picture blurred = taken(leaves(1, 3), {.noise = sigma});
    EXPECT_NEAR(statistics_of(blurred).noise, sigma, 0.05 * sigma);
  }
}

// The residual cancels what is linear along rows or along columns.
TEST(Noise, CancelsSlopesAndStripes) {
  std::vector<double> scene;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) scene.push_back(x / 4 + (y % 7) * 15);
  Picture picture = taken(scene, {});
  const Statistics s = statistics_of(picture);
  EXPECT_LT(s.noise, 0.5);
}

TEST(Noise, ZeroBelowThreePixels) {
  for (const auto& [width, height] : {std::pair(1, 1), {2, 9}, {9, 2}}) {
    Picture picture(Geometry{width, height, luma_layout(8, 1)}, Fill::kRandom, Placement::kTight, 3);
    EXPECT_EQ(statistics_of(picture).noise, 0);
    EXPECT_GT(statistics_of(picture).mean, 0);
  }
}

// One code of 16 in the middle of 3x3: r = 4 * 16; sigma = sqrt(pi / 2) / 6 * 64.
TEST(Noise, WithoutAWholeBlockIsTheMeanOfAll) {
  std::vector<std::uint16_t> codes(9, 0);
  codes[4] = 16;
  Picture picture(Geometry{3, 3, luma_layout(8, 1)}, codes);
  const Statistics s = statistics_of(picture);
  EXPECT_DOUBLE_EQ(s.noise, std::sqrt(std::numbers::pi / 2) / 6 * 64);
  EXPECT_DOUBLE_EQ(s.rms_noise, 64.0 / 6);
}

TEST(Exposure, CountsWhatIsAtTheEndsOfTheRange) {
  for (const int depth : {8, 10, 16}) {
    const int s = depth - 8, top = (1 << depth) - 1;
    const std::vector<std::uint16_t> codes{0,
                                           static_cast<std::uint16_t>(16 << s),
                                           static_cast<std::uint16_t>((16 << s) + 1),
                                           static_cast<std::uint16_t>((235 << s) - 1),
                                           static_cast<std::uint16_t>(235 << s),
                                           static_cast<std::uint16_t>(top - 1),
                                           static_cast<std::uint16_t>(top),
                                           static_cast<std::uint16_t>(top)};
    Picture picture(Geometry{8, 1, luma_layout(depth, depth > 8 ? 2 : 1)}, codes);
    const Statistics full = statistics_of(picture), limited = statistics_of(picture, {.limited = true});
    EXPECT_DOUBLE_EQ(full.clipped_black, 1.0 / 8);
    EXPECT_DOUBLE_EQ(full.clipped_white, 2.0 / 8);
    EXPECT_DOUBLE_EQ(limited.clipped_black, 2.0 / 8);
    EXPECT_DOUBLE_EQ(limited.clipped_white, 4.0 / 8);
    double sum = 0;
    for (const std::uint16_t c : codes) sum += c;
    EXPECT_DOUBLE_EQ(full.mean, sum / 8 / (1 << s));
  }
}

TEST(NoiseGain, IsTheSumOfSquaresOfPrefilterAndKernel) {
  EXPECT_DOUBLE_EQ(kNoiseGains<Tenengrad>.gain[0][0], 24);  // twice 1+4+1 + 1+4+1
  EXPECT_DOUBLE_EQ(kNoiseGains<LaplacianVariance>.gain[0][1], 20);
  EXPECT_DOUBLE_EQ(kNoiseGains<Brenner>.gain[0][0], 2);
  // 1-2-1 twice with 1-0-1: (1 4 6 4 1) / 16 down, (-1 -2 0 2 1) / 4 across, both ways.
  EXPECT_DOUBLE_EQ(kNoiseGains<Tenengrad>.gain[1][0], 2 * (70.0 / 16) * (10.0 / 16));
  // 1-2-1 with -1-0-1 is -1 -2 0 2 1, squares 10; across rows 1-2-1, squares 6.
  EXPECT_DOUBLE_EQ(kNoiseGains<Brenner>.gain[1][0], 10.0 / 16 * 6 / 16);
  EXPECT_DOUBLE_EQ(kNoiseGains<Tenengrad>.gain[2][0], 2.36865234375);
  EXPECT_DOUBLE_EQ(kNoiseGains<MeanSquareFrequency>.gain[2][0], 0.083740234375);
  EXPECT_EQ(kNoiseGains<MeanSquareFrequency>.gain[2][1], kNoiseGains<Tenengrad>.gain[2][0]);
  for (int d = 0; d < 4; ++d) {
    EXPECT_DOUBLE_EQ(kNoiseGains<DirectionalFrequency>.gain[0][d], 6);  // 1 -2 1
    EXPECT_DOUBLE_EQ(kNoiseGains<DirectionalFrequency>.gain[0][4 + d], 2);
  }
  // Along x -1 1 with 1-2-1: -1 -1 1 1, squares 4; across rows 1-2-1, squares 6.
  EXPECT_DOUBLE_EQ(kNoiseGains<DirectionalFrequency>.gain[1][4], 4.0 / 16 * 6 / 16);
}

// A soft scene scores what it did without noise, but for a tenth of what the noise adds and 1%.
TEST(NoiseCorrection, KeepsScoresWhereNoiseIs) {
  const std::vector<double> soft = leaves(4, 4);
  for (const char* nick : {"tenengrad", "brenner", "laplacian-variance", "mean-square-frequency"})
    for (const Prefilter prefilter : {Prefilter::kNone, Prefilter::kBinomial3, Prefilter::kBinomial5})
      for (const int downscale : {1, 2}) {
        const auto score = [&](double noise, bool corrected) {
          Picture picture = taken(soft, {.light = 0.2, .noise = noise, .offset = 40, .depth = 10});
          Request request{.metric = metric_index(nick), .downscale = downscale, .noise_correction = corrected};
          request.prefilter = prefilter;
          return scores_of(picture, request).score;
        };
        const double clean = score(0, true), added = score(4, false) - clean;
        EXPECT_GT(added, 0.02 * clean) << nick;
        EXPECT_NEAR(score(4, true), clean, 0.1 * added + 0.01 * clean) << nick << " " << static_cast<int>(prefilter);
      }
}

// The energy that mean-square-frequency has beside its score is tenengrad's, in all zones.
TEST(GradientEnergy, IsTheScoreOfTenengrad) {
  for (const double noise : {0.0, 6.0})
    for (const int depth : {8, 12}) {
      Picture picture = taken(leaves(3, 2), {.light = 0.5, .noise = noise, .offset = 20, .depth = depth});
      Request request{.metric = metric_index("mean-square-frequency"), .downscale = 2, .statistics = true};
      request.prefilter = Prefilter::kBinomial3;
      request.zone_columns = 3;
      request.zone_rows = 2;
      const Scores s = scores_of(picture, request);
      request.metric = metric_index("tenengrad");
      const Scores raw = scores_of(picture, request);
      request.noise_correction = true;
      const Scores corrected = scores_of(picture, request);
      ASSERT_TRUE(s.gradient_energy);
      EXPECT_NEAR(*s.gradient_energy, corrected.score, 1e-12 * raw.score);
      EXPECT_NEAR(*s.gradient_energy + s.gradient_noise, raw.score, 1e-9 * raw.score);
      ASSERT_EQ(s.zone_gradient_energies.size(), 6U);
      for (std::size_t i = 0; i < 6; ++i)
        EXPECT_NEAR(s.zone_gradient_energies[i], corrected.zones[i], 1e-12 * raw.score) << i;
      EXPECT_FALSE(raw.gradient_energy);
    }
}

TEST(NoiseCorrection, OtherMetricsStayAsTheyAre) {
  Picture picture = taken(leaves(2), {.noise = 5});
  for (int m = 0; m < kMetricCount; ++m) {
    if (with_metric(m, [](auto metric) { return kIsCorrected<decltype(metric)>; })) continue;
    EXPECT_EQ(scores_of(picture, {.metric = m, .noise_correction = true}).score,
              scores_of(picture, {.metric = m}).score)
        << metric_info(m).name;
  }
}

/// The recipes for changing light.
double relative_score(Picture& picture, bool limited, Prefilter prefilter, const char* nick = "tenengrad") {
  Request request{.metric = metric_index(nick), .mean = true, .limited = limited, .noise_correction = true};
  request.prefilter = prefilter;
  return scores_of(picture, request).score;
}

// A lens cap at any gain, black level and depth scores less than a tenth of any sharp scene, at any light down to 1/64.
TEST(NoiseCorrection, ACoveredLensIsNotSharp) {
  for (const char* nick : {"tenengrad", "mean-square-frequency", "directional-frequency"})
    for (const bool limited : {false, true})
      for (const int depth : {8, 10}) {
        if (is_quick() && limited != (depth == 10)) continue;
        double least = 1e9, most = 0;
        for (std::uint64_t seed = 1; seed <= (is_quick() ? 1 : 3); ++seed)
          for (const double light : {1.0, 1.0 / 4, 1.0 / 16, 1.0 / 64}) {
            Picture picture = taken(leaves(seed), {.light = light, .noise = 0.5, .limited = limited, .depth = depth});
            least = std::min(least, relative_score(picture, limited, Prefilter::kBinomial5, nick));
          }
        std::uint64_t seed = 0;
        for (const double noise : {0.3, 1.0, 3.0, 5.0, 10.0, 20.0})
          for (const double level : {-2.0, -1.0, 0.0, 0.5, 1.0, 2.0}) {
            if (is_quick() && level != 0.5) continue;
            Picture picture =
                taken(flat(0), {.noise = noise, .offset = level * noise, .limited = limited, .depth = depth}, ++seed);
            most = std::max(most, relative_score(picture, limited, Prefilter::kBinomial5, nick));
          }
        std::vector<double> hot = flat(0);
        Random random(5);
        for (int i = 0; i < 40; ++i)
          hot[static_cast<std::size_t>(random.below(kWidth * kHeight))] = 40 + random.below(200);
        Picture hot_pixels = taken(hot, {.limited = limited, .depth = depth});
        most = std::max(most, relative_score(hot_pixels, limited, Prefilter::kBinomial5, nick));
        EXPECT_LT(most, least / 10) << nick << " " << (limited ? "limited" : "full") << " " << depth;
        EXPECT_GT(least, 0.01);
      }
}

// The same scene from full light down to 1/64, where its brightest code is 3.
TEST(NoiseCorrection, LightCancels) {
  const std::vector<double> scene = leaves(1);
  Picture bright = taken(scene, {});
  const double full = relative_score(bright, false, Prefilter::kBinomial5);
  for (const double light : {1.0 / 2, 1.0 / 8, 1.0 / 32, 1.0 / 64}) {
    Picture dim = taken(scene, {.light = light, .noise = 0.4});
    EXPECT_NEAR(relative_score(dim, false, Prefilter::kBinomial5), full, 0.06 * full) << light;
  }
}

}  // namespace
}  // namespace framequality::test
