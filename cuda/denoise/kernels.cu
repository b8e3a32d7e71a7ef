// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers for common patches: sums over patches slide through registers.
#include "cuda/denoise/kernels.h"
#include "cuda/denoise/tile.cuh"

#include <limits>

// A warp owns kSpan columns, 4 to a thread, of kRows + 2 kPatch rows. For each offset it goes down these rows with sums
// of squared differences over the patch's height, one for each column, fetches its neighbours' sums by shuffles and
// adds them up over the patch's width: columns without all neighbours in the warp are computed in vain. All sums of
// weights and of values stay in registers until the last offset. Blocks are warps one below the other.

namespace framequality::cuda {
namespace {

using denoise::Weights;

constexpr unsigned kAll = ~0u;

/// For 8-bit codes: fused operations, the hardware's exponential. Codes are floats less 128; sums of squares are exact.
/// kFloor: whether weights have one.
template <bool kFloor>
struct Fast {
  using Code = float;
  using Square = float;
  using Sum = float;
  static constexpr bool kNegates = true;  ///< products can be taken off a sum in one instruction
  static __device__ Code code(unsigned c, int) { return static_cast<float>(static_cast<int>(c) - 128); }
  static __device__ float value(Code c, int) { return c; }
  static __device__ float weight(const Weights& w, Sum distance, float spatial) {
    float y = __fmaf_rn(distance, -w.scale, kFloor ? w.floor - spatial : -spatial), e;
    if (kFloor) y = fminf(y, -spatial);
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(y));
    return e;
  }
  static __device__ float add(float weight, float value, float sum) { return __fmaf_rn(weight, value, sum); }
};

/// Operations and order of weight.h. Codes are the bits of 2^23 + code, whose differences are those of the codes.
template <class S>
struct Exact {
  using Code = unsigned;
  using Square = unsigned;
  using Sum = S;
  static constexpr bool kNegates = false;
  static constexpr unsigned kBits = 0x4b000000;
  static __device__ Code code(unsigned c, int) { return kBits + c; }
  static __device__ float value(Code c, int depth) {
    return __uint_as_float(c) - static_cast<float>((1 << 23) + (1 << (depth - 1)));
  }
  static __device__ float weight(const Weights& w, Sum distance, float spatial) {
    return denoise::exp2_minus(denoise::exponent(w, static_cast<float>(distance), spatial));
  }
  static __device__ float add(float weight, float value, float sum) { return sum + weight * value; }
};

/// Rows of a thread: as many as registers hold, so that little is spent on the patch's other rows. For one plane 9 cut
/// 1080 rows, with 16 spans to 1920 columns, into 1920 warps: 3.6 for each of an H200's 528 schedulers, which do 4.
template <int kPlanes>
inline constexpr int kRowsOf = kPlanes == 1   ? 9
                               : kPlanes == 2 ? 6
                                              : 4;
/// Vectors of 2 save instructions where loads of neighbours are a part of the work that counts.
template <class Kind, int kPlanes>
using TileOf = Tile<typename Kind::Code, kPlanes == 1 && sizeof(typename Kind::Sum) == 4 && Kind::kNegates ? 2 : 1>;

/// Sums of a quad's columns and their kPatch neighbours on both sides.
template <int kPatch, class Sum>
__device__ __forceinline__ void add_across(const Sum (&column)[kQuad], Sum (&sum)[kQuad]) {
  Sum all[kQuad + 2 * kPatch];
#pragma unroll
  for (int i = 0; i < kQuad; ++i) all[kPatch + i] = column[i];
#pragma unroll
  for (int i = 0; i < kPatch; ++i) {
    all[i] = __shfl_up_sync(kAll, column[kQuad - kPatch + i], 1);
    all[kPatch + kQuad + i] = __shfl_down_sync(kAll, column[i], 1);
  }
  if constexpr (kPatch == 1) {
    const Sum left = all[1] + all[2], right = all[3] + all[4];
    sum[0] = all[0] + left;
    sum[1] = left + all[3];
    sum[2] = all[2] + right;
    sum[3] = right + all[5];
  } else {
    sum[0] = all[0];
#pragma unroll
    for (int i = 1; i <= 2 * kPatch; ++i) sum[0] += all[i];
#pragma unroll
    for (int i = 1; i < kQuad; ++i) sum[i] = sum[i - 1] + all[i + 2 * kPatch] - all[i - 1];
  }
}

template <class Kind, int kPlanes, int kPatch>
__global__ void __launch_bounds__(32 * kMostWarps, 2) filter(const __grid_constant__ DenoiseJob job) {
  using Code = typename Kind::Code;
  using Square = typename Kind::Square;
  using Sum = typename Kind::Sum;
  using T = TileOf<Kind, kPlanes>;
  constexpr int kRows = kRowsOf<kPlanes>, kAllRows = kRows + 2 * kPatch;
  // Differences are kept to be taken off again; of several planes, or where that costs more, their squares.
  constexpr bool kKeepsDifference = kPlanes == 1 && Kind::kNegates;

  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int warps = static_cast<int>(blockDim.y), field = static_cast<int>(blockIdx.z);
  const int height = job.field_height(field), reach = job.search_radius, depth = job.layout.depth;
  const int x0 = static_cast<int>(blockIdx.x) * (kSpan - 2 * kPatch) - kPatch;
  const int y0 = static_cast<int>(blockIdx.y) * warps * kRows - kPatch;
  if (y0 + kPatch >= height) return;
  const Weights weights = weights_in(job, field);

  extern __shared__ float4 shared[];
  const int tile_rows = warps * kRows + 2 * (kPatch + reach);
  T tile[kPlanes];
#pragma unroll
  for (int k = 0; k < kPlanes; ++k) tile[k].data = reinterpret_cast<Code*>(shared) + k * tile_rows * T::kRow;
  const auto fill_all = [&](int frame) {
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
      fill(tile[k], job, job.source[frame][k], job.pixel_stride[k], field, x0 - reach, y0 - reach, tile_rows, reach,
           [&](unsigned c) { return Kind::code(c, depth); });
    __syncthreads();
  };
  fill_all(job.center);

  Code own[kPlanes][kAllRows][kQuad];
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
        values[k][r][i] = Kind::value(own[k][r + kPatch][i], depth);
      }
  }

  for (int turn = 0; !denoise::keeps(weights);) {
    for (Offsets t(reach, turn == 0); t.left > 0; t.next()) {
      const float spatial = static_cast<float>(t.tx * t.tx + t.ty * t.ty) * weights.spatial;
      typename T::Place place[kPlanes];
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) place[k] = tile[k].at(warp * kRows + reach + t.ty, reach + t.tx, lane);
      Sum column[kQuad] = {};
      Code other[kPlanes][kAllRows][kQuad];
      Square kept[kAllRows][kQuad];
#pragma unroll
      for (int j = 0; j < kAllRows; ++j) {
#pragma unroll
        for (int k = 0; k < kPlanes; ++k) place[k].get(j, other[k][j]);
#pragma unroll
        for (int i = 0; i < kQuad; ++i) {
          if constexpr (kKeepsDifference) {
            const auto d = own[0][j][i] - other[0][j][i];
            kept[j][i] = d;
            column[i] = __fmaf_rn(d, d, column[i]);
          } else {
            Square square = 0;
#pragma unroll
            for (int k = 0; k < kPlanes; ++k) {
              const auto d = own[k][j][i] - other[k][j][i];
              square += d * d;
            }
            kept[j][i] = square;
            column[i] += square;
          }
        }
        if (j < 2 * kPatch) continue;
        const int r = j - 2 * kPatch;
        Sum distance[kQuad];
        add_across<kPatch>(column, distance);
        Code centre[kPlanes][kQuad];
#pragma unroll
        for (int k = 0; k < kPlanes; ++k) {
          // Of several planes there is no room for the rows in between.
          if (kPlanes > 1)
            place[k].get(r + kPatch, centre[k]);
          else
#pragma unroll
            for (int i = 0; i < kQuad; ++i) centre[k][i] = other[k][r + kPatch][i];
        }
#pragma unroll
        for (int i = 0; i < kQuad; ++i) {
          const float w = Kind::weight(weights, distance[i], spatial);
          sum[r][i] += w;
#pragma unroll
          for (int k = 0; k < kPlanes; ++k)
            values[k][r][i] = Kind::add(w, Kind::value(centre[k][i], depth), values[k][r][i]);
          if constexpr (kKeepsDifference)
            column[i] = __fmaf_rn(-kept[r][i], kept[r][i], column[i]);
          else
            column[i] -= kept[r][i];
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

template <class Kind, int kPlanes, int kPatch>
DenoiseKernel kernel() {
  return {reinterpret_cast<const void*>(filter<Kind, kPlanes, kPatch>), kRowsOf<kPlanes>,
          kPlanes * TileOf<Kind, kPlanes>::bytes(1)};
}

template <class Kind, int kPlanes>
DenoiseKernel kernel(int patch_radius) {
  if constexpr (kPlanes == 1)
    if (patch_radius == 0) return kernel<Kind, kPlanes, 0>();
  switch (patch_radius) {
    case 1:
      return kernel<Kind, kPlanes, 1>();
    case 2:
      return kernel<Kind, kPlanes, 2>();
    case 3:
      return kernel<Kind, kPlanes, 3>();
    default:
      return {};
  }
}

template <class Kind>
DenoiseKernel kernel(int planes, int patch_radius) {
  return planes == 1   ? kernel<Kind, 1>(patch_radius)
         : planes == 2 ? kernel<Kind, 2>(patch_radius)
                       : kernel<Kind, 3>(patch_radius);
}

}  // namespace

DenoiseKernel sliding_kernel(const DenoiseJob& job) {
  if (job.center_weight != denoise::CenterWeight::kOne) return {};
  const double largest = largest_distance(job);
  if (job.layout.depth == 8 && largest < 1 << 24)
    return job.weights.floor > 0 ? kernel<Fast<true>>(job.count, job.patch_radius)
                                 : kernel<Fast<false>>(job.count, job.patch_radius);
  if (largest <= std::numeric_limits<unsigned>::max()) return kernel<Exact<unsigned>>(job.count, job.patch_radius);
  return job.count == 1 ? kernel<Exact<unsigned long long>, 1>(job.patch_radius) : DenoiseKernel{};
}

}  // namespace framequality::cuda
