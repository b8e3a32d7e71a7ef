// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels among which launch_denoise() chooses.
#pragma once

#include "cuda/denoise/job.h"

#include <cstddef>

namespace framequality::cuda {

/// Warps of a block, one below the other, at most.
inline constexpr int kMostWarps = 4;

/// A kernel that is launched with blocks of (32, warps) threads, for rows * warps rows and as many columns as a span
/// has without its patches' neighbours.
struct DenoiseKernel {
  const void* function = nullptr;  ///< of one DenoiseJob; null: there is none
  int rows = 0;                    ///< of pixels, to each warp
  std::size_t row_bytes = 0;       ///< of shared memory for each row of pixels that it reads around them
  std::size_t own_row_bytes = 0;   ///< for each without those that offsets reach
};

/// The largest sum of squared differences over a patch that codes can give.
inline double largest_distance(const DenoiseJob& job) {
  const double side = 2 * job.patch_radius + 1, largest = job.layout.largest();
  return side * side * job.count * largest * largest;
}

/// The fast kernel for a job, if there is one.
DenoiseKernel sliding_kernel(const DenoiseJob& job);

}  // namespace framequality::cuda
