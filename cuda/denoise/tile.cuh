// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared parts of the denoising kernels: tiles of samples in shared memory, sources of weights, and output.
#pragma once

#include "cuda/denoise/job.h"

namespace framequality::cuda {

/// Adjacent columns of a thread, and of a warp.
inline constexpr int kQuad = 4, kSpan = 32 * kQuad;
/// Capacity of a tile's row, in columns: a warp's and those that its offsets reach.
inline constexpr int kTileColumns = kSpan + 2 * denoise::kMaxSearchRadius;

/// Some rows of one plane in shared memory, as T. Each thread of a warp reads a quad of columns, in vectors of kVector,
/// 32 threads without bank conflicts wherever the first quad begins: vectors are stored in kSets separate rows, quad by
/// quad, and there are kVector copies, copy i shifted to the left by i columns.
template <class T, int kVector>
struct Tile {
  static constexpr int kSets = kQuad / kVector, kSetColumns = kTileColumns / kSets;
  static constexpr int kRow = kVector * kTileColumns;  ///< elements from row to row: the copies are adjacent

  T* data;

  __host__ __device__ static constexpr std::size_t bytes(int rows) {
    return static_cast<std::size_t>(rows) * kRow * sizeof(T);
  }

  __device__ void put(int row, int column, T value) {
    T* const to = data + row * kRow;
#pragma unroll
    for (int copy = 0; copy < kVector; ++copy) {
      const int c = column - copy, vector = c / kVector;
      if (c >= 0)
        to[copy * kTileColumns + vector % kSets * kSetColumns + vector / kSets * kVector + c % kVector] = value;
    }
  }

  /// A warp's place in the tile: thread i's quad begins in column `column` + 4 i.
  struct Place {
    const T* set[kSets];
    /// The quad of a row further down, or this many elements further on.
    __device__ void get(int row, T (&quad)[kQuad]) const { get_at(row * kRow, quad); }
    __device__ void get_at(int offset, T (&quad)[kQuad]) const {
#pragma unroll
      for (int i = 0; i < kSets; ++i) {
        if constexpr (kVector == 2) {
          const float2 pair = *reinterpret_cast<const float2*>(set[i] + offset);
          quad[2 * i] = pair.x;
          quad[2 * i + 1] = pair.y;
        } else {
          quad[i] = set[i][offset];
        }
      }
    }
  };
  __device__ Place at(int row, int column, int lane) const {
    const T* const from = data + row * kRow + column % kVector * kTileColumns + lane * kVector;
    const int vector = column / kVector;
    Place place;
#pragma unroll
    for (int i = 0; i < kSets; ++i)
      place.set[i] = from + (vector + i) % kSets * kSetColumns + (vector + i) / kSets * kVector;
    return place;
  }
};

/// Fills `rows` rows and kSpan + 2 * reach columns of a tile from (x0, y0) of a field of a plane on, which may lie
/// outside. All threads of the block, 32 in x, call it. convert: sample to T.
template <class T, int kVector, class F>
__device__ __forceinline__ void fill(Tile<T, kVector> tile, const DenoiseJob& job, const DenoiseJob::Plane& plane,
                                     int pixel_stride, int field, int x0, int y0, int rows, int reach, F convert) {
  constexpr int kParts = kTileColumns / 32, kBatch = 4;  // loads in flight: one for each
  const int lane = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.y);
  const int columns = kSpan + 2 * reach, height = job.field_height(field);
  int at[kParts];
#pragma unroll
  for (int i = 0; i < kParts; ++i)
    at[i] = denoise::bordered(x0 + min(lane + 32 * i, columns - 1), job.width, job.border) * pixel_stride;
  for (int y = static_cast<int>(threadIdx.y); y < rows; y += kBatch * warps) {
    unsigned codes[kBatch][kParts];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const int row = denoise::bordered(y0 + min(y + j * warps, rows - 1), height, job.border) * job.fields + field;
      const std::uint8_t* const from = plane.data + row * plane.stride;
#pragma unroll
      for (int i = 0; i < kParts; ++i) codes[j][i] = read_sample(job.layout, from + at[i]);
    }
#pragma unroll
    for (int j = 0; j < kBatch; ++j)
#pragma unroll
      for (int i = 0; i < kParts; ++i)
        if (y + j * warps < rows && lane + 32 * i < columns)
          tile.put(y + j * warps, lane + 32 * i, convert(codes[j][i]));
  }
}

/// The job's weights in a field.
__device__ inline denoise::Weights weights_in(const DenoiseJob& job, int field) {
  return job.estimated ? job.estimated[field] : job.weights;
}

/// Writes pixel (x, y) of a field of plane k.
__device__ __forceinline__ void put_mean(const DenoiseJob& job, int k, int field, int x, int y, float mean) {
  const int row = y * job.fields + field;
  if (job.unrounded[k]) job.unrounded[k][static_cast<std::ptrdiff_t>(row) * job.width + x] = mean;
  const int code = min(max(__float2int_rn(mean), 0), job.layout.largest());
  write_sample(job.layout,
               job.out[k].data + row * job.out[k].stride + static_cast<std::ptrdiff_t>(x) * job.pixel_stride[k],
               static_cast<std::uint32_t>(code));
}

/// Writes width x height pixels of a field of all planes, from (left, top) on, unchanged from the filtered
/// frame: sufficient where the weights keep(). thread: of `threads` that share the work.
__device__ __forceinline__ void keep_pixels(const DenoiseJob& job, int field, int left, int top, int width, int height,
                                            int thread, int threads) {
  const int right = min(left + width, job.width), bottom = min(top + height, job.field_height(field));
  for (int i = thread; i < width * height; i += threads) {
    const int x = left + i % width, y = top + i / width;
    if (x >= right || y >= bottom) continue;
    for (int k = 0; k < job.count; ++k) {
      const DenoiseJob::Plane& from = job.source[job.center][k];
      const std::uint8_t* const sample =
          from.data + (y * job.fields + field) * from.stride + static_cast<std::ptrdiff_t>(x) * job.pixel_stride[k];
      put_mean(job, k, field, x, y, static_cast<float>(read_sample(job.layout, sample)));
    }
  }
}

/// The frames of a window in the order of averaging.
__device__ inline int frame_of(const DenoiseJob& job, int turn) {
  return turn == 0 ? job.center : turn <= job.center ? turn - 1 : turn;
}

/// The offsets of one frame in the order of averaging.
struct Offsets {
  int radius, tx, ty, left;
  bool is_own;
  /// own: of the filtered frame, without (0, 0), each followed by its opposite.
  __device__ Offsets(int search_radius, bool own)
      : radius(search_radius),
        tx(own ? 1 : -radius),
        ty(own ? 0 : -radius),
        left((2 * radius + 1) * (2 * radius + 1) - own),
        is_own(own) {}
  __device__ void next() {
    --left;
    if (is_own) {
      tx = -tx;
      ty = -ty;
      if (left % 2) return;  // the opposite
    }
    if (++tx <= radius) return;
    tx = -radius;
    ++ty;
  }
};

}  // namespace framequality::cuda
