// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of CUDA faults to exceptions. Kernels include it, so it includes nothing slow to compile.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace framequality::cuda {

/// Throws Error for `error`, naming the call, CUDA's text and the caller's line.
[[noreturn]] void fail(cudaError_t error, const char* call, std::source_location where);

/// Calls fail() if `error` is an error.
inline void check(cudaError_t error, const char* call, std::source_location where = std::source_location::current()) {
  if (error != cudaSuccess) fail(error, call, where);
}

}  // namespace framequality::cuda
