// SPDX-License-Identifier: LGPL-2.1-or-later
// Translates CUDA's error codes into the exceptions that callers catch.
#include "cuda/check.h"

#include "device/error.h"

#include <string>

namespace framequality::cuda {
namespace {

Fault fault_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return Fault::kOutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorStubLibrary:
      return Fault::kNoDevice;
    default:
      return Fault::kDeviceLost;
  }
}

}  // namespace

void fail(cudaError_t error, const char* call, std::source_location where) {
  (void)cudaGetLastError();  // an error that is not sticky must not be met again by the next check of a launch
  throw Error(fault_of(error), std::string(call) + ": " + cudaGetErrorString(error) + " (" + where.file_name() + ":" +
                                   std::to_string(where.line()) + ")");
}

}  // namespace framequality::cuda
