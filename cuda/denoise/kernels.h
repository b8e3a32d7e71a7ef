// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels among which launch_denoise() chooses.
#pragma once

#include "cuda/denoise/job.h"

#include <cstddef>

namespace framequality::cuda {

/// Most warps of a block, one below the other.
inline constexpr int kMostWarps = 4;

/// A kernel that is launched with blocks of (32, warps) threads, for rows * warps rows and as many columns as a span
/// has without the neighbours of its patches.
struct DenoiseKernel {
  const void* function = nullptr;  ///< takes one DenoiseJob; null: there is none
  int rows = 0;                    ///< of pixels per warp
  std::size_t row_bytes = 0;       ///< of shared memory per row of pixels that it reads around them
  std::size_t own_row_bytes = 0;   ///< per row, without those that offsets reach
};

/// The largest possible sum of squared differences over a patch.
inline double largest_distance(const DenoiseJob& job) {
  const double side = 2 * job.patch_radius + 1, largest = job.layout.largest();
  return side * side * job.count * largest * largest;
}

/// The fast kernel for a job, if there is one.
DenoiseKernel sliding_kernel(const DenoiseJob& job);

}  // namespace framequality::cuda
