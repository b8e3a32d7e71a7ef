// SPDX-License-Identifier: LGPL-2.1-or-later
// Other cuts and tunings of the tensor cores' denoising kernel: what the one in use is measured against.
#pragma once

#include "cuda/denoise/job.h"

#include <span>

namespace framequality::variants {

struct TensorDenoise {
  const char* name;
  /// For jobs of search radius 10 that suit the kernel, with weights of distances alone. Throws cuda::Error.
  void (*launch)(const cuda::DenoiseJob& job, cudaStream_t stream);
  const void* kernel;
  int threads, shared_bytes;
  bool right;  ///< false: its pictures are wrong, only its time is of use
};
std::span<const TensorDenoise> tensor_denoise();

/// Exponentials a second of the special function units, of the current device: the kernel's floor. Throws cuda::Error.
double exponential_rate();

}  // namespace framequality::variants
