// SPDX-License-Identifier: LGPL-2.1-or-later
// A skip, or with REQUIRE_OPENCL=1 a failure, where no OpenCL device is usable.
#pragma once

#include "opencl/context.h"
#include "opencl/device.h"
#include "tests/support/gpu.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

namespace framequality::test {

/// Whether the options that tests compile with make a driver compute something else. Without optimisation, pocl 7.1
/// calls its functions: on CPUs with AVX-512 its kernels then pass vectors of 64 bytes in two registers, where
/// functions read one. Even vstore16() writes half of them.
inline bool must_optimise(const opencl::DeviceInfo& device) {
  return device.platform_name == "Portable Computing Language" && device.driver.starts_with("7.1");
}

/// pocl 6.0 (Debian 13) ends the process with an assertion for some kernels of the denoisers.
inline bool aborts_on_denoisers(const opencl::DeviceInfo& device) {
  return device.platform_name == "Portable Computing Language" && device.driver.starts_with("6.0");
}

/// The device that tests run on: the one that FQ_OPENCL_DEVICE names by part of "platform: device", or the best one.
inline Device opencl_device() {
  // Before the first program is compiled.
  static const bool optimises = std::ranges::any_of(opencl::devices(), must_optimise);
  if (optimises) unsetenv("FQ_OPENCL_OPTIONS");
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
