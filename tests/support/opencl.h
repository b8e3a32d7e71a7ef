// SPDX-License-Identifier: LGPL-2.1-or-later
// A skip, or with REQUIRE_OPENCL=1 a failure, where no OpenCL device is usable.
#pragma once

#include "opencl/api.h"
#include "opencl/device.h"
#include "tests/support/gpu.h"

#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::test {

/// The device that tests run on: the one that FQ_OPENCL_DEVICE names by part of "platform: device", or the best one.
inline Device opencl_device() {
  const char* const name = std::getenv("FQ_OPENCL_DEVICE");
  return opencl::find_device({.name = name ? name : ""});
}

/// For oclgrind 21.10, which looks for memory that is read unwritten and does not see that filling a buffer writes it.
inline void fill_by_writing() {
  static const opencl::Api table = [] {
    opencl::Api t = *opencl::installed_api();
    t.clEnqueueFillBuffer = [](cl_command_queue queue, cl_mem buffer, const void*, size_t, size_t offset, size_t bytes,
                               cl_uint, const cl_event*, cl_event*) {
      const std::vector<std::uint8_t> zeros(bytes);  // what all are filled with
      return opencl::installed_api()->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, zeros.data(), 0,
                                                           nullptr, nullptr);
    };
    return t;
  }();
  opencl::use_api(&table);
}

/// For SetUp().
inline void require_opencl() {
  const Device device = opencl_device();
  if (device.name.find("Oclgrind") != std::string::npos) fill_by_writing();
  if (device.id >= 0) return;
  if (is_set("REQUIRE_OPENCL")) FAIL() << "REQUIRE_OPENCL is set, but: " << device.reason;
  GTEST_SKIP() << device.reason;
}

}  // namespace framequality::test
