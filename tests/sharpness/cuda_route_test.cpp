// SPDX-License-Identifier: LGPL-2.1-or-later
// Routes through the GPU as a function of values, and how regions are cut to tiles; needs no GPU and no CUDA.
#include "algorithms/sharpness/metrics/all.h"
#include "cuda/sharpness/route.h"
#include "cuda/sharpness/tiling.h"
#include "tests/support/layouts.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

using cuda::LumaRoute;
using cuda::Measure;
using cuda::Route;
using cuda::SampleRoute;

constexpr int kTuring = 750, kAmpere = 800;

/// A plan for a frame of 640 x 48 at rows of 4096 bytes, unless said otherwise.
struct Case {
  const char* name;
  PixelLayout layout;
  const char* metric;
  const char* expected;
  Prefilter prefilter = Prefilter::kNone;
  int downscale = 1;
  int zones = 1;
  int architecture = kAmpere;
  int width = 640, height = 48;
  std::ptrdiff_t step = 4096;
  std::size_t alignment = cuda::kLoadAlign;
  bool statistics = false;
  std::optional<Rect> roi = {};
};

int index_of(const std::string& metric) {
  for (int i = 0; i < kMetricCount; ++i)
    if (metric == metric_info(i).name) return i;
  ADD_FAILURE() << metric;
  return 0;
}

Plan plan_of(const Case& c) {
  Request request;
  request.metric = index_of(c.metric);
  request.prefilter = c.prefilter;
  request.downscale = c.downscale;
  request.zone_columns = c.zones;
  request.statistics = c.statistics;
  request.roi = c.roi;
  return make_plan({c.width, c.height, c.layout}, request);
}

Route route_of(const Case& c) {
  const auto readable = static_cast<std::ptrdiff_t>(c.layout.row_bytes(c.layout.plane[0], c.width));
  return cuda::route(plan_of(c), {c.alignment, c.step, readable}, c.architecture);
}

constexpr Prefilter kNone = Prefilter::kNone, kBinomial3 = Prefilter::kBinomial3, kBinomial5 = Prefilter::kBinomial5;

