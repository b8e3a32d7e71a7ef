// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers for common patches: sums over patches slide through registers.
#include "cuda/denoise/kernels.h"
#include "cuda/denoise/tile.cuh"

// A warp owns kSpan columns, 4 to a thread, of kRows + 2 kPatch rows. For each offset it moves down these rows with
// sums of squared differences over the patch's height, one per column, fetches its neighbours' sums by shuffles and
// adds them up over the patch's width: results without all neighbours in the warp are discarded. All sums of
// weights and of values stay in registers until the last offset. Blocks are warps one below the other.
//
// Samples are floats. Nothing is ever subtracted from a sum, so distances have a relative error of some 2^-22 at any
// depth, and are exact with 8 bits: a window of rows is the sum of the lower rows of one group and the upper ones of
// the next.

namespace framequality::cuda {
namespace {

using denoise::Weights;

constexpr unsigned kAll = ~0u;

/// kFloor: whether weights have one.
template <bool kFloor>
__device__ __forceinline__ float weight_of(const Weights& w, float distance, float spatial) {
  float y = __fmaf_rn(distance, -w.scale, kFloor ? w.floor - spatial : -spatial), e;
  if (kFloor) y = fminf(y, -spatial);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(y));
  return e;
}

/// Rows of a thread: as many as registers hold, to spend little on the patch's other rows. For one plane 9 split
/// 1080 rows, with 16 spans to 1920 columns, into 1920 warps: 3.6 for each of an H200's 528 schedulers, which do 4.
template <int kPlanes>
inline constexpr int kRowsOf = kPlanes == 1   ? 9
                               : kPlanes == 2 ? 6
                                              : 4;
/// Vectors of 2 save instructions where loads of neighbours are a significant part of the work.
template <int kPlanes>
using TileOf = Tile<float, kPlanes == 1 ? 2 : 1>;

/// Sums of a quad's columns and their kPatch neighbours on both sides.
template <int kPatch>
__device__ __forceinline__ void add_across(const float (&column)[kQuad], float (&sum)[kQuad]) {
  float all[kQuad + 2 * kPatch];
#pragma unroll
  for (int i = 0; i < kQuad; ++i) all[kPatch + i] = column[i];
#pragma unroll
  for (int i = 0; i < kPatch; ++i) {
    all[i] = __shfl_up_sync(kAll, column[kQuad - kPatch + i], 1);
    all[kPatch + kQuad + i] = __shfl_down_sync(kAll, column[i], 1);
  }
  if constexpr (kPatch == 0) {
#pragma unroll
    for (int i = 0; i < kQuad; ++i) sum[i] = all[i];
  } else if constexpr (kPatch == 1) {
    const float left = all[1] + all[2], right = all[3] + all[4];
    sum[0] = all[0] + left;
    sum[1] = left + all[3];
    sum[2] = all[2] + right;
    sum[3] = right + all[5];
  } else {
    float middle = all[3];  // in all four
#pragma unroll
    for (int i = 4; i <= 2 * kPatch; ++i) middle += all[i];
    const float left = all[1] + all[2], right = all[2 * kPatch + 1] + all[2 * kPatch + 2];
    sum[0] = all[0] + left + middle;
    sum[1] = left + middle + all[2 * kPatch + 1];
    sum[2] = all[2] + middle + right;
    sum[3] = middle + right + all[2 * kPatch + 3];
  }
}

template <int kPlanes, int kPatch, bool kFloor>
__global__ void __launch_bounds__(32 * kMostWarps, 2) filter(const __grid_constant__ DenoiseJob job) {
  using T = TileOf<kPlanes>;
  constexpr int kRows = kRowsOf<kPlanes>, kAllRows = kRows + 2 * kPatch, kSide = 2 * kPatch + 1;

  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int warps = static_cast<int>(blockDim.y), field = static_cast<int>(blockIdx.z);
  const int height = job.field_height(field), reach = job.search_radius, depth = job.layout.depth;
  const int x0 = static_cast<int>(blockIdx.x) * (kSpan - 2 * kPatch) - kPatch;
  const int y0 = static_cast<int>(blockIdx.y) * warps * kRows - kPatch;
  if (y0 + kPatch >= height) return;
  const Weights weights = weights_in(job, field);
  if (denoise::keeps(weights)) {
    keep_pixels(job, field, x0 + kPatch, y0 + kPatch, kSpan - 2 * kPatch, warps * kRows, warp * 32 + lane, warps * 32);
    return;
  }

  extern __shared__ float4 shared[];
  const int tile_rows = warps * kRows + 2 * (kPatch + reach);
  T tile[kPlanes];
#pragma unroll
  for (int k = 0; k < kPlanes; ++k) tile[k].data = reinterpret_cast<float*>(shared) + k * tile_rows * T::kRow;
  const float zero = static_cast<float>((1 << 23) + (1 << (depth - 1)));
  const auto fill_all = [&](int frame) {
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
      fill(tile[k], job, job.source[frame][k], job.pixel_stride[k], field, x0 - reach, y0 - reach, tile_rows, reach,
           [&](unsigned c) { return __uint_as_float(0x4b000000 + c) - zero; });  // the bits of 2^23 + c
    __syncthreads();
  };
  fill_all(job.center);

  float own[kPlanes][kAllRows][kQuad];
  float sum[kRows][kQuad], values[kPlanes][kRows][kQuad];
#pragma unroll
  for (int k = 0; k < kPlanes; ++k) {
    const auto place = tile[k].at(warp * kRows + reach, reach, lane);
#pragma unroll
    for (int j = 0; j < kAllRows; ++j) place.get(j, own[k][j]);
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int i = 0; i < kQuad; ++i) {
        sum[r][i] = 1;
        values[k][r][i] = own[k][r + kPatch][i];
      }
  }

