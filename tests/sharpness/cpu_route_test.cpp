// SPDX-License-Identifier: LGPL-2.1-or-later
// Routes through the host's kernels as a function of values, for instruction sets that this machine need not have.
#include "algorithms/sharpness/metrics/all.h"
#include "cpu/dispatch.h"
#include "cpu/sharpness/meter.h"
#include "cpu/sharpness/route.h"
#include "tests/support/layouts.h"

#include <gtest/gtest.h>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

using cpu::Lane;

/// A table whose kernels prefilter as they measure in these lanes, and take the mean there in those.
cpu::SharpnessKernels kernels_of(std::initializer_list<Lane> measured, std::initializer_list<Lane> mean) {
  const auto nothing = [](const cpu::Block&, const cpu::PrefilterFormat&, std::int64_t*) {};
  cpu::SharpnessKernels k{};
  for (int m = 0; m < kMetricCount; ++m)
    if (!with_metric(m, [](auto metric) { return decltype(metric)::kHistogram; }))
      for (const Lane lane : measured) k.measure_prefiltered[m][static_cast<int>(lane)] = nothing;
  for (const Lane lane : mean) k.mean_prefiltered[static_cast<int>(lane)] = nothing;
  return k;
}

enum Isa { kScalar, kSse2, kAvx512 };

const cpu::SharpnessKernels& kernels_of(Isa isa) {
  static const cpu::SharpnessKernels tables[] = {
      kernels_of({}, {}), kernels_of({Lane::kInt}, {}),
      kernels_of({Lane::kSplit, Lane::kShort, Lane::kInt}, {Lane::kSplit, Lane::kShort, Lane::kInt})};
  return tables[isa];
}

/// A plan for a frame of 640 x 48, unless said otherwise.
struct Case {
  const char* name;
  PixelLayout layout;
  const char* metric;
  Isa isa;
  const char* expected;
  Prefilter prefilter = Prefilter::kNone;
  int downscale = 1;
  bool mean = false;
  int width = 640;
};

cpu::Route route_of(const Case& c) {
  Request request;
  while (request.metric < kMetricCount && std::string(metric_info(request.metric).name) != c.metric) ++request.metric;
  request.prefilter = c.prefilter;
  request.downscale = c.downscale;
  request.mean = c.mean;
  return cpu::route(make_plan({c.width, 48, c.layout}, request), kernels_of(c.isa));
}

constexpr Prefilter kNone = Prefilter::kNone, kBinomial3 = Prefilter::kBinomial3, kBinomial5 = Prefilter::kBinomial5;

