// SPDX-License-Identifier: LGPL-2.1-or-later
// A skip, or with REQUIRE_OPENCL=1 a failure, where no OpenCL device is usable.
#pragma once

#include "opencl/device.h"
#include "tests/support/gpu.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace framequality::test {

/// The device that tests run on: the one that FQ_OPENCL_DEVICE names by part of "platform: device", or the best one.
inline Device opencl_device() {
  const char* const name = std::getenv("FQ_OPENCL_DEVICE");
  return opencl::find_device({.name = name ? name : ""});
}

/// For SetUp().
inline void require_opencl() {
  const Device device = opencl_device();
  if (device.id >= 0) return;
  if (is_set("REQUIRE_OPENCL")) FAIL() << "REQUIRE_OPENCL is set, but: " << device.reason;
  GTEST_SKIP() << device.reason;
}

}  // namespace framequality::test
