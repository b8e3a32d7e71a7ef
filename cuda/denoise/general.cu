// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoiser for any patch and any number of planes, and the choice among all kernels.
#include "cuda/check.h"
#include "cuda/denoise/kernels.h"
#include "cuda/denoise/near.h"
#include "cuda/denoise/tile.cuh"
#include "cuda/loop_bound.cuh"

#include <algorithm>
#include <limits>

// Warps and columns are as in sliding.cu, but patch and planes are numbers at run time: rows are read again to
// be subtracted from the columns' sums, which are added up over the patch's width as differences of prefix sums.

namespace framequality::cuda {
namespace {

using denoise::CenterWeight;

constexpr unsigned kAll = ~0u;
constexpr int kRows = 4;
constexpr std::size_t kReserved = 1024;  // bytes of shared memory that the driver reserves per block
using Code = std::uint16_t;
using CodeTile = Tile<Code, 1>;

template <class Sum>
__device__ Sum pick(const Sum (&of)[kQuad], int i) {
  return i == 0 ? of[0] : i == 1 ? of[1] : i == 2 ? of[2] : of[3];
}

/// Sums of a quad's columns and their `patch` neighbours on both sides; undefined for columns whose neighbours
/// belong to another warp.
template <class Sum>
__device__ __forceinline__ void add_across(int patch, int lane, const Sum (&column)[kQuad], Sum (&sum)[kQuad]) {
  Sum prefix[kQuad];
  prefix[0] = column[0];
#pragma unroll
  for (int i = 1; i < kQuad; ++i) prefix[i] = prefix[i - 1] + column[i];
  Sum before = prefix[kQuad - 1];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const Sum v = __shfl_up_sync(kAll, before, d);
    if (lane >= d) before += v;
  }
  before -= prefix[kQuad - 1];
#pragma unroll
  for (int i = 0; i < kQuad; ++i) prefix[i] += before;
#pragma unroll
  for (int i = 0; i < kQuad; ++i) {
    const int last = kQuad * 32 + i + patch, ahead = kQuad * 32 + i - patch - 1;  // never negative
    const int from = lane + ahead / kQuad - 32;
    const Sum outside = __shfl_sync(kAll, pick(prefix, ahead % kQuad), from);
    sum[i] = __shfl_sync(kAll, pick(prefix, last % kQuad), lane + last / kQuad - 32) - (from < 0 ? 0 : outside);
  }
}

template <class Sum>
__global__ void __launch_bounds__(32 * kMostWarps) filter_any(const __grid_constant__ DenoiseJob job) {
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int warps = static_cast<int>(blockDim.y), field = static_cast<int>(blockIdx.z);
  const int height = job.field_height(field), reach = job.search_radius, depth = job.layout.depth;
  const int patch = job.patch_radius, planes = job.count;
  const int x0 = static_cast<int>(blockIdx.x) * (kSpan - 2 * patch) - patch;
  const int y0 = static_cast<int>(blockIdx.y) * warps * kRows - patch;
  if (y0 + patch >= height) return;
  const denoise::Weights weights = weights_in(job, field);
  if (denoise::keeps(weights)) {
    keep_pixels(job, field, x0 + patch, y0 + patch, kSpan - 2 * patch, warps * kRows, warp * 32 + lane, warps * 32);
    return;
  }

  // Tiles of all planes: of the filtered frame, then of one of the window, which may be the same.
  extern __shared__ float4 shared[];
  const int own_rows = warps * kRows + 2 * patch, rows = own_rows + 2 * reach;
  const int own_plane = own_rows * CodeTile::kRow, plane = rows * CodeTile::kRow;
  const CodeTile own{reinterpret_cast<Code*>(shared)}, other{own.data + planes * own_plane};
  const auto fill_all = [&](CodeTile tile, int size, int frame, int count, int around) {
    for (int k = 0; k < planes; ++k)
      fill(CodeTile{tile.data + k * size}, job, job.source[frame][k], job.pixel_stride[k], field, x0 - around,
           y0 - around, count, around, [](unsigned c) { return static_cast<Code>(c); });
  };
  const auto value = [&](Code c) { return static_cast<float>(c - (1 << (depth - 1))); };
  fill_all(own, own_plane, job.center, own_rows, 0);

  float sum[kRows][kQuad] = {}, values[3][kRows][kQuad] = {}, largest[kRows][kQuad];
  const auto add = [&](float w, int k, int r, int i, Code c) { values[k][r][i] += w * value(c); };
#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int i = 0; i < kQuad; ++i) largest[r][i] = denoise::kLeastCenter;
  const auto own_place = own.at(warp * kRows, 0, lane);
  /// Adds the frame's own pixels with a weight for each.
  const auto add_own = [&](auto weight) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kQuad; ++i) sum[r][i] += weight(r, i);
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        if (k >= planes) continue;
        Code codes[kQuad];
        own_place.get_at(k * own_plane + (r + patch) * CodeTile::kRow, codes);
#pragma unroll
        for (int i = 0; i < kQuad; ++i) add(weight(r, i), k, r, i, codes[i]);
      }
    }
  };

  for (int turn = 0; turn < job.frames; ++turn) {
    __syncthreads();
    fill_all(other, plane, frame_of(job, turn), rows, reach);
    __syncthreads();
    if (turn == 0 && job.center_weight == CenterWeight::kOne) add_own([](int, int) { return 1.0f; });
    for (Offsets t(reach, turn == 0); t.left > 0; t.next()) {
      const float spatial = static_cast<float>(t.tx * t.tx + t.ty * t.ty) * weights.spatial;
      const auto place = other.at(warp * kRows + reach + t.ty, reach + t.tx, lane);
      Sum column[kQuad] = {};
      const auto row = [&](int j, auto use) {
        for (int k = 0; k < planes; ++k) {
          Code a[kQuad], b[kQuad];
          own_place.get_at(k * own_plane + j * CodeTile::kRow, a);
          place.get_at(k * plane + j * CodeTile::kRow, b);
#pragma unroll
          for (int i = 0; i < kQuad; ++i) {
            const auto d = static_cast<unsigned>(a[i] - b[i]);
            use(i, d * d);
          }
        }
      };
      const auto put = [&](int i, unsigned square) { column[i] += square; };
      const auto take = [&](int i, unsigned square) { column[i] -= square; };
      for (int j = 0; j < 2 * patch; ++j) row(j, put);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        row(r + 2 * patch, put);
        Sum distance[kQuad];
        add_across(patch, lane, column, distance);
        float w[kQuad];
#pragma unroll
        for (int i = 0; i < kQuad; ++i) {
          w[i] = denoise::exp2_minus(denoise::exponent(weights, static_cast<float>(distance[i]), spatial));
          sum[r][i] += w[i];
          largest[r][i] = fmaxf(largest[r][i], w[i]);
        }
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          if (k >= planes) continue;
          Code codes[kQuad];
          place.get_at(k * plane + (r + patch) * CodeTile::kRow, codes);
#pragma unroll
          for (int i = 0; i < kQuad; ++i) add(w[i], k, r, i, codes[i]);
        }
        row(r, take);
      }
    }
  }
  if (job.center_weight == CenterWeight::kMax) add_own([&](int r, int i) { return largest[r][i]; });