TEST(CpuRoute, FollowsFromFormatRequestAndKernels) {
  const PixelLayout gray8 = luma_layout(8, 1), gray16 = luma_layout(16, 2), p010 = luma_layout(10, 2, 6),
                    be16 = luma_layout(16, 2, 0, true), yuy2 = luma_layout(8, 1, 0, false, 2),
                    gray10 = luma_layout(10, 2);
  const Case cases[] = {
      // Samples are codes.
      {"bytes", gray8, "tenengrad", kAvx512, "samples in place, values in place, lanes bytes"},
      {"bytes, histogram", gray8, "entropy", kScalar, "samples in place, values in place, lanes bytes"},
      {"as wide as a vector may touch", gray8, "tenengrad", kSse2, "samples in place, values in place, lanes bytes",
       kNone, 1, false, cpu::kSlack},
      {"narrower", gray8, "tenengrad", kSse2, "samples codes, values made, lanes bytes", kNone, 1, false,
       cpu::kSlack - 1},
      {"16 bits", gray16, "tenengrad", kAvx512, "samples in place, values in place, lanes ints"},
      {"16 bits, histogram", gray16, "entropy", kAvx512, "samples in place, values in place, lanes shorts"},
      {"10 bits, shifted", p010, "tenengrad", kAvx512, "samples in place, values in place, lanes high bits"},
      {"10 bits, fourth powers", p010, "laplacian-variance", kAvx512,
       "samples in place, values in place, lanes high bits"},
      {"10 bits", gray10, "tenengrad", kSse2, "samples in place, values in place, lanes low bits"},
      {"10 bits with other bits on both sides", luma_layout(10, 2, 2), "tenengrad", kAvx512,
       "samples codes, values made, lanes shorts"},
      {"10 bits, histogram", gray10, "entropy", kAvx512, "samples in place, values in place, lanes low bits"},
      {"10 bits, narrower", gray10, "tenengrad", kAvx512, "samples codes, values made, lanes shorts", kNone, 1, false,
       cpu::kSlack - 1},
      {"14 bits", luma_layout(14, 2), "tenengrad", kAvx512, "samples codes, values made, lanes ints"},
      {"big-endian", be16, "tenengrad", kAvx512, "samples codes, values made, lanes ints"},
      {"YUY2", yuy2, "tenengrad", kAvx512, "samples in place, values in place, lanes low bits"},
      {"UYVY", luma_layout(8, 1, 0, false, 2, 1), "tenengrad", kAvx512,
       "samples in place, values in place, lanes high bits"},
      {"RGB", packed_rgb(8, 3, 0, 1, 2), "tenengrad", kAvx512, "samples codes, values made, lanes bytes"},

      // Downscaled.
      {"downscale 2", gray8, "tenengrad", kAvx512, "samples rounded, values made, lanes shorts", kNone, 2},
      {"downscale 4, 16 bits", gray16, "tenengrad", kAvx512, "samples rounded, values made, lanes ints", kNone, 4},

      // Bytes behind a prefilter: even and odd columns apart, in registers where those are wide.
      {"prefilter", gray8, "tenengrad", kAvx512, "samples as measured, values in place, lanes split", kBinomial3},
      {"prefilter, mean", gray8, "tenengrad", kAvx512, "samples as measured, values in place, lanes split", kBinomial5,
       1, true},
      {"prefilter, narrow vectors", gray8, "tenengrad", kSse2, "samples prefiltered, values in place, lanes split",
       kBinomial3},
      {"prefilter, histogram", gray8, "entropy", kAvx512, "samples prefiltered, values in place, lanes split",
       kBinomial3},
      {"prefilter, YUY2", yuy2, "tenengrad", kAvx512, "samples as measured, values made, lanes split", kBinomial3},
      {"prefilter, RGB, narrow vectors", packed_rgb(8, 3, 0, 1, 2), "laplacian", kSse2,
       "samples prefiltered, values made, lanes split", kBinomial5},

      // Words behind a prefilter: those that are shifted may stay where they lie, but only if none goes to memory.
      {"prefilter, 16 bits", gray16, "tenengrad", kSse2, "samples as measured, values in place, lanes ints",
       kBinomial3},
      {"prefilter, 10 bits", p010, "tenengrad", kAvx512, "samples as measured, values in place, lanes ints",
       kBinomial3},
      {"prefilter, 16 bits, scalar", gray16, "tenengrad", kScalar, "samples prefiltered, values made, lanes ints",
       kBinomial3},
      {"prefilter, 16 bits, no kernel for the mean", gray16, "tenengrad", kSse2,
       "samples prefiltered, values made, lanes ints", kBinomial3, 1, true},
      {"prefilter, 16 bits, mean", gray16, "tenengrad", kAvx512, "samples as measured, values in place, lanes ints",
       kBinomial3, 1, true},
      {"prefilter, big-endian", be16, "tenengrad", kAvx512, "samples as measured, values made, lanes ints", kBinomial3},

      // Both: values of 32 bits always go to memory.
      {"downscale and prefilter", gray8, "tenengrad", kAvx512, "samples as measured, values made, lanes shorts",
       kBinomial3, 2},
      {"downscale and prefilter, 16 bits", gray16, "tenengrad", kAvx512, "samples prefiltered, values made, lanes ints",
       kBinomial3, 4},
  };
  for (const Case& c : cases) EXPECT_EQ(to_string(route_of(c)), c.expected) << c.name;
}

