// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin gives the host twin's totals, to the last bit, for frames in host and in device memory.
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "tests/sharpness/sweep.h"
#include "tests/support/device.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>

namespace framequality::test {

using namespace sharpness;

namespace {

/// A copy of a picture in device memory, rows, strides and odd addresses as they are on the host.
class OnDevice {
 public:
  OnDevice(const Picture& picture, int device) : picture_(picture), frame_(picture.frame()) {
    frame_.memory = Memory::kCuda;
    for (int p = 0; p < picture.planes(); ++p) {
      planes_.emplace_back(picture.block(p), device);
      frame_.plane[p] = planes_.back().data() + picture.origin(p);
    }
  }
  const Frame& frame() const { return frame_; }

  bool untouched() const {
    for (int p = 0; p < picture_.planes(); ++p) {
      std::vector<std::uint8_t> now(picture_.block(p).size());
      planes_[static_cast<std::size_t>(p)].read(now);
      if (!std::equal(now.begin(), now.end(), picture_.block(p).begin())) return false;
    }
    return true;
  }

 private:
  const Picture& picture_;
  Frame frame_;
  std::vector<cuda::DeviceBytes> planes_;
};

class Parity : public LayoutTest {
 protected:
  void SetUp() override { require_gpu(); }

  void sweep(bool on_device) {
    const int device = cuda::find_device().id;
    int failures = 0, cases = 0;
    for (const Size size : sizes()) {
      const std::vector<Shot> list = shots(GetParam(), size, effort(Effort::kFull));
      if (list.empty()) continue;
      const Geometry geometry{size.width, size.height, named().layout};
      const auto host = cpu::make_meter(geometry);
      const auto meter = cuda::make_meter(geometry, device);
      for (const Shot& shot : list) {
        Picture picture(geometry, shot.fill, shot.placement, shot.seed);
        std::optional<OnDevice> copy;
        if (on_device) copy.emplace(picture, device);
        for (const Request& request : shot.requests) {
          const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
          host->submit({picture.frame(), plan});
          meter->submit({copy ? copy->frame() : picture.frame(), plan});
          const auto same = equal_totals(*plan, host->collect(), meter->collect());
          EXPECT_TRUE(same) << describe_case(shot, size, request);
          ++cases;
          failures += !same;
          ASSERT_LT(failures, kEnoughFailures);
        }
        EXPECT_TRUE(picture.untouched()) << describe_case(shot, size, shot.requests.back());
        if (copy) {
          EXPECT_TRUE(copy->untouched()) << describe_case(shot, size, shot.requests.back());
        }
      }
    }
    RecordProperty("cases", cases);
  }
};

TEST_P(Parity, CudaEqualsCpuFromHostMemory) { sweep(false); }

TEST_P(Parity, CudaEqualsCpuFromDeviceMemory) { sweep(true); }

INSTANTIATE_TEST_SUITE_P(Layouts, Parity, all_layouts(), layout_name);

}  // namespace
}  // namespace framequality::test
