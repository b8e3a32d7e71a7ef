// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of halftoning.
#pragma once

#include "algorithms/halftone/colour_filter.h"
#include "algorithms/halftone/filter.h"
#include "device/error.h"

#include <memory>

namespace framequality::cuda {

/// A filter for frames of `geometry` on device `id`; up to `depth` frames may be pending at a time, each with a stream
/// and memory of its own. id, frames and what is waited for: as for make_meter(). A frame in that device's memory may
/// become a picture there or in host memory, one in host memory becomes one there (by DMA where it is pinned, else by
/// way of pinned memory). collect() returns when the target holds the picture. The bits are those of the host twin.
/// Serpentine Floyd-Steinberg is refused: std::invalid_argument. Beside frame and picture, a frame in flight that
/// errors are diffused in takes device memory: for each pixel 2.2 bytes (8192x8192) to 2.6 (VGA), with more than one
/// bit a level 2.6 to 3.1. Throws Error.
std::unique_ptr<halftone::Filter> make_halftone(const Geometry& geometry, int id, int depth = 1);

/// The same for palettes, by blue noise only: Floyd-Steinberg is refused, std::invalid_argument. A palette that is new
/// takes the host some milliseconds for its tables, and memory is allocated for them. Throws Error.
std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::cuda
