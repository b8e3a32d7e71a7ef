// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of the denoisers.
#pragma once

#include "algorithms/denoise/filter.h"
#include "device/error.h"

#include <memory>

namespace framequality::cuda {

/// A filter for frames of `geometry` on device `id`; up to `depth` frames may be pending at a time, each with a stream
/// and memory of its own. id, sources and what is waited for: as for make_meter(). A Canvas may lie in host memory
/// (written by DMA where it is pinned, else by way of pinned memory) or in that device's memory; all sources and the
/// canvas lie on the same side. collect() returns when the canvas holds the frame. Against the host twin codes may
/// differ by one: see denoise::kTolerance. Throws Error.
std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::cuda
