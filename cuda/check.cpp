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
  (void)cudaGetLastError();  // clears errors that are not sticky, so that the next check of a launch does not see them
  throw Error(fault_of(error), std::string(call) + ": " + cudaGetErrorString(error) + " (" + where.file_name() + ":" +
                                   std::to_string(where.line()) + ")");
}

}  // namespace framequality::cuda
