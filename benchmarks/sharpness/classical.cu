// SPDX-License-Identifier: LGPL-2.1-or-later
// The classical three-kernel GPU pipeline of theses and tutorials: the baseline that the fused kernel has to beat.
#include "algorithms/layout.h"
#include "benchmarks/sharpness/classical.h"
#include "cuda/runtime.h"

#include <chrono>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace framequality::classical {
namespace {

using cuda::check;
using cuda::DeviceMemory;

constexpr int kSide = 16;      // kernels 1 and 2: one thread for each pixel of a 16 x 16 block
constexpr int kThreads = 256;  // kernel 3: one-dimensional blocks
constexpr unsigned kWarp = 32;

struct Image {
  const std::uint8_t* gray;
  int width, height;
  __device__ int operator()(int x, int y) const { return gray[static_cast<std::size_t>(y) * width + x]; }
};

// What one pixel adds, as the formulas read; 0 where a neighbour is missing.
struct Tenengrad {
  static __device__ unsigned at(const Image& g, int x, int y) {
    if (x < 1 || y < 1 || x > g.width - 2 || y > g.height - 2) return 0;
    const int gx =
        g(x + 1, y - 1) + 2 * g(x + 1, y) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x - 1, y) - g(x - 1, y + 1);
    const int gy =
        g(x - 1, y + 1) + 2 * g(x, y + 1) + g(x + 1, y + 1) - g(x - 1, y - 1) - 2 * g(x, y - 1) - g(x + 1, y - 1);
    return static_cast<unsigned>(gx * gx + gy * gy);
  }
};
struct Laplacian {
  static __device__ unsigned at(const Image& g, int x, int y) {
    if (x < 1 || y < 1 || x > g.width - 2 || y > g.height - 2) return 0;
    return static_cast<unsigned>(abs(g(x + 1, y) + g(x - 1, y) - 2 * g(x, y)) +
                                 abs(g(x, y + 1) + g(x, y - 1) - 2 * g(x, y)));
  }
};
struct GrayDifferenceProduct {
  static __device__ unsigned at(const Image& g, int x, int y) {
    if (x > g.width - 2 || y > g.height - 2) return 0;
    return static_cast<unsigned>(abs(g(x, y) - g(x + 1, y)) * abs(g(x, y) - g(x, y + 1)));
  }
};

__global__ void to_gray(const std::uint8_t* bgr, std::uint8_t* gray, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  const std::size_t at = static_cast<std::size_t>(y) * width + x;
  gray[at] = static_cast<std::uint8_t>(luma_of(bgr[3 * at + 2], bgr[3 * at + 1], bgr[3 * at]));
}

template <class Metric>
__global__ void measure_pixels(Image g, unsigned* values) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= g.width || y >= g.height) return;
  values[static_cast<std::size_t>(y) * g.width + x] = Metric::at(g, x, y);
}

// Differs from the slides: sums of 64 bits, so that they are exact, and __syncwarp() in the unrolled last warp, whose
// threads no longer run in lockstep since Volta.
template <Reduction kKind>
__global__ void reduce(const unsigned* values, std::size_t count, unsigned long long* sums) {
  __shared__ unsigned long long shared[kThreads];
  const unsigned t = threadIdx.x;
  constexpr bool kFirstAdds = kKind == Reduction::kFirstAdd || kKind == Reduction::kUnrolled;
  const std::size_t at = std::size_t{blockIdx.x} * kThreads * (kFirstAdds ? 2 : 1) + t;
  unsigned long long first = at < count ? values[at] : 0;
  if (kFirstAdds && at + kThreads < count) first += values[at + kThreads];
  shared[t] = first;
  __syncthreads();
  if constexpr (kKind == Reduction::kDivergent) {
    for (unsigned s = 1; s < kThreads; s *= 2) {
      if (t % (2 * s) == 0) shared[t] += shared[t + s];
      __syncthreads();
    }
  } else if constexpr (kKind == Reduction::kStrided) {
    for (unsigned s = 1; s < kThreads; s *= 2) {
      const unsigned i = 2 * s * t;
      if (i < kThreads) shared[i] += shared[i + s];
      __syncthreads();
    }
  } else {
    constexpr unsigned kLast = kKind == Reduction::kUnrolled ? kWarp : 0;
    for (unsigned s = kThreads / 2; s > kLast; s /= 2) {
      if (t < s) shared[t] += shared[t + s];
      __syncthreads();
    }
    if constexpr (kKind == Reduction::kUnrolled) {
      if (t < kWarp) {
#pragma unroll
        for (unsigned s = kWarp; s > 0; s /= 2) {
          const unsigned long long other = shared[t + s];
          __syncwarp();
          shared[t] += other;
          __syncwarp();
        }
      }
    }
  }
  if (t == 0) sums[blockIdx.x] = shared[0];
}

