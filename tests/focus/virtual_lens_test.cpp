// SPDX-License-Identifier: LGPL-2.1-or-later
// The virtual lens: its blur is an average over a disk; its way, breathing, noise and flicker are what was asked for.
#include "algorithms/focus/virtual_lens.h"

#include "tests/sharpness/measure.h"
#include "tests/support/layouts.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace framequality::test {

using namespace sharpness;

namespace {

constexpr int kWidth = 120, kHeight = 90;
using Pixels = std::vector<std::uint8_t>;

double mean(const auto& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const auto& values) {
  const double m = mean(values);
  double sum = 0;
  for (const auto v : values) sum += (v - m) * (v - m);
  return sum / static_cast<double>(values.size());
}

double tenengrad(const Pixels& pixels, int w, int h) {
  Picture picture(Geometry{w, h, luma_layout(8, 1)}, std::vector<std::uint16_t>(pixels.begin(), pixels.end()));
  Request request;
  request.metric = metric_index("tenengrad");
  return scores_of(picture, request).score;
}

Pixels shot(VirtualLens& lens, double position) {
  Pixels out(static_cast<std::size_t>(lens.width()) * static_cast<std::size_t>(lens.height()));
  lens.render(position, out.data());
  return out;
}

std::vector<std::uint16_t> blurred(const Pixels& in, int w, int h, double radius) {
  std::vector<std::uint16_t> out(in.size());
  DiskBlur(w, h)(in.data(), radius, out.data());
  return out;
}

/// A lens without noise whose flat picture tells the position: code = position.
VirtualLens scale(const LensSettings& settings) {
  std::map<double, Pixels> sweep;
  for (int i = 0; i < 100; ++i) sweep[i] = Pixels(6, static_cast<std::uint8_t>(i));
  return {3, 2, std::move(sweep), settings};
}

TEST(DiskBlur, RadiusZeroIsThePictureItself) {
  const Pixels in = dead_leaves(kWidth, kHeight, 1);
  const auto out = blurred(in, kWidth, kHeight, 0);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i] * 256) << i;
}

TEST(DiskBlur, TinyRadiusHardlyChangesThePicture) {
  const Pixels in = dead_leaves(kWidth, kHeight, 1);
  const auto out = blurred(in, kWidth, kHeight, 1e-4);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(out[i], in[i] * 256, 16) << i;
}

TEST(DiskBlur, RadiusOfARoundingErrorIsThePictureItself) {
  const Pixels in = dead_leaves(kWidth, kHeight, 1);
  for (const double radius : {5e-324, 1e-17, 1e-15, 1e-7})
    for (std::size_t i = 0; const std::uint16_t code : blurred(in, kWidth, kHeight, radius))
      ASSERT_EQ(code, in[i++] * 256) << radius;
}

TEST(DiskBlur, PointBecomesADiskOfThatRadius) {
  constexpr int kSize = 61, kCentre = 30;
  Pixels in(kSize * kSize, 0);
  in[kCentre * kSize + kCentre] = 255;
  for (const double radius : {0.6, 1.0, 2.5, 7.0, 12.3}) {
    const auto out = blurred(in, kSize, kSize, radius);
    const double inside = 255 * 256 / (std::numbers::pi * radius * radius);
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize; ++x) {
        const double r = std::hypot(x - kCentre, y - kCentre);
        const double got = out[static_cast<std::size_t>(y * kSize + x)];
        if (r < radius - std::numbers::sqrt2)
          EXPECT_NEAR(got, inside, 0.01 * inside + 0.5) << radius << " at " << x << "," << y;
        else if (r > radius + std::numbers::sqrt2)
          EXPECT_EQ(got, 0) << radius << " at " << x << "," << y;
        else
          EXPECT_LE(got, 1.01 * inside + 1) << radius << " at " << x << "," << y;
        EXPECT_NEAR(got, out[static_cast<std::size_t>(x * kSize + y)], 0.01 * inside + 1)
            << "not the same across the diagonal";
      }
  }
}

TEST(DiskBlur, MeanCodeStays) {
  const Pixels in = dead_leaves(kWidth, kHeight, 2);
  for (const double radius : {0.3, 1.0, 3.7, 20.0, 100.0, 1e9})
    EXPECT_NEAR(mean(blurred(in, kWidth, kHeight, radius)), 256 * mean(in), 1) << radius;
}