TEST(CudaRoute, FollowsFromFormatRequestAndArchitecture) {
  const PixelLayout gray8 = luma_layout(8, 1), gray16 = luma_layout(16, 2), p010 = luma_layout(10, 2, 6),
                    yuy2 = luma_layout(8, 1, 0, false, 2);
  const Rect narrow{0, 0, 60, 48};
  const Case cases[] = {
      // Samples as they are: sums of products have a kernel of their own for bytes alone.
      {"bytes, products", gray8, "tenengrad", "luma in place, samples are codes, kernel quadratic"},
      {"bytes, others", gray8, "laplacian", "luma in place, samples are codes, kernel stream-bytes"},
      {"bytes, histogram", gray8, "entropy", "luma in place, samples are codes, kernel stream-bytes"},
      {"10 bits", p010, "tenengrad", "luma in place, samples are codes, kernel stream-shorts"},
      {"12 bits", luma_layout(12, 2), "laplacian", "luma in place, samples are codes, kernel stream-shorts"},
      {"13 bits", luma_layout(13, 2), "laplacian", "luma in place, samples are codes, kernel stream-words"},
      {"10 bits, histogram", p010, "entropy", "luma in place, samples are codes, kernel stream-words"},
      {"16 bits", gray16, "tenengrad", "luma in place, samples are codes, kernel stream-words"},
      {"Turing", gray8, "tenengrad", "luma in place, samples are codes, kernel quadratic", kNone, 1, 1, kTuring},

      // Behind a prefilter: bytes on a GPU with matrix products, words everywhere.
      {"binomial3", gray8, "tenengrad", "luma in place, samples as measured, kernel prefilter", kBinomial3},
      {"binomial5", gray8, "laplacian", "luma in place, samples as measured, kernel prefilter", kBinomial5},
      {"prefilter, Turing", gray8, "tenengrad", "luma in place, samples in a plane, kernel stream-shorts", kBinomial3,
       1, 1, kTuring},
      {"prefilter, before Ampere", gray8, "tenengrad", "luma in place, samples in a plane, kernel stream-shorts",
       kBinomial3, 1, 1, kAmpere - 1},
      {"prefilter, Blackwell", gray8, "tenengrad", "luma in place, samples as measured, kernel prefilter", kBinomial3,
       1, 1, 1200},
      {"prefilter, histogram", gray8, "entropy", "luma in place, samples as measured, kernel prefilter", kBinomial3},
      {"prefilter, 10 bits", p010, "tenengrad", "luma in place, samples as measured, kernel prefilter-words",
       kBinomial3},
      {"prefilter, 16 bits", gray16, "laplacian", "luma in place, samples as measured, kernel prefilter-words",
       kBinomial5},
      {"prefilter, 16 bits, Turing", gray16, "tenengrad", "luma in place, samples as measured, kernel prefilter-words",
       kBinomial5, 1, 1, kTuring},
      {"prefilter, 16 bits, histogram", gray16, "entropy", "luma in place, samples in a plane, kernel stream-words",
       kBinomial5},
      {"prefilter, 13 bits, one rounded away", luma_layout(13, 2), "tenengrad",
       "luma in place, samples in a plane, kernel stream-words", kBinomial3},
      {"prefilter, 16 bits, rows end inside a word", gray16, "tenengrad",
       "luma any, samples as measured, kernel prefilter-words", kBinomial3, 1, 1, kAmpere, 639},
      {"prefilter, 16 bits, narrow cells", gray16, "tenengrad",
       "luma in place, samples as measured, kernel prefilter-words", kBinomial3, 1, 32},
      {"prefilter, rows end inside a word", gray8, "tenengrad", "luma any, samples as measured, kernel prefilter",
       kBinomial3, 1, 1, kAmpere, 641},

      // Downscaled: 8-bit codes become samples of 10 or 12 bits.
      {"downscale 2", gray8, "tenengrad", "luma in place, samples in a plane, kernel stream-shorts", kNone, 2},
      {"downscale 4", gray8, "laplacian", "luma in place, samples in a plane, kernel stream-shorts", kNone, 4},
      {"downscale and prefilter", gray8, "tenengrad", "luma in place, samples in a plane, kernel stream-shorts",
       kBinomial3, 2},
      {"downscale, 16 bits", gray16, "tenengrad", "luma in place, samples in a plane, kernel stream-words", kNone, 2},

      // Cells below 64 samples in a part of the frame, and pictures below 3 x 3.
      {"cells of 64", gray8, "tenengrad", "luma in place, samples are codes, kernel quadratic", kNone, 1, 9, kAmpere,
       640, 48, 4096, 16, false, Rect{0, 0, 576, 48}},
      {"cells of 63", gray8, "tenengrad", "luma in place, samples are codes, kernel tile", kNone, 1, 9, kAmpere, 640,
       48, 4096, 16, false, Rect{0, 0, 575, 48}},
      {"cells of 63 behind a prefilter", gray8, "tenengrad", "luma in place, samples as measured, kernel prefilter",
       kBinomial3, 1, 9, kAmpere, 640, 48, 4096, 16, false, Rect{0, 0, 575, 48}},
      {"downscaled cells of 63", gray8, "tenengrad", "luma in place, samples in a plane, kernel tile", kNone, 2, 1,
       kAmpere, 640, 48, 4096, 16, false, Rect{0, 0, 126, 48}},
      {"narrow cells across the frame", gray8, "tenengrad", "luma in place, samples are codes, kernel quadratic", kNone,
       1, 20},
      {"narrow picture", gray8, "tenengrad", "luma in place, samples are codes, kernel quadratic", kNone, 1, 1, kAmpere,
       20},
      {"2 wide", gray8, "tenengrad", "luma in place, samples are codes, kernel tile", kNone, 1, 1, kAmpere, 2},
      {"2 high", gray8, "laplacian", "luma in place, samples are codes, kernel tile", kNone, 1, 1, kAmpere, 640, 2},
      {"2 wide behind a prefilter", gray8, "tenengrad", "luma in place, samples in a plane, kernel tile", kBinomial3, 1,
       1, kAmpere, 2},

      // Luma that has to be extracted; the tile kernel reads it from anything.
      {"YUY2", yuy2, "tenengrad", "luma packed, samples are codes, kernel quadratic"},
      {"YUY2 by tiles", yuy2, "tenengrad", "luma in place, samples are codes, kernel tile", kNone, 1, 1, kAmpere, 640,
       48, 4096, 16, false, narrow},
      {"YUY2 by tiles, downscaled", yuy2, "tenengrad", "luma packed, samples in a plane, kernel tile", kNone, 2, 1,
       kAmpere, 640, 48, 4096, 16, false, narrow},
      {"RGB", packed_rgb(8, 3, 0, 1, 2), "tenengrad", "luma packed, samples are codes, kernel quadratic"},
      {"RGBA64", packed_rgb(16, 8, 0, 2, 4), "tenengrad", "luma packed, samples are codes, kernel stream-words"},
      {"GBR", planar_rgb(8, 2, 0, 1), "tenengrad", "luma planar, samples are codes, kernel quadratic"},
      {"GBR, 12 bits", planar_rgb(12, 2, 0, 1), "tenengrad", "luma planar, samples are codes, kernel stream-shorts"},
      {"mosaic", bayer(8, 0, 0), "tenengrad", "luma mosaic, samples are codes, kernel quadratic"},
      {"mosaic of words", bayer(16, 0, 0), "laplacian", "luma mosaic, samples are codes, kernel stream-words"},
      {"GRAY10_LE32", gray10_le32(), "tenengrad", "luma any, samples are codes, kernel stream-shorts"},
      {"big-endian words", luma_layout(16, 2, 0, true), "tenengrad",
       "luma any, samples are codes, kernel stream-words"},

      // Where the frame lies.
      {"rows at multiples of 8", gray8, "tenengrad", "luma any, samples are codes, kernel quadratic", kNone, 1, 1,
       kAmpere, 640, 48, 648, 8},
      {"YUY2, rows at multiples of 4", yuy2, "tenengrad", "luma packed, samples are codes, kernel quadratic", kNone, 1,
       1, kAmpere, 640, 48, 1284, 4},
      {"YUY2, rows at multiples of 2", yuy2, "tenengrad", "luma any, samples are codes, kernel quadratic", kNone, 1, 1,
       kAmpere, 640, 48, 1282, 2},
      {"words, rows at multiples of 4", planar_rgb(12, 2, 0, 1), "tenengrad",
       "luma any, samples are codes, kernel stream-shorts", kNone, 1, 1, kAmpere, 640, 48, 1284, 4},
      {"unaligned, by tiles", gray8, "tenengrad", "luma in place, samples are codes, kernel tile", kNone, 1, 1, kAmpere,
       640, 48, 641, 1, false, narrow},
      {"rows further apart than 32 bits hold for both fields", gray8, "tenengrad",
       "luma any, samples are codes, kernel quadratic", kNone, 1, 1, kAmpere, 640, 48, std::ptrdiff_t{1} << 30},

      // Statistics read words side by side, even where nothing else does.
      {"statistics", gray8, "tenengrad",
       "luma in place, noise, samples are codes, kernel quadratic with exposure, then quadratic", kNone, 1, 1, kAmpere,
       640, 48, 4096, 16, true},
      {"statistics without a noise block", gray8, "tenengrad",
       "luma in place, statistics, samples are codes, kernel quadratic, then quadratic", kNone, 1, 1, kAmpere, 640, 17,
       4096, 16, true},
      {"statistics of a roi in zones", gray8, "tenengrad",
       "luma in place, noise, samples are codes, kernel quadratic with exposure, then quadratic", kNone, 1, 4, kAmpere,
       640, 48, 4096, 16, true, Rect{8, 3, 600, 40}},
      {"statistics of a metric that is no sum of products", gray8, "max-min",
       "luma in place, statistics, samples are codes, kernel stream-bytes, then quadratic", kNone, 1, 1, kAmpere, 640,
       48, 4096, 16, true},
      {"statistics by tiles", yuy2, "tenengrad", "luma packed, statistics, samples are codes, kernel tile, then tile",
       kNone, 1, 1, kAmpere, 640, 48, 4096, 16, true, narrow},
      {"statistics of a histogram", gray8, "entropy",
       "luma in place, statistics, samples as measured, kernel prefilter, then prefilter", kBinomial5, 1, 1, kAmpere,
       640, 48, 4096, 16, true},
      {"statistics behind a prefilter", gray8, "tenengrad",
       "luma in place, statistics, samples as measured, kernel prefilter, then prefilter", kBinomial5, 1, 1, kAmpere,
       640, 48, 4096, 16, true},
      {"all scales", gray8, "tenengrad",
       "luma in place, samples are codes, kernel quadratic, then in a plane stream-shorts, then in a plane "
       "stream-shorts",
       kNone, 0},
      {"all scales behind a prefilter, with statistics", gray8, "tenengrad",
       "luma in place, statistics, samples as measured, kernel prefilter, then prefilter, then in a plane "
       "stream-shorts, then in a plane stream-shorts",
       kBinomial5, 0, 1, kAmpere, 640, 48, 4096, 16, true},
      {"all scales by tiles", yuy2, "tenengrad",
       "luma packed, samples are codes, kernel tile, then in a plane tile, then in a plane tile", kNone, 0, 1, kAmpere,
       640, 48, 4096, 16, false, narrow},
      {"statistics of the directions themselves", gray8, "directional-frequency",
       "luma in place, noise, samples are codes, kernel quadratic with exposure", kNone, 1, 1, kAmpere, 640, 48, 4096,
       16, true},
      {"statistics alone", gray8, "tenengrad", "luma in place, statistics, samples are codes, kernel none", kNone, 4, 1,
       kAmpere, 3, 48, 4096, 16, true},
      {"nothing in the frame", yuy2, "tenengrad", "luma in place, samples are codes, kernel none", kBinomial3, 1, 1,
       kAmpere, 640, 48, 4096, 16, true, Rect{5000, 0, 10, 10}},
  };
  for (const Case& c : cases) EXPECT_EQ(to_string(route_of(c)), c.expected) << c.name;
}

