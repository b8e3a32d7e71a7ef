// SPDX-License-Identifier: LGPL-2.1-or-later
// A kernel that copies from pinned memory, and the lookup of that memory.
#include "cuda/driver.h"
#include "cuda/fetch.h"
#include "cuda/runtime.h"

#include <cuda.h>

namespace framequality::cuda {
namespace {

constexpr unsigned kThreads = 256;

// A thread moves 16 bytes, all at once: the bus is the bottleneck.
__global__ void __launch_bounds__(kThreads) fetch_words(uint4* to, const uint4* from, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x, at = i * sizeof(uint4);
  if (at + sizeof(uint4) <= count) {
    to[i] = __ldcs(from + i);
  } else {
    for (std::size_t b = at; b < count; ++b)
      reinterpret_cast<std::uint8_t*>(to)[b] = reinterpret_cast<const std::uint8_t*>(from)[b];
  }
}

/// The driver's function, without counterpart in the runtime: it also returns the end of pinned memory.
decltype(&cuPointerGetAttributes) pointer_attributes() {
  static const auto found = driver_function<decltype(&cuPointerGetAttributes)>("cuPointerGetAttributes");
  return found;
}

}  // namespace

const std::uint8_t* mapped(const std::uint8_t* bytes, std::size_t count) {
  const auto ask = pointer_attributes();
  if (!ask) return nullptr;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  unsigned type = 0, is_managed = 0;
  CUdeviceptr on_device = 0, start = 0;
  std::size_t size = 0;
  void* values[] = {&type, &is_managed, &on_device, &start, &size};
  const auto address = reinterpret_cast<CUdeviceptr>(bytes);
  if (ask(5, which, values, address) != CUDA_SUCCESS || type != CU_MEMORYTYPE_HOST || is_managed != 0) return nullptr;
  // The range is in device addresses, which usually equal the host's.
  const bool is_whole = on_device >= start && on_device - start <= size && count <= size - (on_device - start);
  return is_whole ? reinterpret_cast<const std::uint8_t*>(on_device) : nullptr;
}

void fetch(std::uint8_t* to, const std::uint8_t* from, std::size_t count, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads * sizeof(uint4) - 1) / (kThreads * sizeof(uint4)));
  fetch_words<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from),
                                               count);
  check(cudaGetLastError(), "fetching a frame");
}

}  // namespace framequality::cuda
