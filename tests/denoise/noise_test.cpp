// SPDX-License-Identifier: LGPL-2.1-or-later
// The noise estimate: right about white noise, not misled by detail; and filters that follow it.
#include "cpu/denoise/filter.h"
#include "tests/denoise/pictures.h"
#include "tests/denoise/plain_noise.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace framequality::test {

using namespace denoise_pictures;

namespace {

using denoise::Settings;

/// A plane of a gray picture.
struct Plane {
  int width, height, depth = 8;
  std::vector<double> values{};  ///< grey levels

  static Plane of(int width, int height, const std::function<double(int, int)>& value) {
    Plane p{width, height};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) p.values.push_back(value(x, y));
    return p;
  }
  Plane deeper(int bits) const {
    Plane p = *this;
    p.depth = bits;
    return p;
  }
  Plane noisy(double sigma, unsigned seed = 1) const {
    Plane p = *this;
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 1);
    for (double& v : p.values) v += sigma * noise(random);
    return p;
  }
  double largest() const { return (1 << depth) - 1; }
  int code(int x, int y) const {
    const double v =
        values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    return static_cast<int>(std::clamp(std::nearbyint(v * largest() / 255), 0.0, largest()));
  }
  double sigma() const {
    return std::sqrt(plain_noise_variance(width, height, depth, [&](int x, int y) { return code(x, y); }));
  }
};

/// Shades, edges and a corner of fine texture.
Plane scene(int width = 160, int height = 120) {
  return Plane::of(width, height, [=](int x, int y) {
    const double shade = 120 + 50 * std::sin(x * 0.04) * std::cos(y * 0.05), edge = (x / 37 + y / 29) % 2 ? 30 : 0;
    return shade + edge + (x < width / 4 && y < height / 3 ? 25 * std::sin(1.9 * x) * std::sin(2.3 * y) : 0);
  });
}

TEST(DenoiseNoise, WhiteNoiseIsFoundAtEveryDepth) {
  for (const int depth : {8, 10, 12, 16})
    for (const double sigma : {2.0, 5.0, 10.0, 20.0, 30.0}) {
      const Plane flat = Plane::of(320, 240, [](int, int) { return 128; });
      EXPECT_NEAR(flat.deeper(depth).noisy(sigma).sigma(), sigma, 0.03 * sigma) << depth;
      EXPECT_NEAR(scene().deeper(depth).noisy(sigma).sigma(), sigma, 0.08 * sigma) << depth;
    }
}

TEST(DenoiseNoise, MoreNoiseIsMore) {
  double before = scene().sigma();
  EXPECT_LT(before, 1);
  for (double sigma = 1; sigma <= 40; sigma *= 1.2) {
    const double found = scene().noisy(sigma).sigma();
    EXPECT_GT(found, before) << sigma;
    before = found;
  }
}

TEST(DenoiseNoise, PicturesWithoutNoiseHaveLittle) {
  const auto sigma = [](const std::function<double(int, int)>& value) { return Plane::of(200, 150, value).sigma(); };
  EXPECT_EQ(sigma([](int, int) { return 77; }), 0);
  EXPECT_EQ(sigma([](int x, int y) { return 2 * (x % 100) + y / 2 * 2 % 50; }), 0) << "ramps";
  EXPECT_LT(sigma([](int x, int y) { return x * 0.7 + y * 0.3; }), 1) << "rounded ramps";
  for (const int size : {1, 2, 3, 5, 8})
    EXPECT_EQ(sigma([=](int x, int y) { return (x / size + y / size) % 2 ? 200 : 40; }), 0) << "squares of " << size;
  EXPECT_EQ(sigma([](int x, int y) { return x % 7 < 2 || y % 11 < 3 ? 16 : 255; }), 0) << "black on white";
  EXPECT_LT(sigma([](int x, int y) { return 128 + 100 * std::cos((x * x + y * y) * 0.005); }), 1.9)
      << "all frequencies";
}

/// Noise that falls off towards high frequencies, as pictures do.
TEST(DenoiseNoise, TextureIsNotNoise) {
  const Plane noise = Plane::of(260, 200, [](int, int) { return 0; }).noisy(60);
  Plane texture = Plane::of(256, 196, [&](int x, int y) {
    double sum = 0;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        sum +=
            noise.values[static_cast<std::size_t>((y + j) * noise.width + x + i)] * (i == 1 ? 2 : 1) * (j == 1 ? 2 : 1);
    return 128 + sum / 16;
  });
  EXPECT_EQ(texture.sigma(), 0);
  EXPECT_GT(texture.noisy(40).sigma(), 25);
}

