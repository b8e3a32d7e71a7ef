// SPDX-License-Identifier: LGPL-2.1-or-later
// Several frames in flight on the GPU give the host twin's totals, in order, wherever in memory the frames lie.
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "cuda/pinned.h"
#include "cuda/sharpness/meter.h"
#include "device/error.h"
#include "device/pinned.h"
#include "tests/sharpness/sweep.h"
#include "tests/support/device_twins.h"
#include "tests/support/memory_kinds.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <optional>

namespace framequality::test {

using namespace sharpness;

namespace {

constexpr int kDepth = 4;

class InFlightParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    device_ = cuda::find_device().id;
  }

  /// Anything that can be asked of a frame of this size: every second one by rows of a roi alone.
  static std::shared_ptr<const Plan> any_plan(const Geometry& geometry, Random& random) {
    Request r;
    r.metric = random.below(kMetricCount);
    r.prefilter = static_cast<Prefilter>(random.below(3));
    r.downscale = std::array{0, 1, 2, 4}[static_cast<std::size_t>(random.below(4))];
    r.statistics = random.one_in(3);
    choose_regions(r, random, {geometry.width, geometry.height});
    return std::make_shared<const Plan>(make_plan(geometry, r));
  }

  /// Keeps kDepth frames pending while `frames` of them pass, `plans` in turn; each must equal the host's.
  void fly(const Geometry& geometry, MemoryKind where, Placement placement, std::size_t plan_count, int frames) {
    SCOPED_TRACE(std::to_string(geometry.width) + "x" + std::to_string(geometry.height) + " depth " +
                 std::to_string(geometry.layout.depth) + " " + kWhereNames[static_cast<std::size_t>(where)] + " " +
                 kPlacementNames[static_cast<std::size_t>(placement)]);
    Random random(static_cast<std::uint64_t>(geometry.width) * 31 + static_cast<std::uint64_t>(placement));
    std::vector<std::shared_ptr<const Plan>> plans;
    while (plans.size() < plan_count) {
      plans.push_back(any_plan(geometry, random));
      if (!plans.back()->refusal.empty()) plans.pop_back();
    }
    std::vector<std::unique_ptr<Picture>> pictures;
    std::vector<std::unique_ptr<FrameIn>> inputs;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      pictures.push_back(std::make_unique<Picture>(geometry, Fill::kRandom, placement, seed));
      inputs.push_back(std::make_unique<FrameIn>(*pictures.back(), where, device_));
    }
    const auto host = cpu::make_meter(geometry);
    const auto meter = cuda::make_meter(geometry, device_, kDepth);
    const auto plan = [&](int i) { return plans[static_cast<std::size_t>(i) % plans.size()]; };
    const auto picture = [&](int i) { return static_cast<std::size_t>(i) % pictures.size(); };
    const auto collect = [&](int i) {
      host->submit({pictures[picture(i)]->frame(), plan(i)});
      EXPECT_TRUE(equal_totals(*plan(i), host->collect(), meter->collect()))
          << "frame " << i << " " << describe(plan(i)->request);
    };
    for (int i = 0; i < frames; ++i) {
      if (i >= kDepth) collect(i - kDepth);
      meter->submit({inputs[picture(i)]->frame(), plan(i)});
    }
    for (int i = std::max(0, frames - kDepth); i < frames; ++i) collect(i);
    for (const auto& p : pictures) EXPECT_TRUE(p->untouched());
  }

  int device_ = -1;
};

TEST_F(InFlightParity, SmallFramesOfSeveralPlans) {
  for (const char* layout : {"GRAY8", "P010_10LE", "RGB", "GBR_10LE", "GRAY10_LE32"})
    for (const Size size : {Size{3, 3}, {77, 55}, {640, 480}})
      for (const Placement placement : kPlacements)
        for (const MemoryKind where : {MemoryKind::kPageable, MemoryKind::kPinned, MemoryKind::kDevice})
          // One plan for all frames, as usual; and more plans than frames in flight, so that slots change theirs.
          for (const std::size_t plans : {1u, 7u})
            ASSERT_NO_FATAL_FAILURE(fly(geometry_of(layout, size), where, placement, plans, 16));
}

