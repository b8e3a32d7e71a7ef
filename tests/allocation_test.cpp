// SPDX-License-Identifier: LGPL-2.1-or-later
// No memory is allocated per frame: every operator new is counted while meters run.
#include "algorithms/focus/virtual_lens.h"
#include "algorithms/gate.h"
#include "algorithms/sharpness/score.h"
#include "cpu/bliinds/meter.h"
#include "cpu/denoise/filter.h"
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "tests/bliinds/yuv_picture.h"
#include "tests/support/gpu.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <string_view>

namespace {
std::atomic<std::uint64_t> allocations = 0;
}

// None is inlined: where one is, GCC 13 and 14 take the malloc() or free() in it for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const std::size_t to = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(to, (size + to - 1) / to * to)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace framequality {

using namespace sharpness;

namespace {

void expect_none(Meter& meter, const Geometry& geometry) {
  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(geometry.width * geometry.height), 7);
  Frame frame;
  frame.plane[0] = pixels.data();
  frame.stride[0] = geometry.width;
  for (int metric = 0; metric < kMetricCount; ++metric) {
    Request request;
    request.metric = metric;
    request.prefilter = metric % 2 ? Prefilter::kBinomial3 : Prefilter::kNone;
    request.zone_columns = request.zone_rows = 1 + metric % 3;
    request.statistics = metric % 3 != 0;
    const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
    meter.submit({frame, plan});  // the first frame of a plan may
    meter.collect();
    const std::uint64_t before = allocations;
    for (int i = 0; i < 50; ++i) {
      meter.submit({frame, plan});
      meter.collect();
    }
    EXPECT_EQ(allocations, before) << metric_info(metric).name;
  }
}

TEST(Allocation, CpuMeterNonePerFrame) {
  const Geometry geometry{640, 480, {}};
  expect_none(*cpu::make_meter(geometry), geometry);
}

TEST(Allocation, ScoresOncePerList) {
  Request request;
  request.zone_columns = 16;
  request.zone_rows = 9;
  request.statistics = true;
  request.metric = 0;
  request.extra = {{0, 0, 8, 8}, {8, 8, 8, 8}, {16, 16, 8, 8}};
  while (std::string_view(metric_info(request.metric).name) != "mean-square-frequency") ++request.metric;
  const Plan plan = make_plan({640, 480, {}}, request);
  const std::vector<std::int64_t> totals(static_cast<std::size_t>(plan.totals()), 1);
  const std::uint64_t before = allocations;
  const Scores scores = finish(plan, totals);
  EXPECT_EQ(allocations - before, 3u);
  EXPECT_EQ(scores.zone_gradient_energies.size(), scores.zones.size());
}

TEST(Allocation, RunningMedianNoneOnceItsWindowIsFull) {
  RunningMedian median;
  std::uint64_t before = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    if (i == 300) before = allocations;
    median.add(static_cast<double>(i * 7919 % 1000), i, {.time = 200});
  }
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, RunningLevelNoneOnceItsWindowIsFull) {
  RunningLevel level;
  std::uint64_t before = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    if (i == 300) before = allocations;
    level.add(static_cast<double>(i * 7919 % 1000), i, {.time = 200});
    if (level.waiting() > 6) level.next(6);
  }
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, CpuBliindsMeterNonePerFrame) {
  for (const test::NamedYuv& named : test::yuv_layouts()) {
    const test::YuvPicture picture(named.input(640, 480, test::kColorimetries[0]), false, false, 1);
    const auto meter = cpu::make_bliinds_meter(picture.input());
    const std::uint64_t before = allocations;
    for (int i = 0; i < 4; ++i) {
      meter->submit({picture.frame(), i % 2 ? bliinds::Channel::kRed : bliinds::Channel::kLuma});
      meter->collect();
    }
    EXPECT_EQ(allocations, before) << named.name;
  }
}

TEST(Allocation, CpuDenoiserNonePerFrame) {
  PictureGeometry geometry{320, 90, {}};
  const std::vector<std::uint8_t> pixels(320 * 90, 7);
  std::vector<std::uint8_t> out(pixels.size());
  Canvas canvas;
  canvas.plane[0] = out.data();
  canvas.stride[0] = 320;
  denoise::Source window[3];
  for (auto& source : window) {
    source.frame.plane[0] = pixels.data();
    source.frame.stride[0] = 320;
  }
  denoise::Settings settings;
  settings.search_radius = 3;
  settings.patch_radius = 2;
  settings.estimate_sigma = true;
  const auto filter = cpu::make_denoiser(geometry, 2);
  const auto frame = [&](std::uint64_t number, std::size_t size, int radius) {
    for (auto& source : window) source.serial = number++;
    settings.search_radius = radius;
    filter->submit({{window, size}, size / 2, canvas, settings, 1});
    filter->collect();
  };
  frame(0, 3, 3);  // the first frame of settings that want more may
  const std::uint64_t before = allocations;
  for (std::uint64_t i = 0; i < 20; ++i) frame(i, i % 5 ? 3 : 1, 1 + static_cast<int>(i / 7));
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, VirtualLensNoneAtPositionsNearerThanTheFirst) {
  VirtualLens lens(64, 48, dead_leaves(64, 48, 1),
                   {.best_position = 0,
                    .breathing = 0.01,
                    .drive = {.lag = 1, .slew = 7, .backlash = 1, .exposure = 1},
                    .noise = 2,
                    .flicker = 0.1});
  std::vector<std::uint8_t> out(64 * 48);
  // The largest blur needs the most memory, as does the first exposure of a lens that moves.
  for (const double position : {-60, -60, 0, 0, 0}) lens.render(position, out.data());
  const std::uint64_t before = allocations;
  for (int i = 0; i < 40; ++i) lens.render(i % 20 < 10 ? -40 : 30, out.data());
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, CudaMeterNonePerFrame) {
  test::require_gpu();
  if (IsSkipped() || HasFailure()) return;
  const Geometry geometry{640, 480, {}};
  expect_none(*cuda::make_meter(geometry, cuda::find_device().id), geometry);
}

}  // namespace
}  // namespace framequality
