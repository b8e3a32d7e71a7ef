// SPDX-License-Identifier: LGPL-2.1-or-later
// A skip, or with REQUIRE_GPU=1 a failure, where no CUDA device is usable.
#pragma once

#include "cuda/device.h"
#include "cuda/sharpness/meter.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string_view>

namespace framequality::test {

/// True if the environment variable is set to something other than "" and "0".
inline bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

/// For SetUp(): skips the test with find_device's reason when there is no GPU; fails it if REQUIRE_GPU is set.
inline void require_gpu() {
  const Device device = cuda::find_device();
  if (device.id >= 0) return;
  if (is_set("REQUIRE_GPU")) FAIL() << "REQUIRE_GPU is set, but: " << device.reason;
  GTEST_SKIP() << device.reason;
}

}  // namespace framequality::test
