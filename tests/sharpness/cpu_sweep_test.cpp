// SPDX-License-Identifier: LGPL-2.1-or-later
// Every instruction set of the host twin gives the totals of the definition, to the last bit.
#include "cpu/dispatch.h"
#include "cpu/sharpness/meter.h"
#include "tests/sharpness/sweep.h"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

class CpuSweep : public LayoutTest {};

TEST_P(CpuSweep, EveryInstructionSetEqualsTheDefinition) {
  int failures = 0, cases = 0;
  for (const Size size : sizes()) {
    const Geometry geometry{size.width, size.height, named().layout};
    std::vector<std::unique_ptr<Meter>> meters;
    for (const std::string_view isa : cpu::instruction_sets()) meters.push_back(cpu::make_meter(geometry, isa));
    for (const Shot& shot : shots(GetParam(), size, effort(Effort::kUsual))) {
      Picture picture(geometry, shot.fill, shot.placement, shot.seed);
      Reference reference(picture.codes(), size.width, size.height, geometry.layout.depth, geometry.layout.cell());
      for (const Request& request : shot.requests) {
        const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
        const Totals expected = reference.totals(request);
        EXPECT_EQ(plan->pixels, expected.pixels) << describe_case(shot, size, request);
        for (std::size_t i = 0; i < meters.size(); ++i) {
          meters[i]->submit({picture.frame(), plan});
          const auto same = equal_totals(*plan, expected.values, meters[i]->collect());
          EXPECT_TRUE(same) << cpu::instruction_sets()[i] << " " << describe_case(shot, size, request);
          failures += !same;
          ++cases;
        }
        ASSERT_LT(failures, kEnoughFailures);
      }
      EXPECT_TRUE(picture.untouched()) << describe_case(shot, size, shot.requests.back());
    }
  }
  RecordProperty("cases", cases);
}

INSTANTIATE_TEST_SUITE_P(Layouts, CpuSweep, all_layouts(), layout_name);

}  // namespace
}  // namespace framequality::test
