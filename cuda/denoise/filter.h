// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of the denoisers.
#pragma once

#include "algorithms/denoise/filter.h"
#include "device/error.h"

#include <memory>

namespace framequality::cuda {

/// A filter for frames of `geometry` on device `id`; up to `depth` frames may be pending at a time, each with its own
/// stream and memory. id, sources and waiting: as for make_meter(). A Canvas may lie in host memory
/// (written by DMA if it is pinned, else through pinned memory) or in that device's memory; all sources and the
/// canvas lie on the same side. collect() returns when the canvas holds the frame. Pixel values may differ from the
/// host twin's by one: see denoise::kTolerance. Throws Error.
std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::cuda
