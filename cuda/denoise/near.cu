// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers for patches of 3x3 and windows of a few pixels: a row of the window at a time.
#include "cuda/check.h"
#include "cuda/denoise/near.h"
#include "cuda/denoise/tile.cuh"

#include <algorithm>
#include <iterator>

// A warp owns kSpan columns, 4 to a thread, of kRows + 2 rows. For each row of the window it reads the columns that all
// of the row's offsets reach once, as vectors of four floats, and keeps them in registers while it processes the
// offsets: no shifted copies are needed, and addresses are known. Two rows of sums share the rows in between.
// The outer threads only compute neighbours of the others, so that quads are aligned with words in memory.

namespace framequality::cuda {
namespace {

using denoise::Weights;

constexpr unsigned kAll = ~0u;
constexpr int kWarps = 4, kThreads = 32 * kWarps;  // a block: warps one below the other
constexpr int kMargin = kQuad;                     // columns of a tile on each side of a warp's, >= reach
constexpr int kColumns = kSpan + 2 * kMargin, kWords = kColumns / kQuad;
constexpr int kOwn = kSpan - 2 * kQuad;  // columns that a warp writes

template <int kReach, int kRows>
inline constexpr int kTileRows{kWarps * kRows + 2 * (1 + kReach)};

__device__ __forceinline__ int place_of(int i, int n, denoise::Border border) {
  return static_cast<unsigned>(i) < static_cast<unsigned>(n) ? i : denoise::bordered(i, n, border);
}

/// Four samples in memory, of kBytes bytes each.
template <int kBytes>
struct QuadOf;
template <>
struct QuadOf<1> {
  using Word = unsigned;
  Word word;
  __device__ __forceinline__ void set(int i, unsigned sample) { word |= sample << 8 * i; }
  /// The bits of 2^23 + sample, as float.
  __device__ __forceinline__ float sample(int i) const {
    return __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 | i));
  }
};
template <>
struct QuadOf<2> {
  using Word = uint2;
  Word word;
  __device__ __forceinline__ void set(int i, unsigned sample) { (i < 2 ? word.x : word.y) |= sample << 16 * (i % 2); }
  __device__ __forceinline__ float sample(int i) const {
    return __uint_as_float(__byte_perm(i < 2 ? word.x : word.y, 0x4b000000, i % 2 ? 0x7432 : 0x7410));
  }
};

/// Conversion between words in memory and samples: two at a time for words of two bytes.
template <int kBytes>
class Words {
 public:
  __device__ explicit Words(const PictureLayout& l)
      : shift_(l.shift), codes_((l.largest() & 0xffff >> l.shift) * 0x10001u), is_swapped_(l.big_endian) {}
  __device__ __forceinline__ QuadOf<kBytes> codes(QuadOf<kBytes> q) const {
    if constexpr (kBytes == 2) q.word = {pair_of_codes(q.word.x), pair_of_codes(q.word.y)};
    return q;
  }
  __device__ __forceinline__ QuadOf<kBytes> words(QuadOf<kBytes> q) const {
    if constexpr (kBytes == 2) q.word = {pair_of_words(q.word.x), pair_of_words(q.word.y)};
    return q;
  }

 private:
  __device__ __forceinline__ unsigned swapped(unsigned w) const { return is_swapped_ ? __byte_perm(w, 0, 0x2301) : w; }
  __device__ __forceinline__ unsigned pair_of_codes(unsigned w) const { return swapped(w) >> shift_ & codes_; }
  __device__ __forceinline__ unsigned pair_of_words(unsigned w) const { return swapped(w << shift_); }
  unsigned shift_, codes_;
  bool is_swapped_;
};

/// Offset subtracted from samples: half of their range.
__device__ __forceinline__ float half_of(const PictureLayout& l) { return static_cast<float>(1 << (l.depth - 1)); }

__device__ __forceinline__ bool is_aligned(const DenoiseJob::Plane& plane, int pixel_stride, int bytes) {
  return pixel_stride == bytes && (reinterpret_cast<std::uintptr_t>(plane.data) | plane.stride) % (4 * bytes) == 0;
}

