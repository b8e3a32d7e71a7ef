// SPDX-License-Identifier: LGPL-2.1-or-later
// Search for a GPU that can be used, with the reason if there is none; no CUDA headers.
#pragma once

#include "device/backend.h"

namespace framequality::cuda {

extern const Backend kBackend;

/// The device to use: `wanted`, or the first usable one if wanted is -1. Usable: the driver is recent enough for
/// this build and the device can run its kernels. Never throws; safe with no driver installed.
Device find_device(int wanted = -1);

/// CUDA devices that the driver shows; 0 without a driver.
int device_count() noexcept;

/// The calling thread's current driver context (a CUcontext, null for none), and how to make it current again. Workers
/// change it; a caller with its own CUDA code expects it to stay. Without a driver: null, and nothing happens.
void* context() noexcept;
void set_context(void* context) noexcept;

/// An empty kernel: a device that can load it can load the others.
const void* smallest_kernel();

/// Compute capability of the current device: major * 10 + minor. Throws std::runtime_error on failure.
int capability();

/// True if this build's kernels run on devices of compute capability `capability` (major * 10 + minor).
bool has_kernels_for(int capability);

/// The newest compiled architecture, as in __CUDA_ARCH__, that a device of this capability can run, and will
/// use. 0 if none.
int architecture_on(int capability);

}  // namespace framequality::cuda
