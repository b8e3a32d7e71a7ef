// SPDX-License-Identifier: LGPL-2.1-or-later
// Masks: the pixels that count, as rectangles and as scores.
#include "algorithms/sharpness/mask.h"

#include "c/framequality.h"
#include "tests/c/images.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace framequality {

using namespace sharpness;

namespace {

using Values = std::vector<std::uint8_t>;

Values random_mask(int width, int height, unsigned seed, unsigned share) {
  std::mt19937 random(seed);
  Values values(static_cast<std::size_t>(width * height));
  for (auto& v : values) v = random() % 100 < share ? 7 : 0;
  return values;
}

TEST(Mask, RectanglesAreDisjointAndHoldWhatCounts) {
  for (const unsigned share : {0u, 3u, 50u, 97u, 100u})
    for (const int k : {1, 2, 4}) {
      const int w = 37, h = 23;
      const Values values = random_mask(w, h, share, share);
      Values seen(values.size(), 0);
      std::int64_t above = 0;
      for (const Rect& r : rectangles_of(values.data(), w, w, h, k)) {
        EXPECT_TRUE(r.x % k == 0 && r.y % k == 0 && r.width % k == 0 && r.height % k == 0);
        EXPECT_GE(r.y, above);
        above = r.y;
        for (auto y = r.y; y < r.y + r.height; ++y)
          for (auto x = r.x; x < r.x + r.width; ++x) ++seen[static_cast<std::size_t>(y * w + x)];
      }
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          bool counts = y / k < h / k && x / k < w / k;
          for (int j = y / k * k; counts && j < y / k * k + k; ++j)
            for (int i = x / k * k; i < x / k * k + k; ++i)
              counts = counts && values[static_cast<std::size_t>(j * w + i)];
          ASSERT_EQ(seen[static_cast<std::size_t>(y * w + x)], counts ? 1 : 0) << x << " " << y << " " << k;
        }
    }
}

TEST(Mask, EqualRunsMakeOneRectangle) {
  const Values all(100, 1);
  EXPECT_EQ(rectangles_of(all.data(), 10, 10, 10, 1), (std::vector<Rect>{{0, 0, 10, 10}}));
  EXPECT_TRUE(rectangles_of(Values(100, 0).data(), 10, 10, 10, 1).empty());
}

class CMask : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(fq_meter_open("cpu", 1, &meter_), FQ_OK);
    ASSERT_EQ(fq_options_init(&options), FQ_OK);
  }
  void TearDown() override { fq_meter_close(meter_); }
  int measure(const fq_image& image) { return fq_meter_measure(meter_, &image, &options, &result, nullptr, 0); }
  int masked(const fq_image& image, const Values& values) {
    fq_mask* mask = nullptr;
    EXPECT_EQ(fq_mask_open(values.data(), image.width, image.width, image.height, &mask), FQ_OK);
    options.mask = mask;
    const int status = measure(image);
    options.mask = nullptr;
    fq_mask_close(mask);
    return status;
  }
  fq_options options = FQ_INIT(fq_options);
  fq_result result = FQ_INIT(fq_result);

 private:
  fq_meter* meter_ = nullptr;
};

TEST_F(CMask, RectangleScoresAsTheRoi) {
  const int w = 150, h = 90;
  const TestImage pixels(w, h, 5);
  const fq_image image = pixels.gray();
  options.statistics = 1;
  for (const fq_rect& roi : {fq_rect{0, 0, w, h}, fq_rect{8, 4, 60, 40}, fq_rect{148, 0, 2, h}, fq_rect{0, 88, 4, 2}}) {
    Values values(w * h, 0);
    for (auto y = roi.y; y < roi.y + roi.height; ++y)
      for (auto x = roi.x; x < roi.x + roi.width; ++x) values[static_cast<std::size_t>(y * w + x)] = 255;
    for (int metric = 0; metric < fq_metric_count(); ++metric)
      for (const int downscale : {1, 2}) {
        SCOPED_TRACE(fq_metric_name(metric));
        options.metric = metric;
        options.downscale = downscale;
        options.prefilter = metric % 3;
        options.noise_correction = metric % 2;
        options.has_roi = 1;
        options.roi = roi;
        ASSERT_EQ(measure(image), FQ_OK) << fq_last_error();
        const fq_result wanted = result;
        options.has_roi = 0;
        ASSERT_EQ(masked(image, values), FQ_OK) << fq_last_error();
        EXPECT_EQ(result.score, wanted.score);
        EXPECT_EQ(result.pixels, wanted.pixels);
        EXPECT_EQ(result.noise, wanted.noise);
        EXPECT_DOUBLE_EQ(result.mean, wanted.mean);
        EXPECT_EQ(result.clipped_white, wanted.clipped_white);
      }
  }
}

