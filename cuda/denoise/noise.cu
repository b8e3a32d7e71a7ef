// SPDX-License-Identifier: LGPL-2.1-or-later
// The noise estimate of noise.h, and the weights that follow from it, computed on the device.
#include "cuda/check.h"
#include "cuda/denoise/job.h"
#include "cuda/loop_bound.cuh"

namespace framequality::cuda {
namespace {

using denoise::kNoiseBlock;
using denoise::kNoiseReach;
using denoise::NoiseBlock;
using denoise::NoiseGrid;

constexpr unsigned kAll = ~0u;

// --- Blocks ---------------------------------------------------------------------------------------------------------

// A thread block: kAcross adjacent blocks of pixels, samples in shared memory. A warp has two blocks' columns, each
// thread kEach pixels one below the other.
constexpr int kAcross = 4, kColumns = kAcross * kNoiseBlock, kEach = 4;
constexpr int kBlockThreads = kColumns * kNoiseBlock / kEach;
constexpr int kTileWidth = kColumns + 2 * kNoiseReach, kTileHeight = kNoiseBlock + 2 * kNoiseReach;

/// Index of the first block of a field's plane.
__device__ __forceinline__ int first_block(const DenoiseJob& job, int field, int plane) {
  return (field * job.count + plane) * NoiseGrid(job.width, job.field_height(0)).count();
}

/// Grid: thread blocks across, rows of blocks, fields and planes.
__global__ void __launch_bounds__(kBlockThreads) add_up(const __grid_constant__ DenoiseJob job, NoiseBlock* blocks) {
  const int k = static_cast<int>(blockIdx.z) % job.count, field = static_cast<int>(blockIdx.z) / job.count;
  const int height = job.field_height(field);
  const NoiseGrid grid(job.width, height);
  const int row = static_cast<int>(blockIdx.y), first = static_cast<int>(blockIdx.x) * kAcross;
  if (row >= grid.rows) return;

  __shared__ int tile[kTileHeight][kTileWidth];
  __shared__ unsigned fine[kAcross], coarse[kAcross], clipped[kAcross];
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kAcross) fine[thread] = coarse[thread] = clipped[thread] = 0;
  const int x0 = first * grid.width, y0 = row * grid.height;
  const DenoiseJob::Plane& plane = job.source[job.center][k];
  for (int i = thread; i < kTileHeight * kTileWidth; i += kBlockThreads) {
    const int x = min(x0 + i % kTileWidth, job.width - 1), y = min(y0 + i / kTileWidth, height - 1);
    tile[i / kTileWidth][i % kTileWidth] =
        static_cast<int>(read_sample(job.layout, plane.data + (y * job.fields + field) * plane.stride +
                                                     static_cast<std::ptrdiff_t>(x) * job.pixel_stride[k]));
  }
  __syncthreads();

  // Blocks narrower than 16 are alone in their row.
  const int column = thread % kColumns, block = column / kNoiseBlock, top = thread / kColumns * kEach;
  unsigned fine_sum = 0, coarse_sum = 0, clips = 0;
  if (first + block < grid.columns && column - block * kNoiseBlock < grid.width) {
    const int x = column + kNoiseReach;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (top + i >= grid.height) break;
      const int y = top + i + kNoiseReach;
      const auto residual = [&](int d) {
        return static_cast<unsigned>(abs(
            denoise::noise_residual(tile[y - d][x - d], tile[y - d][x], tile[y - d][x + d], tile[y][x - d], tile[y][x],
                                    tile[y][x + d], tile[y + d][x - d], tile[y + d][x], tile[y + d][x + d])));
      };
      fine_sum += residual(1);
      coarse_sum += residual(2);
      clips += tile[y][x] == 0 || tile[y][x] == job.layout.largest();
    }
  }
#pragma unroll
  for (int d = kNoiseBlock / 2; d > 0; d /= 2) {
    fine_sum += __shfl_xor_sync(kAll, fine_sum, d);
    coarse_sum += __shfl_xor_sync(kAll, coarse_sum, d);
    clips += __shfl_xor_sync(kAll, clips, d);
  }
  if (thread % kNoiseBlock == 0) {
    atomicAdd(fine + block, fine_sum);
    atomicAdd(coarse + block, coarse_sum);
    atomicAdd(clipped + block, clips);
  }
  __syncthreads();
  if (thread < kAcross && first + thread < grid.columns)
    blocks[first_block(job, field, k) + row * grid.columns + first + thread] =
        denoise::noise_block(fine[thread], coarse[thread], static_cast<int>(clipped[thread]), grid.pixels());
}

// --- Rank -----------------------------------------------------------------------------------------------------------

// One thread block per field. The sum at a rank is found eight bits at a time, from the top, by counting the values
// of the next bits among sums with the bits found so far. Each thread keeps its first blocks in registers: 8192 in all
// suffice for 1920x1080.
constexpr int kRankThreads = 1024, kDigits = 256, kKept = 8;

