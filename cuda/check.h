// SPDX-License-Identifier: LGPL-2.1-or-later
// The one way CUDA faults become exceptions. Kernels include it, and nothing that takes nvcc long.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace framequality::cuda {

/// Throws Error for `error`, naming the call, CUDA's words and the caller's line.
[[noreturn]] void fail(cudaError_t error, const char* call, std::source_location where);

/// fail() if `error` is one.
inline void check(cudaError_t error, const char* call, std::source_location where = std::source_location::current()) {
  if (error != cudaSuccess) fail(error, call, where);
}

}  // namespace framequality::cuda
