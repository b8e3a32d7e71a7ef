// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel for every layout and cells of any size: luma, metric and reduction through shared memory.
#include "algorithms/sharpness/metrics/all.h"
#include "cuda/sharpness/sums.cuh"

namespace framequality::cuda {

using namespace sharpness;

namespace {

// 64 columns keep two warps adjacent in a row; 32 rows keep the halo (up to 3 columns and 2 rows) a small part of
// the tile, and its shared memory lets a full SM's worth of blocks of 256 threads stay resident.
constexpr int kTileWidth = 64, kTileHeight = 32, kThreads = 256;
constexpr int kStripRows = kTileHeight / (kThreads / kTileWidth);

/// Samples of a tile and its halo. Shape: rows of up to kTileWidth + 3 samples.
struct Samples {
  static constexpr int kRows = kTileHeight + 2, kColumns = kTileWidth + 3;
  std::uint16_t sample[kRows][kColumns + 1];
};

/// Calls f(row, column) for rows x columns, distributed over the block's threads, neighbours in a row adjacent.
template <class F>
__device__ void for_each(int rows, int columns, F f) {
  const int down = kThreads / columns, right = kThreads % columns;
  int r = static_cast<int>(threadIdx.x) / columns, c = static_cast<int>(threadIdx.x) % columns;
  while (r < rows) {
    f(r, c);
    r += down;
    c += right;
    if (c >= columns) {
      c -= columns;
      ++r;
    }
  }
}

/// Fills s.sample with the samples of the tile and `reach` around it; outside the image its edge is repeated.
__device__ void load_samples(const Job& job, const Tile& tile, Reach reach, Samples& s) {
  const int w = job.width[tile.field], h = job.height[tile.field];
  const int rows = tile.y1 - tile.y0 + reach.up + reach.down;
  const int columns = tile.x1 - tile.x0 + reach.left + reach.right;
  const int first_x = tile.x0 - reach.left, first_y = tile.y0 - reach.up;
  const Frame& f = job.frame;
  for_each(rows, columns, [&](int r, int c) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(min(max(first_y + r, 0), h - 1)) * job.fields + tile.field;
    s.sample[r][c] =
        static_cast<std::uint16_t>(luma_code(job.layout, f.plane[0] + row * f.stride[0], f.plane[1] + row * f.stride[1],
                                             f.plane[2] + row * f.stride[2], min(max(first_x + c, 0), w - 1)));
  });
  __syncthreads();
}

/// Index v of n samples, reflected at both ends without repeating the edge; 0 if n is 1.
__device__ int reflected(int v, int n) {
  if (n == 1) return 0;
  return v < 0 ? -v : v >= n ? 2 * (n - 1) - v : v;
}

/// Moves down one column of the thread's strip of the tile, keeping three rows' features.
template <class M>
__device__ void walk(const Job& job, const Tile& tile, const Samples& s, int x, int y0, int y1,
                     long long (&mine)[kWordsOf<M>]) {
  constexpr int kLeft = M::kReach.left, kRight = M::kReach.right, kUp = M::kReach.up, kDown = M::kReach.down;
  const int w = job.width[tile.field], h = job.height[tile.field];
  const auto column = [&](int v) { return (M::kReflect ? reflected(v, w) : v) - tile.x0 + kLeft; };
  const int left = column(x - 1), centre = column(x), right = column(x + 1), right2 = column(x + 2);
  // Neighbours outside the reach are never requested; their index is not even inside the tile.
  const auto row = [&](int y) {
    const std::uint16_t* g = s.sample[(M::kReflect ? reflected(y, h) : y) - tile.y0 + kUp];
    return M::template row<int>(
        Around<int>{kLeft > 0 ? g[left] : 0, g[centre], kRight > 0 ? g[right] : 0, kRight > 1 ? g[right2] : 0});
  };
  if (job.mean) {
    unsigned sum = 0;
    for (int y = y0; y < y1; ++y) sum += s.sample[y - tile.y0 + kUp][centre];
    mine[kTotalsOf<M>] = sum;
  }
  if constexpr (!M::kReflect) {
    if (x < kLeft || x + kRight >= w) return;
    y0 = loop_bound(max(y0, kUp));
    y1 = loop_bound(min(y1, h - kDown));
  }
  if (y0 >= y1) return;
  WordSums<M> sums;
  static_assert(kStripRows <= WordSums<M>::kPixels);
  static_assert(kUp <= kDown);
  if constexpr (kDown == 0) {
    for (int y = y0; y < y1; ++y) {
      const auto mid = row(y);
      M::pixel(mid, mid, mid, sums);
    }
  } else {
    auto mid = row(y0);
    auto up = kUp > 0 ? row(y0 - 1) : mid;
    for (int y = y0; y < y1; ++y) {
      const auto down = row(y + 1);
      M::pixel(up, mid, down, sums);
      up = mid;
      mid = down;
    }
  }
#pragma unroll
  for (int i = 0; i < kTotalsOf<M>; ++i) mine[i] = sums.total(i);
}

// One block per tile. Thread t processes column t % kTileWidth of strip t / kTileWidth, kStripRows rows high.
template <class M>
__global__ void __launch_bounds__(kThreads) measure_tiles(const __grid_constant__ Job job) {
  __shared__ Samples samples;
  begin_block(job);
  const TiledGrid grid = find_grid(job, static_cast<int>(blockIdx.x));
  const Tile tile = find_tile(grid, static_cast<int>(blockIdx.x), kTileWidth, kTileHeight, 1);
  if (!tile.empty()) {
    constexpr Reach kReach = kReachOf<M>;
    load_samples(job, tile, kReach, samples);
    const int x = tile.x0 + static_cast<int>(threadIdx.x) % kTileWidth;
    const int y0 = tile.y0 + static_cast<int>(threadIdx.x) / kTileWidth * kStripRows;
    const int y1 = loop_bound(min(y0 + kStripRows, tile.y1));
    if constexpr (M::kHistogram) {
      // One copy per warp, of which there are 8.
      __shared__ Bins<kThreads / 32> bins;
      bins.clear();
      const int shift = job.samples.bits() - 8;
      const unsigned copy = bins.copy(static_cast<int>(threadIdx.x) / 32);
      if (x < tile.x1)
        for (int y = y0; y < y1; ++y) bins.add(copy, samples.sample[y - tile.y0][x - tile.x0] >> shift);
      bins.add_to_cell(job, tile.cell);
    } else {
      long long mine[kWordsOf<M>] = {};
      if (x < tile.x1 && y0 < y1) walk<M>(job, tile, samples, x, y0, y1, mine);
      add_to_cell<M, kThreads>(job, tile.cell, mine);
    }
  }
  finish_block(job);
}

}  // namespace

Kernel tile_kernel(int metric) {
  return with_totals_of(metric, [](auto m) {
    Kernel k;
    k.function = reinterpret_cast<const void*>(&measure_tiles<decltype(m)>);
    k.threads = kThreads;
    k.tile_width = kTileWidth;
    k.tile_height = kTileHeight;
    return k;
  });
}

}  // namespace framequality::cuda
