// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of BLIINDS-II that measures blocks: statistics straight from the pixels.
//
// Nothing of a block but its four values is ever in memory: no rearranged picture, no coefficients. The kernel that
// measures a scale also makes the next one's pixels, out of the same tile. While it stores values it counts them in
// histograms, which tell where the highest tenth begins to within 3%. A picture's values fall into few places of those,
// side by side, and the L2 cache adds to one after the other: a block of threads counts in shared memory first, over
// all tiles that it takes.
#include "algorithms/bliinds/arithmetic.h"
#include "algorithms/bliinds/block.h"
#include "cuda/bliinds/histogram.cuh"
#include "cuda/bliinds/job.h"
#include "cuda/check.h"

#include <algorithm>

namespace framequality::cuda {
namespace {

using namespace bliinds;

// One warp for a row of 32 blocks of pixels, one thread per block; the tile in shared memory, zeros around the image.
// Few rows: a small image must still occupy all processors.
constexpr int kAcross = kWarp, kDown = 4, kThreads = kAcross * kDown;
constexpr int kBlocksEach = 5;  // on each processor, as many as registers let
constexpr int kBins = kRealStatistics * kValueBins;
constexpr int kTileWidth = kStride * kAcross + 2, kTileHeight = kStride * kDown + 2;
// Pixels of the next scale whose odd rows and columns lie inside the tile.
constexpr int kHalfWidth = kStride * kAcross / 2, kHalfHeight = kStride * kDown / 2;
static_assert(kStride * kAcross % 2 == 0 && kStride * kDown % 2 == 0);

/// Reader of a frame's pixel values.
struct ByteLayout {
  __device__ static double pixel(const BliindsJob& job, const ScaleJob&, int x, int y) {
    return __dmul_rn(job.frame.plane[0][y * job.frame.stride[0] + x], job.unit);
  }
};
struct AnyLayout {
  __device__ static double pixel(const BliindsJob& job, const ScaleJob&, int x, int y) {
    const Frame& f = job.frame;
    return __dmul_rn(luma_code(job.layout, f.plane[0] + y * f.stride[0], f.plane[1] + y * f.stride[1],
                               f.plane[2] + y * f.stride[2], x),
                     job.unit);
  }
};
/// Reader of red from YUV.
struct RedLayout {
  __device__ static double pixel(const BliindsJob& job, const ScaleJob& s, int x, int y) {
    const Frame& f = job.frame;
    const RedOfYuv& red = job.red;
    const int plane = red.v.plane[0], row = red.row(y, s.scale.height, job.interlaced);
    const std::uint32_t luma = component_code(job.layout, f.plane[0] + y * f.stride[0], 0, x);
    const std::uint32_t v = component_code(red.v, f.plane[plane] + row * f.stride[plane], 0, x >> red.x_shift);
    return __dmul_rn(red_code(red, luma, v), job.unit);
  }
};
/// Reader of pixels that the previous scale has computed.
struct Made {
  __device__ static double pixel(const BliindsJob&, const ScaleJob& s, int x, int y) {
    return s.pixels[static_cast<std::int64_t>(y) * s.scale.width + x];
  }
};

/// One block's pixels in the tile.
struct Window {
  const double* first;
  __device__ __forceinline__ Real operator()(int y, int x) const { return Real(first[y * kTileWidth + x]); }
};

/// The next scale's pixels around the odd rows and columns of the tile in this column and row of tiles.
__device__ void halve(const double (&tile)[kTileHeight][kTileWidth], int column, int row, const Scale& scale,
                      double* out) {
  const Scale half = scale.half();
  const int x0 = column * kHalfWidth, y0 = row * kHalfHeight;
  for (int i = static_cast<int>(threadIdx.x); i < kHalfWidth * kHalfHeight; i += kThreads) {
    const int x = i % kHalfWidth, y = i / kHalfWidth;
    if (x0 + x >= half.width || y0 + y >= half.height) continue;
    Real column[3];
#pragma unroll
    for (int k = 0; k < 3; ++k)
      column[k] = weigh(Real(tile[2 * y + 1][2 * x + 1 + k]), Real(tile[2 * y + 2][2 * x + 1 + k]),
                        Real(tile[2 * y + 3][2 * x + 1 + k]));
    out[static_cast<std::int64_t>(y0 + y) * half.width + x0 + x] = weigh(column[0], column[1], column[2]).v;
  }
}

/// Statistics of the blocks of pixels in the tile, a thread each. bins: the value's histograms of this block of
/// threads.
__device__ void measure_tile(const BliindsJob& job, int index, const double (&tile)[kTileHeight][kTileWidth],
                             int first_column, int first_row, unsigned* bins) {
  const ScaleJob& s = job.scale[index];
  const int i = static_cast<int>(threadIdx.x) % kAcross, j = static_cast<int>(threadIdx.x) / kAcross;
  const int columns = s.scale.columns(), column = first_column + i, row = first_row + j;
  const bool is_block = column < columns && row < s.scale.rows();
  const unsigned active = __ballot_sync(kAll, is_block);
  if (!is_block) return;
  const auto out = block_statistics<Real>(Window{&tile[kStride * j][kStride * i]});
  const int shape = shape_of(*job.table, out.rho.v);
  const std::int64_t at = s.first + static_cast<std::int64_t>(row) * columns + column;
  const double values[kRealStatistics] = {out.zeta.v, out.energy.v, out.orient.v};
#pragma unroll
  for (int k = 0; k < kRealStatistics; ++k) {
    job.values[k][at] = values[k];
    count(bins + k * kValueBins, value_bin(values[k]), active);
  }
  job.shapes[at] = static_cast<std::uint16_t>(shape);
  count(job.shape_bins + index * kShapeBins, shape == kNoShape ? kShapes : shape - kFirstShape, active);
}

// Grid: blocks take one tile after the other.
template <class Pixels>
__global__ void __launch_bounds__(kThreads)
    measure_blocks(const __grid_constant__ BliindsJob job, const __grid_constant__ int index,
                   const __grid_constant__ int across, const __grid_constant__ int tiles) {
  __shared__ double tile[kTileHeight][kTileWidth];
  __shared__ unsigned bins[kBins];
  const ScaleJob& s = job.scale[index];
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kThreads) bins[i] = 0;
  for (int t = static_cast<int>(blockIdx.x); t < tiles; t += static_cast<int>(gridDim.x)) {
    const int column = t % across, row = t / across;
    const int x0 = kStride * kAcross * column - 1, y0 = kStride * kDown * row - 1;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < kTileWidth * kTileHeight; i += kThreads) {
      const int r = i / kTileWidth, c = i % kTileWidth, x = x0 + c, y = y0 + r;
      const bool is_inside = x >= 0 && x < s.scale.width && y >= 0 && y < s.scale.height;
      tile[r][c] = is_inside ? Pixels::pixel(job, s, x, y) : 0;
    }
    __syncthreads();
    if (index < kScales - 1 && job.half[index]) halve(tile, column, row, s.scale, job.half[index]);
    measure_tile(job, index, tile, kAcross * column, kDown * row, bins);
    __syncthreads();
  }
  unsigned* const all = job.value_bins + index * kBins;
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kThreads)
    if (bins[i]) atomicAdd(all + i, bins[i]);
}

int ceil_div(int a, int b) { return (a + b - 1) / b; }

}  // namespace

void queue_blocks(const BliindsJob& job, int scale, CUstream_st* stream) {
  const Scale& s = job.scale[scale].scale;
  const bool is_bytes = job.layout.is_plain() && job.layout.depth == 8;
  const void* kernel = scale > 0          ? reinterpret_cast<const void*>(&measure_blocks<Made>)
                       : job.red.exists() ? reinterpret_cast<const void*>(&measure_blocks<RedLayout>)
                       : is_bytes         ? reinterpret_cast<const void*>(&measure_blocks<ByteLayout>)
                                          : reinterpret_cast<const void*>(&measure_blocks<AnyLayout>);
  int across = ceil_div(s.columns(), kAcross), tiles = across * ceil_div(s.rows(), kDown);
  void* arguments[] = {const_cast<BliindsJob*>(&job), &scale, &across, &tiles};
  const dim3 grid(static_cast<unsigned>(std::min(tiles, kBlocksEach * job.processors)));
  check(cudaLaunchKernel(kernel, grid, dim3(kThreads), arguments, 0, stream), "cudaLaunchKernel");
}

}  // namespace framequality::cuda