/// Fills a tile from (x0, y0) of a field of plane k on, x0 a multiple of 4. All threads of the block call it.
template <int kTileRows, int kBytes>
__device__ __forceinline__ void fill_near(float4* tile, const DenoiseJob& job, int frame, int k, int field, int x0,
                                          int y0, int thread) {
  constexpr int kCount = kTileRows * kWords, kTurns = (kCount + kThreads - 1) / kThreads;
  const DenoiseJob::Plane& plane = job.source[frame][k];
  const int stride = job.pixel_stride[k], height = job.field_height(field);
  const bool is_word = is_aligned(plane, stride, kBytes);
  const Words<kBytes> words(job.layout);
  QuadOf<kBytes> quad[kTurns] = {};
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int i = min(turn * kThreads + thread, kCount - 1), x = x0 + i % kWords * kQuad;
    const int y = place_of(y0 + i / kWords, height, job.border);
    const std::uint8_t* const row = plane.data + (y * job.fields + field) * plane.stride;
    const bool is_inside = x >= 0 && x + kQuad <= job.width;
    const auto get = [&](int column) -> unsigned {
      return kBytes == 1 ? row[column * stride] : read_sample(job.layout, row + column * stride);
    };
    if (is_word && is_inside) {
      quad[turn] = words.codes({*reinterpret_cast<const typename QuadOf<kBytes>::Word*>(row + x * kBytes)});
    } else if (is_inside) {
#pragma unroll
      for (int c = 0; c < kQuad; ++c) quad[turn].set(c, get(x + c));
    } else {
#pragma unroll 1
      for (int c = 0; c < kQuad; ++c) quad[turn].set(c, get(place_of(x + c, job.width, job.border)));
    }
  }
  const float zero = (1 << 23) + half_of(job.layout);
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int i = turn * kThreads + thread;
    if (i < kCount) {
      const auto value = [&](int c) { return quad[turn].sample(c) - zero; };
      tile[i] = {value(0), value(1), value(2), value(3)};
    }
  }
}

template <bool kFloor>
__device__ __forceinline__ float weight_of(const Weights& w, float distance, float bias, float spatial) {
  float y = __fmaf_rn(distance, -w.scale, bias), e;
  if (kFloor) y = fminf(y, -spatial);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(y));
  return e;
}

/// Sums of a quad's columns with their neighbours.
__device__ __forceinline__ void add_across(const float (&column)[kQuad], float (&sum)[kQuad]) {
  const float before = __shfl_up_sync(kAll, column[kQuad - 1], 1), after = __shfl_down_sync(kAll, column[0], 1);
  const float left = column[0] + column[1], right = column[2] + column[3];
  sum[0] = before + left;
  sum[1] = left + column[2];
  sum[2] = column[1] + right;
  sum[3] = right + after;
}

template <int kPlanes, int kRows>
struct Means {
  float weights[kRows][kQuad], values[kPlanes][kRows][kQuad];
};

/// Two rows of a warp, from `row` on, against a row of the window with kLoaded columns in `other`: the offsets
/// that begin first...last columns after the first of these; tx: the first offset.
template <int kPlanes, int kRows, int kLoaded, bool kFloor>
__device__ __forceinline__ void add_rows(int row, int first, int last, int tx, int ty,
                                         const float (&own)[kPlanes][kRows + 2][kQuad],
                                         const float (&other)[kPlanes][4][kLoaded], const Weights& weights,
                                         Means<kPlanes, kRows>& means) {
#pragma unroll
  for (int s = first; s <= last; ++s, ++tx) {
    const float spatial = static_cast<float>(tx * tx + ty * ty) * weights.spatial;
    const float bias = kFloor ? weights.floor - spatial : -spatial;
    float column[2][kQuad];
#pragma unroll
    for (int c = 0; c < kQuad; ++c) {
      const auto d = [&](int k, int j) { return own[k][row + j][c] - other[k][(row + j) % 4][s + c]; };
      float middle = 0;
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) {
        const float d1 = d(k, 1), d2 = d(k, 2);
        middle = k == 0 ? d1 * d1 : __fmaf_rn(d1, d1, middle);
        middle = __fmaf_rn(d2, d2, middle);
      }
      column[0][c] = column[1][c] = middle;
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) {
        const float d0 = d(k, 0), d3 = d(k, 3);
        column[0][c] = __fmaf_rn(d0, d0, column[0][c]);
        column[1][c] = __fmaf_rn(d3, d3, column[1][c]);
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float distance[kQuad];
      add_across(column[r], distance);
#pragma unroll
      for (int c = 0; c < kQuad; ++c) {
        const float w = weight_of<kFloor>(weights, distance[c], bias, spatial);
        means.weights[row + r][c] += w;
#pragma unroll
        for (int k = 0; k < kPlanes; ++k)
          means.values[k][row + r][c] = __fmaf_rn(w, other[k][(row + r + 1) % 4][s + c], means.values[k][row + r][c]);
      }
    }
  }
}