struct Search {
  unsigned counts[kDigits];
  unsigned found, rank;  ///< bits so far; rank among those that have them
};

/// Finds the next bits, by one warp.
__device__ __forceinline__ void find_digit(Search& search) {
  constexpr unsigned kOwn = kDigits / 32;
  const unsigned lane = threadIdx.x % 32;
  unsigned own = 0;
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) own += search.counts[lane * kOwn + i];
  unsigned up_to = own;
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned v = __shfl_up_sync(kAll, up_to, d);
    if (lane >= d) up_to += v;
  }
  const unsigned rank = search.rank;
  __syncwarp();
  if (rank < up_to - own || rank >= up_to) return;  // the digit is not this lane's
  unsigned digit = lane * kOwn, before = up_to - own;
  while (before + search.counts[digit] <= rank) before += search.counts[digit++];
  search.found = search.found << 8 | digit;
  search.rank = rank - before;
}

__global__ void __launch_bounds__(kRankThreads)
    weigh(const __grid_constant__ DenoiseJob job, const __grid_constant__ denoise::WeightRule rule,
          const NoiseBlock* blocks, denoise::Weights* weights) {
  __shared__ Search fine, coarse;
  __shared__ int voters;
  const int field = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const NoiseGrid grid(job.width, job.field_height(field));
  const int n = loop_bound(grid.count());
  double variance = 0;
  for (int k = 0; k < job.count && n > 0; ++k) {
    const NoiseBlock* const from = blocks + first_block(job, field, k);
    NoiseBlock kept[kKept];
#pragma unroll
    for (int j = 0; j < kKept; ++j)
      if (const int i = thread + j * kRankThreads; i < n) kept[j] = from[i];
    const auto for_each = [&](auto use) {
#pragma unroll
      for (int j = 0; j < kKept; ++j)
        if (thread + j * kRankThreads < n) use(kept[j]);
      for (int i = thread + kKept * kRankThreads; i < n; i += kRankThreads) use(from[i]);
    };
    if (thread == 0) voters = 0;
    __syncthreads();
    int voting = 0;
    for_each([&](const NoiseBlock& block) { voting += block.votes(); });
#pragma unroll
    for (int d = 16; d > 0; d /= 2) voting += __shfl_xor_sync(kAll, voting, d);
    if (thread % 32 == 0) atomicAdd(&voters, voting);
    __syncthreads();
    const bool all = denoise::all_vote(voters, n);
    if (thread == 0) {
      fine.found = coarse.found = 0;
      fine.rank = coarse.rank = static_cast<unsigned>(denoise::noise_rank(all ? n : voters));
    }
    // Sums of 256 residuals of less than 2^(depth + 3).
    for (int shift = job.layout.depth > 13 ? 24 : 16; shift >= 0; shift -= 8) {
      for (int i = thread; i < kDigits; i += kRankThreads) fine.counts[i] = coarse.counts[i] = 0;
      __syncthreads();
      for_each([&](const NoiseBlock& block) {
        if (!all && !block.votes()) return;
        const auto look = [&](Search& search, unsigned sum) {
          const std::uint64_t bits = sum;
          // Adding a constant 1 is one operation even if all of a warp add to the same counter.
          if (bits >> (shift + 8) == search.found) atomicAdd(search.counts + (sum >> shift & (kDigits - 1)), 1u);
        };
        look(fine, block.fine_sum());
        look(coarse, block.coarse);
      });
      __syncthreads();
      if (thread < 32) find_digit(fine);
      if (thread >= 32 && thread < 64) find_digit(coarse);
      __syncthreads();
    }
    variance += denoise::noise_variance(fine.found, coarse.found, grid.pixels(), job.layout.depth);
    __syncthreads();
  }
  if (thread == 0) weights[field] = denoise::weights_of(rule, variance / job.count);
}

unsigned blocks_for(int n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

void launch_noise(const DenoiseJob& job, const denoise::WeightRule& rule, NoiseBlock* blocks, denoise::Weights* weights,
                  cudaStream_t stream) {
  const NoiseGrid grid(job.width, job.field_height(0));
  if (grid.count() > 0) {
    add_up<<<dim3(blocks_for(grid.columns, kAcross), static_cast<unsigned>(grid.rows),
                  static_cast<unsigned>(job.fields * job.count)),
             kBlockThreads, 0, stream>>>(job, blocks);
    check(cudaGetLastError(), "a kernel's launch");
  }
  weigh<<<static_cast<unsigned>(job.fields), kRankThreads, 0, stream>>>(job, rule, blocks, weights);
  check(cudaGetLastError(), "a kernel's launch");
}

}  // namespace framequality::cuda
