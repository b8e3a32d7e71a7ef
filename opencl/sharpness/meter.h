// SPDX-License-Identifier: LGPL-2.1-or-later
// The OpenCL twin: measures on any vendor's GPU, with totals bit-identical to the host twin's.
#pragma once

#include "algorithms/sharpness/meter.h"

#include <memory>

namespace framequality::opencl {

/// A meter for frames of `geometry` in host memory, or in DMA buffers that are imported, on device `id`, clinfo's
/// number; up to `depth` frames may be pending at a time, each with its own queue and memory. submit() does not wait
/// for the device, except for a plan whose programs have to be compiled first. Every program measures a small image and
/// is compared with the host twin before it is used. Throws Error.
std::unique_ptr<sharpness::Meter> make_meter(const Geometry& geometry, int id, int depth = 1);

}  // namespace framequality::opencl
