// SPDX-License-Identifier: LGPL-2.1-or-later
// The OpenCL twin gives the host twin's totals, to the last bit, however its kernels are cut.
#include "cpu/sharpness/meter.h"
#include "opencl/sharpness/device_meter.h"
#include "tests/sharpness/sweep.h"
#include "tests/support/opencl.h"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace framequality::test {
namespace {

class OpenClParity : public LayoutTest {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    // Kept, so that no program is compiled twice.
    static const std::shared_ptr<opencl::Context> context = opencl::Context::of(opencl_device().id);
    context_ = context;
  }

  /// The device's own shape; where that is for a CPU also the one for GPUs.
  std::vector<opencl::Shape> shapes() const {
    std::vector<opencl::Shape> all{opencl::shape_for(context_->device())};
    if (context_->device().is_software) all.push_back({.lanes = 8, .across = 8, .down = 4});
    return all;
  }

  /// Compiling for a CPU takes longer than measuring: there each layout has two metrics of its own, the first one all,
  /// unless FQ_PARITY_FULL=1.
  bool is_kept(int metric) const {
    return GetParam() == 0 || metric % 7 == GetParam() % 7 || !context_->device().is_software ||
           is_set("FQ_PARITY_FULL");
  }

  void sweep(const opencl::Shape& shape, Effort usual) {
    int failures = 0, cases = 0;
    for (const Size size : sizes()) {
      const std::vector<Shot> list = shots(GetParam(), size, effort(usual));
      if (list.empty()) continue;
      const Geometry geometry{size.width, size.height, named().layout};
      const auto host = cpu::make_meter(geometry);
      // Each program is compared here: it need not prove itself.
      opencl::DeviceMeter meter(geometry, context_, 1, shape, false);
      for (const Shot& shot : list) {
        Picture picture(geometry, shot.fill, shot.placement, shot.seed);
        for (const Request& request : shot.requests) {
          if (!is_kept(request.metric)) continue;
          const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
          host->submit({picture.frame(), plan});
          meter.submit({picture.frame(), plan});
          const auto same = equal_totals(*plan, host->collect(), meter.collect());
          EXPECT_TRUE(same) << describe_case(shot, size, request) << ", " << shape.lanes << " lanes";
          ++cases;
          failures += !same;
          ASSERT_LT(failures, kEnoughFailures);
        }
        EXPECT_TRUE(picture.untouched()) << describe_case(shot, size, shot.requests.back());
      }
    }
    RecordProperty("cases", cases);
  }

  std::shared_ptr<opencl::Context> context_;
};

TEST_P(OpenClParity, EqualsCpu) {
  for (const opencl::Shape& shape : shapes()) ASSERT_NO_FATAL_FAILURE(sweep(shape, Effort::kQuick));
}

INSTANTIATE_TEST_SUITE_P(Layouts, OpenClParity, all_layouts(), layout_name);

}  // namespace
}  // namespace framequality::test
