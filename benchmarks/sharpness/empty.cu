// SPDX-License-Identifier: LGPL-2.1-or-later
// A launch that computes nothing, to know the cost of launching.
#include "benchmarks/sharpness/empty.h"
#include "cuda/runtime.h"

#include <algorithm>

namespace framequality::bench {
namespace {

__global__ void nothing() {}

}  // namespace

double empty_kernel_seconds(int id) {
  constexpr int kLaunches = 1000;
  cuda::check(cudaSetDevice(id), "cudaSetDevice");
  const cuda::Stream stream = cuda::make_stream();
  const cuda::Event start = cuda::make_event(cudaEventDefault), stop = cuda::make_event(cudaEventDefault);
  float least = 0;
  for (int run = 0; run < 10; ++run) {
    cuda::check(cudaEventRecord(start.get(), stream.get()), "cudaEventRecord");
    for (int i = 0; i < kLaunches; ++i) nothing<<<1, 32, 0, stream.get()>>>();
    cuda::check(cudaGetLastError(), "nothing");
    cuda::check(cudaEventRecord(stop.get(), stream.get()), "cudaEventRecord");
    cuda::check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
    float ms;
    cuda::check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
    least = run == 0 ? ms : std::min(least, ms);
  }
  return least * 1e-3 / kLaunches;
}

}  // namespace framequality::bench
