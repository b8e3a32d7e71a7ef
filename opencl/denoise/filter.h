// SPDX-License-Identifier: LGPL-2.1-or-later
// Denoisers on OpenCL devices. No OpenCL headers.
#pragma once

#include "algorithms/denoise/filter.h"

#include <memory>

namespace framequality::opencl {

/// A filter for frames of `geometry` in host memory on device `id`, with up to `depth` pending; its pixels
/// equal the host twin's. Canvas::unrounded is not supported. Throws Error.
std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::opencl
