// SPDX-License-Identifier: LGPL-2.1-or-later
// The C library's meter: equal to the engine, and what it refuses.
#include "algorithms/sharpness/meter.h"

#include "algorithms/sharpness/score.h"
#include "c/framequality.h"
#include "device/backend.h"
#include "tests/c/images.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace framequality {

using namespace sharpness;

namespace {

fq_options options_of(const char* metric) {
  auto o = FQ_INIT(fq_options);
  EXPECT_EQ(fq_options_init(&o), FQ_OK);
  o.metric = fq_find_metric(metric);
  return o;
}

struct Meter {
  explicit Meter(int in_flight = 1, const char* device = "cpu") {
    EXPECT_EQ(fq_meter_open(device, in_flight, &handle), FQ_OK) << fq_last_error();
  }
  ~Meter() { fq_meter_close(handle); }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  int measure(const fq_image& image, const fq_options& options) {
    return fq_meter_measure(handle, &image, &options, &result, zones, std::size(zones));
  }
  fq_meter* handle = nullptr;
  fq_result result = FQ_INIT(fq_result);
  double zones[64 * 64] = {};
};

TEST(CMeter, EveryMetricScoresAsTheEngineDoes) {
  const TestImage image(97, 61, 3);
  Meter meter;
  for (int metric = 0; metric < fq_metric_count(); ++metric) {
    SCOPED_TRACE(fq_metric_name(metric));
    ASSERT_EQ(fq_find_metric(fq_metric_name(metric)), metric);
    fq_options o = options_of(fq_metric_name(metric));
    o.zone_columns = 3;
    o.zone_rows = 2;
    o.statistics = 1;
    o.prefilter = metric % 3;
    ASSERT_EQ(meter.measure(image.gray(), o), FQ_OK) << fq_last_error();

    Request request;
    request.metric = metric;
    request.prefilter = static_cast<Prefilter>(o.prefilter);
    request.zone_columns = 3;
    request.zone_rows = 2;
    request.statistics = true;
    const Geometry geometry{97, 61, {}};
    const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
    const auto engine = backends().back()->sharpness(geometry, {});
    Frame frame;
    frame.plane[0] = image.bytes();
    frame.stride[0] = 97;
    engine->submit({frame, plan});
    const Scores wanted = finish(*plan, engine->collect());
    EXPECT_EQ(meter.result.score, wanted.score);
    EXPECT_EQ(meter.result.noise, wanted.statistics.noise);
    EXPECT_EQ(meter.result.mean, wanted.statistics.mean);
    EXPECT_EQ(meter.result.blur, static_cast<int>(wanted.blur->kind));
    EXPECT_EQ(meter.result.pixels, 97u * 61u);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(meter.zones[i], wanted.zones[i]);
  }
}

TEST(CMeter, LayoutsOfTheSamePixelsScoreTheSame) {
  const int w = 33, h = 21;
  const TestImage bytes(w, h, 1);
  const fq_options o = options_of("tenengrad");
  Meter meter;
  ASSERT_EQ(meter.measure(bytes.gray(), o), FQ_OK);
  const double gray = meter.result.score;

  std::vector<std::uint8_t> rgb, planar(3 * w * h), words, rgba;
  for (int i = 0; i < w * h; ++i) {
    const std::uint8_t v = bytes.bytes()[i];
    for (int c = 0; c < 3; ++c) rgb.push_back(v), rgba.push_back(v), planar[c * w * h + i] = v;
    rgba.push_back(static_cast<std::uint8_t>(i));
    words.push_back(v), words.push_back(0);  // big-endian, 16 bits: v * 256
  }
  auto image = FQ_INIT(fq_image);
  image.width = w;
  image.height = h;
  image.word_bytes = 1;
  for (const int format : {FQ_RGB, FQ_BGR}) {
    image.format = format;
    image.plane[0] = rgb.data();
    image.stride[0] = 3 * w;
    ASSERT_EQ(meter.measure(image, o), FQ_OK) << fq_last_error();
    EXPECT_EQ(meter.result.score, gray);
    for (int c = 0; c < 3; ++c) {
      image.plane[c] = planar.data() + c * w * h;
      image.stride[c] = w;
    }
    ASSERT_EQ(meter.measure(image, o), FQ_OK) << fq_last_error();
    EXPECT_EQ(meter.result.score, gray);
    image.plane[1] = image.plane[2] = nullptr;
  }
  image.format = FQ_BGRA;
  image.plane[0] = rgba.data();
  image.stride[0] = 4 * w;
  ASSERT_EQ(meter.measure(image, o), FQ_OK);
  EXPECT_EQ(meter.result.score, gray);
  image.format = FQ_GRAY;  // one channel of four, bottom up
  image.pixel_stride = 4;
  image.plane[0] = rgba.data() + 4 * w * (h - 1) + 1;
  image.stride[0] = -4 * w;
  ASSERT_EQ(meter.measure(image, o), FQ_OK);
  EXPECT_EQ(meter.result.score, gray);
  image.pixel_stride = 0;
  image.word_bytes = 2;
  image.flags = FQ_BIG_ENDIAN;
  image.plane[0] = words.data();
  image.stride[0] = 2 * w;
  ASSERT_EQ(meter.measure(image, o), FQ_OK);
  EXPECT_DOUBLE_EQ(meter.result.score, gray);
}

TEST(CMeter, SeveralAreInFlightAndComeInOrder) {
  Meter meter(3);
  const fq_options o = options_of("tenengrad");
  std::vector<TestImage> images;
  std::vector<double> wanted;
  for (unsigned seed = 0; seed < 3; ++seed) images.emplace_back(40, 30, seed);
  for (const TestImage& i : images) {
    ASSERT_EQ(meter.measure(i.gray(), o), FQ_OK);
    wanted.push_back(meter.result.score);
  }
  for (const TestImage& i : images) {
    const fq_image image = i.gray();
    ASSERT_EQ(fq_meter_submit(meter.handle, &image, &o), FQ_OK);
  }
  const fq_image more = images[0].gray();
  EXPECT_EQ(fq_meter_submit(meter.handle, &more, &o), FQ_ERROR_STATE);
  EXPECT_EQ(meter.measure(more, o), FQ_ERROR_STATE);
  for (const double score : wanted) {
    ASSERT_EQ(fq_meter_collect(meter.handle, &meter.result, nullptr, 0), FQ_OK);
    EXPECT_EQ(meter.result.score, score);
  }
  EXPECT_EQ(fq_meter_collect(meter.handle, &meter.result, nullptr, 0), FQ_ERROR_STATE);
  EXPECT_STREQ(fq_last_error(), "no image is pending: submit one first");
}

TEST(CMeter, AnotherSizeWaitsForWhatIsPending) {
  Meter meter(2);
  const fq_options o = options_of("tenengrad");
  const TestImage small(20, 20, 1), large(40, 40, 1);
  const fq_image first = small.gray(), second = large.gray();
  ASSERT_EQ(fq_meter_submit(meter.handle, &first, &o), FQ_OK);
  EXPECT_EQ(fq_meter_submit(meter.handle, &second, &o), FQ_ERROR_STATE);
  ASSERT_EQ(fq_meter_collect(meter.handle, &meter.result, nullptr, 0), FQ_OK);
  EXPECT_EQ(fq_meter_submit(meter.handle, &second, &o), FQ_OK);
}

TEST(CMeter, RefusesWhatIsInvalidAndNamesIt) {
  const TestImage pixels(32, 24, 1);
  Meter meter;
  const auto expect = [&](const char* text, auto change) {
    fq_image image = pixels.gray();
    fq_options options = options_of("tenengrad");
    change(image, options);
    EXPECT_EQ(meter.measure(image, options), FQ_ERROR_ARGUMENT) << text;
    EXPECT_NE(std::strstr(fq_last_error(), text), nullptr) << fq_last_error();
  };
  expect("image->size", [](auto& i, auto&) { i.size = 0; });
  expect("image->width is 0", [](auto& i, auto&) { i.width = 0; });
  expect("image->height", [](auto& i, auto&) { i.height = (1 << 20) + 1; });
  expect("image->format", [](auto& i, auto&) { i.format = 9; });
  expect("image->word_bytes", [](auto& i, auto&) { i.word_bytes = 4; });
  expect("image->bits is 12", [](auto& i, auto&) { i.bits = 12; });
  expect("image->flags", [](auto& i, auto&) { i.flags = 4; });
  expect("image->plane[0] is NULL", [](auto& i, auto&) { i.plane[0] = nullptr; });
  expect("image->stride[0] is 31, but a row needs 32 bytes", [](auto& i, auto&) { i.stride[0] = 31; });
  expect("image->pixel_stride", [](auto& i, auto&) { i.pixel_stride = 256; });
  expect("image->stride[0]", [](auto& i, auto&) { i.stride[0] = std::numeric_limits<ptrdiff_t>::min(); });
  expect("image->reserved", [](auto& i, auto&) { i.reserved = 1; });
  expect("options->reserved", [](auto&, auto& o) { o.reserved = 1; });
  expect("cannot read: open the handle on that GPU", [](auto& i, auto&) { i.flags = FQ_ON_DEVICE; });
  expect("options->size", [](auto&, auto& o) { o.size = 9999; });
  expect("options->metric", [](auto&, auto& o) { o.metric = -1; });
  expect("options->prefilter", [](auto&, auto& o) { o.prefilter = 3; });
  expect("options->downscale is 3", [](auto&, auto& o) { o.downscale = 3; });
  expect("options->zone_columns", [](auto&, auto& o) { o.zone_columns = 65; });
  expect("options->statistics", [](auto&, auto& o) { o.statistics = 2; });
  fq_image image = pixels.gray();
  const fq_options options = options_of("tenengrad");
  EXPECT_EQ(fq_meter_measure(meter.handle, &image, &options, nullptr, nullptr, 0), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(fq_meter_measure(nullptr, &image, &options, &meter.result, nullptr, 0), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(meter.measure(image, options), FQ_OK) << "it can still be used";
}

TEST(CMeter, MistakesOfCollectLoseNoImage) {
  const TestImage pixels(32, 24, 1);
  const fq_image image = pixels.gray();
  fq_options options = options_of("tenengrad");
  options.zone_columns = 2;
  Meter meter;
  ASSERT_EQ(fq_meter_submit(meter.handle, &image, &options), FQ_OK);
  EXPECT_EQ(fq_meter_collect(meter.handle, &meter.result, meter.zones, 1), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(fq_meter_collect(meter.handle, nullptr, nullptr, 0), FQ_ERROR_ARGUMENT);
  fq_result wrong{};
  EXPECT_EQ(fq_meter_collect(meter.handle, &wrong, nullptr, 0), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(fq_meter_collect(meter.handle, &meter.result, meter.zones, 2), FQ_OK) << fq_last_error();
}

TEST(CMeter, OlderStructsAreAccepted) {
  const TestImage pixels(32, 24, 1);
  const fq_image image = pixels.gray();
  Meter meter;
  fq_options options = options_of("tenengrad");
  ASSERT_EQ(meter.measure(image, options), FQ_OK);
  const double score = meter.result.score;
  options.size = offsetof(fq_options, mask);
  options.mask = reinterpret_cast<const fq_mask*>(1);  // what an older header does not have
  fq_result old = FQ_INIT(fq_result);
  old.size = offsetof(fq_result, anisotropy);
  old.anisotropy = -5;
  ASSERT_EQ(fq_meter_measure(meter.handle, &image, &options, &old, nullptr, 0), FQ_OK) << fq_last_error();
  EXPECT_EQ(old.score, score);
  EXPECT_EQ(old.anisotropy, -5) << "not the caller's memory";
  EXPECT_EQ(old.size, offsetof(fq_result, anisotropy));
}

TEST(CMeter, DevicesAreFoundByName) {
  fq_meter* meter = nullptr;
  EXPECT_EQ(fq_meter_open("gpu", 1, &meter), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(meter, nullptr);
  EXPECT_NE(std::strstr(fq_last_error(), "auto, cuda, opencl, cpu"), nullptr) << fq_last_error();
  for (const char* none : {"cpu:0", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "auto:0"})
    EXPECT_EQ(fq_meter_open(none, 1, &meter), FQ_ERROR_ARGUMENT) << none;
  EXPECT_EQ(fq_meter_open("cpu", 0, &meter), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(fq_meter_open("cpu", 17, &meter), FQ_ERROR_ARGUMENT);
  const int count = fq_device_count();
  ASSERT_GE(count, 1);
  for (int i = 0; i < count; ++i) {
    auto info = FQ_INIT(fq_device_info);
    ASSERT_EQ(fq_device_get(i, &info), FQ_OK);
    EXPECT_NE(info.usable != 0, info.reason[0] != 0) << info.name;
    const int status = fq_meter_open(info.name, 1, &meter);
    EXPECT_EQ(status, info.usable ? FQ_OK : FQ_ERROR_NO_DEVICE) << info.name << ": " << fq_last_error();
    if (status == FQ_OK) {
      EXPECT_STREQ(fq_meter_device(meter), info.name);
    }
    fq_meter_close(meter);
    if (i == count - 1) {
      EXPECT_STREQ(info.name, "cpu");
    }
  }
  auto info = FQ_INIT(fq_device_info);
  EXPECT_EQ(fq_device_get(count, &info), FQ_ERROR_ARGUMENT);
  ASSERT_EQ(fq_meter_open("auto", 1, &meter), FQ_OK);
  fq_meter_close(meter);
}

TEST(CMeter, ErrorsBelongToTheirThread) {
  fq_meter* meter = nullptr;
  EXPECT_EQ(fq_meter_open("gpu", 1, &meter), FQ_ERROR_ARGUMENT);
  std::thread([] { EXPECT_STREQ(fq_last_error(), ""); }).join();
  EXPECT_STRNE(fq_last_error(), "");
}

TEST(CMeter, ManyAreMeasuredAndOneFailureCostsOne) {
  std::vector<TestImage> pixels;
  std::vector<fq_image> images;
  for (unsigned i = 0; i < 40; ++i) pixels.emplace_back(20 + static_cast<int>(i % 7), 20, i);
  for (const TestImage& p : pixels) images.push_back(p.gray());
  const fq_options o = options_of("laplacian-variance");
  std::vector<fq_result> results(images.size(), FQ_INIT(fq_result));
  std::size_t failed = 0;
  for (const int threads : {0, 1, 5}) {
    ASSERT_EQ(fq_measure_many(images.data(), images.size(), &o, threads, results.data(), &failed), FQ_OK);
    EXPECT_EQ(failed, images.size());
    Meter meter;
    for (std::size_t i = 0; i < images.size(); ++i) {
      ASSERT_EQ(meter.measure(images[i], o), FQ_OK);
      EXPECT_EQ(results[i].score, meter.result.score);
    }
  }
  images[7].plane[0] = nullptr;
  images[9].width = -1;
  EXPECT_EQ(fq_measure_many(images.data(), images.size(), &o, 3, results.data(), &failed), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(failed, 7u);
  EXPECT_NE(std::strstr(fq_last_error(), "plane[0]"), nullptr) << fq_last_error();
  EXPECT_TRUE(std::isnan(results[7].score) && std::isnan(results[9].score));
  EXPECT_FALSE(std::isnan(results[8].score) || std::isnan(results[39].score));
  EXPECT_EQ(fq_measure_many(nullptr, 0, &o, 0, nullptr, nullptr), FQ_OK);
}

}  // namespace
}  // namespace framequality
