// SPDX-License-Identifier: LGPL-2.1-or-later
// The C library's autofocus and filters, and what happens when a device fails.
#include "algorithms/sharpness/meter.h"
#include "c/framequality.h"
#include "device/error.h"
#include "engine/weighing.h"
#include "tests/c/images.h"
#include "tests/engine/backends.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace framequality {

using namespace sharpness;

namespace {

TEST(CFocus, FindsThePeakOfAStage) {
  auto options = FQ_INIT(fq_focus_options);
  ASSERT_EQ(fq_focus_options_init(&options), FQ_OK);
  options.step = 0.5;
  fq_focus* focus = nullptr;
  ASSERT_EQ(fq_focus_open(&options, 10, &focus), FQ_OK) << fq_last_error();
  double z = 10;
  int frames = 0, moves = 0;
  while (fq_focus_get_state(focus) < FQ_FOCUS_FOCUSED && frames < 500) {
    const int moved = fq_focus_next(focus, 100 / (1 + std::pow((z - 62.3) / 6, 2)) + 3, &z);
    ASSERT_GE(moved, 0);
    moves += moved;
    ++frames;
  }
  EXPECT_EQ(fq_focus_get_state(focus), FQ_FOCUS_FOCUSED) << fq_focus_reason(focus);
  EXPECT_NEAR(z, 62.3, 0.5);
  double top = 0, error = -1, positions[3], scores[3];
  const std::size_t all = fq_focus_curve(focus, positions, scores, 3, &top, &error);
  EXPECT_GT(all, 3u);
  EXPECT_LT(positions[0], positions[1]);
  EXPECT_NEAR(top, 62.3, 0.3);
  EXPECT_GE(error, 0);
  EXPECT_GT(fq_focus_certainty(focus), 0.9);
  EXPECT_LE(fq_focus_certainty(focus), 1);
  EXPECT_GT(moves, 3);
  EXPECT_EQ(fq_focus_trigger(focus), FQ_OK);
  auto result = FQ_INIT(fq_result);
  result.score = std::numeric_limits<double>::quiet_NaN();
  EXPECT_GE(fq_focus_next_result(focus, &result, &z), 0);
  fq_focus_close(focus);
}

TEST(CFocus, FocusesOnTheObjectThatIsWanted) {
  const std::pair<fq_focus_goal, double> wanted[] = {
      {FQ_GOAL_PEAK, 62.3}, {FQ_GOAL_NEAREST, 84}, {FQ_GOAL_FARTHEST, 20}};
  for (const auto& [goal, best] : wanted) {
    auto options = FQ_INIT(fq_focus_options);
    ASSERT_EQ(fq_focus_options_init(&options), FQ_OK);
    EXPECT_EQ(options.goal, FQ_GOAL_PEAK);
    options.goal = goal;
    fq_focus* focus = nullptr;
    ASSERT_EQ(fq_focus_open(&options, 10, &focus), FQ_OK) << fq_last_error();
    double z = 10;
    const auto object = [&](double at, double height) { return height / (1 + std::pow((z - at) / 4, 2)); };
    for (int frames = 0; fq_focus_get_state(focus) < FQ_FOCUS_FOCUSED && frames < 500; ++frames)
      ASSERT_GE(fq_focus_next(focus, object(20, 50) + object(62.3, 100) + object(84, 30) + 3, &z), 0);
    EXPECT_EQ(fq_focus_get_state(focus), FQ_FOCUS_FOCUSED) << fq_focus_reason(focus);
    EXPECT_NEAR(z, best, 1) << goal;
    fq_focus_close(focus);
  }
}

TEST(CFocus, ShootsAStackAroundTheFocus) {
  auto options = FQ_INIT(fq_focus_options);
  ASSERT_EQ(fq_focus_options_init(&options), FQ_OK);
  options.stack = 5;
  options.stack_step = 3;
  fq_focus* focus = nullptr;
  ASSERT_EQ(fq_focus_open(&options, 10, &focus), FQ_OK) << fq_last_error();
  double z = 10;
  std::vector<double> stack;
  int state = FQ_FOCUS_IDLE;
  for (int frames = 0; state != FQ_FOCUS_FOCUSED && state != FQ_FOCUS_FAILED && frames < 500; ++frames) {
    const double stood = z;
    ASSERT_GE(fq_focus_next(focus, 100 / (1 + std::pow((z - 62) / 6, 2)) + 3, &z), 0);
    state = fq_focus_get_state(focus);
    int32_t count = 0;
    double position = -1;
    const int32_t number = fq_focus_stack_image(focus, &count, &position);
    if (number == 0) continue;
    stack.push_back(position);
    EXPECT_EQ(number, static_cast<int32_t>(stack.size()));
    EXPECT_EQ(count, 5);
    EXPECT_EQ(position, stood);
  }
  EXPECT_EQ(state, FQ_FOCUS_FOCUSED) << fq_focus_reason(focus);
  EXPECT_EQ(stack, (std::vector<double>{56, 59, 62, 65, 68}));
  EXPECT_EQ(z, 62);
  fq_focus_close(focus);
}

TEST(CFocus, RefusesRangesThatAreNone) {
  fq_focus* focus = nullptr;
  const auto expect = [&](const char* text, auto change) {
    auto o = FQ_INIT(fq_focus_options);
    (void)fq_focus_options_init(&o);
    change(o);
    EXPECT_EQ(fq_focus_open(&o, 0, &focus), FQ_ERROR_ARGUMENT);
    EXPECT_NE(std::strstr(fq_last_error(), text), nullptr) << fq_last_error();
    EXPECT_EQ(focus, nullptr);
  };
  expect("options->min and max must", [](auto& o) { o.min = 200; });
  expect("options->min and max must", [](auto& o) { o.max = std::numeric_limits<double>::infinity(); });
  expect("options->step", [](auto& o) { o.step = 0; });
  expect("options->min_certainty", [](auto& o) { o.min_certainty = 1.5; });
  expect("options->min_certainty", [](auto& o) { o.min_certainty = std::numeric_limits<double>::quiet_NaN(); });
  expect("options->step", [](auto& o) { o.step = 1e-9; });
  expect("options->stack", [](auto& o) { o.stack = -1; });
  expect("options->stack_step", [](auto& o) { o.stack_step = -1; });
  expect("options->reserved", [](auto& o) { o.reserved = 1; });
  expect("options->goal", [](auto& o) { o.goal = 3; });
  expect("options->coarse_step", [](auto& o) { o.coarse_step = 0.1; });
  expect("options->average_frames", [](auto& o) { o.average_frames = 0; });
  EXPECT_EQ(fq_focus_next(nullptr, 1, nullptr), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(fq_focus_get_state(nullptr), FQ_FOCUS_IDLE);
  EXPECT_EQ(fq_focus_stack_image(nullptr, nullptr, nullptr), 0);
}

TEST(CFilters, DenoisersFilterInAnyLayout) {
  const int w = 40, h = 30;
  const TestImage pixels(w, h, 3);
  const fq_image gray = pixels.gray();
  fq_denoiser* denoiser = nullptr;
  ASSERT_EQ(fq_denoiser_open("cpu", 1, &denoiser), FQ_OK);
  for (const int method : {FQ_NLMEANS, FQ_PATCH_BILATERAL}) {
    auto options = FQ_INIT(fq_denoise_options);
    ASSERT_EQ(fq_denoise_options_init(&options, method), FQ_OK);
    options.strength = 20;
    std::vector<std::uint8_t> out(w * h), upside_down(w * h);
    auto target = FQ_INIT(fq_target);
    target.plane[0] = out.data();
    target.stride[0] = w;
    ASSERT_EQ(fq_denoiser_filter(denoiser, &gray, &options, &target), FQ_OK) << fq_last_error();
    EXPECT_NE(std::memcmp(out.data(), pixels.bytes(), out.size()), 0);
    target.plane[0] = upside_down.data() + w * (h - 1);
    target.stride[0] = -w;
    ASSERT_EQ(fq_denoiser_filter(denoiser, &gray, &options, &target), FQ_OK) << fq_last_error();
    for (int y = 0; y < h; ++y)
      EXPECT_EQ(std::memcmp(out.data() + y * w, upside_down.data() + (h - 1 - y) * w, w), 0) << y;
    options.strength = 0;
    target.plane[0] = out.data();
    target.stride[0] = w;
    ASSERT_EQ(fq_denoiser_filter(denoiser, &gray, &options, &target), FQ_OK) << fq_last_error();
    EXPECT_EQ(std::memcmp(out.data(), pixels.bytes(), out.size()), 0) << "no strength, no effect";
    options.search_radius = 17;
    EXPECT_EQ(fq_denoiser_filter(denoiser, &gray, &options, &target), FQ_ERROR_ARGUMENT);
  }
  fq_image gaps = gray;
  gaps.pixel_stride = 2;
  gaps.width = w / 2;
  std::vector<std::uint8_t> out(w * h);
  auto to = FQ_INIT(fq_target);
  to.plane[0] = out.data();
  to.stride[0] = w;
  auto any = FQ_INIT(fq_denoise_options);
  (void)fq_denoise_options_init(&any, FQ_NLMEANS);
  EXPECT_EQ(fq_denoiser_filter(denoiser, &gaps, &any, &to), FQ_ERROR_ARGUMENT);
  EXPECT_NE(std::strstr(fq_last_error(), "image->pixel_stride leaves gaps"), nullptr) << fq_last_error();
  to.stride[0] = w - 1;
  EXPECT_EQ(fq_denoiser_filter(denoiser, &gray, &any, &to), FQ_ERROR_ARGUMENT);
  EXPECT_STREQ(fq_last_error(), "out->stride[0] is 39, but a row needs 40 bytes");
  fq_image mosaic = gray;
  mosaic.format = FQ_BAYER_BGGR;
  auto options = FQ_INIT(fq_denoise_options);
  (void)fq_denoise_options_init(&options, FQ_NLMEANS);
  auto target = FQ_INIT(fq_target);
  EXPECT_EQ(fq_denoiser_filter(denoiser, &mosaic, &options, &target), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(fq_denoiser_filter(denoiser, &gray, &options, &target), FQ_ERROR_ARGUMENT);
  EXPECT_STREQ(fq_last_error(), "out->plane[0] is NULL");
  fq_denoiser_close(denoiser);
}

TEST(CFilters, HalftonesHaveTheirLevelsAndTheImagesMean) {
  const int w = 64, h = 64;
  const std::vector<std::uint8_t> flat(w * h, 100);
  const fq_image image = gray_image(flat.data(), w, h);
  fq_halftoner* halftoner = nullptr;
  ASSERT_EQ(fq_halftoner_open("cpu", 1, &halftoner), FQ_OK);
  for (const int method : {FQ_FLOYD_STEINBERG, FQ_TONE_DEPENDENT, FQ_BLUE_NOISE}) {
    auto options = FQ_INIT(fq_halftone_options);
    ASSERT_EQ(fq_halftone_options_init(&options), FQ_OK);
    options.method = method;
    std::vector<std::uint8_t> out(w * h, 1), bits(w / 8 * h);
    auto target = FQ_INIT(fq_target);
    target.plane[0] = out.data();
    target.stride[0] = w;
    ASSERT_EQ(fq_halftoner_filter(halftoner, &image, &options, &target), FQ_OK) << fq_last_error();
    double sum = 0;
    for (const auto v : out) {
      ASSERT_TRUE(v == 0 || v == 255);
      sum += v;
    }
    EXPECT_NEAR(sum / (w * h), 100, 3);
    options.packed = 1;
    target.plane[0] = bits.data();
    target.stride[0] = w / 8;
    ASSERT_EQ(fq_halftoner_filter(halftoner, &image, &options, &target), FQ_OK) << fq_last_error();
    for (int i = 0; i < w * h; ++i) ASSERT_EQ(bits[i / 8] >> (7 - i % 8) & 1, out[i] / 255);
    options.levels = 4;
    EXPECT_EQ(fq_halftoner_filter(halftoner, &image, &options, &target), FQ_ERROR_ARGUMENT);
  }
  fq_halftoner_close(halftoner);
}

TEST(CFilters, PalettesAreColoursOrCodes) {
  // Four pixels: black, white, black, white.
  const std::vector<std::uint8_t> rgb = {0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255};
  auto image = FQ_INIT(fq_image);
  image.format = FQ_RGB;
  image.width = 4;
  image.height = 1;
  image.word_bytes = 1;
  image.plane[0] = rgb.data();
  auto options = FQ_INIT(fq_halftone_options);
  ASSERT_EQ(fq_halftone_options_init(&options), FQ_OK);
  EXPECT_EQ(options.palette, nullptr);
  fq_halftoner* halftoner = nullptr;
  ASSERT_EQ(fq_halftoner_open("auto", 1, &halftoner), FQ_OK);
  std::vector<std::uint8_t> out(16, 9);
  auto target = FQ_INIT(fq_target);
  target.plane[0] = out.data();
  const auto filter = [&] { return fq_halftoner_filter(halftoner, &image, &options, &target); };
  using Bytes = std::vector<std::uint8_t>;

  options.palette = "#102030,#d0e0f0=5";
  ASSERT_EQ(filter(), FQ_OK) << fq_last_error();
  EXPECT_EQ(out, (Bytes{16, 32, 48, 208, 224, 240, 16, 32, 48, 208, 224, 240, 9, 9, 9, 9}));
  options.output = FQ_HALFTONE_RGBX;
  ASSERT_EQ(filter(), FQ_OK) << fq_last_error();
  EXPECT_EQ(out, (Bytes{16, 32, 48, 255, 208, 224, 240, 255, 16, 32, 48, 255, 208, 224, 240, 255}));
  options.packed = 1;
  ASSERT_EQ(filter(), FQ_OK) << fq_last_error();
  EXPECT_EQ(Bytes(out.begin(), out.begin() + 3), (Bytes{0x05, 0x05, 48}));
  EXPECT_EQ(fq_palette_bits(options.palette), 4);
  EXPECT_EQ(fq_palette_bits("bwr"), 2);
  EXPECT_EQ(fq_palette_bits("#000000,#ffffff"), 1);

  const auto refused = [&](const char* reason) {
    EXPECT_EQ(filter(), FQ_ERROR_ARGUMENT);
    EXPECT_NE(std::string(fq_last_error()).find(reason), std::string::npos) << fq_last_error();
  };
  options.method = FQ_TONE_DEPENDENT;
  refused("greys only");
  options.method = FQ_BLUE_NOISE;
  options.output = 2;
  refused("options->output");
  options.output = FQ_HALFTONE_RGB;
  options.palette = "spectra";
  refused("spectra6");
  options.palette = "#000000";
  refused("at least 2 colours");
  EXPECT_EQ(fq_palette_bits(nullptr), FQ_ERROR_ARGUMENT);
  char text[FQ_PALETTE_TEXT];
  EXPECT_EQ(fq_palette_read("/no/such/palette", text), FQ_ERROR_ARGUMENT);
  EXPECT_EQ(std::string(fq_last_error()), "palette /no/such/palette: cannot be read: No such file or directory");
  EXPECT_EQ(fq_palette_read(nullptr, text), FQ_ERROR_ARGUMENT);
  const std::string path = testing::TempDir() + "fq-palette-" + std::to_string(getpid());
  std::ofstream(path) << "#102030\n\n#d0e0f0=5\n";
  ASSERT_EQ(fq_palette_read(path.c_str(), text), FQ_OK) << fq_last_error();
  std::remove(path.c_str());
  EXPECT_STREQ(text, "#102030=0,#d0e0f0=5");
  EXPECT_EQ(fq_palette_bits(text), 4);
  // What an older header does not have is the default: greys, one bit each.
  options.size = offsetof(fq_halftone_options, palette);
  ASSERT_EQ(filter(), FQ_OK) << fq_last_error();
  EXPECT_EQ(out[0], 0x50);
  fq_halftoner_close(halftoner);
}

TEST(CFilters, BliindsNeedsAnImageThatIsLargeEnough) {
  const TestImage pixels(80, 60, 2), small(3, 60, 2);
  fq_bliinds* bliinds = nullptr;
  EXPECT_EQ(fq_bliinds_open("cpu", "/no/such/model", &bliinds), FQ_ERROR_ARGUMENT);
  EXPECT_NE(std::strstr(fq_last_error(), "model /no/such/model: cannot be read"), nullptr) << fq_last_error();
  ASSERT_EQ(fq_bliinds_open("cpu", nullptr, &bliinds), FQ_OK);
  auto result = FQ_INIT(fq_bliinds_result);
  const fq_image image = pixels.gray(), too_small = small.gray();
  ASSERT_EQ(fq_bliinds_measure(bliinds, &image, 0, &result), FQ_OK) << fq_last_error();
  EXPECT_GE(result.score, 0);
  EXPECT_LE(result.score, 99);
  EXPECT_NEAR(result.score, std::min(std::max(result.raw, 0.0), 99.0), 0.26);
  EXPECT_EQ(fq_bliinds_measure(bliinds, &too_small, 0, &result), FQ_ERROR_ARGUMENT);
  EXPECT_NE(std::strstr(fq_last_error(), "3x60"), nullptr) << fq_last_error();
  fq_bliinds_close(bliinds);
}

/// A meter that fails when its second frame is collected.
class Failing final : public Meter {
 public:
  explicit Failing(const Geometry& geometry) : cpu_(cpu_backend()->sharpness(geometry, {})) {}
  static const Backend* cpu_backend() {
    static const Backend* const cpu = backends().back();
    return cpu;
  }
  void submit(const Task& task) override { tasks_.push_back(task); }
  std::span<const std::int64_t> collect() override {
    if (++collected_ == 2) throw Error(Fault::kDeviceLost, "scripted: the device is gone");
    tasks_.front().frame.memory = Memory::kHost;  // where what is said to be the device's lies
    cpu_->submit(tasks_.front());
    tasks_.erase(tasks_.begin());
    return cpu_->collect();
  }

 private:
  std::unique_ptr<Meter> cpu_;
  std::vector<Task> tasks_;
  int collected_ = 0;
};

class CFaults : public test::Backends {
 protected:
  void SetUp() override {
    (void)Failing::cpu_backend();
    Backends::SetUp();
    first.usable = true;
    table_[0].sharpness = [](const Geometry& g, const Where&) -> std::unique_ptr<Meter> {
      return std::make_unique<Failing>(g);
    };
    table_[0].context = []() noexcept -> void* { return current; };
    table_[0].set_context = [](void* context) noexcept { current = context; };
    table_[2].sharpness = Failing::cpu_backend()->sharpness;
    current = &callers;
  }
  int measure(fq_meter* meter, const fq_image& image) {
    auto options = FQ_INIT(fq_options);
    (void)fq_options_init(&options);
    const int status = fq_meter_measure(meter, &image, &options, &result, nullptr, 0);
    EXPECT_EQ(current, &callers) << "the caller's context";
    return status;
  }
  fq_result result = FQ_INIT(fq_result);
  static inline int callers = 0;
  static inline void* current = nullptr;
};

TEST_F(CFaults, AutoMovesToADeviceThatPaysAndTheCpuTakesOverIfItFails) {
  static Weighing::Time now;
  now = {};
  use_weighing_clock([] { return now += Weighing::kHeavy; });
  const TestImage pixels(30, 20, 1);
  fq_meter* meter = nullptr;
  ASSERT_EQ(fq_meter_open("auto", 1, &meter), FQ_OK) << fq_last_error();
  EXPECT_STREQ(fq_meter_device(meter), "cpu");
  EXPECT_EQ(first.wanted, -2) << "nothing was looked for";
  ASSERT_EQ(measure(meter, pixels.gray()), FQ_OK) << fq_last_error();
  const double score = result.score;
  for (int i = 0; i < 10000 && std::strcmp(fq_meter_device(meter), "cpu") == 0; ++i) {
    ASSERT_EQ(measure(meter, pixels.gray()), FQ_OK) << fq_last_error();
    EXPECT_EQ(result.score, score);
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  EXPECT_STREQ(fq_meter_device(meter), "first:4");
  ASSERT_EQ(measure(meter, pixels.gray()), FQ_OK) << fq_last_error();
  EXPECT_EQ(result.score, score) << "the second one, which fails";
  EXPECT_STREQ(fq_meter_device(meter), "cpu");
  ASSERT_EQ(measure(meter, pixels.gray()), FQ_OK) << fq_last_error();
  fq_meter_close(meter);
  use_weighing_clock(nullptr);
}

TEST_F(CFaults, AutoIsOnTheDeviceFromTheFirstImageInItsMemoryOn) {
  const TestImage pixels(30, 20, 1);
  fq_image image = pixels.gray();
  fq_meter* meter = nullptr;
  ASSERT_EQ(fq_meter_open("auto", 1, &meter), FQ_OK) << fq_last_error();
  image.flags = FQ_ON_DEVICE;
  ASSERT_EQ(measure(meter, image), FQ_OK) << fq_last_error();
  EXPECT_STREQ(fq_meter_device(meter), "first:4");
  fq_meter_close(meter);
  first.usable = false;
  second.usable = false;
  ASSERT_EQ(fq_meter_open("auto", 1, &meter), FQ_OK) << fq_last_error();
  EXPECT_EQ(measure(meter, image), FQ_ERROR_ARGUMENT);
  EXPECT_NE(std::strstr(fq_last_error(), "which cpu cannot read"), nullptr) << fq_last_error();
  fq_meter_close(meter);
}

TEST_F(CFaults, AnErrorWhereThatDeviceWasAskedFor) {
  const TestImage pixels(30, 20, 1);
  fq_meter* meter = nullptr;
  ASSERT_EQ(fq_meter_open("first", 1, &meter), FQ_OK) << fq_last_error();
  ASSERT_EQ(measure(meter, pixels.gray()), FQ_OK);
  EXPECT_EQ(measure(meter, pixels.gray()), FQ_ERROR_DEVICE_LOST);
  EXPECT_STREQ(fq_last_error(), "scripted: the device is gone");
  fq_meter_close(meter);
  EXPECT_EQ(current, &callers);
}

TEST_F(CFaults, AnErrorWhereTheImageIsInTheDevicesMemory) {
  const TestImage pixels(30, 20, 1);
  fq_image image = pixels.gray();
  fq_meter* meter = nullptr;
  ASSERT_EQ(fq_meter_open("auto", 1, &meter), FQ_OK) << fq_last_error();
  image.flags = FQ_ON_DEVICE;
  ASSERT_EQ(measure(meter, image), FQ_OK);
  EXPECT_EQ(measure(meter, image), FQ_ERROR_DEVICE_LOST);
  fq_meter_close(meter);
}

TEST_F(CFaults, MemoryChangesOnlyWhileNothingIsPending) {
  const TestImage pixels(30, 20, 1);
  fq_image image = pixels.gray();
  auto options = FQ_INIT(fq_options);
  (void)fq_options_init(&options);
  fq_meter* meter = nullptr;
  ASSERT_EQ(fq_meter_open("auto", 2, &meter), FQ_OK) << fq_last_error();
  ASSERT_EQ(fq_meter_submit(meter, &image, &options), FQ_OK);
  image.flags = FQ_ON_DEVICE;
  EXPECT_EQ(fq_meter_submit(meter, &image, &options), FQ_ERROR_STATE);
  EXPECT_EQ(fq_meter_collect(meter, &result, nullptr, 0), FQ_OK) << fq_last_error();
  fq_meter_close(meter);
}

}  // namespace
}  // namespace framequality