TEST(DenoiseNoise, BarsAndClippedAreasDoNotVote) {
  const Plane noisy = scene(320, 240).noisy(10);
  const double whole = noisy.sigma();
  Plane letterbox = noisy, overexposed = noisy;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const auto at = static_cast<std::size_t>(y * 320 + x);
      if (y < 64 || y >= 176) letterbox.values[at] = 16;
      if (y < 120) overexposed.values[at] += 150;
    }
  EXPECT_NEAR(letterbox.sigma(), whole, 0.7);
  EXPECT_NEAR(overexposed.sigma(), whole, 0.7);
  const Plane covered = Plane::of(320, 240, [](int, int) { return 0; }).noisy(10);
  EXPECT_GT(covered.sigma(), 3) << "half of its noise is cut off";
  EXPECT_LT(covered.sigma(), 10);
}

TEST(DenoiseNoise, TinyPlanesAreDefined) {
  for (int width = 1; width <= 24; ++width)
    for (const int height : {1, 4, 5, 6, 19, 20, 21, 40}) {
      const Plane p = Plane::of(width, height, [](int, int) { return 128; }).noisy(20);
      const double sigma = p.sigma();
      EXPECT_TRUE(sigma >= 0 && sigma < 100) << width << "x" << height << " " << sigma;
      if (width < 5 || height < 5) {
        EXPECT_EQ(sigma, 0);
      }
    }
}

// --- Filters that follow --------------------------------------------------------------------------------------------

Plane filtered(const Plane& in, const Settings& settings) {
  PictureGeometry g{in.width, in.height, {}};
  g.layout.depth = static_cast<std::uint8_t>(in.depth);
  g.layout.word_bytes = in.depth > 8 ? 2 : 1;
  g.layout.component[0].pixel_stride = g.layout.word_bytes;
  const std::ptrdiff_t stride = std::ptrdiff_t{in.width} * g.layout.word_bytes;
  std::vector<std::uint8_t> from(static_cast<std::size_t>(stride * in.height)), to(from.size());
  const auto sample = [&](auto& bytes, int x, int y) { return bytes.data() + y * stride + x * g.layout.word_bytes; };
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      write_sample(g.layout, sample(from, x, y), static_cast<std::uint32_t>(in.code(x, y)));
  denoise::Source source;
  source.frame.plane[0] = from.data();
  source.frame.stride[0] = stride;
  Canvas canvas;
  canvas.plane[0] = to.data();
  canvas.stride[0] = stride;
  const auto filter = cpu::make_denoiser(g, 1);
  filter->submit({{&source, 1}, 0, canvas, settings, 1});
  filter->collect();
  Plane out = in;
  out.values.clear();
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      out.values.push_back(static_cast<int>(read_sample(g.layout, sample(to, x, y))) * 255 / in.largest());
  return out;
}

double decibels(const Plane& clean, const Plane& other) {
  double squares = 0;
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x)
      squares += std::pow((clean.code(x, y) - other.code(x, y)) * 255 / clean.largest(), 2);
  return 10 * std::log10(255 * 255 * clean.width * clean.height / squares);
}

/// As nlmeans and patchbilateral set them by default.
Settings following(bool near) {
  Settings s;
  s.follows = true;
  s.range = near ? 2 * 0.85 * 0.85 : 0.49;
  s.patch_radius = near ? 1 : 3;
  s.search_radius = near ? 3 : 7;
  s.spatial = near ? 0.005 : 0;
  return s;
}

TEST(DenoiseNoise, FilterThatFollowsGainsAtEveryNoiseAndNeverLoses) {
  for (const bool near : {false, true})
    for (const int depth : {8, 12})
      for (const double sigma : {0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0}) {
        const Plane clean = scene().deeper(depth), noisy = clean.noisy(sigma);
        const double before = decibels(clean, noisy), after = decibels(clean, filtered(noisy, following(near)));
        EXPECT_GT(after, sigma < 3 ? before - 0.2 : before + (sigma < 8 ? 2 : 4)) << sigma << " at " << depth;
      }
}

TEST(DenoiseNoise, FilterThatFollowsLeavesCleanPicturesAsTheyAre) {
  for (const bool near : {false, true})
    for (const int depth : {8, 10, 16})
      for (const double sigma : {0.0, 1.0}) {
        const Plane in = scene().deeper(depth).noisy(sigma), out = filtered(in, following(near));
        for (int y = 0; y < in.height; ++y)
          for (int x = 0; x < in.width; ++x) ASSERT_EQ(out.code(x, y), in.code(x, y)) << x << " " << y;
      }
}

/// The weights for an estimate are those for the number.
TEST(DenoiseNoise, FollowingIsAStrengthAndASigma) {
  const Plane noisy = scene().noisy(12);
  Settings fixed = following(false);
  const double sigma = denoise::followed_sigma(
      plain_noise_variance(noisy.width, noisy.height, 8, [&](int x, int y) { return noisy.code(x, y); }));
  ASSERT_NEAR(sigma, 12, 1);
  fixed.follows = false;
  fixed.range *= sigma * sigma;
  fixed.sigma = sigma;
  EXPECT_EQ(filtered(noisy, following(false)).values, filtered(noisy, fixed).values);
}

}  // namespace
}  // namespace framequality::test
