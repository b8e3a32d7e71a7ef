// SPDX-License-Identifier: LGPL-2.1-or-later
// Every shape of kernel on small images: what is quick enough for a simulator that looks for data races
// (scripts/nightly, step opencl).
#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"
#include "cpu/sharpness/meter.h"
#include "opencl/sharpness/device_meter.h"
#include "tests/sharpness/measure.h"
#include "tests/support/cases.h"
#include "tests/support/opencl.h"

#include <gtest/gtest.h>
#include <memory>

namespace framequality::test {

using namespace sharpness;

namespace {

bool is_quadratic(int metric) {
  return with_metric(metric, [](auto m) { return kLagForm<decltype(m)>.is_quadratic; });
}

class OpenClSmall : public testing::Test {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    // Never destroyed: at exit some implementations are gone before.
    static const auto& context = *new std::shared_ptr<opencl::Context>(opencl::Context::of(opencl_device().id));
    context_ = context;
  }

  void measure(const opencl::Shape& shape, int metric, Prefilter prefilter) {
    for (const Size size : {Size{1, 1}, {2, 2}, {9, 1}, {1, 9}, {5, 4}, {16, 16}, {37, 21}}) {
      const Geometry geometry{size.width, size.height, {}};
      const auto host = cpu::make_meter(geometry);
      opencl::DeviceMeter meter(geometry, context_, 1, shape, false);
      for (const int turn : {0, 1, 2}) {
        Request request;
        request.metric = metric;
        request.prefilter = prefilter;
        request.mean = metric % 2 == 0;
        request.statistics = turn == 0;
        request.interlaced = turn == 1;
        request.zone_columns = 1 + turn;
        request.zone_rows = 1 + turn / 2;
        if (turn == 2) request.roi = Rect{size.width / 4, size.height / 4, size.width / 2 + 1, size.height / 2 + 1};
        const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
        const Picture picture(geometry, turn == 0 ? Fill::kMax : Fill::kRandom, Placement::kTight, 7);
        host->submit({picture.frame(), plan});
        meter.submit({picture.frame(), plan});
        ASSERT_TRUE(equal_totals(*plan, host->collect(), meter.collect()))
            << size.width << "x" << size.height << " " << describe(request);
      }
    }
  }

  std::shared_ptr<opencl::Context> context_;
};

// Compiling is what takes time on CPUs: some metrics stand for all there.
TEST_F(OpenClSmall, SumsOfLags) {
  for (int metric = 0; metric < kMetricCount; ++metric)
    if (is_quadratic(metric) && (metric % 3 == 2 || is_set("FQ_PARITY_FULL"))) {
      ASSERT_NO_FATAL_FAILURE(
          measure({.lanes = 8, .across = 8, .down = 4, .dot = opencl::Dot::kBytes}, metric, Prefilter::kNone));
    }
}

TEST_F(OpenClSmall, ShapesOfGpusAndCpus) {
  for (int metric = 0; metric < kMetricCount; ++metric) {
    if (metric % 4 != 2 && !is_set("FQ_PARITY_FULL")) continue;
    ASSERT_NO_FATAL_FAILURE(measure({.lanes = 8, .across = 8, .down = 4}, metric, Prefilter::kBinomial3));
    ASSERT_NO_FATAL_FAILURE(
        measure({.lanes = 16, .across = 1, .down = 1, .has_fast_floats = false}, metric, Prefilter::kNone));
  }
}

TEST_F(OpenClSmall, RowsNeedNoAlignment) {
  // Strides that are multiples of 16, of 32, and of neither.
  for (const int width : {1000, 1008, 1001})
    for (const auto& [bytes, depth] : {std::pair{1, 8}, {2, 16}}) {
      Geometry geometry{width, 9, {}};
      geometry.layout.depth = static_cast<std::uint8_t>(depth);
      geometry.layout.word_bytes = geometry.layout.pixel_stride = static_cast<std::uint8_t>(bytes);
      const auto host = cpu::make_meter(geometry);
      opencl::DeviceMeter meter(geometry, context_, 1, opencl::shape_for(context_->device()), false);
      const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
      const Picture picture(geometry, Fill::kRandom, Placement::kTight, 3);
      host->submit({picture.frame(), plan});
      meter.submit({picture.frame(), plan});
      ASSERT_TRUE(equal_totals(*plan, host->collect(), meter.collect())) << width << " " << depth;
    }
}

}  // namespace
}  // namespace framequality::test