TEST_F(InFlightParity, LargeFramesOfSeveralPlans) {
  // More than 8 MB: several threads copy what is not pinned.
  for (const auto& [layout, size] : {std::pair{"GRAY16_LE", Size{2560, 1700}}, {"BGR", Size{2050, 1501}}})
    for (const Placement placement : kPlacements)
      for (const MemoryKind where : {MemoryKind::kPageable, MemoryKind::kPinned, MemoryKind::kDevice})
        ASSERT_NO_FATAL_FAILURE(fly(geometry_of(layout, size), where, placement, 3, 9));
}

TEST_F(InFlightParity, OnlyTheRowsOfTheRoiAreNeeded) {
  // The second frame differs from the first in all others.
  const Geometry geometry = geometry_of("GRAY8", {640, 480});
  for (const MemoryKind where : {MemoryKind::kPageable, MemoryKind::kPinned})
    for (const Placement placement : kPlacements) {
      Request request;
      request.prefilter = Prefilter::kBinomial5;
      request.roi = Rect{30, 200, 400, 50};
      const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
      ASSERT_GT(plan->first_row, 0);
      ASSERT_LT(plan->last_row, geometry.height);
      Picture whole(geometry, Fill::kRandom, placement, 5), spoilt(geometry, Fill::kRandom, placement, 5);
      spoilt.spoil_rows(0, plan->first_row);
      spoilt.spoil_rows(plan->last_row, geometry.height);
      const FrameIn a(whole, where, device_), b(spoilt, where, device_);
      const auto host = cpu::make_meter(geometry);
      const auto meter = cuda::make_meter(geometry, device_, 2);
      host->submit({whole.frame(), plan});
      const auto want = host->collect();
      meter->submit({a.frame(), plan});
      meter->submit({b.frame(), plan});
      EXPECT_TRUE(equal_totals(*plan, want, meter->collect()));
      EXPECT_TRUE(equal_totals(*plan, want, meter->collect()));
    }
}

TEST_F(InFlightParity, FramesMixAllKindsOfMemory) {
  const Geometry geometry = geometry_of("GRAY8", {641, 480});
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  Picture picture(geometry, Fill::kRandom, Placement::kOdd, 9);
  const auto host = cpu::make_meter(geometry);
  host->submit({picture.frame(), plan});
  const auto want = host->collect();
  std::vector<std::unique_ptr<FrameIn>> inputs;
  for (const MemoryKind where : {MemoryKind::kPageable, MemoryKind::kPinned, MemoryKind::kDevice})
    inputs.push_back(std::make_unique<FrameIn>(picture, where, device_));
  const auto meter = cuda::make_meter(geometry, device_, 3);
  for (int turn = 0; turn < 5; ++turn) {
    for (const auto& input : inputs) meter->submit({input->frame(), plan});
    for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(equal_totals(*plan, want, meter->collect())) << i;
  }
}

TEST_F(InFlightParity, PinnedFramesThatChangeInPlaceAreReadAnew) {
  const Geometry geometry = geometry_of("GRAY8", {640, 480});
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  const auto host = cpu::make_meter(geometry);
  const auto meter = cuda::make_meter(geometry, device_, 1);
  const PinnedBytes memory(std::size_t{640} * 480, {&cuda::kBackend, device_});
  auto* const bytes = static_cast<std::uint8_t*>(memory.data());
  Frame frame;
  frame.plane[0] = bytes;
  frame.stride[0] = geometry.width;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Picture picture(geometry, Fill::kRandom, Placement::kTight, seed);
    for (int y = 0; y < geometry.height; ++y)
      std::memcpy(bytes + y * frame.stride[0], picture.frame().plane[0] + y * picture.frame().stride[0],
                  static_cast<std::size_t>(geometry.width));
    meter->submit({frame, plan});
    const auto got = meter->collect();
    host->submit({frame, plan});
    ASSERT_TRUE(equal_totals(*plan, host->collect(), got)) << seed;
  }
}