TEST(DiskBlur, FlatStaysFlat) {
  for (const int code : {0, 1, 255})
    for (const double radius : {0.5, 9.0, 128.0})
      for (const auto v : blurred(Pixels(16 * 9, static_cast<std::uint8_t>(code)), 16, 9, radius))
        ASSERT_NEAR(v, code * 256, 1) << radius;
}

TEST(DiskBlur, OnePixelPicture) { EXPECT_NEAR(blurred({77}, 1, 1, 5).front(), 77 * 256, 1); }

TEST(DiskBlur, SharpnessFallsSmoothlyWithRadius) {
  VirtualLens lens(kWidth, kHeight, dead_leaves(kWidth, kHeight, 3), {.best_position = 0, .blur_per_unit = 1});
  double last = tenengrad(shot(lens, 0), kWidth, kHeight);
  for (double radius = 0.1; radius < 8; radius += radius < 2 ? 0.1 : 0.5) {
    const double now = tenengrad(shot(lens, radius), kWidth, kHeight);
    EXPECT_LT(now, last) << radius;
    EXPECT_GT(now, 0.6 * last) << radius;
    last = now;
  }
}

TEST(DeadLeaves, SameSeedSamePicture) {
  EXPECT_EQ(dead_leaves(kWidth, kHeight, 5), dead_leaves(kWidth, kHeight, 5));
  EXPECT_NE(dead_leaves(kWidth, kHeight, 5), dead_leaves(kWidth, kHeight, 6));
}

TEST(DeadLeaves, HasContrastEverywhereAndDoesNotClip) {
  const Pixels picture = dead_leaves(320, 240, 1);
  const auto [low, high] = std::minmax_element(picture.begin(), picture.end());
  EXPECT_GT(*low, 0);
  EXPECT_LT(*high, 255);
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) {
      Pixels tile;
      for (int y = row * 80; y < row * 80 + 80; ++y)
        tile.insert(tile.end(), &picture[static_cast<std::size_t>(y * 320 + column * 80)],
                    &picture[static_cast<std::size_t>(y * 320 + column * 80)] + 80);
      EXPECT_GT(variance(tile), 400) << column << "," << row;
    }
}

TEST(VirtualLens, BothSidesOfTheBestPositionLookAlike) {
  VirtualLens lens(kWidth, kHeight, dead_leaves(kWidth, kHeight, 1), {.best_position = 40, .blur_per_unit = 0.2});
  EXPECT_EQ(shot(lens, 40), dead_leaves(kWidth, kHeight, 1));
  EXPECT_EQ(shot(lens, 30), shot(lens, 50));
  EXPECT_NE(shot(lens, 30), shot(lens, 31));
}

TEST(VirtualLens, PositionShowsAfterLagFrames) {
  for (const int lag : {0, 1, 2, 5, LensDrive::kMaxLag}) {
    VirtualLens lens = scale({.drive = {.lag = lag}});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(shot(lens, 10)[0], 10);
    for (int i = 0; i < lag; ++i) EXPECT_EQ(shot(lens, 20)[0], 10) << i << " of " << lag;
    EXPECT_EQ(shot(lens, lag ? 30 : 20)[0], 20) << lag;
    EXPECT_EQ(lens.shown(), 20);
  }
}

TEST(VirtualLens, GoesOnInAnotherSize) {
  const LensSettings settings{
      .drive = {.lag = 2, .slew = 3, .backlash = 4, .exposure = 0.5}, .noise = 5, .flicker = 0.2};
  VirtualLens large(64, 48, dead_leaves(64, 48, 1), settings), small(30, 20, dead_leaves(30, 20, 1), settings);
  for (int i = 0; i < 5; ++i) shot(large, i < 2 ? 20 : 50), shot(small, i < 2 ? 20 : 50);
  VirtualLens other(30, 20, dead_leaves(30, 20, 1), settings);
  other.go_on_from(large);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(shot(other, 40), shot(small, 40)) << i;
}

TEST(VirtualLens, SweepShowsTheNearestPicture) {
  VirtualLens lens = scale({});
  for (const auto& [position, code] :
       {std::pair{-1e9, 0}, {0.0, 0}, {0.49, 0}, {0.51, 1}, {41.8, 42}, {99.0, 99}, {1e9, 99}})
    EXPECT_EQ(shot(lens, position)[0], code) << position;
}

