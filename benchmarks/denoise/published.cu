// SPDX-License-Identifier: LGPL-2.1-or-later
// Non-local means by integral images in device memory, as it was published for GPUs.
#include "benchmarks/denoise/published.h"
#include "benchmarks/support/results.h"
#include "cuda/runtime.h"

#include <algorithm>

namespace framequality::published {
namespace {

using cuda::check;
using cuda::DeviceMemory;

constexpr int kThreads = 256;

/// The picture with what lies beyond its border, and the integral images of some offsets.
struct Job {
  int width, height, patch, reach;
  denoise::Weights weights;
  const std::uint8_t* pixels;
  std::uint8_t* padded;  ///< by patch + reach on each side
  unsigned* integral;    ///< of the picture padded by `patch`, one row and column of zeros before it; one per offset
  float *sums, *values;
  std::uint8_t* out;

  __device__ int pad() const { return patch + reach; }
  __device__ int padded_width() const { return width + 2 * pad(); }
  __host__ __device__ int columns() const { return width + 2 * patch + 1; }
  __host__ __device__ int rows() const { return height + 2 * patch + 1; }
  __device__ unsigned* image(int i) const { return integral + static_cast<std::size_t>(i) * columns() * rows(); }
};

__global__ void pad(Job job) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= job.padded_width()) return;
  using denoise::bordered;
  const auto border = denoise::Border::kSymmetric;
  job.padded[static_cast<std::size_t>(y) * job.padded_width() + x] =
      job.pixels[static_cast<std::size_t>(bordered(y - job.pad(), job.height, border)) * job.width +
                 bordered(x - job.pad(), job.width, border)];
}

// A warp a row: differences and their sums from the left.
__global__ void scan_rows(Job job, int tx, int ty) {
  const int y = static_cast<int>(blockIdx.x * (kThreads / 32) + threadIdx.x / 32), lane = threadIdx.x % 32;
  if (y >= job.rows()) return;
  tx += static_cast<int>(blockIdx.z);
  unsigned* const to = job.image(static_cast<int>(blockIdx.z)) + static_cast<std::size_t>(y) * job.columns();
  if (y == 0) {
    for (int x = lane; x < job.columns(); x += 32) to[x] = 0;
    return;
  }
  const std::uint8_t* const a =
      job.padded + static_cast<std::size_t>(y - 1 + job.reach) * job.padded_width() + job.reach;
  const std::uint8_t* const b = a + static_cast<std::ptrdiff_t>(ty) * job.padded_width() + tx;
  unsigned before = 0;
  if (lane == 0) to[0] = 0;
  for (int first = 0; first + 1 < job.columns(); first += 32) {
    const int x = first + lane, d = x + 1 < job.columns() ? a[x] - b[x] : 0;
    unsigned sum = static_cast<unsigned>(d * d);
    for (int i = 1; i < 32; i *= 2) {
      const unsigned v = __shfl_up_sync(~0u, sum, i);
      if (lane >= i) sum += v;
    }
    if (x + 1 < job.columns()) to[x + 1] = before + sum;
    before += __shfl_sync(~0u, sum, 31);
  }
}

// A thread a column.
__global__ void scan_columns(Job job) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (x >= job.columns()) return;
  unsigned* at = job.image(static_cast<int>(blockIdx.z)) + x;
  unsigned sum = 0;
#pragma unroll 8
  for (int y = 0; y < job.rows(); ++y, at += job.columns()) *at = sum += *at;
}

// A thread a pixel: weights of `count` offsets from (tx, ty) on.
__global__ void average(Job job, int tx, int ty, int count) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= job.width) return;
  const std::size_t at = static_cast<std::size_t>(y) * job.width + x;
  float sum = job.sums[at], value = job.values[at];
  const int side = 2 * job.patch + 1;
  for (int i = 0; i < count; ++i) {
    const unsigned* const top = job.image(i) + static_cast<std::size_t>(y) * job.columns() + x;
    const unsigned* const bottom = top + static_cast<std::size_t>(side) * job.columns();
    const unsigned distance = bottom[side] - bottom[0] - top[side] + top[0];
    const int u = tx + i;
    const bool is_centre = u == 0 && ty == 0;
    const float spatial = static_cast<float>(u * u + ty * ty) * job.weights.spatial;
    const float w = is_centre ? 1 : exp2f(-denoise::exponent(job.weights, static_cast<float>(distance), spatial));
    sum += w;
    value += w * static_cast<float>(
                     job.padded[static_cast<std::size_t>(y + job.pad() + ty) * job.padded_width() + x + job.pad() + u] -
                     128);
  }
  job.sums[at] = sum;
  job.values[at] = value;
}

