// SPDX-License-Identifier: LGPL-2.1-or-later
// The OpenCL twin gives the host twin's totals, to the last bit, however its kernels are cut.
#include "cpu/sharpness/meter.h"
#include "opencl/sharpness/device_meter.h"
#include "tests/sharpness/sweep.h"
#include "tests/support/opencl.h"

#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

class OpenClParity : public LayoutTest {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    // Kept, so that no program is compiled twice.
    // Never destroyed: at exit some implementations are gone before.
    static const auto& context = *new std::shared_ptr<opencl::Context>(opencl::Context::of(opencl_device().id));
    context_ = context;
    if (GetParam() % step() != 0) GTEST_SKIP() << "compilers take long here: the nightly step opencl has all layouts";
    ASSERT_GE(layouts().size() / static_cast<std::size_t>(step()), kMetricCount) << "a metric has no layout";
  }

  /// The device's own shape; where that is for a CPU also the one for GPUs.
  std::vector<opencl::Shape> shapes() const {
    std::vector<opencl::Shape> all{opencl::shape_for(context_->device())};
    if (context_->device().is_software) all.push_back({.lanes = 8, .across = 8, .down = 4});
    return all;
  }

  /// Compiling for a CPU takes far longer than measuring: unless FQ_PARITY_FULL=1 each layout has one metric there, and
  /// a quarter of the sizes; the first layout has all. Each metric comes once in the GPUs' shape.
  bool is_thin() const { return context_->device().is_software && !is_set("FQ_PARITY_FULL"); }
  /// If is_quick() every third layout is compared.
  int step() const { return is_thin() && is_quick() ? 3 : 1; }
  bool is_kept(int metric, const opencl::Shape& shape) const {
    const int layout = GetParam(), number = layout / step();
    return !is_thin() || (shape.across > 1 ? metric == number || (layout == 0 && metric == kDefaultMetric)
                                           : metric == number % kMetricCount || layout == 0);
  }
  bool is_kept(std::size_t size) const { return !is_thin() || (size + static_cast<std::size_t>(GetParam())) % 4 == 0; }
  /// If is_quick() a sixth of what is left, with each metric at least once; other layouts have other sixths.
  bool is_sampled(int metric) {
    if (!is_thin() || !is_quick()) return true;
    const bool is_new = known_metrics_.insert(metric).second;
    return (candidates_++ + GetParam()) % 6 == 0 || is_new;
  }

  void sweep(const opencl::Shape& shape, Effort usual) {
    int failures = 0, cases = 0;
    for (std::size_t i = 0; i < sizes().size(); ++i) {
      const Size size = sizes()[i];
      if (!is_kept(i)) continue;
      const std::vector<Shot> list = shots(GetParam(), size, effort(usual));
      if (list.empty()) continue;
      const Geometry geometry{size.width, size.height, named().layout};
      const auto host = cpu::make_meter(geometry);
      // Each program is compared here: it need not prove itself.
      opencl::DeviceMeter meter(geometry, context_, 1, shape, false);
      for (const Shot& shot : list) {
        Picture picture(geometry, shot.fill, shot.placement, shot.seed);
        for (Request request : shot.requests) {
          if (is_thin()) request.mean = request.mean && request.metric % 5 == 2;
          if (!is_kept(request.metric, shape) || !is_sampled(request.metric)) continue;
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
  std::set<int> known_metrics_;
  int candidates_ = 0;
};

TEST_P(OpenClParity, EqualsCpu) {
  for (const opencl::Shape& shape : shapes()) ASSERT_NO_FATAL_FAILURE(sweep(shape, Effort::kQuick));
}

INSTANTIATE_TEST_SUITE_P(Layouts, OpenClParity, all_layouts(), layout_name);

}  // namespace
}  // namespace framequality::test
