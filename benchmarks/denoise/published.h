// SPDX-License-Identifier: LGPL-2.1-or-later
// Non-local means by integral images in device memory, as it was published for GPUs; no CUDA headers.
#pragma once

#include "algorithms/denoise/weight.h"

#include <cstdint>
#include <vector>

namespace framequality::published {

// For each offset an integral image of squared differences, from which the sum over any patch is four numbers. The
// published form reads one pixel beside the patch, adds in floating point until small sums drown, and wants sizes that
// are multiples of 4; here sums are exact and sizes any.

enum class Scheme {
  kTwoLoops,    ///< offset by offset: parallel over rows, then over columns; then the weights
  kThreeLoops,  ///< parallel over the offsets of one row of the search window, too
};
inline constexpr const char* kSchemes[] = {"two parallel loops", "three parallel loops"};

struct Result {
  double seconds = 0;                ///< of one frame's kernels, in device memory
  std::vector<std::uint8_t> pixels;  ///< without gaps
};

/// Filters packed 8-bit pixels on the current device, `repeats` times after once to warm up. Border::kSymmetric,
/// CenterWeight::kOne, no noise. Throws cuda::Error.
Result filter(const std::vector<std::uint8_t>& pixels, int width, int height, const denoise::Settings& settings,
              Scheme scheme, int repeats);

}  // namespace framequality::published
