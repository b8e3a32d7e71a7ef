// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCL devices: which there are, which one is meant, and a context on one. No OpenCL headers.
#pragma once

#include "device/backend.h"

#include <string>
#include <vector>

namespace framequality::opencl {

extern const Backend kBackend;

/// What kind of processor a device is.
enum class Processor { kGpu, kAccelerator, kCpu };

/// The device that is meant by a number of clinfo's order, or by part of "platform: device", or the best usable one: a
/// GPU, then an accelerator, then, unless `automatic`, a processor that OpenCL runs on. Usable: it is available, and
/// computes what the CPU computes (self_test.h). Never throws; safe where there is no libOpenCL.
Device find_device(const Wanted& wanted);

/// Devices of all platforms; 0 without libOpenCL.
int device_count() noexcept;

}  // namespace framequality::opencl
