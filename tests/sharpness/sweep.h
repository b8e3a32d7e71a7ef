// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared parts of the sweeps of all backends: the layouts as test parameters, and words for a failing case.
#pragma once

#include "tests/sharpness/measure.h"
#include "tests/support/cases.h"
#include "tests/support/effort.h"
#include "tests/support/gpu.h"
#include "tests/support/layouts.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace framequality::test {

/// Parameter: index into layouts().
class LayoutTest : public testing::TestWithParam<int> {
 protected:
  const NamedLayout& named() const { return layouts()[static_cast<std::size_t>(GetParam())]; }

  std::string describe_case(const Shot& shot, Size size, const sharpness::Request& request) const {
    return named().name + " " + std::to_string(size.width) + "x" + std::to_string(size.height) + " " +
           kPlacementNames[static_cast<std::size_t>(shot.placement)] + " " +
           kFillNames[static_cast<std::size_t>(shot.fill)] + " seed " + std::to_string(shot.seed) + " " +
           describe(request);
  }
};

inline auto all_layouts() { return testing::Range(0, static_cast<int>(layouts().size())); }

inline std::string layout_name(const testing::TestParamInfo<int>& info) {
  return layouts()[static_cast<std::size_t>(info.param)].name;
}

/// The usual effort, or less if is_quick().
inline Effort effort(Effort usual) { return is_quick() ? Effort::kQuick : usual; }

/// A sweep stops after this many failing cases: the first few say it all.
inline constexpr int kEnoughFailures = 5;

}  // namespace framequality::test
