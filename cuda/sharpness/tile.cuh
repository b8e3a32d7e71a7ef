// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared parts of all kernels: from block number to tile, and from a block's sums to totals on the host.
#pragma once

#include "algorithms/sharpness/metrics.h"
#include "cuda/loop_bound.cuh"
#include "cuda/sharpness/job.h"
#include "cuda/sharpness/overlap.cuh"

#include <iterator>

namespace framequality::cuda {

/// True for from <= v < to, in one comparison.
__device__ __forceinline__ bool is_within(int v, int from, int to) {
  return static_cast<unsigned>(v - from) < static_cast<unsigned>(max(to - from, 0));
}

/// A rectangle of working samples; x1 and y1 are past the end.
struct Area {
  int x0, x1, y0, y1;
  __device__ bool empty() const { return x0 >= x1 || y0 >= y1; }
  __device__ bool holds(int x, int y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
};

/// A block's rectangle, which may be empty: lies in one cell of one grid.
struct Tile : Area {
  int left;           ///< its start if its cell had no left edge, a multiple of Kernel::x_align
  int field, cell;    ///< cell: index into the totals
  Area whole;         ///< the cell's part of the field
  int index, blocks;  ///< this block among those of the cell's part of the field
};

/// The grid of block `block`.
__device__ inline TiledGrid find_grid(const Job& job, int block) {
  int g = 0;
  for (int n = job.grid_count - 1; n > 0;) {  // the last grid with first_block <= block lies in [g, g + n]
    const int half = (n + 1) / 2;
    if (job.grids[g + half].first_block <= block) {
      g += half;
      n -= half;
    } else {
      n = half - 1;
    }
  }
  return g == 0 ? job.first : job.grids[g];
}

/// The tile of block `block` of its grid.
__device__ inline Tile find_tile(const TiledGrid& t, int block, int width, int height, int x_align) {
  Tile tile;
  tile.field = t.grid.field;
  tile.whole = {t.grid.x0, t.grid.x1, t.grid.y0, t.grid.y1};
  tile.cell = t.grid.first_cell;
  tile.blocks = t.tiles_x * t.tiles_y;
  tile.index = block - t.first_block;
  if (t.grid.columns * t.grid.rows > 1) {  // otherwise save the divisions
    const int cell = tile.index / tile.blocks, column = cell % t.grid.columns, row = cell / t.grid.columns;
    tile.index %= tile.blocks;
    tile.cell += cell;
    tile.whole = {t.grid.column(column), t.grid.column(column + 1), t.grid.row(row), t.grid.row(row + 1)};
  }
  tile.left = tile.whole.x0 / x_align * x_align + tile.index % t.tiles_x * width;
  tile.x0 = loop_bound(max(tile.whole.x0, tile.left));
  tile.x1 = loop_bound(min(tile.whole.x1, tile.left + width));
  tile.y0 = loop_bound(tile.whole.y0 + tile.index / t.tiles_x * height);
  tile.y1 = loop_bound(min(tile.whole.y1, tile.y0 + height));
  return tile;
}

/// Row 0 of the field in plane p.
__device__ inline const std::uint8_t* field_row(const Job& job, int p, int field) {
  return job.frame.plane[p] + field * job.frame.stride[p];
}

/// Position of a metric's neighbours.
template <class M>
inline constexpr sharpness::Reach kReachOf = [] {
  if constexpr (M::kHistogram) {
    return sharpness::Reach{};
  } else {
    return M::kReach;
  }
}();

/// Adds the block's sums, mine of each thread, to totals: the first `count` of them. All threads of the block call it.
template <int kThreads, int kSums>
__device__ void add_sums(unsigned long long* totals, const long long (&mine)[kSums], int count = kSums) {
  constexpr int kWarps = kThreads / 32;
  __shared__ long long warp_sums[kSums][kWarps];
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    long long sum = mine[i];
#pragma unroll
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warp_sums[i][threadIdx.x / 32] = sum;
  }
  __syncthreads();
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) {
    long long sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += warp_sums[i][w];
    atomicAdd(totals + i, static_cast<unsigned long long>(sum));
  }
}

/// The same for the totals of a cell.
template <class M, int kThreads>
__device__ void add_to_cell(const Job& job, int cell, const long long (&mine)[sharpness::kWordsOf<M>]) {
  add_sums<kThreads>(job.totals + cell * job.words, mine, sharpness::kTotalsOf<M> + job.mean);
}

/// True in the last of `blocks` blocks to call it, with what the others wrote to be seen. All threads of these blocks
/// call it. ticket: zero before and after.
__device__ inline bool is_last_block(unsigned* ticket, unsigned blocks) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicInc(ticket, blocks - 1) == blocks - 1;
  __syncthreads();
  if (is_last) __threadfence();
  return is_last;
}

/// Begins every kernel that measures, called by all threads of every block.
template <class Work>
__device__ __forceinline__ void begin_block(const Work& work) {
  let_next_begin();
  if (work.is_made) wait_for_earlier();
}

/// Ends every kernel, called by all threads of every block: the last block to arrive moves the totals to the host and
/// leaves zeros for the next frame, so that a frame needs neither a memset nor a copy back.
__device__ inline void finish_block(const Job& job) {
  if (!is_last_block(job.ticket, gridDim.x)) return;
  if (!job.is_made) wait_for_earlier();
  for (int i = static_cast<int>(threadIdx.x); i < job.total_count; i += static_cast<int>(blockDim.x))
    job.results[i] = static_cast<std::int64_t>(atomicExch(job.totals + i, 0ull));
}

/// 256 bins in shared memory, several copies of each to keep threads with equal samples apart.
template <int kCopies>
struct Bins {
  unsigned count[sharpness::kHistogramBins][kCopies];

  __device__ void clear() {
    for (int i = static_cast<int>(threadIdx.x); i < sharpness::kHistogramBins * kCopies;
         i += static_cast<int>(blockDim.x))
      count[i / kCopies][i % kCopies] = 0;
    __syncthreads();
  }
  /// Address of a copy, for add().
  __device__ unsigned copy(int index) const {
    return static_cast<unsigned>(__cvta_generic_to_shared(&count[0][index]));
  }
  /// As atomicAdd(), which would recompute the address of `count` each time.
  __device__ static void add(unsigned copy, unsigned bin) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(copy + bin * (kCopies * 4)) : "memory");
  }
  /// Adds all copies to the cell's totals. All threads of the block call it.
  __device__ void add_to_cell(const Job& job, int cell) {
    __syncthreads();
    for (int b = static_cast<int>(threadIdx.x); b < sharpness::kHistogramBins; b += static_cast<int>(blockDim.x)) {
      unsigned n = 0;
#pragma unroll
      for (int c = 0; c < kCopies; ++c) n += count[b][(b + c) % kCopies];  // neighbours in different banks
      if (n) atomicAdd(job.totals + cell * job.words + b, static_cast<unsigned long long>(n));
    }
  }
};

}  // namespace framequality::cuda