__device__ __forceinline__ void get(const float* from, float* quad) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  quad[0] = v.x;
  quad[1] = v.y;
  quad[2] = v.z;
  quad[3] = v.w;
}

/// All rows of a warp against one row of the window, offsets first...last - kMargin + base.
template <int kPlanes, int kRows, int kLoaded, bool kFloor>
__device__ __forceinline__ void add_row_of_window(const float* from, int plane, int base, int first, int last, int ty,
                                                  const float (&own)[kPlanes][kRows + 2][kQuad], const Weights& weights,
                                                  Means<kPlanes, kRows>& means) {
  float other[kPlanes][4][kLoaded];
#pragma unroll
  for (int j = 0; j < kRows + 2; ++j) {
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
#pragma unroll
      for (int c = 0; c < kLoaded; c += kQuad) get(from + k * plane + j * kColumns + base + c, &other[k][j % 4][c]);
    if (j >= 3 && j % 2 == 1)
      add_rows<kPlanes, kRows, kLoaded, kFloor>(j - 3, first, last, base + first - kMargin, ty, own, other, weights,
                                                means);
  }
}

template <int kBytes, int kPlanes, int kReach, int kRows, int kBlocks, bool kFloor>
__global__ void __launch_bounds__(kThreads, kBlocks) filter_near(const __grid_constant__ DenoiseJob job) {
  static_assert(kRows % 2 == 0 && kReach <= kMargin);
  constexpr int kHeight = kTileRows<kReach, kRows>, kPlane = kHeight * kColumns;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int field = static_cast<int>(blockIdx.z), height = job.field_height(field);
  const int x0 = static_cast<int>(blockIdx.x) * kOwn - kQuad;
  const int y0 = static_cast<int>(blockIdx.y) * kWarps * kRows;
  if (y0 >= height) return;
  const Weights weights = weights_in(job, field);

  __shared__ float4 shared[kPlanes][kPlane / kQuad];
  const float* const tile = reinterpret_cast<const float*>(shared) + warp * kRows * kColumns + lane * kQuad;
  float own[kPlanes][kRows + 2][kQuad];
  Means<kPlanes, kRows> means = {};

  // In the frame's own window the pixel itself is an ordinary offset: its weight comes out as 1.
#pragma unroll 1
  for (int turn = 0; turn < job.frames; ++turn) {
    if (turn > 0) __syncthreads();
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
      fill_near<kHeight, kBytes>(shared[k], job, frame_of(job, turn), k, field, x0 - kMargin, y0 - 1 - kReach,
                                 static_cast<int>(threadIdx.x));
    __syncthreads();
    if (turn == 0) {
#pragma unroll
      for (int k = 0; k < kPlanes; ++k)
#pragma unroll
        for (int j = 0; j < kRows + 2; ++j) get(tile + k * kPlane + (kReach + j) * kColumns + kMargin, own[k][j]);
    }
#pragma unroll 1
    for (int ty = -kReach; ty <= kReach; ++ty) {
      const float* const from = tile + (kReach + ty) * kColumns;
      add_row_of_window<kPlanes, kRows, 2 * kQuad, kFloor>(from, kPlane, 0, kMargin - kReach, kMargin, ty, own, weights,
                                                           means);
      add_row_of_window<kPlanes, kRows, 2 * kQuad, kFloor>(from, kPlane, kMargin, 1, kReach, ty, own, weights, means);
    }
  }

  const int x = x0 + kQuad * lane;
  if (lane == 0 || lane == 31 || x >= job.width) return;
  const Words<kBytes> words(job.layout);
  const float half = half_of(job.layout);
#pragma unroll
  for (int k = 0; k < kPlanes; ++k) {
    const DenoiseJob::Plane& out = job.out[k];
    const bool is_word = is_aligned(out, job.pixel_stride[k], kBytes) && x + kQuad <= job.width;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int y = y0 + warp * kRows + r;
      if (y >= height) break;
      float mean[kQuad];
      unsigned code[kQuad];
      QuadOf<kBytes> quad = {};
#pragma unroll
      for (int c = 0; c < kQuad; ++c) {
        mean[c] = __fdividef(means.values[k][r][c], means.weights[r][c]) + half;
        code[c] = __float_as_uint(mean[c] + 12582912.0f) & (kBytes == 1 ? 0xffu : 0xffffu);  // 1.5 * 2^23: rounds
        quad.set(c, code[c]);
      }
      const std::ptrdiff_t row = y * job.fields + field;
      if (job.unrounded[k])
#pragma unroll
        for (int c = 0; c < kQuad; ++c)
          if (x + c < job.width) job.unrounded[k][row * job.width + x + c] = mean[c];
      std::uint8_t* const to = out.data + row * out.stride + x * job.pixel_stride[k];
      if (is_word) {
        *reinterpret_cast<typename QuadOf<kBytes>::Word*>(to) = words.words(quad).word;
      } else {
#pragma unroll
        for (int c = 0; c < kQuad; ++c)
          if (x + c < job.width) {
            std::uint8_t* const at = to + c * job.pixel_stride[k];
            if constexpr (kBytes == 1)
              *at = static_cast<std::uint8_t>(code[c]);
            else
              write_sample(job.layout, at, code[c]);
          }
      }
    }
  }
}