TEST(VirtualLens, ShiftMovesTheScene) {
  VirtualLens lens = scale({.shift = 12});
  EXPECT_EQ(shot(lens, 50)[0], 38);
  lens.configure({.shift = -2});
  EXPECT_EQ(shot(lens, 50)[0], 52);
  VirtualLens still(kWidth, kHeight, dead_leaves(kWidth, kHeight, 1), {.best_position = 40, .shift = 3});
  EXPECT_EQ(shot(still, 43), dead_leaves(kWidth, kHeight, 1));
}

TEST(VirtualLens, NoiseHasTheAskedForSigma) {
  for (const double sigma : {1.0, 5.0, 20.0}) {
    VirtualLens lens(200, 200, Pixels(200 * 200, 128), {.noise = sigma});
    const Pixels first = shot(lens, 0), second = shot(lens, 0);
    const double rounding = 1.0 / 12;
    EXPECT_NEAR(mean(first), 128, 5 * sigma / 200 + 0.01);
    EXPECT_NEAR(std::sqrt(variance(first) - rounding), sigma, 0.02 * sigma) << sigma;
    std::vector<double> difference;
    for (std::size_t i = 0; i < first.size(); ++i) difference.push_back(first[i] - second[i]);
    EXPECT_NEAR(variance(difference), variance(first) + variance(second), 0.1 * sigma * sigma) << "frames correlate";
    double neighbours = 0;
    for (std::size_t i = 1; i < first.size(); ++i) neighbours += (first[i] - 128.0) * (first[i - 1] - 128.0);
    EXPECT_NEAR(neighbours / static_cast<double>(first.size()), 0, 0.03 * sigma * sigma) << "pixels correlate";
  }
}

TEST(VirtualLens, NoiseIsDistributedAsAGaussian) {
  VirtualLens lens(400, 250, Pixels(400 * 250, 128), {.noise = 20});
  const Pixels frame = shot(lens, 0);
  const auto beyond = [&](int codes) {
    return static_cast<double>(
               std::count_if(frame.begin(), frame.end(), [&](int v) { return std::abs(v - 128) > codes; })) /
           static_cast<double>(frame.size());
  };
  EXPECT_NEAR(beyond(20), std::erfc(20.5 / 20 / std::numbers::sqrt2), 0.01);
  EXPECT_NEAR(beyond(40), std::erfc(40.5 / 20 / std::numbers::sqrt2), 0.003);
  EXPECT_NEAR(beyond(60), std::erfc(60.5 / 20 / std::numbers::sqrt2), 0.001);
}

TEST(VirtualLens, FlickerScalesTheExposure) {
  VirtualLens lens(8, 8, Pixels(64, 100), {.flicker = 0.1});
  int darkest = 255, brightest = 0;
  for (int i = 0; i < 300; ++i) {
    const Pixels frame = shot(lens, 0);
    EXPECT_EQ(std::count(frame.begin(), frame.end(), frame[0]), 64);
    darkest = std::min<int>(darkest, frame[0]);
    brightest = std::max<int>(brightest, frame[0]);
  }
  EXPECT_EQ(darkest, 90);
  EXPECT_EQ(brightest, 110);
}

TEST(VirtualLens, BrightPixelsClip) {
  VirtualLens lens(64, 64, Pixels(64 * 64, 250), {.noise = 10, .flicker = 0.1});
  for (int i = 0; i < 20; ++i) {
    const Pixels frame = shot(lens, 0);
    EXPECT_GT(*std::min_element(frame.begin(), frame.end()), 150) << "wrapped around";
  }
}

/// What a frame is that averages these planes in 1/256 codes.
Pixels mean_of(const std::vector<std::vector<std::uint16_t>>& planes) {
  Pixels all(planes[0].size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    double sum = 0;
    for (const auto& plane : planes) sum += plane[i];
    all[i] = static_cast<std::uint8_t>(sum / 256 / static_cast<double>(planes.size()) + 0.5);
  }
  return all;
}

TEST(VirtualLens, SlewAndBacklashDecideWhatIsShown) {
  VirtualLens lens = scale({.drive = {.lag = 1, .slew = 10, .backlash = 4}});
  std::vector<int> codes;
  for (const double position : {50, 80, 80, 80, 80, 80, 60, 60, 60, 60}) codes.push_back(shot(lens, position)[0]);
  EXPECT_EQ(codes, (std::vector{50, 50, 60, 70, 80, 80, 80, 74, 64, 64}));
  EXPECT_EQ(lens.shown(), 64);
}

