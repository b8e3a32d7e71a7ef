// SPDX-License-Identifier: LGPL-2.1-or-later
// How others do the steps of BLIINDS-II on a GPU: arrays in memory between steps, tables searched, everything sorted.
#include "algorithms/bliinds/arithmetic.h"
#include "algorithms/bliinds/block.h"
#include "benchmarks/bliinds/variants.h"
#include "cuda/runtime.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace framequality::variants {
namespace {

using namespace bliinds;
using cuda::BliindsJob;
using cuda::check;
using cuda::DeviceMemory;
using cuda::ScaleJob;

constexpr int kThreads = 256, kCells = kBlock * kBlock;

int grid(std::int64_t n, int each = kThreads) { return static_cast<int>((n + each - 1) / each); }

/// Mean time of f(), after one to warm up.
template <class F>
double time(int repeats, F f) {
  f();
  const cuda::Event start = cuda::make_event(cudaEventDefault), stop = cuda::make_event(cudaEventDefault);
  check(cudaEventRecord(start.get()), "cudaEventRecord");
  for (int i = 0; i < repeats; ++i) f();
  check(cudaGetLastError(), "a kernel's launch");
  check(cudaEventRecord(stop.get()), "cudaEventRecord");
  check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float ms;
  check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
  return ms * 1e-3 / repeats;
}

/// The value of a device variable.
template <class T>
T fetched(const T* from) {
  T value;
  check(cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return value;
}

/// Pixel (x, y) of the first scale of a frame of bytes, zero outside.
__device__ double pixel(const BliindsJob& job, int x, int y) {
  const Scale& s = job.scale[0].scale;
  if (x < 0 || y < 0 || x >= s.width || y >= s.height) return 0;
  return job.frame.plane[0][y * job.frame.stride[0] + x];
}

// One thread a pixel of a block.
__global__ void rearrange(BliindsJob job, double* blocks) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= static_cast<std::int64_t>(job.scale[0].blocks) * kCells) return;
  const int columns = job.scale[0].scale.columns();
  const int block = static_cast<int>(at / kCells), cell = static_cast<int>(at % kCells);
  blocks[at] =
      pixel(job, kStride * (block % columns) - 1 + cell % kBlock, kStride * (block / columns) - 1 + cell / kBlock);
}

struct Matrix {
  double at[kBlock][kBlock];
};

// One thread a coefficient, ten blocks to a block of threads.
constexpr int kTogether = 10;
__global__ void multiply(Matrix dct, const double* blocks, int count, double* coefficients) {
  __shared__ double in[kTogether][kCells], half[kTogether][kCells];
  const int mine = static_cast<int>(threadIdx.x) / kCells, cell = static_cast<int>(threadIdx.x) % kCells;
  const int row = cell / kBlock, column = cell % kBlock;
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * kTogether + mine;
  in[mine][cell] = block < count ? blocks[block * kCells + cell] : 0;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += dct.at[row][i] * in[mine][i * kBlock + column];
  half[mine][cell] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += half[mine][row * kBlock + i] * dct.at[column][i];
  if (block < count) coefficients[block * kCells + cell] = sum;
}

__global__ void square(double* values, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) values[i] *= values[i];
}

__global__ void ratios(BliindsJob job, double* rho) {
  const int block = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (block >= job.scale[0].blocks) return;
  const int columns = job.scale[0].scale.columns();
  const int x0 = kStride * (block % columns) - 1, y0 = kStride * (block / columns) - 1;
  rho[block] = block_statistics<Real>([&](int y, int x) { return Real(pixel(job, x0 + x, y0 + y)); }).rho.v;
}

struct Linear {
  __device__ static int shape(const ShapeTable& t, double rho) {
    int i = 0;
    while (t.ratio[i + 1] >= rho && i + 1 < kShapes) ++i;
    return i < kShapes - 1 ? kFirstShape + i : kNoShape;
  }
};
struct Binary {
  __device__ static int shape(const ShapeTable& t, double rho) {
    int first = 0, end = kShapes;  // the last that is not below rho is one of these
    while (end - first > 1) {
      const int middle = (first + end) / 2;
      if (t.ratio[middle] >= rho)
        first = middle;
      else
        end = middle;
    }
    return first < kShapes - 1 ? kFirstShape + first : kNoShape;
  }
};
struct Start {
  __device__ static int shape(const ShapeTable& t, double rho) { return shape_of(t, rho); }
};
template <class Search>
__global__ void search(const ShapeTable* table, const double* rho, int count, std::uint16_t* shapes) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < count) shapes[i] = static_cast<std::uint16_t>(Search::shape(*table, rho[i]));
}

__global__ void compare(const std::uint16_t* a, const std::uint16_t* b, int count, unsigned* differences) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < count && a[i] != b[i]) atomicAdd(differences, 1u);
}

/// CUB's functions, which want to be asked first how much memory they need.
class Cub {
 public:
  template <class F>
  void operator()(F f) {
    std::size_t bytes = 0;
    check(f(nullptr, bytes), "CUB");
    memory_.reserve(bytes);
    check(f(memory_.get(), bytes), "CUB");
  }

 private:
  DeviceMemory<std::uint8_t> memory_;
};

}  // namespace

