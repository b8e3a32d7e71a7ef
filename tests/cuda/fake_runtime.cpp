// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions of the CUDA runtime that the device twins and nvcc's host code call. They take the place of the static
// library's: it is linked only for what is missing here, and then the linker complains that the rest is there twice.
#include "tests/cuda/fake_runtime.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// "Device memory" is host memory. Copies and kernels do nothing, so that all of it stays zero.

namespace framequality::test {
namespace {

struct Device {
  int capability = 75;
  int block_room = 0, all_room = 0;  ///< bytes of shared memory for a block that asks for them, and of a multiprocessor
};
Device device;

struct Configuration {
  dim3 grid, block;
  std::size_t bytes = 0;
  cudaStream_t stream = nullptr;
} configuration;

template <class T>
cudaError_t put(T* to, T value) {
  *to = value;
  return cudaSuccess;
}

template <class T>
cudaError_t put_handle(T* to) {
  return put(to, reinterpret_cast<T>(std::uintptr_t{1}));
}

template <class P>
cudaError_t allocate(P** to, std::size_t bytes) {
  *to = std::calloc(bytes > 0 ? bytes : 1, 1);
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t note_launch(const void* function, dim3 grid, dim3 block, std::size_t bytes) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535 ||
      bytes > static_cast<std::size_t>(device.block_room))
    return cudaErrorInvalidConfiguration;
  const auto at = fake_kernels().find(function);
  if (at == fake_kernels().end()) return cudaErrorInvalidDeviceFunction;
  ++at->second.launches;
  return cudaSuccess;
}

/// The driver's function of this name: all memory is pinned, and far from the ends of its allocation.
CUresult CUDAAPI pointer_attributes(unsigned count, CUpointer_attribute* which, void** values, CUdeviceptr at) {
  constexpr std::size_t kAround = std::size_t{1} << 30;
  for (unsigned i = 0; i < count; ++i) {
    if (which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) *static_cast<unsigned*>(values[i]) = CU_MEMORYTYPE_HOST;
    if (which[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED) *static_cast<unsigned*>(values[i]) = 0;
    if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER) *static_cast<CUdeviceptr*>(values[i]) = at;
    if (which[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) *static_cast<CUdeviceptr*>(values[i]) = at - kAround;
    if (which[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE) *static_cast<std::size_t*>(values[i]) = 2 * kAround;
  }
  return CUDA_SUCCESS;
}

}  // namespace

std::map<const void*, FakeKernel>& fake_kernels() {
  static std::map<const void*, FakeKernel> kernels;  // filled before main()
  return kernels;
}

void set_fake_capability(int capability) {
  const int kilobytes = capability < 80                             ? 64
                        : capability == 80                          ? 163
                        : capability / 10 == 9 || capability == 100 ? 227
                                                                    : 99;
  device = {capability, 1024 * kilobytes, 1024 * (capability < 80 ? kilobytes : kilobytes + 1)};
}

}  // namespace framequality::test

using namespace framequality::test;

extern "C" {

// --- What nvcc's host code calls -------------------------------------------------------------------------------------

void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  fake_kernels()[function].name = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t bytes, CUstream_st* stream) {
  configuration = {grid, block, bytes, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* bytes, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *bytes = configuration.bytes;
  return put(static_cast<cudaStream_t*>(stream), configuration.stream);
}
#if CUDART_VERSION >= 12010
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return put(kernel, reinterpret_cast<cudaKernel_t>(const_cast<void*>(function)));
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**, std::size_t bytes, cudaStream_t) {
  return note_launch(kernel, grid, block, bytes);
}
#endif

// --- What the device twins call
// ---------------------------------------------------------------------------------------

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void**, std::size_t bytes, cudaStream_t) {
  return note_launch(function, grid, block, bytes);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* launch, const void* function, void**) {
  // Kernels that may overlap: what they wait for is compiled for Hopper and later alone.
  if (launch->numAttrs > 0 && device.capability < 90) return cudaErrorInvalidConfiguration;
  return note_launch(function, launch->gridDim, launch->blockDim, launch->dynamicSmemBytes);
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  return put(blocks, 2);
}

cudaError_t cudaDriverGetVersion(int* version) { return put(version, CUDART_VERSION); }
cudaError_t cudaRuntimeGetVersion(int* version) { return put(version, CUDART_VERSION); }
cudaError_t cudaGetDeviceCount(int* count) { return put(count, 1); }
cudaError_t cudaGetDevice(int* id) { return put(id, 0); }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int) { return put(all, cudaDeviceProp{}); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor:
      return put(value, device.capability / 10);
    case cudaDevAttrComputeCapabilityMinor:
      return put(value, device.capability % 10);
    case cudaDevAttrMultiProcessorCount:
      return put(value, 4);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return put(value, device.block_room);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return put(value, device.all_room);
    default:
      return cudaErrorInvalidValue;  // add it above
  }
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an error of the runtime that computes nothing"; }

cudaError_t cudaMalloc(void** to, std::size_t bytes) { return allocate(to, bytes); }
cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned) { return allocate(to, bytes); }
cudaError_t cudaHostGetDevicePointer(void** to, void* from, unsigned) { return put(to, from); }
cudaError_t cudaFree(void* p) {
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* of, const void*) {
  *of = {};
  of->type = cudaMemoryTypeHost;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind) { return cudaSuccess; }
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, cudaMemcpyKind,
                              cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return put_handle(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return put_handle(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) { return put(ms, 1.0f); }

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
#else
cudaError_t cudaGetDriverEntryPoint(const char*, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
#endif
  *function = reinterpret_cast<void*>(&pointer_attributes);
  return put(result, cudaDriverEntryPointSuccess);
}

}  // extern "C"