  for (int turn = 0;;) {
    for (Offsets t(reach, turn == 0); t.left > 0; t.next()) {
      const float spatial = static_cast<float>(t.tx * t.tx + t.ty * t.ty) * weights.spatial;
      typename T::Place place[kPlanes];
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) place[k] = tile[k].at(warp * kRows + reach + t.ty, reach + t.tx, lane);
      float other[kPlanes][kAllRows][kQuad];
      // For one plane, its differences; for several, for lack of room, the sums of their squares.
      float kept[kAllRows][kQuad];
      const auto take = [&](int j) {
#pragma unroll
        for (int k = 0; k < kPlanes; ++k) place[k].get(j, other[k][j]);
#pragma unroll
        for (int i = 0; i < kQuad; ++i) {
          kept[j][i] = own[0][j][i] - other[0][j][i];
          if constexpr (kPlanes > 1) kept[j][i] *= kept[j][i];
#pragma unroll
          for (int k = 1; k < kPlanes; ++k) {
            const float d = own[k][j][i] - other[k][j][i];
            kept[j][i] = __fmaf_rn(d, d, kept[j][i]);
          }
        }
      };
      const auto added = [&](int j, int i, float to) {
        return kPlanes == 1 ? __fmaf_rn(kept[j][i], kept[j][i], to) : to + kept[j][i];
      };
#pragma unroll
      for (int first = 0; first < kRows; first += kSide) {
        float lower[kSide][kQuad], upper[kQuad];  // from row i of a group of kSide rows to its end; of the next group
#pragma unroll
        for (int j = first == 0 ? 0 : first + kSide - 1; j < first + kSide; ++j) take(j);
#pragma unroll
        for (int i = kSide - 1; i >= 0; --i)
#pragma unroll
          for (int c = 0; c < kQuad; ++c) lower[i][c] = added(first + i, c, i == kSide - 1 ? 0 : lower[i + 1][c]);
#pragma unroll
        for (int r = first; r < first + kSide && r < kRows; ++r) {
          float column[kQuad], distance[kQuad];
          if (r > first) take(r + kSide - 1);
#pragma unroll
          for (int c = 0; c < kQuad; ++c) {
            if (r > first) upper[c] = added(r + kSide - 1, c, r == first + 1 ? 0 : upper[c]);
            column[c] = r > first ? lower[r - first][c] + upper[c] : lower[0][c];
          }
          add_across<kPatch>(column, distance);
          float centre[kPlanes][kQuad];
#pragma unroll
          for (int k = 0; k < kPlanes; ++k) {
            // For several planes there is no room for the rows in between.
            if (kPlanes > 1)
              place[k].get(r + kPatch, centre[k]);
            else
#pragma unroll
              for (int i = 0; i < kQuad; ++i) centre[k][i] = other[k][r + kPatch][i];
          }
#pragma unroll
          for (int i = 0; i < kQuad; ++i) {
            const float w = weight_of<kFloor>(weights, distance[i], spatial);
            sum[r][i] += w;
#pragma unroll
            for (int k = 0; k < kPlanes; ++k) values[k][r][i] = __fmaf_rn(w, centre[k][i], values[k][r][i]);
          }
        }
      }
    }
    if (++turn == job.frames) break;
    __syncthreads();
    fill_all(frame_of(job, turn));
  }

#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int i = 0; i < kQuad; ++i) {
      const int column = kQuad * lane + i, x = x0 + column, y = y0 + kPatch + warp * kRows + r;
      if (column < kPatch || column >= kSpan - kPatch || x >= job.width || y >= height) continue;
#pragma unroll
      for (int k = 0; k < kPlanes; ++k)
        put_mean(job, k, field, x, y, denoise::mean_of(values[k][r][i], sum[r][i], depth));
    }
}

template <int kPlanes, int kPatch>
DenoiseKernel kernel(bool has_floor) {
  return {has_floor ? reinterpret_cast<const void*>(filter<kPlanes, kPatch, true>)
                    : reinterpret_cast<const void*>(filter<kPlanes, kPatch, false>),
          kRowsOf<kPlanes>, kPlanes * TileOf<kPlanes>::bytes(1)};
}

template <int kPlanes>
DenoiseKernel kernel(int patch_radius, bool has_floor) {
  if constexpr (kPlanes == 1)
    if (patch_radius == 0) return kernel<kPlanes, 0>(has_floor);
  switch (patch_radius) {
    case 1:
      return kernel<kPlanes, 1>(has_floor);
    case 2:
      return kernel<kPlanes, 2>(has_floor);
    case 3:
      return kernel<kPlanes, 3>(has_floor);
    default:
      return {};
  }
}

}  // namespace

DenoiseKernel sliding_kernel(const DenoiseJob& job) {
  if (job.center_weight != denoise::CenterWeight::kOne) return {};
  const bool has_floor = job.weights.floor > 0;
  return job.count == 1   ? kernel<1>(job.patch_radius, has_floor)
         : job.count == 2 ? kernel<2>(job.patch_radius, has_floor)
                          : kernel<3>(job.patch_radius, has_floor);
}

}  // namespace framequality::cuda
