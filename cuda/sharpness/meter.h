// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin: measures on an NVIDIA GPU, with totals bit-identical to the host twin's.
#pragma once

#include "algorithms/sharpness/meter.h"
#include "device/error.h"

#include <memory>

namespace framequality::cuda {

/// A meter for frames of `geometry` on device `id`; up to `depth` frames may be pending at a time, each with its own
/// stream and memory, so that one's copy overlaps another's kernel. submit() does not wait for the device, but
/// copies the frame if necessary; collect() waits, spinning at first.
/// Frames may lie in pinned host memory, whoever pinned it (read in place, by DMA or, if small, by a kernel), in
/// any other host memory (copied to pinned memory, large ones by several threads), or in that device's memory
/// (Memory::kCuda; read in place, after all work queued so far in the legacy default stream; writers
/// on another stream must have finished). id < 0: in the CUDA context that is current, which may be any driver
/// context (as GstCuda pushes one); the same one must be current whenever the meter is called or destroyed. id >= 0:
/// every call makes that device's primary context current and leaves it so. Throws Error.
std::unique_ptr<sharpness::Meter> make_meter(const Geometry& geometry, int id, int depth = 1);

}  // namespace framequality::cuda
