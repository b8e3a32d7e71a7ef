// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCL devices: their list, selection, and a context on one. No OpenCL headers.
#pragma once

#include "device/backend.h"

#include <string>
#include <vector>

namespace framequality::opencl {

extern const Backend kBackend;

/// Type of a device.
enum class Processor { kGpu, kAccelerator, kCpu };

/// The device selected by a number in clinfo's order, or by part of "platform: device", or the best usable one: a
/// GPU, then an accelerator, then, unless `automatic`, a CPU that OpenCL runs on. Usable: it is available, and
/// computes the same as the CPU (self_test.h). Never throws; safe without libOpenCL.
Device find_device(const Wanted& wanted);

/// Number of devices of all platforms; 0 without libOpenCL.
int device_count() noexcept;

}  // namespace framequality::opencl
