// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of halftoning to the colours of a palette.
#pragma once

#include "algorithms/halftone/colour_filter.h"

#include <memory>
#include <string_view>

namespace framequality::cpu {

/// A filter for frames of this geometry; one may be pending. threads: per frame, 0 for as many as are worthwhile.
/// isa: one of instruction_sets(), or empty for the best; all give the same bits.
std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int threads = 0,
                                                             std::string_view isa = {});

}  // namespace framequality::cpu
