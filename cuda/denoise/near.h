// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels for patches of 3x3 and windows of a few pixels.
#pragma once

#include "cuda/denoise/job.h"

namespace framequality::cuda {

/// Filters the job if one of the kernels suits it. One launch. Throws Error.
bool launch_near(const DenoiseJob& job, cudaStream_t stream);

}  // namespace framequality::cuda
