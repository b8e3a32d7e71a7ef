// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel against the definition, summed in double precision.
#include "cuda/denoise/job.h"
#include "cuda/device.h"
#include "cuda/runtime.h"
#include "tests/denoise/means.h"
#include "tests/denoise/on_device.h"
#include "tests/support/gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using cuda::check;
using cuda::DenoiseJob;

constexpr std::uint8_t kSentinel = 0xA5;

/// Of words that hold a case's codes; those of two bytes have a code in their upper bits, big-endian with 9 bits.
PictureLayout layout_of(const Case& c) {
  PictureLayout l;
  l.depth = static_cast<std::uint8_t>(c.depth);
  if (c.depth > 8) {
    l.word_bytes = 2;
    l.shift = static_cast<std::uint8_t>(16 - c.depth);
    l.big_endian = c.depth == 9;
  }
  return l;
}

/// A plane of a frame in device memory, with gaps between rows and around it.
struct Plane {
  std::ptrdiff_t step, pitch, first;
  OnDevice<std::uint8_t> bytes;
  /// codes: of all planes; null: none.
  Plane(const Case& c, int k, const Codes* codes)
      : step(c.step * layout_of(c).word_bytes), pitch(c.width * step + 13), first(5), bytes(spread(c, k, codes)) {}
  std::vector<std::uint8_t> spread(const Case& c, int k, const Codes* codes) const {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(first + pitch * c.height), kSentinel);
    for (int y = 0; codes && y < c.height; ++y)
      for (int x = 0; x < c.width; ++x) {
        const int row = k * c.height + (c.upside_down ? c.height - 1 - y : y);
        write_sample(layout_of(c), &all[static_cast<std::size_t>(first + y * pitch + x * step)],
                     (*codes)[static_cast<std::size_t>(row * c.width + x)]);
      }
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
  return denoise::weights_of(c.range, sigma, side * side * c.planes, c.depth, c.spatial);
}

DenoiseJob job_of(const Case& c) {
  DenoiseJob job;
  job.weights = weights_of(c, c.estimate ? 1 : c.sigma);
  job.layout = layout_of(c);
  job.count = c.planes;
  for (int k = 0; k < c.planes; ++k) job.pixel_stride[k] = c.step * job.layout.word_bytes;
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
  double pixels = 0, allowed = 0;
  std::size_t apart = 0;
  double worst = 0;  ///< grey levels
};

void compare(const Case& c, Tally& tally) {
  SCOPED_TRACE(describe(c));
  DenoiseJob job = job_of(c);
  const int capability = device_capability();
  const bool suits = cuda::suits_tensor_denoise(job, capability);
  const int compiled = cuda::architecture_on(capability) / 10;
  if (!suits && c.planes > 1 && compiled != 80 && compiled != 90) return;  // too little shared memory
  ASSERT_TRUE(suits);
  std::vector<Codes> frames;
  for (int i = 0; i < c.frames; ++i) frames.push_back(make_codes(c, static_cast<std::uint64_t>(7 + i / 2)));
  const auto middle = static_cast<std::size_t>(job.center);
  const std::vector<double> expected = reference(c, frames, middle);

  std::deque<Plane> sources, out;
  for (int k = 0; k < c.planes; ++k) {
    for (std::size_t i = 0; i < frames.size(); ++i) job.source[i][k] = sources.emplace_back(c, k, &frames[i]).plane(c);
    job.out[k] = out.emplace_back(c, k, nullptr).plane(c);
  }
  std::vector<denoise::Weights> weights(2);
  for (int field = 0; field < std::min(c.fields, c.height); ++field)
    weights[static_cast<std::size_t>(field)] =
        weights_of(c, std::sqrt(noise_variance(c, Padded(c, frames[middle], field))));
  const OnDevice<denoise::Weights> estimated(weights);
  if (c.estimate) job.estimated = estimated.get();
  const OnDevice<float> unrounded(std::vector<float>(expected.size() + 1, -1.0f));
  for (int k = 0; k < c.planes; ++k)
    job.unrounded[k] = unrounded.get() + static_cast<std::ptrdiff_t>(k) * c.width * c.height;
  cuda::launch_tensor_denoise(job, capability, nullptr);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  const std::vector<float> means = unrounded.fetched();
  EXPECT_EQ(means.back(), -1.0f);
  Codes rounded(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(means[i] - expected[i]) / c.grey();
    tally.worst = std::max(tally.worst, std::isnan(error) ? 1e9 : error);
    ASSERT_LE(error, denoise::kTolerance)
        << "sample " << i % static_cast<std::size_t>(c.width) << "," << i / static_cast<std::size_t>(c.width) << ": "
        << means[i] << ", expected " << expected[i];
    rounded[i] = static_cast<std::uint16_t>(std::clamp(static_cast<int>(std::nearbyint(means[i])), 0, c.largest()));
    tally.apart += rounded[i] != static_cast<std::uint16_t>(std::nearbyint(expected[i]));
  }
  tally.pixels += static_cast<double>(expected.size());
  tally.allowed += static_cast<double>(expected.size()) * 1e-4 * c.grey();
  for (int k = 0; k < c.planes; ++k) {
    const Plane& plane = out[static_cast<std::size_t>(k)];
    EXPECT_EQ(plane.bytes.fetched(), plane.spread(c, k, &rounded)) << "codes are the means rounded, gaps as before";
  }
}

class DenoiseTensorParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    if (IsSkipped() || HasFailure()) return;
    if (device_capability() < 75) GTEST_SKIP() << "compute capability below 7.5";
  }
  void TearDown() override {
    RecordProperty("worst", std::to_string(tally_.worst));
    EXPECT_LE(static_cast<double>(tally_.apart), tally_.allowed + 1) << "codes differ, of " << tally_.pixels;
    if (tally_.pixels > 0)
      std::printf("  %.0f samples, %zu codes apart, means within %.2g\n", tally_.pixels, tally_.apart, tally_.worst);
  }
  /// With all kinds of samples and numbers of planes that there are kernels for, beginning with what the case says.
  void run(Case c) {
    for (const int depth : {8, 10, 9})
      for (int planes = 1; planes <= 3; ++planes) {
        if (depth == 9 && planes == 2) continue;
        c.depth = depth;
        c.planes = planes;
        compare(c, tally_);
      }
  }
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

// Floors of up to 150, which floats resolve finely enough, and those of ranges so small that weights are 0 or 1.
TEST_F(DenoiseTensorParity, NoiseOfAnyRangeGivesTheDefinitionsMeans) {
  for (const auto& [range, sigma] : {std::pair(1e-6, 3.0),
                                     {1e-4, 60.0},
                                     {1e-3, 0.4},
                                     {1e-3, 7.3},
                                     {0.03, 0.4},
                                     {1.0, 0.4},
                                     {1.0, 7.3},
                                     {30.0, 40.0},
                                     {1e4, 60.0},
                                     {1e9, 3.0}})
    for (const Content content : {Content::kNoisy, Content::kRandom, Content::kExtremes})
      run({.width = 37, .height = 19, .range = range, .sigma = sigma, .content = content});
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

/// A frame without noise costs no more than its copy: what lies around its pixels, such as the other frames of the
/// window, which are not even there, is not looked at.
TEST_F(DenoiseTensorParity, FramesWithoutNoiseAreCopiedWithoutLookingAround) {
  for (const int depth : {8, 10})
    for (const int planes : {1, 2, 3})
      for (const CenterWeight center : {CenterWeight::kOne, CenterWeight::kMax}) {
        const Case c{.width = 37,
                     .height = 29,
                     .sigma = 5,
                     .center = center,
                     .fields = 2,
                     .frames = 3,
                     .step = 2,
                     .planes = planes,
                     .depth = depth};
        SCOPED_TRACE(describe(c));
        DenoiseJob job = job_of(c);
        const Codes codes = make_codes(c, 3);
        std::deque<Plane> planes_of_frame, out;
        for (int k = 0; k < planes; ++k) {
          job.source[job.center][k] = planes_of_frame.emplace_back(c, k, &codes).plane(c);
          job.out[k] = out.emplace_back(c, k, nullptr).plane(c);
        }
        const denoise::Weights keeping =
            denoise::weights_of(denoise::WeightRule{.follows = true, .samples = 1, .depth = depth}, 0);
        ASSERT_TRUE(denoise::keeps(keeping));
        const OnDevice<denoise::Weights> estimated(std::vector(2, keeping));
        job.estimated = estimated.get();
        if (!cuda::suits_tensor_denoise(job, device_capability())) continue;  // too little shared memory
        cuda::launch_tensor_denoise(job, device_capability(), nullptr);
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        for (int k = 0; k < planes; ++k) {
          const Plane& plane = out[static_cast<std::size_t>(k)];
          EXPECT_EQ(plane.bytes.fetched(), plane.spread(c, k, &codes));
        }
      }
}

TEST(DenoiseTensor, OtherJobsAreRefused) {
  const DenoiseJob good = job_of({.width = 64, .height = 64});
  const auto refused = [&](auto change) {
    DenoiseJob job = good;
    change(job);
    return !cuda::suits_tensor_denoise(job, 90);
  };
  EXPECT_FALSE(cuda::suits_tensor_denoise(good, 70));
  DenoiseJob chroma = good;
  chroma.count = 2;
  EXPECT_FALSE(cuda::suits_tensor_denoise(chroma, 75)) << "Turing: single planes only";
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.layout.depth = 11, job.layout.word_bytes = 2; }));
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.patch_radius = 4; }));
  EXPECT_TRUE(refused([](DenoiseJob& job) { job.search_radius = 3; }));
  EXPECT_TRUE(refused([](DenoiseJob& job) {
    job.weights = denoise::weights_of(denoise::WeightRule{.follows = true, .samples = 1}, 0);
  })) << "nothing would change";
  // Several planes take code for Ampere or later, which this build may not have.
  const bool has_planes = cuda::architecture_on(90) >= 800;
  EXPECT_NE(refused([](DenoiseJob& job) { job.count = 3, job.search_radius = denoise::kMaxSearchRadius; }), has_planes);
  EXPECT_NE(refused([](DenoiseJob& job) { job.layout.depth = 10, job.layout.word_bytes = 2, job.count = 3; }),
            has_planes);
}

}  // namespace
}  // namespace framequality::test