#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int i = 0; i < kQuad; ++i) {
      const int column = kQuad * lane + i, x = x0 + column, y = y0 + patch + warp * kRows + r;
      if (column < patch || column >= kSpan - patch || x >= job.width || y >= height) continue;
#pragma unroll
      for (int k = 0; k < 3; ++k)
        if (k < planes) put_mean(job, k, field, x, y, denoise::mean_of(values[k][r][i], sum[r][i], depth));
    }
}

DenoiseKernel general_kernel(const DenoiseJob& job) {
  const void* const function = largest_distance(job) <= std::numeric_limits<unsigned>::max()
                                   ? reinterpret_cast<const void*>(filter_any<unsigned>)
                                   : reinterpret_cast<const void*>(filter_any<unsigned long long>);
  const std::size_t bytes = static_cast<std::size_t>(job.count) * CodeTile::bytes(1);
  return {function, kRows, bytes, bytes};
}

/// Warps and bytes of shared memory of a kernel's block; 0 warps: not enough memory.
struct Shape {
  int warps = 0;
  std::size_t bytes = 0;
};
Shape shape_of(const DenoiseKernel& kernel, const DenoiseJob& job, std::size_t room, std::size_t all_room) {
  Shape best;
  int most = 0;
  const int needed = (job.field_height(0) + kernel.rows - 1) / kernel.rows;
  for (int warps = std::min(kMostWarps, needed); warps > 0; --warps) {
    const auto own = static_cast<std::size_t>(warps * kernel.rows + 2 * job.patch_radius);
    const std::size_t bytes =
        (own + 2 * static_cast<std::size_t>(job.search_radius)) * kernel.row_bytes + own * kernel.own_row_bytes;
    if (bytes > room) continue;
    // Registers permit two blocks. One always fits: Turing, where a block may use all memory, reserves nothing.
    const int resident = static_cast<int>(std::clamp<std::size_t>(all_room / (bytes + kReserved), 1, 2)) * warps;
    if (resident <= most) continue;
    most = resident;
    best = {warps, bytes};
  }
  return best;
}

int attribute(cudaDeviceAttr which) {
  int device, value;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

unsigned blocks(int n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

void launch_denoise(const DenoiseJob& job, cudaStream_t stream) {
  if (launch_near(job, stream)) return;
  const auto room = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  const auto all_room = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  DenoiseKernel kernel = sliding_kernel(job);
  Shape shape;
  if (kernel.function) shape = shape_of(kernel, job, room, all_room);
  if (shape.warps == 0) {
    kernel = general_kernel(job);
    shape = shape_of(kernel, job, room, all_room);
  }
  check(
      cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.bytes)),
      "cudaFuncSetAttribute");
  DenoiseJob copy = job;
  void* arguments[] = {&copy};
  check(
      cudaLaunchKernel(kernel.function,
                       dim3(blocks(job.width, kSpan - 2 * job.patch_radius),
                            blocks(job.field_height(0), shape.warps * kernel.rows), static_cast<unsigned>(job.fields)),
                       dim3(32, static_cast<unsigned>(shape.warps)), arguments, shape.bytes, stream),
      "cudaLaunchKernel");
}

}  // namespace framequality::cuda
