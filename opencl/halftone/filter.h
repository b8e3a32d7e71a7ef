// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on OpenCL devices. No OpenCL headers.
#pragma once

#include "algorithms/halftone/colour_filter.h"
#include "algorithms/halftone/filter.h"

#include <memory>

namespace framequality::opencl {

/// A filter for frames of `geometry` in host memory on device `id`, with up to `depth` pending. Supports neither the
/// tone-dependent method nor serpentine Floyd-Steinberg: submit() throws std::invalid_argument. Throws Error.
std::unique_ptr<halftone::Filter> make_halftone(const Geometry& geometry, int id, int depth = 1);

/// The same for palettes, by blue noise only: submit() throws std::invalid_argument for Floyd-Steinberg. A palette that
/// is new takes the host some milliseconds for its tables, and memory is allocated for them. Throws Error.
std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::opencl
