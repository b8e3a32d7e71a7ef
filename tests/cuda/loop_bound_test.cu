// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops whose bounds are minima, with loop_bound() and without.
#include "cuda/loop_bound.cuh"
#include "cuda/runtime.h"
#include "tests/cuda/loop_bound_test.h"

namespace framequality::test {

namespace {

template <bool kGuarded>
__device__ __forceinline__ int bound(int v) {
  if constexpr (kGuarded)
    return cuda::loop_bound(v);
  else
    return v;
}

/// As a strip of the sharpness kernels: rows of a tile, of them those that the strip has, and of them those with
/// neighbours. What is added up differs with the rows, so that the loop cannot be a formula.
template <bool kGuarded>
__global__ void walk(const Rows* rows, int count, const int* values, int* sums) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Rows r = rows[i];
  const int y0 = bound<kGuarded>(min(r.top + r.strip * r.strip_rows, r.bottom));
  const int y1 = bound<kGuarded>(min(y0 + r.strip_rows, r.bottom));
  const int first = bound<kGuarded>(max(y0, 1)), end = bound<kGuarded>(min(y1, r.height - 1));
  int sum = 0;
  for (int y = first; y < end; ++y) sum += __ldg(values + y);
  sums[i] = sum;
}

}  // namespace

std::vector<int> walk_rows(const std::vector<Rows>& rows, const std::vector<int>& values, bool guarded) {
  cuda::DeviceMemory<Rows> on_device;
  cuda::DeviceMemory<int> device_values, sums;
  on_device.reserve(rows.size());
  device_values.reserve(values.size());
  sums.reserve(rows.size());
  cuda::check(cudaMemcpy(on_device.get(), rows.data(), rows.size() * sizeof(Rows), cudaMemcpyHostToDevice),
              "cudaMemcpy");
  cuda::check(cudaMemcpy(device_values.get(), values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice),
              "cudaMemcpy");
  const int count = static_cast<int>(rows.size());
  const auto kernel = guarded ? walk<true> : walk<false>;
  kernel<<<static_cast<unsigned>((count + 255) / 256), 256>>>(on_device.get(), count, device_values.get(), sums.get());
  cuda::check(cudaGetLastError(), "walk");
  std::vector<int> result(rows.size());
  cuda::check(cudaMemcpy(result.data(), sums.get(), result.size() * sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return result;
}

}  // namespace framequality::test
