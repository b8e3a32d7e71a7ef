// SPDX-License-Identifier: LGPL-2.1-or-later
// A skip, or with REQUIRE_GPU=1 a failure, where no CUDA device is usable.
#pragma once

#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "tests/support/effort.h"

#include <gtest/gtest.h>

namespace framequality::test {

/// For SetUp(): skips the test with find_device's reason when there is no GPU; fails it if REQUIRE_GPU is set.
inline void require_gpu() {
  const Device device = cuda::find_device();
  if (device.id >= 0) return;
  if (is_set("REQUIRE_GPU")) FAIL() << "REQUIRE_GPU is set, but: " << device.reason;
  GTEST_SKIP() << device.reason;
}

}  // namespace framequality::test
