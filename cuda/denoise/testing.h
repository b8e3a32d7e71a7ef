// SPDX-License-Identifier: LGPL-2.1-or-later
// What tests and benchmarks need of the denoisers beside their interface; no CUDA headers.
#pragma once

#include "algorithms/denoise/filter.h"

#include <memory>

namespace framequality::cuda {

/// make_denoiser(), but never with the tensor cores' kernel.
std::unique_ptr<denoise::Filter> make_general_denoiser(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::cuda
