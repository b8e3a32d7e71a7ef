// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers on an OpenCL device against the host twin: the same pixels, bit for bit.
#include "opencl/denoise/device_filter.h"
#include "opencl/denoise/filter.h"
#include "opencl/denoise/text.h"
#include "tests/denoise/scene.h"
#include "tests/support/opencl.h"

#include <cstring>
#include <limits>

namespace framequality::test {
namespace {

using opencl::DenoiseLimits;

/// Groups of every kind of shape, whatever the device is: its own, those that share weights if there is one plane,
/// large and small ones that share sums, and items on their own.
std::vector<DenoiseLimits> all_limits(const opencl::DeviceInfo& device) {
  const DenoiseLimits own = opencl::denoise_limits_of(device);
  std::vector<DenoiseLimits> all{own};
  for (DenoiseLimits limits : {DenoiseLimits{false, 256, 48 << 10}, DenoiseLimits{false, 64, 20000},
                               DenoiseLimits{false, 1, 0}, DenoiseLimits{false, 128, 48 << 10}}) {
    limits.group_items = std::min(limits.group_items, own.group_items);
    limits.local_bytes = std::min(limits.local_bytes, own.local_bytes);
    all.push_back(limits);
  }
  return all;
}

class OpenclDenoise : public testing::Test {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    context_ = opencl::Context::of(opencl_device().id);
    if (aborts_on_denoisers(context_->device())) GTEST_SKIP() << "pocl 6.0 aborts while it compiles some denoisers";
    limits_ = all_limits(context_->device());
  }

  std::unique_ptr<Filter> filter_for(const PictureGeometry& geometry, std::size_t shape, int depth = 1) const {
    return std::make_unique<opencl::DeviceDenoiser>(geometry, context_, depth, limits_[shape]);
  }
  testing::AssertionResult same_bytes(Blocks& expected, Blocks& got, const Settings& settings) {
    int differing = 0;
    return same(expected, got, settings, differing, 1, true);
  }
  /// shape: of limits_.
  void check(const Case& c, std::size_t shape) {
    SCOPED_TRACE(c.words() + ", shape " + std::to_string(shape));
    Scene scene(c, 0);
    scene.expect();
    const auto filter = filter_for(c.geometry(), shape);
    scene.submit(*filter, false);
    filter->collect();
    const auto result = same_bytes(scene.expected(), scene.got(), c.settings);
    EXPECT_TRUE(result);
    failures_ += !result;
    ASSERT_LT(failures_, 10) << "enough";
  }

