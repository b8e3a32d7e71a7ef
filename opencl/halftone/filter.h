// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on OpenCL devices. No OpenCL headers.
#pragma once

#include "algorithms/halftone/filter.h"

#include <memory>

namespace framequality::opencl {

/// A filter for frames of `geometry` in host memory on device `id`, with as many pending as `depth` says. Neither the
/// tone-dependent method nor serpentine Floyd-Steinberg: submit() throws std::invalid_argument. Throws Error.
std::unique_ptr<halftone::Filter> make_halftone(const Geometry& geometry, int id, int depth = 1);

}  // namespace framequality::opencl
