// SPDX-License-Identifier: LGPL-2.1-or-later
// Direct binary search: periodic dot patterns that the eye cannot distinguish from an even grey.
#pragma once

#include "apps/train_halftone/spectrum.h"

#include <cstdint>

namespace framequality::tools {

/// Pixels per inch times viewing distance in inches.
inline constexpr double kScale = 2850;

/// A side x side pattern, side a power of two of at least 64, that repeats seamlessly and whose mean is near `a`:
/// toggles single dots and swaps neighbours, in raster order, as long as that brings the image that the eye model
/// sees nearer to the even grey. M. Analoui, J. Allebach, Model-based halftoning using direct binary search, SPIE 1666
/// (1992); the eye: R. Nasanen, Visibility of halftone dot textures, IEEE Trans. SMC 14 (1984), at 11 cd/m^2.
Dots search_dots(int side, double a, std::uint64_t seed);

}  // namespace framequality::tools
