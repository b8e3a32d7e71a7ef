// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of halftoning to the colours of a palette.
#pragma once

#include "algorithms/halftone/colour_filter.h"

#include <memory>

namespace framequality::cpu {

/// A filter for frames of this geometry; one may be pending. threads: per frame, 0 for as many as pay.
std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int threads = 0);

}  // namespace framequality::cpu