/// Rows per warp. With 4 or more, a multiprocessor's registers hold too few warps: on an H200 2 are as
/// fast or faster up to 1920x1080, and 2% slower at 3840x2160.
constexpr int kRows = 2;

struct NearKernel {
  const void* function;
  int word_bytes, planes, reach;
  bool has_floor;
};

/// kBlocks: on a multiprocessor.
template <int kBytes, int kPlanes, int kReach, int kBlocks, bool kFloor>
NearKernel kernel() {
  return {reinterpret_cast<const void*>(filter_near<kBytes, kPlanes, kReach, kRows, kBlocks, kFloor>), kBytes, kPlanes,
          kReach, kFloor};
}

const NearKernel kKernels[] = {kernel<1, 1, 3, 5, false>(), kernel<1, 1, 3, 5, true>(),  kernel<1, 1, 2, 5, false>(),
                               kernel<1, 1, 2, 5, true>(),  kernel<1, 3, 3, 2, false>(), kernel<1, 3, 3, 2, true>(),
                               kernel<2, 1, 3, 5, false>(), kernel<2, 1, 3, 5, true>(),  kernel<2, 1, 2, 5, false>(),
                               kernel<2, 1, 2, 5, true>(),  kernel<2, 3, 3, 2, false>(), kernel<2, 3, 3, 2, true>()};

bool suits(const NearKernel& kernel, const DenoiseJob& job) {
  const bool is_whole_byte = job.layout.depth == 8 && job.layout.shift == 0;
  return job.layout.word_bytes == kernel.word_bytes && (kernel.word_bytes == 2 || is_whole_byte) &&
         job.patch_radius == 1 && job.center_weight == denoise::CenterWeight::kOne && job.count == kernel.planes &&
         job.search_radius == kernel.reach && (job.weights.floor > 0) == kernel.has_floor;
}

unsigned blocks(int n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

bool launch_near(const DenoiseJob& job, cudaStream_t stream) {
  const auto* const kernel =
      std::find_if(std::begin(kKernels), std::end(kKernels), [&](const NearKernel& k) { return suits(k, job); });
  if (kernel == std::end(kKernels)) return false;
  const dim3 grid(blocks(job.width, kOwn), blocks(job.field_height(0), kWarps * kRows),
                  static_cast<unsigned>(job.fields));
  DenoiseJob copy = job;
  void* arguments[] = {&copy};
  check(cudaLaunchKernel(kernel->function, grid, dim3(kThreads), arguments, 0, stream), "cudaLaunchKernel");
  return true;
}

}  // namespace framequality::cuda
