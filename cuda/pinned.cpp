// SPDX-License-Identifier: LGPL-2.1-or-later
// Host memory that the GPU's copy engine reads directly.
#include "cuda/pinned.h"

#include "cuda/runtime.h"

#include <exception>
#include <thread>

namespace framequality::cuda {

namespace {

/// Runs f in a thread of its own, if possible: the caller's current CUDA context, which may be somebody
/// else's, stays unchanged.
template <class F>
void apart(F f) noexcept {
  try {
    std::thread(f).join();
  } catch (const std::exception&) {
  }
}

}  // namespace

bool pin(void* data, std::size_t bytes, int id) noexcept {
  cudaError_t error = cudaErrorUnknown;
  apart([&] {
    error = cudaSetDevice(id);
    if (error == cudaSuccess) error = cudaHostRegister(data, bytes, cudaHostRegisterPortable);
    (void)cudaGetLastError();
  });
  return error == cudaSuccess;
}

void unpin(void* data, int id) noexcept {
  apart([&] {
    (void)cudaSetDevice(id);
    (void)cudaHostUnregister(data);
    (void)cudaGetLastError();
  });
}

}  // namespace framequality::cuda