  std::shared_ptr<opencl::Context> context_;
  std::vector<DenoiseLimits> limits_;
  int failures_ = 0;
};

// On processors compiling takes more time than all else: cases are chosen to share programs.

TEST_F(OpenclDenoise, EverySizeInEveryLayout) {
  std::uint64_t seed = 1;
  for (const NamedPicture& named : picture_layouts()) {
    const bool is_cheap = named.name == "RGB" || !named.layout.is_rgb;
    const std::size_t shape = seed / 6 % 2 == 0 || !is_cheap ? 0 : 2;
    for (const Size size : {Size{1, 1}, {2, 2}, {3, 3}, {40, 1}, {1, 40}, {77, 55}}) {
      Case c;
      c.layout = named.name;
      c.size = size;
      c.settings = small_settings(1, 2);
      c.settings.chroma = shape == 0 ? Chroma::kJoint : Chroma::kSeparate;
      c.fields = seed % 4 == 0 ? 2 : 1;
      c.from = kPlacements[seed / 3 % kPlacements.size()];
      c.to = kPlacements[seed / 5 % kPlacements.size()];
      c.seed = seed++;
      if (is_quick() && seed % 17) continue;
      ASSERT_NO_FATAL_FAILURE(check(c, shape));
    }
  }
}

TEST_F(OpenclDenoise, EveryPatchAndSearch) {
  for (const char* const layout : {"GRAY8", "GRAY16_LE", "RGB"})
    for (int patch = 0; patch <= kMaxPatchRadius; ++patch) {
      Case c;
      c.layout = layout;
      c.size = {33 + patch, 21};
      c.settings = small_settings(patch, 2);
      c.seed = static_cast<std::uint64_t>(patch) + 1;
      c.fill = patch % 2 ? Fill::kRandom : Fill::kNearLimits;
      if ((is_quick() && patch % 3) || (c.layout != "GRAY8" && patch % 3 != 1)) continue;
      ASSERT_NO_FATAL_FAILURE(check(c, static_cast<std::size_t>(patch) % limits_.size()));
    }
  for (const int search : {5, kMaxSearchRadius}) {
    Case c;
    c.size = {150, 24};
    c.settings = small_settings(3, search);
    c.seed = static_cast<std::uint64_t>(search) + 1;
    if (is_quick() && search > 5) continue;
    ASSERT_NO_FATAL_FAILURE(check(c, search % 2 == 0 ? 1 : 2));
  }
  for (const std::size_t shape : {0u, 1u, 3u}) {  // the most memory that there can be
    Case c;
    c.layout = shape == 0 ? "ARGB64" : "GRAY8";
    c.size = {20, 9};
    c.settings = small_settings(kMaxPatchRadius, kMaxSearchRadius);
    if (is_quick()) continue;
    ASSERT_NO_FATAL_FAILURE(check(c, shape));
  }
}

/// Weights with all their parts, and all borders.
TEST_F(OpenclDenoise, EveryKindOfWeight) {
  std::uint64_t seed = 1;
  for (const char* const layout : {"GRAY8", "GRAY16_LE"})
    for (const double range : {1e-12, 0.5, 900.0, 1e9})
      for (const int parts : {0, 1, 2, 4, 7}) {
        Case c;
        c.layout = layout;
        c.size = {70, 37};
        c.settings = small_settings(2, 3);
        c.settings.range = range;
        if (parts & 1) c.settings.spatial = 0.05;
        if (parts & 2) c.settings.sigma = 12;
        if (parts & 4) c.settings.center = CenterWeight::kMax;
        c.settings.border = static_cast<Border>(parts % 3);
        c.fill = seed % 3 ? Fill::kNearLimits : Fill::kRamp;
        c.seed = seed++;
        if (is_quick() && parts % 5) continue;
        ASSERT_NO_FATAL_FAILURE(check(c, c.layout == "GRAY8" ? 2 : 0));
      }
}

/// Groups that share weights: all parts of them, borders, depths, fields and windows, in images of less than a group
/// and of several, with an incomplete one at each end.
TEST_F(OpenclDenoise, SharedWeights) {
  struct Kind {
    const char* layout;
    Size size;
    int patch, search, frames, fields;
    CenterWeight center;
    double spatial, sigma;
  };
  std::uint64_t seed = 1;
  for (const Kind& k : {Kind{"GRAY8", {150, 70}, 3, 10, 1, 1, CenterWeight::kOne, 0, 0},
                        {"GRAY8", {20, 9}, 3, 10, 1, 1, CenterWeight::kOne, 0, 0},
                        {"GRAY8", {131, 101}, 1, 3, 1, 2, CenterWeight::kMax, 0.05, 12},
                        {"I420_10LE", {129, 67}, 2, 5, 1, 1, CenterWeight::kMax, 0, 12},
                        {"GRAY16_LE", {70, 37}, 2, 4, 2, 1, CenterWeight::kOne, 0.05, 0},
                        {"GRAY8", {65, 33}, 0, 1, 1, 1, CenterWeight::kOne, 0, 0}}) {
    Case c;
    c.layout = k.layout;
    c.size = k.size;
    c.settings = small_settings(k.patch, k.search);
    c.settings.range = c.settings.range_chroma = 2500;
    c.settings.chroma = Chroma::kSeparate;
    c.settings.center = k.center;
    c.settings.spatial = k.spatial;
    c.settings.sigma = k.sigma;
    c.settings.border = static_cast<Border>(seed % 3);
    c.frames = k.frames;
    c.center = k.frames / 2;
    c.fields = k.fields;
    c.seed = seed++;
    if (is_quick() && k.search > 3) continue;
    ASSERT_NO_FATAL_FAILURE(check(c, 1));
  }
}

/// Means of rough weights: pixels that could be another value are computed again. Among 120,000 with 10 bits there are
/// thousands, and tens whose value would else be wrong.
TEST_F(OpenclDenoise, SharedSamples) {
  struct Kind {
    const char* layout;
    Size size;
    int search, fields;
    double range, spatial, sigma;
  };
  std::uint64_t seed = 1;
  for (const Kind& k : {Kind{"I420_10LE", {400, 300}, 3, 1, 2e4, 0, 0},
                        {"GRAY8", {400, 300}, 3, 1, 5e4, 0.005, 40},
                        {"GRAY8", {131, 101}, 3, 2, 2e4, 0.05, 0},
                        {"P010_10LE", {129, 67}, 2, 1, 2e4, 0.05, 12},
                        {"NV12", {20, 9}, 1, 1, 2e4, 0.05, 12},
                        {"GRAY8", {1, 1}, 3, 1, 2e4, 0, 0},
                        {"GRAY8", {64, 40}, 3, 1, 1e-9, 0.05, 0}}) {
    Case c;
    c.layout = k.layout;
    c.size = k.size;
    c.settings = small_settings(1, k.search);
    c.settings.range = c.settings.range_chroma = k.range;
    c.settings.chroma = Chroma::kSeparate;
    c.settings.spatial = k.spatial;
    c.settings.sigma = k.sigma;
    c.settings.border = static_cast<Border>(seed % 3);
    c.fields = k.fields;
    c.seed = seed++;
    c.fill = Fill::kRandom;
    ASSERT_NO_FATAL_FAILURE(check(c, 1));
  }
}

/// Every kind of kernel once, on pictures for simulators of devices.
TEST_F(OpenclDenoise, SmallInEveryShape) {
  for (const char* const layout : {"GRAY8", "I420_10LE", "RGB"})
    for (std::size_t shape = 1; shape < limits_.size(); ++shape)
      for (const int patch : {1, 2}) {
        Case c;
        c.layout = layout;
        c.size = {13, 6};
        c.settings = small_settings(patch, 2);
        c.settings.range = 2e4;
        c.settings.sigma = shape % 2 ? 0 : 12;
        c.seed = shape;
        c.fill = Fill::kRandom;
        ASSERT_NO_FATAL_FAILURE(check(c, shape));
      }
}

/// Patches that are the same have a weight though the scale is infinite.
TEST_F(OpenclDenoise, ScalesWithoutEnd) {
  for (const double sigma : {0.0, 1e30})
    for (const double range : {1e-300, 1e-39}) {
      Case c;
      c.settings = small_settings(2, 3);
      c.settings.range = range;
      c.settings.sigma = sigma;
      c.fill = Fill::kColumns;
      for (const std::size_t shape : {0u, 2u}) ASSERT_NO_FATAL_FAILURE(check(c, shape));
    }
}

TEST_F(OpenclDenoise, EstimatedNoise) {
  std::uint64_t seed = 1;
  for (const char* const layout : {"GRAY8", "I420_10LE", "RGBx"})
    for (const Size size : {Size{4, 4}, {5, 5}, {17, 23}, {90, 70}})
      for (int kind = 1; kind < 4; ++kind) {
        Case c;
        c.layout = layout;
        c.size = size;
        c.settings = small_settings(1, 2);
        c.settings.estimate_sigma = kind & 1;
        c.settings.follows = c.settings.follows_chroma = kind & 2;
        if (kind & 2) c.settings.range = c.settings.range_chroma = 0.8;
        c.settings.chroma = Chroma::kJoint;
        c.fields = seed % 3 == 0 ? 2 : 1;
        c.fill = kFills[seed % 7];
        c.seed = seed++;
        if (is_quick() && seed % 5) continue;
        ASSERT_NO_FATAL_FAILURE(check(c, c.layout == "GRAY8" ? 2 : 0));
      }
}

TEST_F(OpenclDenoise, LargerPictures) {
  int named = 0;
  for (const char* const layout : {"GRAY8", "NV12"}) {
    Case c;
    c.layout = layout;
    c.size = {641, 361};
    c.settings = small_settings(1, 2);
    c.settings.range = c.settings.range_chroma = 3000;
    c.settings.chroma = Chroma::kJoint;
    if (is_quick()) continue;
    ASSERT_NO_FATAL_FAILURE(check(c, named++ ? 0 : 2));
  }
  Case c;
  c.size = {300, 97};
  c.settings.range = 2500;
  ASSERT_NO_FATAL_FAILURE(check(c, 1));
}

TEST_F(OpenclDenoise, RandomCases) {
  Random random(2026);
  for (int n = is_quick() ? 2 : 5; n > 0; --n) {
    Case c = random_case(random);
    c.where = MemoryKind::kPageable;
    ASSERT_NO_FATAL_FAILURE(check(c, static_cast<std::size_t>(random.below(static_cast<int>(limits_.size())))));
  }
}

/// A stream: windows that share frames, so that each is uploaded once, with frames in flight.
TEST_F(OpenclDenoise, WindowsOfAStreamInFlight) {
  for (const char* const layout : {"GRAY8", "P010_10LE"})
    for (int depth = 1; depth <= 3; ++depth)
      for (const int radius : {0, 2, 4}) {
        const PictureGeometry g = picture_geometry(layout, {40, 30});
        if (is_quick() && (depth + radius / 2 + g.layout.components) % 3) continue;
        SCOPED_TRACE(std::string(layout) + ", radius " + std::to_string(radius) + ", depth " + std::to_string(depth));
        constexpr int kCount = 10;
        std::deque<BlocksIn> frames, expected, got;
        for (int f = 0; f < kCount; ++f) {
          const Placement placement = kPlacements[static_cast<std::size_t>(f) % kPlacements.size()];
          const Blocks canvas(g, placement, Random(1));
          frames.emplace_back(Blocks(g, placement, Fill::kRandom, static_cast<std::uint64_t>(f) + 1),
                              MemoryKind::kPageable, 0);
          expected.emplace_back(canvas, MemoryKind::kPageable, 0);
          got.emplace_back(canvas, MemoryKind::kPageable, 0);
        }
        const auto window = [&](int f, std::vector<Source>& to) {
          const int first = std::max(f - radius, 0);
          for (int i = first; i <= std::min(f + radius, kCount - 1); ++i)
            to.push_back({frames[static_cast<std::size_t>(i)].frame(), static_cast<std::uint64_t>(i) + 100});
          return static_cast<std::size_t>(f - first);
        };
        // Chroma comes and goes, so that frames are there without it; and so does the estimate, which comes later.
        const auto settings = [](int f) {
          Settings s = small_settings(1, 2);
          s.chroma = f % 4 == 1 ? Chroma::kNone : Chroma::kSeparate;
          s.estimate_sigma = f % 3 == 2;
          return s;
        };
        const auto twin = cpu::make_denoiser(g);
        const auto filter = filter_for(g, static_cast<std::size_t>(depth) % 2, depth);
        for (int f = 0; f < kCount + depth; ++f) {
          if (f >= depth) {
            filter->collect();
            const int done = f - depth;
            std::vector<Source> sources;
            const std::size_t center = window(done, sources);
            const auto at = static_cast<std::size_t>(done);
            twin->submit({sources, center, expected[at].canvas(), settings(done), 1});
            twin->collect();
            EXPECT_TRUE(same_bytes(expected[at].now(), got[at].now(), settings(done))) << "frame " << done;
          }
          if (f >= kCount) continue;
          std::vector<Source> sources;
          const std::size_t center = window(f, sources);
          filter->submit({sources, center, got[static_cast<std::size_t>(f)].canvas(), settings(f), 1});
        }
        if (HasFailure()) return;
      }
}

/// What the same serial number is worth: the second window's frame is not read again.
TEST_F(OpenclDenoise, AFrameOfTwoWindowsIsUploadedOnce) {
  Case c;
  c.frames = 3;
  c.center = 1;
  c.settings = small_settings(1, 2);
  Scene scene(c, 0);
  scene.expect();
  const auto filter = filter_for(c.geometry(), 0);
  scene.submit(*filter, false, 5);
  filter->collect();
  ASSERT_TRUE(same_bytes(scene.expected(), scene.got(), c.settings));
  for (int f = 0; f < 3; ++f) std::memset(scene.source(f).canvas().plane[0], 0, c.geometry().row_bytes(0));
  scene.submit(*filter, false, 5);
  filter->collect();
  EXPECT_TRUE(same_bytes(scene.expected(), scene.got(), c.settings)) << "the same frames again";
  scene.submit(*filter, false, 50);
  filter->collect();
  EXPECT_FALSE(same_bytes(scene.expected(), scene.got(), c.settings)) << "other frames";
}

TEST_F(OpenclDenoise, PendingFramesMayBeAbandoned) {
  Case c;
  c.size = {321, 181};
  c.layout = "NV12";
  c.settings = small_settings(1, 2);
  for (const bool estimates : {false, true}) {
    c.settings.estimate_sigma = estimates;
    Scene scene(c, 0);
    const auto filter = filter_for(c.geometry(), 0, 3);
    for (int i = 0; i < 3; ++i) scene.submit(*filter, false);
  }
}

TEST_F(OpenclDenoise, MisuseThrows) {
  Case c;
  c.settings = small_settings(1, 2);
  Scene scene(c, 0);
  const auto filter = opencl::make_denoiser(c.geometry(), context_->id());
  EXPECT_THROW(filter->collect(), std::logic_error);
  EXPECT_THROW(filter->submit({{}, 0, {}, c.settings, 1}), std::invalid_argument);
  Settings wrong = c.settings;
  wrong.patch_radius = kMaxPatchRadius + 1;
  const Source source{scene.source(0).frame(), 0};
  EXPECT_THROW(filter->submit({{&source, 1}, 0, scene.source(0).canvas(), wrong, 1}), std::invalid_argument);
  EXPECT_THROW(filter->submit({{&source, 1}, 0, scene.source(0).canvas(), c.settings, 3}), std::invalid_argument);
  Canvas unrounded = scene.source(0).canvas();
  float means = 0;
  unrounded.unrounded[0] = &means;
  EXPECT_THROW(filter->submit({{&source, 1}, 0, unrounded, c.settings, 1}), std::invalid_argument);
  scene.submit(*filter, false);
  EXPECT_THROW(scene.submit(*filter, false), std::logic_error);
  filter->collect();
}

/// What no device has is not chosen.
TEST(OpenclDenoiseShapes, StayWithinTheLimits) {
  for (int patch = 0; patch <= kMaxPatchRadius; ++patch)
    for (const int search : {0, 10, kMaxSearchRadius})
      for (const int planes : {1, 3})
        for (const int depth : {8, 10, 16})
          for (const DenoiseLimits limits :
               {DenoiseLimits{false, 1024, 49152}, DenoiseLimits{false, 256, 32768}, DenoiseLimits{false, 64, 16384},
                DenoiseLimits{false, 1, 1024}, DenoiseLimits{true, 4096, 1 << 20}}) {
            opencl::DenoiseText text;
            text.planes = planes;
            text.patch = patch;
            text.search = search;
            text.depth = depth;
            const opencl::DenoiseShape s = opencl::denoise_shape(limits, text);
            EXPECT_LE(static_cast<std::size_t>(s.across) * static_cast<std::size_t>(s.down), limits.group_items);
            EXPECT_LE(opencl::denoise_local_bytes(s, text), limits.local_bytes);
            EXPECT_GT(opencl::denoise_columns(s, patch), 0);
            if (s.together != opencl::Together::kWeights) continue;
            // Each item has pixels, and enough of them have columns to sum.
            EXPECT_EQ(s.columns / opencl::kSegment * s.rows, s.across * s.down);
            EXPECT_GE(opencl::SumsTile(s, text).runs, 1);
          }
}

}  // namespace
}  // namespace framequality::test