TEST(VirtualLens, ExposureAveragesThePicturesOnTheWay) {
  const Pixels still = dead_leaves(kWidth, kHeight, 1);
  const LensSettings settings{.best_position = 0, .blur_per_unit = 0.25, .drive = {.slew = 16, .exposure = 1}};
  VirtualLens lens(kWidth, kHeight, still, settings);
  EXPECT_EQ(shot(lens, 0), still);
  std::vector<std::vector<std::uint16_t>> planes;
  for (int i = 0; i < 8; ++i) planes.push_back(blurred(still, kWidth, kHeight, 0.25 * (1 + 2 * i)));
  EXPECT_EQ(shot(lens, 16), mean_of(planes));
  EXPECT_EQ(lens.shown(), 16);
  EXPECT_EQ(shot(lens, 16), mean_of({blurred(still, kWidth, kHeight, 4)})) << "at rest";
}

TEST(VirtualLens, ExposureOfASweepAveragesItsPictures) {
  VirtualLens lens = scale({.drive = {.slew = 16, .exposure = 1}});
  EXPECT_EQ(shot(lens, 20)[0], 20);
  EXPECT_EQ(shot(lens, 90)[0], 28) << "of 21, 23 ... 35";
}

TEST(VirtualLens, ExposureIsFlickeredAndNoisyOnce) {
  LensSettings settings{.drive = {.slew = 4, .exposure = 1}, .noise = 5, .flicker = 0.1, .seed = 3};
  const Pixels flat(200 * 200, 128);
  VirtualLens moving(200, 200, flat, settings), standing(200, 200, flat, settings);
  // A flat picture looks alike from everywhere, so what differs would be the exposure's own.
  for (const double position : {0, 100, 100, 3}) EXPECT_EQ(shot(moving, position), shot(standing, 50));
}

TEST(VirtualLens, BreathingScalesThePictureAboutItsCentre) {
  constexpr int kSide = 65, kMiddle = 32;
  // A ramp tells where each pixel comes from.
  Pixels still(kSide * kSide);
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x)
      still[static_cast<std::size_t>(y * kSide + x)] = static_cast<std::uint8_t>(2 * x + y);
  VirtualLens lens(kSide, kSide, still, {.best_position = 10, .blur_per_unit = 0, .breathing = 0.01, .shift = 5});
  for (const auto& [position, factor] : {std::pair{15.0, 1.0}, {65.0, 1.5}, {35.0, 1.2}, {-5.0, 0.8}, {115.0, 2.0}}) {
    const Pixels out = shot(lens, position);
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const auto from = [&, factor = factor](int i) {
          return std::clamp(kMiddle + (i - kMiddle) / factor, 0.0, kSide - 1.0);
        };
        ASSERT_NEAR(out[static_cast<std::size_t>(y * kSide + x)], 2 * from(x) + from(y), 0.51)
            << position << " at " << x << "," << y;
      }
  }
}

TEST(VirtualLens, NegativeBreathingShrinksUpwards) {
  const Pixels still = dead_leaves(kWidth, kHeight, 1);
  VirtualLens up(kWidth, kHeight, still, {.best_position = 50, .breathing = 0.002});
  VirtualLens down(kWidth, kHeight, still, {.best_position = 50, .breathing = -0.002});
  EXPECT_EQ(shot(up, 50), still);
  EXPECT_EQ(shot(down, 50), still);
  EXPECT_EQ(shot(up, 70), shot(down, 30));
  EXPECT_NE(shot(up, 70), shot(up, 30));
}

TEST(VirtualLens, BreathingKeepsTheRadiusOfTheBlur) {
  constexpr int kSide = 121, kMiddle = 60;
  // Larger than a pixel, so that it is magnified without becoming a pyramid.
  Pixels still(kSide * kSide, 0);
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x)
      if (std::hypot(x - kMiddle, y - kMiddle) < 10) still[static_cast<std::size_t>(y * kSide + x)] = 200;
  const auto edge = [&](const LensSettings& settings) {
    VirtualLens lens(kSide, kSide, still, settings);
    const Pixels out = shot(lens, 8);
    // From the disk's middle outwards, the width in which it falls from all to nothing.
    const std::uint8_t* row = &out[kMiddle * kSide + kMiddle];
    return std::count_if(row, row + kMiddle, [](int v) { return v > 2 && v < 198; });
  };
  const LensSettings plain{.best_position = 0, .blur_per_unit = 0.5};
  for (const double breathing : {0.125, -0.0625}) {  // times 2, times 1/2
    LensSettings breathes = plain;
    breathes.breathing = breathing;
    EXPECT_NEAR(static_cast<double>(edge(breathes)), static_cast<double>(edge(plain)), 1) << breathing;
  }
}

