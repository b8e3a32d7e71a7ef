// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel against the definition, summed in double precision.
#include "cuda/denoise/job.h"
#include "cuda/runtime.h"
#include "tests/denoise/means.h"
#include "tests/denoise/on_device.h"
#include "tests/support/gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using cuda::check;
using cuda::DenoiseJob;

constexpr std::uint8_t kSentinel = 0xA5;

/// A frame in device memory, with gaps between rows and around the plane.
struct Plane {
  std::ptrdiff_t pitch, first;
  OnDevice<std::uint8_t> bytes;
  Plane(const Case& c, const Codes* codes)
      : pitch(c.width * c.step + 13), first(5), bytes(spread(c, codes, pitch, first)) {}
  static std::vector<std::uint8_t> spread(const Case& c, const Codes* codes, std::ptrdiff_t pitch,
                                          std::ptrdiff_t first) {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(first + pitch * c.height), kSentinel);
    for (int y = 0; codes && y < c.height; ++y)
      for (int x = 0; x < c.width; ++x)
        all[static_cast<std::size_t>(first + y * pitch + x * c.step)] =
            (*codes)[static_cast<std::size_t>((c.upside_down ? c.height - 1 - y : y) * c.width + x)];
    return all;
  }
  DenoiseJob::Plane plane(const Case& c) const {
    std::uint8_t* const p = bytes.get() + first;
    return c.upside_down ? DenoiseJob::Plane{p + (c.height - 1) * pitch, -pitch} : DenoiseJob::Plane{p, pitch};
  }
};

int device_capability() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

denoise::Weights weights_of(const Case& c, double sigma) {
  const int side = 2 * c.patch + 1;
  return denoise::weights_of(c.range, sigma, side * side, 8, c.spatial);
}

DenoiseJob job_of(const Case& c) {
  DenoiseJob job;
  job.weights = weights_of(c, c.estimate ? 1 : c.sigma);
  job.pixel_stride[0] = c.step;
  job.frames = c.frames;
  job.center = c.frames / 2;
  job.width = c.width;
  job.height = c.height;
  job.fields = c.fields;
  job.patch_radius = c.patch;
  job.search_radius = c.search;
  job.border = c.border;
  job.center_weight = c.center;
  return job;
}

/// Beyond all pictures of a test: single codes may differ by one.
struct Tally {
  std::size_t pixels = 0, apart = 0;
  double worst = 0;
};

void compare(const Case& c, Tally& tally) {
  SCOPED_TRACE(describe(c));
  DenoiseJob job = job_of(c);
  ASSERT_TRUE(cuda::suits_tensor_denoise(job, device_capability()));
  std::vector<Codes> frames;
  for (int i = 0; i < c.frames; ++i) frames.push_back(make_codes(c, static_cast<std::uint64_t>(7 + i / 2)));
  const auto middle = static_cast<std::size_t>(job.center);
  const std::vector<double> expected = reference(c, frames, middle);

  std::vector<Plane> sources;
  sources.reserve(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    sources.emplace_back(c, &frames[i]);
    job.source[i][0] = sources[i].plane(c);
  }
  std::vector<denoise::Weights> weights(2);
  for (int field = 0; field < std::min(c.fields, c.height); ++field)
    weights[static_cast<std::size_t>(field)] =
        weights_of(c, std::sqrt(noise_variance(Padded(c, frames[middle], field))));
  const OnDevice<denoise::Weights> estimated(weights);
  if (c.estimate) job.estimated = estimated.get();
  const Plane out(c, nullptr);
  const OnDevice<float> unrounded(std::vector<float>(expected.size() + 1, -1.0f));
  job.out[0] = out.plane(c);
  job.unrounded[0] = unrounded.get();
  cuda::launch_tensor_denoise(job, nullptr);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  const std::vector<std::uint8_t> bytes = out.bytes.fetched();
  const std::vector<float> means = unrounded.fetched();
  EXPECT_EQ(means.back(), -1.0f);
  Codes rounded(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(means[i] - expected[i]);
    tally.worst = std::max(tally.worst, std::isnan(error) ? 1e9 : error);
    ASSERT_LE(error, 1e-3) << "pixel " << i % static_cast<std::size_t>(c.width) << ","
                           << i / static_cast<std::size_t>(c.width) << ": " << means[i] << ", expected " << expected[i];
    rounded[i] = static_cast<std::uint8_t>(std::clamp(static_cast<int>(std::nearbyint(means[i])), 0, 255));
    tally.apart += rounded[i] != static_cast<std::uint8_t>(std::nearbyint(expected[i]));
  }
  tally.pixels += expected.size();
  EXPECT_EQ(bytes, Plane::spread(c, &rounded, out.pitch, out.first)) << "codes are the means rounded, gaps as before";
}

class DenoiseTensorParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    if (IsSkipped() || HasFailure()) return;
    if (device_capability() < 80) GTEST_SKIP() << "compute capability below 8.0";
  }
  void TearDown() override {
    RecordProperty("worst", std::to_string(tally_.worst));
    EXPECT_LE(tally_.apart, tally_.pixels / 10000 + 1) << "codes differ, of " << tally_.pixels;
    if (tally_.pixels)
      std::printf("  %zu pixels, %zu codes apart, means within %.2g\n", tally_.pixels, tally_.apart, tally_.worst);
  }
  void run(const Case& c) { compare(c, tally_); }
  Tally tally_;
};

TEST_F(DenoiseTensorParity, SizesFromOnePixelGiveTheDefinitionsMeans) {
  constexpr int kSizes[][2] = {{1, 1}, {5, 3}, {16, 16}, {33, 35}, {77, 55}, {130, 70}};
  for (const auto& [width, height] : kSizes) {
    run({.width = width, .height = height});
    run({.width = width, .height = height, .patch = 1, .search = 5, .border = Border::kReflect});
  }
}

TEST_F(DenoiseTensorParity, EveryRadiusGivesTheDefinitionsMeans) {
  for (int patch = 0; patch <= 3; ++patch)
    for (int search = 4; search <= 16; search += patch == 3 ? 1 : 3)
      run({.width = 45, .height = 21, .patch = patch, .search = search, .range = 4000, .content = Content::kRandom});
}

TEST_F(DenoiseTensorParity, RangesFromTinyToHugeGiveTheDefinitionsMeans) {
  for (const double range : {1e-3, 1.2 * 1.2, 16.0, 400.0, 1e4, 1e9})
    for (const Content content : {Content::kNoisy, Content::kRandom, Content::kExtremes, Content::kFlat})
      for (const CenterWeight center : {CenterWeight::kOne, CenterWeight::kMax})
        run({.width = 37, .height = 19, .range = range, .center = center, .content = content});
}

TEST_F(DenoiseTensorParity, SpatialSigmaAndCenterTogetherGiveTheDefinitionsMeans) {
  for (const double spatial : {0.0, 0.02})
    for (const double sigma : {0.0, 8.0})
      for (const CenterWeight center : {CenterWeight::kOne, CenterWeight::kMax})
        for (const int search : {9, 10})
          run({.width = 41,
               .height = 30,
               .search = search,
               .range = 60,
               .spatial = spatial,
               .sigma = sigma,
               .center = center});
}

TEST_F(DenoiseTensorParity, EstimatedNoiseIsThatOfItsField) {
  for (const int fields : {1, 2})
    for (const CenterWeight center : {CenterWeight::kOne, CenterWeight::kMax})
      run({.width = 40, .height = 31, .range = 30, .estimate = true, .center = center, .fields = fields});
}

TEST_F(DenoiseTensorParity, EveryBorderIsThatOfItsField) {
  for (const Border border : {Border::kSymmetric, Border::kReflect, Border::kEdge})
    for (const int fields : {1, 2})
      for (const int height : {1, 2, 29}) run({.width = 23, .height = height, .border = border, .fields = fields});
}

TEST_F(DenoiseTensorParity, WindowsOfFramesGiveTheDefinitionsMeans) {
  for (const CenterWeight center : {CenterWeight::kOne, CenterWeight::kMax})
    for (const int frames : {2, 3, 9})
      run({.width = 35, .height = 18, .search = 5, .center = center, .frames = frames});
  run({.width = 35, .height = 18, .range = 30, .spatial = 0.01, .sigma = 5, .fields = 2, .frames = 3});
}

TEST_F(DenoiseTensorParity, BytesBetweenSamplesAndRowsStay) {
  run({.width = 33, .height = 20, .step = 2});
  run({.width = 33, .height = 20, .step = 4, .upside_down = true});
}

TEST(DenoiseTensor, OtherJobsAreRefused) {
  const DenoiseJob good = job_of({.width = 64, .height = 64});
  const auto refused = [&](auto change) {
    DenoiseJob job = good;
    change(job);
    return !cuda::suits_tensor_denoise(job, 90);
  };
  EXPECT_FALSE(cuda::suits_tensor_denoise(good, 75));
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.layout.depth = 10; }));
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.layout.word_bytes = 2; }));
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.count = 2; }));
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.patch_radius = 4; }));
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.search_radius = 3; }));
}

}  // namespace
}  // namespace framequality::test