TEST(CudaRoute, OnlyLumaDependsOnWhereAFrameLies) {
  for (int metric = 0; metric < kMetricCount; ++metric)
    for (const PixelLayout& layout : {luma_layout(8, 1), luma_layout(16, 2), packed_rgb(8, 3, 0, 1, 2)})
      for (const Prefilter prefilter : {kNone, kBinomial3}) {
        Case c{"", layout, metric_info(metric).name, "", prefilter};
        const Route best = route_of(c);
        c.alignment = 1;
        Route other = route_of(c);
        EXPECT_EQ(other.luma, LumaRoute::kAny);
        other.luma = best.luma;
        EXPECT_EQ(other, best) << metric_info(metric).name;
      }
}

TEST(CudaRoute, PlacementIsThatOfAllPlanesRead) {
  alignas(64) static const std::uint8_t bytes[256] = {};
  const auto at = [](int first, std::ptrdiff_t stride) {
    Frame f;
    for (int p = 0; p < 3; ++p) f.plane[p] = bytes, f.stride[p] = 64;
    f.plane[1] = bytes + first;
    f.stride[1] = stride;
    return f;
  };
  const Geometry gray{40, 2, luma_layout(8, 1)}, rgb{40, 2, planar_rgb(8, 0, 1, 2)};
  EXPECT_EQ(cuda::placement_of(gray, at(1, 3), false).alignment, cuda::kLoadAlign);  // its chroma may lie anywhere
  EXPECT_EQ(cuda::placement_of(rgb, at(4, 64), false).alignment, 4u);
  EXPECT_EQ(cuda::placement_of(rgb, at(0, -72), false).alignment, 8u);
  EXPECT_EQ(cuda::placement_of(rgb, at(1, 64), false).alignment, 1u);
  Frame up = at(0, 64);
  up.stride[0] = -64;
  EXPECT_EQ(cuda::placement_of(gray, up, false).step, 64);
  EXPECT_EQ(cuda::placement_of(gray, up, false).readable, 40);
  EXPECT_EQ(cuda::placement_of(gray, up, true).readable, 64);
}

