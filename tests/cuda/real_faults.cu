// SPDX-License-Identifier: LGPL-2.1-or-later
// Real faults of a GPU, made on purpose.
#include "tests/cuda/real_faults.h"

#include <cuda_runtime.h>

namespace framequality::test {
namespace {

__global__ void write_to(int* nowhere) { *nowhere = 1; }

}  // namespace

bool access_illegally() {
  write_to<<<1, 1>>>(reinterpret_cast<int*>(0x10));
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress && cudaFree(nullptr) != cudaSuccess;
}

std::size_t take_memory(std::size_t left) {
  std::size_t taken = 0;
  for (std::size_t size = std::size_t{1} << 36; size >= left / 2;) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, size) == cudaSuccess) {
      taken += size;
    } else {
      (void)cudaGetLastError();
      size /= 2;
    }
  }
  return taken;
}

}  // namespace framequality::test