template <class Metric>
void launch_pixels(dim3 grid, dim3 block, Image g, unsigned* values) {
  measure_pixels<Metric><<<grid, block>>>(g, values);
}

/// Sums for each block that `reduction` makes of `count` values.
std::size_t blocks_of(Reduction reduction, std::size_t count) {
  const std::size_t each = kThreads * (reduction >= Reduction::kFirstAdd ? 2 : 1);
  return (count + each - 1) / each;
}

void launch_reduce(Reduction reduction, const unsigned* values, std::size_t count, unsigned long long* sums) {
  constexpr decltype(&reduce<Reduction::kDivergent>) kKernels[] = {
      reduce<Reduction::kDivergent>, reduce<Reduction::kStrided>, reduce<Reduction::kSequential>,
      reduce<Reduction::kFirstAdd>, reduce<Reduction::kUnrolled>};
  const auto blocks = static_cast<unsigned>(blocks_of(reduction, count));
  kKernels[static_cast<int>(reduction)]<<<blocks, kThreads>>>(values, count, sums);
}

}  // namespace

std::int64_t total(const std::uint8_t* bgr, int width, int height, int metric, Reduction reduction, int id,
                   Times* times) {
  if (width < 1 || height < 1) throw std::invalid_argument("classical: an empty picture");
  check(cudaSetDevice(id), "cudaSetDevice");
  auto last = std::chrono::steady_clock::now();
  const auto lap = [&](auto step) {  // a member of Times
    if (!times) return;
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const auto now = std::chrono::steady_clock::now();
    times->*step += std::chrono::duration<double>(now - last).count();
    last = now;
  };
  const std::size_t count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const std::size_t blocks = blocks_of(reduction, count);
  std::int64_t sum = 0;
  {
    DeviceMemory<std::uint8_t> color, gray;
    DeviceMemory<unsigned> values;
    DeviceMemory<unsigned long long> sums;
    color.reserve(3 * count);
    gray.reserve(count);
    values.reserve(count);
    sums.reserve(blocks);
    lap(&Times::allocate);
    check(cudaMemcpy(color.get(), bgr, 3 * count, cudaMemcpyHostToDevice), "cudaMemcpy");
    lap(&Times::upload);
    const dim3 block(kSide, kSide);
    const dim3 grid(static_cast<unsigned>((width + kSide - 1) / kSide),
                    static_cast<unsigned>((height + kSide - 1) / kSide));
    to_gray<<<grid, block>>>(color.get(), gray.get(), width, height);
    check(cudaGetLastError(), "to_gray");
    lap(&Times::gray);
    constexpr decltype(&launch_pixels<Tenengrad>) kPixels[kMetrics.size()] = {
        launch_pixels<Tenengrad>, launch_pixels<Laplacian>, launch_pixels<GrayDifferenceProduct>};
    kPixels[metric](grid, block, Image{gray.get(), width, height}, values.get());
    check(cudaGetLastError(), "measure_pixels");
    lap(&Times::pixels);
    launch_reduce(reduction, values.get(), count, sums.get());
    check(cudaGetLastError(), "reduce");
    lap(&Times::reduce);
    std::vector<unsigned long long> partial(blocks);
    check(cudaMemcpy(partial.data(), sums.get(), blocks * sizeof partial[0], cudaMemcpyDeviceToHost), "cudaMemcpy");
    lap(&Times::download);
    sum = static_cast<std::int64_t>(std::accumulate(partial.begin(), partial.end(), 0ull));
    lap(&Times::add);
  }
  lap(&Times::release);
  return sum;
}

}  // namespace framequality::classical