/// Blocks of the tiles that a plan's grids are cut to.
TEST(CudaTiling, StripsAreAsHighAsTakesLeastTime) {
  cuda::Kernel kernel;
  kernel.tile_width = 512;
  kernel.strips = 4;
  kernel.row_step = 3;
  kernel.lead_rows = 3;
  const Plan plan = plan_of({"", luma_layout(8, 1), "tenengrad", "", kNone, 1, 1, kAmpere, 1024, 480});
  // All blocks at once: 2 across, and down as many as there is room for. 15 rows make 8 of 60 rows each.
  EXPECT_EQ(cuda::make_tiling(plan, kernel, 16).blocks, 16);
  EXPECT_EQ(cuda::make_tiling(plan, kernel, 16).grids.front().rows, 15);
  // One at a time: the highest strips, of kMaxStripRows at most, whose start costs least.
  EXPECT_EQ(cuda::make_tiling(plan, kernel, 1).grids.front().rows, 60);
  EXPECT_EQ(cuda::make_tiling(plan, kernel, 1).blocks, 4);
}

TEST(CudaTiling, BlocksOfAllGridsAreNumberedThrough) {
  cuda::Kernel kernel;
  kernel.tile_width = 64;
  kernel.tile_height = 32;
  Request request;
  request.zone_columns = 2;
  request.extra = {{0, 0, 65, 33}, {8, 8, 8, 8}};
  const Plan plan = make_plan({128, 64, luma_layout(8, 1)}, request);
  const cuda::Tiling tiling = cuda::make_tiling(plan, kernel, 1);
  ASSERT_EQ(tiling.grids.size(), 3u);
  const int first[] = {0, 4, 8}, across[] = {1, 2, 1}, down[] = {2, 2, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tiling.grids[i].first_block, first[i]);
    EXPECT_EQ(tiling.grids[i].tiles_x, across[i]);
    EXPECT_EQ(tiling.grids[i].tiles_y, down[i]);
  }
  EXPECT_EQ(tiling.blocks, 9);
}

TEST(CudaTiling, StripsAtACellsSidesComeFirstAndAreLower) {
  cuda::Kernel kernel;
  kernel.tile_width = 384;
  kernel.chunks = 16;
  kernel.strips = 4;
  kernel.x_align = 4;
  kernel.row_step = 6;
  kernel.max_rows = 240;
  kernel.edge_percent = 120;
  const Plan plan = plan_of({"", luma_layout(8, 1), "tenengrad", "", kBinomial3, 1, 1, kAmpere, 1920, 1080});
  const cuda::Tiling tiling = cuda::make_tiling(plan, kernel, 1000);
  ASSERT_EQ(tiling.grids.size(), 3u);
  EXPECT_EQ(tiling.grids[0].grid.x1, 384);
  EXPECT_EQ(tiling.grids[1].grid.x1, 1920);
  EXPECT_EQ(tiling.grids[2].grid.x0, 384);
  EXPECT_EQ(tiling.grids[2].grid.x1, tiling.grids[1].grid.x0);
  EXPECT_LE(tiling.grids[0].rows, tiling.grids[2].rows);
  EXPECT_EQ(tiling.grids[0].rows, tiling.grids[1].rows);
}

}  // namespace
}  // namespace framequality::test