TEST(CpuRoute, ValuesAreAsWideAsTheirSums) {
  struct {
    int depth, downscale, value_bytes, sample_bytes, kernel;
    Prefilter prefilter;
  } cases[] = {{8, 1, 1, 1, 0, kNone},      {8, 2, 2, 2, 1, kNone},       {12, 4, 2, 2, 1, kNone},
               {13, 4, 4, 2, 3, kNone},     {16, 1, 2, 2, 1, kNone},      {16, 2, 4, 2, 3, kNone},
               {8, 1, 1, 2, 0, kBinomial5}, {8, 2, 2, 2, 1, kBinomial3},  {8, 4, 2, 2, 1, kBinomial3},
               {8, 4, 2, 2, 2, kBinomial5}, {12, 1, 2, 2, 1, kBinomial3}, {12, 1, 2, 2, 2, kBinomial5},
               {16, 1, 2, 2, 2, kBinomial3}};
  for (const auto& c : cases) {
    const cpu::Route r =
        route_of({"", luma_layout(c.depth, c.depth > 8 ? 2 : 1), "tenengrad", kScalar, "", c.prefilter, c.downscale});
    EXPECT_EQ(r.code_bytes, c.depth > 8 ? 2 : 1) << c.depth;
    EXPECT_EQ(r.value_bytes, c.value_bytes) << c.depth << " bits, downscale " << c.downscale;
    EXPECT_EQ(r.sample_bytes, c.sample_bytes) << c.depth << " bits, downscale " << c.downscale;
    EXPECT_EQ(r.prefilter_kernel, c.kernel) << c.depth << " bits, downscale " << c.downscale;
  }
}

TEST(CpuRoute, BitsBesideACodeAreRoundedAway) {
  const auto of = [](const PixelLayout& layout, Isa isa) {
    return route_of({"", layout, "tenengrad", isa, "", kBinomial5}).prefilter;
  };
  // Of 10 bits behind binomial5, scaled by 2^8, 4 bits of the fraction are kept.
  const cpu::PrefilterFormat in_place = of(luma_layout(10, 2, 6), kAvx512), made = of(luma_layout(10, 2, 6), kScalar);
  EXPECT_EQ(in_place.radius, 2);
  EXPECT_EQ(in_place.shift, 4 + 6);
  EXPECT_EQ(in_place.half, 1 << 9);
  EXPECT_EQ(in_place.mask, 0xffc0);
  EXPECT_EQ(made.shift, 4);
  EXPECT_EQ(made.half, 1 << 3);
  EXPECT_EQ(made.mask, 0xffff);
}

TEST(CpuRoute, ExposureIsTakenOfCodesThatAreMeasured) {
  Request request;
  for (const bool statistics : {false, true}) {
    request.statistics = statistics;
    request.prefilter = kNone;
    const PixelLayout gray8 = luma_layout(8, 1), rgb = packed_rgb(8, 3, 0, 1, 2);
    EXPECT_EQ(cpu::route(make_plan({640, 48, gray8}, request), kernels_of(kSse2)).exposes, statistics);
    EXPECT_FALSE(cpu::route(make_plan({640, 48, rgb}, request), kernels_of(kSse2)).exposes);
    request.prefilter = kBinomial3;
    EXPECT_FALSE(cpu::route(make_plan({640, 48, gray8}, request), kernels_of(kSse2)).exposes);
  }
}

TEST(CpuRoute, AMeterSaysItWithTheInstructionSet) {
  const std::vector<std::uint8_t> pixels(std::size_t{640} * 48);
  Frame frame;
  frame.plane[0] = pixels.data();
  frame.stride[0] = 640;
  const Geometry geometry{640, 48, luma_layout(8, 1)};
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  const std::string expected = ", samples in place, values in place, lanes bytes";
  for (const std::string_view isa : cpu::instruction_sets()) {
    const auto meter = cpu::make_meter(geometry, isa);
    meter->submit({frame, plan});
    meter->collect();
    EXPECT_EQ(meter->route(), std::string(isa) + expected);
  }
  const auto best = cpu::make_meter(geometry);
  best->submit({frame, plan});
  EXPECT_EQ(best->route(), std::string(cpu::instruction_sets().front()) + expected);
}

}  // namespace
}  // namespace framequality::test
