// SPDX-License-Identifier: LGPL-2.1-or-later
// Device memory for tests, and how fast a device reads it.
#include "cuda/runtime.h"
#include "tests/support/device.h"

#include <algorithm>

namespace framequality::cuda {
namespace {

constexpr std::size_t kSweepBytes = std::size_t{4} << 30;  // many times any L2 cache
constexpr int kLoads = 4;                                  // 16-byte loads in flight for each thread

// Each block sums consecutive spans of kLoads * 16 bytes for each of its threads.
__global__ void __launch_bounds__(256) sum_words(const uint4* words, std::size_t count, unsigned* result) {
  unsigned sum = 0;
  const std::size_t span = std::size_t{256} * kLoads;
  for (std::size_t at = blockIdx.x * span + threadIdx.x; at + span <= count + threadIdx.x; at += gridDim.x * span) {
    uint4 v[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) v[i] = __ldcs(words + at + i * 256);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
  }
  if (sum == 1) *result = sum;  // never, for zeroed memory; keeps the loads
}

__global__ void wait_ns(unsigned long long ns) {
  const auto now = [] {
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
  };
  for (const unsigned long long end = now() + ns; now() < end;) __nanosleep(1000);
}

__global__ void trap_at_once() { __trap(); }

}  // namespace

DeviceBytes::DeviceBytes(std::span<const std::uint8_t> bytes, int id) {
  check(cudaSetDevice(id), "cudaSetDevice");
  data_ = {ReleaseDevice::take(std::max<std::size_t>(bytes.size(), 1)), ReleaseDevice{}};
  check(cudaMemcpy(data_.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  // From pageable memory the call may return before the last bytes arrive, and meters' streams do not wait for it.
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void DeviceBytes::read(std::span<std::uint8_t> bytes) const {
  check(cudaMemcpy(bytes.data(), data_.get(), bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void stall(CUstream_st* stream, double seconds) {
  wait_ns<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(seconds * 1e9));
  check(cudaGetLastError(), "stall");
}

void trap(CUstream_st* stream) {
  trap_at_once<<<1, 1, 0, stream>>>();
  check(cudaGetLastError(), "trap");
}

double read_bandwidth(int id) {
  check(cudaSetDevice(id), "cudaSetDevice");
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, id), "cudaDeviceGetAttribute");
  DeviceMemory<std::uint8_t> memory;
  memory.reserve(kSweepBytes);
  DeviceMemory<unsigned> result;
  result.reserve(1);
  const Stream stream = make_stream();
  const Event start = make_event(cudaEventDefault), stop = make_event(cudaEventDefault);
  check(cudaMemsetAsync(memory.get(), 0, kSweepBytes, stream.get()), "cudaMemsetAsync");
  float least = 0;
  for (int i = 0; i < 10; ++i) {
    check(cudaEventRecord(start.get(), stream.get()), "cudaEventRecord");
    sum_words<<<static_cast<unsigned>(processors * 8), 256, 0, stream.get()>>>(
        reinterpret_cast<const uint4*>(memory.get()), kSweepBytes / sizeof(uint4), result.get());
    check(cudaGetLastError(), "sum_words");
    check(cudaEventRecord(stop.get(), stream.get()), "cudaEventRecord");
    check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
    float ms;
    check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
    least = i == 0 ? ms : std::min(least, ms);
  }
  return static_cast<double>(kSweepBytes) / (least * 1e-3);
}

}  // namespace framequality::cuda
