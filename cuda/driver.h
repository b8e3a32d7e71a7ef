// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions of the CUDA driver, which is not linked: a machine may have none.
#pragma once

#include <cuda_runtime_api.h>

namespace framequality::cuda {

/// The driver's function of this name, which CUDA 12.0 has; null without a driver.
template <class Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result);
#endif
  (void)cudaGetLastError();
  return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(function) : nullptr;
}

}  // namespace framequality::cuda
