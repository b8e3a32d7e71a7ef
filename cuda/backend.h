// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin: measures on an NVIDIA GPU, totals bit for bit those of the host twin.
#pragma once

#include "algorithms/meter.h"
#include "cuda/error.h"

#include <memory>
#include <string>

namespace framequality::cuda {

/// Result of looking for a device.
struct Device {
  int id = -1;         ///< CUDA device number, -1: none usable
  std::string name;    ///< as the driver calls it
  std::string reason;  ///< id < 0: why, and what the user can do about it
};

/// The device to use: `wanted`, or the first usable one if wanted is -1. Usable: the driver is recent enough for
/// this build and the device can run its kernels. Never throws; safe with no driver installed.
Device find_device(int wanted = -1);

/// A meter for frames of `geometry` on device `id`, in host memory (staged through pinned memory) or in that device's
/// memory (Frame::on_device, read where it lies; whoever wrote it must have finished). One frame may be pending at a
/// time. id < 0: in the CUDA context that is current, which may be any driver context (as GstCuda pushes one); the same
/// one must be current whenever the meter is called or destroyed. id >= 0: every call makes that device's primary
/// context current and leaves it so. submit() does not wait for the device, collect() does. Throws Error.
std::unique_ptr<Meter> make_meter(const Geometry& geometry, int id);

}  // namespace framequality::cuda
