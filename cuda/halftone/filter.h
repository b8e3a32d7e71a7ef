// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of halftoning.
#pragma once

#include "algorithms/halftone/colour_filter.h"
#include "algorithms/halftone/filter.h"
#include "device/error.h"

#include <memory>

namespace framequality::cuda {

/// A filter for frames of `geometry` on device `id`; up to `depth` frames may be pending at a time, each with its own
/// stream and memory. id, frames and waiting: as for make_meter(). A frame in that device's memory may
/// become an image there or in host memory, one in host memory becomes one there (by DMA if it is pinned, else through
/// pinned memory). collect() returns when the target holds the image, which is bit-identical to the host twin's.
/// Serpentine Floyd-Steinberg is refused: std::invalid_argument. Besides frame and image, error diffusion of a frame
/// in flight takes device memory: for each pixel 2.2 bytes (8192x8192) to 2.6 (VGA), with more than one
/// bit per level 2.6 to 3.1. Throws Error.
std::unique_ptr<halftone::Filter> make_halftone(const Geometry& geometry, int id, int depth = 1);

/// The same for palettes, by blue noise only: Floyd-Steinberg is refused, std::invalid_argument. A palette that is new
/// takes the host some milliseconds for its tables, and memory is allocated for them. Throws Error.
std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::cuda
