// SPDX-License-Identifier: LGPL-2.1-or-later
// Masks of pixels that count, as the rectangles that plans measure.
#pragma once

#include "algorithms/sharpness/plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::sharpness {

/// Disjoint rectangles, in pixels and from top to bottom, that together hold the pixels whose value is not 0; runs that
/// are equal in successive rows make one. values: one byte per pixel. downscale: 1, 2 or 4; squares of that size count
/// if all of their pixels do, and those that the edges cut off do not.
std::vector<Rect> rectangles_of(const std::uint8_t* values, std::ptrdiff_t stride, int width, int height,
                                int downscale);

/// The smallest rectangle that holds them all; empty for none.
Rect bounds_of(const std::vector<Rect>& rectangles);

}  // namespace framequality::sharpness