TEST_F(InFlightParity, FramesMayBePinnedInPart) {
  // Two pieces side by side, or with a gap between them that the device cannot read; of a frame that a kernel would
  // fetch, and of one for the copy engine.
  constexpr std::size_t kPage = 4096;
  for (const Size size : {Size{640, 480}, {2048, 1200}}) {
    const Geometry geometry = geometry_of("GRAY8", size);
    const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
    const Picture picture(geometry, Fill::kRandom, Placement::kTight, 3);
    const auto host = cpu::make_meter(geometry);
    host->submit({picture.frame(), plan});
    const auto want = host->collect();
    const auto bytes = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    const std::size_t pages = (bytes + kPage - 1) / kPage, third = pages / 3;
    const std::unique_ptr<std::uint8_t, decltype(&std::free)> memory(
        static_cast<std::uint8_t*>(std::aligned_alloc(kPage, pages * kPage)), &std::free);
    Frame frame;
    frame.plane[0] = memory.get();
    frame.stride[0] = size.width;
    for (int y = 0; y < size.height; ++y)
      std::memcpy(memory.get() + y * frame.stride[0], picture.frame().plane[0] + y * picture.frame().stride[0],
                  static_cast<std::size_t>(size.width));
    const auto meter = cuda::make_meter(geometry, device_, 1);
    for (const std::size_t second : {third, 2 * third}) {
      std::uint8_t* const rest = memory.get() + second * kPage;
      ASSERT_TRUE(cuda::pin(memory.get(), third * kPage, device_));
      ASSERT_TRUE(cuda::pin(rest, (pages - second) * kPage, device_));
      meter->submit({frame, plan});
      EXPECT_TRUE(equal_totals(*plan, want, meter->collect())) << size.width << " " << second;
      cuda::unpin(rest, device_);
      cuda::unpin(memory.get(), device_);
    }
  }
}

TEST_F(InFlightParity, LateResultsAreAwaited) {
  const Geometry geometry = geometry_of("GRAY8", {640, 480});
  Request entropy;
  entropy.metric = metric_index("entropy");
  entropy.zone_columns = entropy.zone_rows = 3;  // many totals
  for (const Request& request : {Request{}, entropy}) {
    const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
    Picture first(geometry, Fill::kRandom, Placement::kTight, 1), second(geometry, Fill::kRandom, Placement::kTight, 2);
    const auto host = cpu::make_meter(geometry);
    const auto meter = cuda::make_meter(geometry, device_, 1);
    for (const Picture* picture : {&first, &second, &first}) {
      const FrameIn input(*picture, MemoryKind::kPinned, device_);
      cuda::stall(cuda::stream_of(*meter), 0.01);
      meter->submit({input.frame(), plan});
      host->submit({picture->frame(), plan});
      EXPECT_TRUE(equal_totals(*plan, host->collect(), meter->collect()));
    }
  }
}

/// Measures a frame behind a kernel that traps; exits with 0 if that is an error, soon.
[[noreturn]] void measure_behind_trap(int device) {
  const Geometry geometry = geometry_of("GRAY8", {640, 480});
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  Picture picture(geometry, Fill::kRandom, Placement::kTight, 1);
  const FrameIn input(picture, MemoryKind::kPinned, device);
  const auto meter = cuda::make_meter(geometry, device, 1);
  const auto begin = std::chrono::steady_clock::now();
  try {
    cuda::trap(cuda::stream_of(*meter));
    meter->submit({input.frame(), plan});
    meter->collect();
  } catch (const Error& e) {
    const bool soon = std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);
    std::_Exit(e.fault == Fault::kDeviceLost && soon ? 0 : 2);
  }
  std::_Exit(3);
}

TEST_F(InFlightParity, LostDeviceIsAnErrorSoon) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, whose context may be lost
  EXPECT_EXIT(measure_behind_trap(device_), testing::ExitedWithCode(0), "");
}

TEST_F(InFlightParity, PendingFramesMayBeAbandoned) {
  const Geometry geometry = geometry_of("GRAY8", {4096, 2160});
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  for (int turn = 0; turn < 5; ++turn) {
    Picture picture(geometry, Fill::kZero, Placement::kTight, 1);
    const FrameIn input(picture, MemoryKind::kPinned, device_);
    const auto meter = cuda::make_meter(geometry, device_, kDepth);
    for (int i = 0; i < kDepth; ++i) meter->submit({input.frame(), plan});
  }
}

TEST_F(InFlightParity, CallsOutOfTurnAreRefused) {
  const Geometry geometry = geometry_of("GRAY8", {64, 48});
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  Picture picture(geometry, Fill::kRandom, Placement::kTight, 1);
  const auto meter = cuda::make_meter(geometry, device_, 2);
  EXPECT_THROW(meter->collect(), std::logic_error);
  meter->submit({picture.frame(), plan});
  meter->submit({picture.frame(), plan});
  EXPECT_THROW(meter->submit({picture.frame(), plan}), std::logic_error);
  meter->collect();
  meter->collect();
  EXPECT_THROW(meter->collect(), std::logic_error);
}

}  // namespace
}  // namespace framequality::test
