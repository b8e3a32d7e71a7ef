// SPDX-License-Identifier: LGPL-2.1-or-later
// Which device is meant, and host memory that devices read where it lies.
#include "cpu/sharpness/meter.h"
#include "device/pinned.h"
#include "opencl/context.h"
#include "opencl/in_place.h"
#include "opencl/pinned.h"
#include "opencl/sharpness/meter.h"
#include "tests/sharpness/measure.h"
#include "tests/support/opencl.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace framequality::test {

using namespace sharpness;

namespace {

class OpenClDevice : public testing::Test {
 protected:
  void SetUp() override { require_opencl(); }
};

TEST_F(OpenClDevice, IsFoundByNumberAndByPartOfItsName) {
  const Device best = opencl_device();
  const Device by_number = opencl::find_device({.id = best.id});
  EXPECT_EQ(by_number.id, best.id);
  EXPECT_EQ(by_number.name, opencl::devices()[static_cast<std::size_t>(best.id)].title());
  std::string name = by_number.name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(opencl::find_device({.name = name}).id, best.id) << name;
}

TEST_F(OpenClDevice, WhatIsNotThereIsSaidWithWhatIs) {
  const Device none = opencl::find_device({.name = "no such device"});
  EXPECT_EQ(none.id, -1);
  EXPECT_NE(none.reason.find("no such device"), std::string::npos);
  EXPECT_NE(none.reason.find(opencl::devices().front().title()), std::string::npos) << none.reason;
  EXPECT_NE(opencl::find_device({.id = 1000}).reason.find("1000"), std::string::npos);
}

TEST_F(OpenClDevice, NobodyGetsAnEmulationWhoDoesNotAskForIt) {
  const Device automatic = opencl::find_device({.automatic = true});
  if (automatic.id >= 0) {
    EXPECT_FALSE(opencl::devices()[static_cast<std::size_t>(automatic.id)].is_software);
  } else {
    EXPECT_NE(automatic.reason.find("no GPU"), std::string::npos) << automatic.reason;
  }
}

TEST_F(OpenClDevice, FramesInPinnedMemoryThatChangeAreReadAnew) {
  const Place place{&opencl::kBackend, opencl_device().id};
  const Geometry geometry{640, 480, {}};
  const PinnedBytes memory(std::size_t{640} * 482, place);
  EXPECT_TRUE(memory.is_pinned());
  auto* const bytes = static_cast<std::uint8_t*>(memory.data());
  const std::shared_ptr<opencl::Context> context = opencl::Context::of(place.id);
  const bool shares = context->device().shares_memory;
  EXPECT_EQ(opencl::find_pinned(bytes + 100, *context).buffer != nullptr, shares);
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  const auto host = cpu::make_meter(geometry);
  const auto meter = opencl::make_meter(geometry, place.id, 2);
  for (const int offset : {0, 640, 3})
    for (const bool is_bottom_up : {false, true})
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Picture picture(geometry, Fill::kRandom, Placement::kTight, seed);
        Frame frame;
        frame.stride[0] = is_bottom_up ? -640 : 640;
        frame.plane[0] = bytes + offset + (is_bottom_up ? 640 * 479 : 0);
        for (int y = 0; y < 480; ++y)
          std::memcpy(const_cast<std::uint8_t*>(frame.plane[0]) + y * frame.stride[0],
                      picture.frame().plane[0] + y * picture.frame().stride[0], 640);
        meter->submit({frame, plan});
        const auto got = meter->collect();
        host->submit({frame, plan});
        ASSERT_TRUE(equal_totals(*plan, host->collect(), got)) << offset << " " << is_bottom_up << " " << seed;
      }
}

TEST_F(OpenClDevice, OnlyPagesArePinnedInPlace) {
  const int id = opencl_device().id;
  const std::shared_ptr<opencl::Context> context = opencl::Context::of(id);
  alignas(4096) static std::uint8_t memory[8192];
  EXPECT_FALSE(opencl::pin(memory + 16, 4096, id));
  if (!opencl::pin(memory, sizeof memory, id)) GTEST_SKIP() << "the device does not share the host's memory";
  EXPECT_FALSE(opencl::pin(memory, sizeof memory, id)) << "twice";
  EXPECT_EQ(opencl::find_pinned(memory + 8191, *context).offset, 8191u);
  EXPECT_FALSE(opencl::find_pinned(memory + 8192, *context).buffer);
  opencl::unpin(memory, id);
  EXPECT_FALSE(opencl::find_pinned(memory, *context).buffer);
}

TEST_F(OpenClDevice, CallsOutOfTurnAreRefused) {
  const Geometry geometry{64, 48, {}};
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  const Picture picture(geometry, Fill::kRandom, Placement::kTight, 1);
  const auto meter = opencl::make_meter(geometry, opencl_device().id, 2);
  EXPECT_THROW(meter->collect(), std::logic_error);
  meter->submit({picture.frame(), plan});
  meter->submit({picture.frame(), plan});
  EXPECT_THROW(meter->submit({picture.frame(), plan}), std::logic_error);
  meter->collect();
  meter->collect();
  EXPECT_THROW(meter->collect(), std::logic_error);
  Frame elsewhere = picture.frame();
  elsewhere.memory = Memory::kCuda;
  EXPECT_THROW(meter->submit({elsewhere, plan}), std::invalid_argument);
}

}  // namespace
}  // namespace framequality::test