/// The definition: what each pixel adds, in 8-bit grey levels, over those that count.
TEST_F(CMask, OnlyPixelsThatCountAdd) {
  const int w = 64, h = 48;
  const TestImage pixels(w, h, 9);
  const auto g = [&](int x, int y) { return double{pixels.bytes()[y * w + x] * 1.0}; };
  options.metric = fq_find_metric("tenengrad");
  for (const unsigned share : {1u, 20u, 50u, 80u, 99u}) {
    const Values values = random_mask(w, h, share, share);
    double sum = 0;
    int n = 0;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        if (!values[static_cast<std::size_t>(y * w + x)]) continue;
        ++n;
        if (x == 0 || y == 0 || x == w - 1 || y == h - 1) continue;
        const double dx =
            g(x + 1, y - 1) + 2 * g(x + 1, y) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x - 1, y) - g(x - 1, y + 1);
        const double dy =
            g(x - 1, y + 1) + 2 * g(x, y + 1) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x, y - 1) - g(x + 1, y - 1);
        sum += dx * dx + dy * dy;
      }
    ASSERT_EQ(masked(pixels.gray(), values), FQ_OK) << fq_last_error();
    EXPECT_DOUBLE_EQ(result.score, sum / n);
    EXPECT_EQ(result.pixels, static_cast<unsigned>(n));
  }
}

TEST_F(CMask, NothingCountsNothingScores) {
  const TestImage pixels(32, 24, 9);
  options.statistics = 1;
  ASSERT_EQ(masked(pixels.gray(), Values(32 * 24, 0)), FQ_OK) << fq_last_error();
  EXPECT_EQ(result.score, 0);
  EXPECT_EQ(result.pixels, 0u);
}

TEST_F(CMask, RefusesWhatItIsNotFor) {
  const TestImage pixels(32, 24, 9);
  const Values values(32 * 24, 1);
  const auto expect = [&](const char* text, const fq_image& image) {
    EXPECT_EQ(masked(image, values), FQ_ERROR_ARGUMENT) << text;
    EXPECT_NE(std::strstr(fq_last_error(), text), nullptr) << fq_last_error();
  };
  options.zone_rows = 2;
  expect("cannot be combined", pixels.gray());
  options.zone_rows = 1;
  options.downscale = 0;
  expect("cannot be combined", pixels.gray());
  options.downscale = 1;
  fq_image mosaic = pixels.gray();
  mosaic.format = FQ_BAYER_RGGB;
  expect("demosaic", mosaic);
  fq_mask* mask = nullptr;
  ASSERT_EQ(fq_mask_open(values.data(), 16, 16, 24, &mask), FQ_OK);
  options.mask = mask;
  EXPECT_EQ(measure(pixels.gray()), FQ_ERROR_ARGUMENT);
  EXPECT_STREQ(fq_last_error(), "the mask is 16x24 pixels but the image is 32x24: they must have the same size");
  fq_mask_close(mask);
  EXPECT_EQ(fq_mask_open(nullptr, 16, 16, 24, &mask), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(fq_mask_open(values.data(), 16, 0, 24, &mask), FQ_ERROR_ARGUMENT);
}

}  // namespace
}  // namespace framequality