TEST(VirtualLens, BreathingScalesASweep) {
  std::map<double, Pixels> sweep{{0, {0, 0, 90, 0, 0}}, {10, {0, 0, 200, 0, 0}}};
  VirtualLens lens(5, 1, std::move(sweep), {.best_position = 0, .breathing = 0.1});
  EXPECT_EQ(shot(lens, 0), (Pixels{0, 0, 90, 0, 0}));
  EXPECT_EQ(shot(lens, 10), (Pixels{0, 100, 200, 100, 0}));
  // Between pictures the scale goes on, the picture stays.
  EXPECT_EQ(shot(lens, 6), (Pixels{0, 75, 200, 75, 0}));
  EXPECT_EQ(shot(lens, 1e9), (Pixels{100, 150, 200, 150, 100})) << "four times is the most";
  lens.configure({.best_position = 0, .breathing = -1});
  EXPECT_EQ(shot(lens, 1e9), shot(lens, 11)) << "a quarter is the least";
}

TEST(VirtualLens, BreathingRepeatsTheEdges) {
  VirtualLens lens(5, 1, Pixels{10, 0, 0, 0, 70}, {.best_position = 0, .blur_per_unit = 0, .breathing = -0.05});
  EXPECT_EQ(shot(lens, 10), (Pixels{10, 10, 0, 70, 70}));
}

TEST(VirtualLens, OnePixelBreathes) {
  VirtualLens lens(1, 1, Pixels{77}, {.breathing = 0.01, .drive = {.slew = 5, .exposure = 1}});
  for (const double position : {0.0, 100.0, 100.0}) EXPECT_EQ(shot(lens, position), Pixels{77});
}

TEST(VirtualLens, SettingsThatAreNoNumbersAreHarmless) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kHuge = std::numeric_limits<double>::max();
  const Pixels still = dead_leaves(kWidth, kHeight, 1);
  for (const double bad : {kNan, kHuge, -kHuge}) {
    VirtualLens lens(kWidth, kHeight, still,
                     {.best_position = bad, .blur_per_unit = bad, .breathing = bad, .shift = bad});
    for (const double position : {bad, 0.0, -bad}) shot(lens, position);
    VirtualLens breathes(kWidth, kHeight, still, {.best_position = 0, .blur_per_unit = 0, .breathing = bad});
    EXPECT_EQ(shot(breathes, 0), still) << bad;
  }
}

TEST(VirtualLens, LimitedRangeScalesAllCodes) {
  Pixels ramp(256);
  std::iota(ramp.begin(), ramp.end(), std::uint8_t{0});
  VirtualLens lens(256, 1, ramp);
  Pixels out(256);
  lens.render(50, out.data(), 0, kLimitedRange);
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(out[static_cast<std::size_t>(i)], static_cast<int>(16 + i * 219 / 255.0 + 0.5)) << i;
  VirtualLens noisy(256, 1, ramp, {.noise = 50, .flicker = 1});
  for (int i = 0; i < 20; ++i) {
    noisy.render(50, out.data(), 0, kLimitedRange);
    const auto [low, high] = std::minmax_element(out.begin(), out.end());
    EXPECT_GE(*low, 16);
    EXPECT_LE(*high, 235);
  }
}

TEST(VirtualLens, SameSeedSameFrames) {
  const LensSettings settings{.breathing = 0.001,
                              .drive = {.lag = 1, .slew = 7, .backlash = 2, .exposure = 0.5},
                              .noise = 4,
                              .flicker = 0.1,
                              .seed = 11};
  LensSettings other = settings;
  other.seed = 12;
  const Pixels still = dead_leaves(kWidth, kHeight, 1);
  VirtualLens a(kWidth, kHeight, still, settings), b(kWidth, kHeight, still, settings),
      c(kWidth, kHeight, still, other);
  for (const double position : {10.0, 20.0, 20.0, 70.0}) {
    const Pixels frame = shot(a, position);
    EXPECT_EQ(frame, shot(b, position));
    EXPECT_NE(frame, shot(c, position));
  }
}

TEST(VirtualLens, StrideLeavesPaddingAlone) {
  VirtualLens lens(5, 3, Pixels(15, 9));
  Pixels out(24, 77);
  lens.render(50, out.data(), 8);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % 8 < 5 ? 9 : 77) << i;
}

}  // namespace
}  // namespace framequality::test
