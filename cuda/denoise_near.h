// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels for small patches and windows.
#pragma once

#include "cuda/denoise_job.h"

#include <span>

namespace framequality::cuda {

struct NearKernel {
  bool is_choice;
  const char* name;
  const void* function;
  int rows, blocks, planes, reach;
  bool has_floor;
};
std::span<const NearKernel> near_kernels();
bool suits(const NearKernel& kernel, const DenoiseJob& job);
/// Which of near_kernels() launch_near() takes; -1: as it sees fit, -2: none.
extern int near_choice;

/// Filters the job if one of the kernels suits it. One launch. Throws Error.
bool launch_near(const DenoiseJob& job, cudaStream_t stream);

}  // namespace framequality::cuda