MatrixDct time_matrix_dct(const BliindsJob& job, int repeats) {
  const int count = job.scale[0].blocks;
  const std::int64_t cells = static_cast<std::int64_t>(count) * kCells;
  DeviceMemory<double> blocks, coefficients, sum;
  blocks.reserve(static_cast<std::size_t>(cells));
  coefficients.reserve(static_cast<std::size_t>(cells));
  sum.reserve(2);
  Matrix dct;
  for (int k = 0; k < kBlock; ++k)
    for (int i = 0; i < kBlock; ++i)
      dct.at[k][i] = k == 0 ? std::sqrt(0.2) : std::sqrt(0.4) * std::cos(std::acos(-1.0) * (2 * i + 1) * k / 10);
  MatrixDct times;
  times.rearrange = time(repeats, [&] { rearrange<<<grid(cells), kThreads>>>(job, blocks.get()); });
  times.multiply = time(repeats, [&] {
    multiply<<<grid(count, kTogether), kTogether * kCells>>>(dct, blocks.get(), count, coefficients.get());
  });
  times.megabytes = 2e-6 * sizeof(double) * static_cast<double>(cells);
  Cub cub;
  for (double* const values : {blocks.get(), coefficients.get()}) {
    square<<<grid(cells), kThreads>>>(values, cells);
    cub([&](void* memory, std::size_t& bytes) {
      return cub::DeviceReduce::Sum(memory, bytes, values, sum.get() + (values == coefficients.get()), cells);
    });
  }
  const double before = fetched(sum.get()), after = fetched(sum.get() + 1);
  if (!(std::abs(before - after) <= 1e-9 * before)) throw std::runtime_error("the matrix DCT is not orthonormal");
  return times;
}

Gamma time_gamma(const BliindsJob& job, int repeats) {
  const int count = job.scale[0].blocks;
  DeviceMemory<double> rho;
  DeviceMemory<std::uint16_t> shapes;
  DeviceMemory<unsigned> differences;
  rho.reserve(static_cast<std::size_t>(count));
  shapes.reserve(static_cast<std::size_t>(count));
  differences.reserve(1);
  check(cudaMemset(differences.get(), 0, sizeof(unsigned)), "cudaMemset");
  ratios<<<grid(count), kThreads>>>(job, rho.get());
  const auto timed = [&](auto way) {
    const double seconds = time(
        repeats, [&] { search<decltype(way)><<<grid(count), kThreads>>>(job.table, rho.get(), count, shapes.get()); });
    compare<<<grid(count), kThreads>>>(job.shapes, shapes.get(), count, differences.get());
    return seconds;
  };
  Gamma times;
  times.linear = timed(Linear());
  times.binary = timed(Binary());
  times.start = timed(Start());
  if (fetched(differences.get()) != 0) throw std::runtime_error("the searches in the table of shapes differ");
  return times;
}

double time_sort(const BliindsJob& job, const Features& expected, int repeats) {
  const int most = job.scale[0].blocks;
  DeviceMemory<double> sorted, sums;
  DeviceMemory<std::uint16_t> sorted_shapes;
  DeviceMemory<unsigned long long> shape_sums;
  sorted.reserve(static_cast<std::size_t>(most));
  sorted_shapes.reserve(static_cast<std::size_t>(most));
  sums.reserve(kFeatures);
  shape_sums.reserve(kFeatures);
  Cub cub;
  const auto sum = [&](const auto* values, auto* to, int count) {
    cub([&](void* memory, std::size_t& bytes) { return cub::DeviceReduce::Sum(memory, bytes, values, to, count); });
  };
  const double seconds = time(repeats, [&] {
    int feature = 0;
    for (const ScaleJob& s : job.scale)
      for (int statistic = 0; statistic < kStatistics; ++statistic, feature += 2) {
        if (statistic == kGamma) {
          const std::uint16_t* from = job.shapes + s.first;
          cub([&](void* memory, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortKeys(memory, bytes, from, sorted_shapes.get(), s.blocks);
          });
          sum(from, shape_sums.get() + feature, s.blocks);
          sum(sorted_shapes.get(), shape_sums.get() + feature + 1, tenth(s.blocks));
        } else {
          const double* from = job.values[statistic < kGamma ? statistic : statistic - 1] + s.first;
          cub([&](void* memory, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortKeysDescending(memory, bytes, from, sorted.get(), s.blocks);
          });
          sum(from, sums.get() + feature, s.blocks);
          sum(sorted.get(), sums.get() + feature + 1, tenth(s.blocks));
        }
      }
  });
  for (int i = 0; i < kFeatures; ++i) {
    const int blocks = job.scale[i / (2 * kStatistics)].blocks, over = i % 2 ? tenth(blocks) : blocks;
    const double got = i / 2 % kStatistics == kGamma
                           ? static_cast<double>(fetched(shape_sums.get() + i)) / (double{kShapeUnits} * over)
                           : fetched(sums.get() + i) / over;
    const double wanted = expected[static_cast<std::size_t>(i)];
    if (!(std::abs(got - wanted) <= 1e-12 * std::abs(wanted)))
      throw std::runtime_error("feature " + std::to_string(i + 1) + " by sorting differs");
  }
  return seconds;
}

}  // namespace framequality::variants
