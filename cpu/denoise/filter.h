// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of the denoisers: filters on some or all cores, with the widest instructions the machine has.
#pragma once

#include "algorithms/denoise/filter.h"

#include <memory>
#include <string_view>

namespace framequality::cpu {

/// A filter for frames of `geometry` in host memory. Filters in collect(); one frame may be pending at a time.
/// threads: how many filter a frame at once, 0 for as many as the machine has cores; the result is the same.
/// isa: one of instruction_sets(), or empty for the best; results are bit-identical.
std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry& geometry, int threads = 0,
                                               std::string_view isa = {});

}  // namespace framequality::cpu
