// SPDX-License-Identifier: LGPL-2.1-or-later
// Blue noise masks.
#pragma once

#include <cstdint>
#include <vector>

namespace framequality::tools {

/// Ranks 0...side^2-1 of a side x side mask, side a power of two, that repeats seamlessly: the n pixels of lowest rank
/// are spread evenly, for every n. R. Ulichney, The void-and-cluster method for dither array generation, SPIE 1913
/// (1993), with his Gaussian of 1.5 pixels.
std::vector<std::uint16_t> void_and_cluster(int side, std::uint64_t seed);

}  // namespace framequality::tools