__global__ void divide(Job job) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= job.width) return;
  const std::size_t at = static_cast<std::size_t>(y) * job.width + x;
  job.out[at] =
      static_cast<std::uint8_t>(min(max(__float2int_rn(denoise::mean_of(job.values[at], job.sums[at], 8)), 0), 255));
}

dim3 grid(int n, int y, int z = 1) {
  return dim3(static_cast<unsigned>((n + kThreads - 1) / kThreads), static_cast<unsigned>(y), static_cast<unsigned>(z));
}

void queue(const Job& job, Scheme scheme, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(job.width) * job.height * sizeof(float);
  check(cudaMemsetAsync(job.sums, 0, bytes, stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(job.values, 0, bytes, stream), "cudaMemsetAsync");
  const int around = 2 * (job.patch + job.reach);
  pad<<<grid(job.width + around, job.height + around), kThreads, 0, stream>>>(job);
  const int together = scheme == Scheme::kTwoLoops ? 1 : 2 * job.reach + 1;
  for (int ty = -job.reach; ty <= job.reach; ++ty)
    for (int tx = -job.reach; tx <= job.reach; tx += together) {
      scan_rows<<<grid(job.rows() * 32, 1, together), kThreads, 0, stream>>>(job, tx, ty);
      scan_columns<<<grid(job.columns(), 1, together), kThreads, 0, stream>>>(job);
      average<<<grid(job.width, job.height), kThreads, 0, stream>>>(job, tx, ty, together);
    }
  divide<<<grid(job.width, job.height), kThreads, 0, stream>>>(job);
  check(cudaGetLastError(), "a kernel's launch");
}

}  // namespace

Result filter(const std::vector<std::uint8_t>& pixels, int width, int height, const denoise::Settings& settings,
              Scheme scheme, int repeats) {
  Job job{};
  job.width = width;
  job.height = height;
  job.patch = settings.patch_radius;
  job.reach = settings.search_radius;
  job.weights = denoise::weights_of(denoise::rule_of(settings, {1, {0}, settings.range}, 8), 0);
  const std::size_t count = pixels.size();
  const auto around = 2 * static_cast<std::size_t>(job.patch + job.reach);
  const std::size_t images = scheme == Scheme::kTwoLoops ? 1 : 2 * static_cast<std::size_t>(job.reach) + 1;
  DeviceMemory<std::uint8_t> in, padded, out;
  DeviceMemory<unsigned> integral;
  DeviceMemory<float> sums, values;
  in.reserve(count);
  out.reserve(count);
  padded.reserve((static_cast<std::size_t>(width) + around) * (static_cast<std::size_t>(height) + around));
  integral.reserve(images * static_cast<std::size_t>(job.columns()) * static_cast<std::size_t>(job.rows()));
  sums.reserve(count);
  values.reserve(count);
  job.pixels = in.get();
  job.padded = padded.get();
  job.integral = integral.get();
  job.sums = sums.get();
  job.values = values.get();
  job.out = out.get();
  check(cudaMemcpy(in.get(), pixels.data(), count, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const cuda::Stream stream = cuda::make_stream();
  const cuda::Event start = cuda::make_event(cudaEventDefault), stop = cuda::make_event(cudaEventDefault);
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    check(cudaEventRecord(start.get(), stream.get()), "cudaEventRecord");
    queue(job, scheme, stream.get());
    check(cudaEventRecord(stop.get(), stream.get()), "cudaEventRecord");
    check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
    float ms;
    check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
    if (i > 0) times.push_back(ms * 1e-3);
  }
  Result result;
  result.seconds = bench::median(times);
  result.pixels.resize(count);
  check(cudaMemcpy(result.pixels.data(), out.get(), count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return result;
}

}  // namespace framequality::published
