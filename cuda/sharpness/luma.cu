// SPDX-License-Identifier: LGPL-2.1-or-later
// Luma codes of packed, planar RGB and other layouts as a plane of their own, for the kernels that stream rows.
#include "cuda/loop_bound.cuh"
#include "cuda/sharpness/job.h"

namespace framequality::cuda {
namespace {

// A thread turns 4 adjacent pixels of a row into one store, then those of the row gridDim.y further down, and so on.
constexpr int kPixels = 4, kThreads = 256;

/// Where a thread works.
struct Place {
  int x, y;
};
__device__ Place first_place(const LumaJob& job) {
  return {static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * kPixels,
          job.first_row + static_cast<int>(blockIdx.y)};
}

/// Pixels x...x+count-1 of row y, for any layout and any address.
__device__ void extract(const LumaJob& job, int x, int y, int count) {
  const Frame& f = job.frame;
  std::uint8_t* to = job.luma + y * job.pitch;
  for (int i = x; i < x + count; ++i) {
    const unsigned code = luma_code(job.layout, f.plane[0] + y * f.stride[0], f.plane[1] + y * f.stride[1],
                                    f.plane[2] + y * f.stride[2], i);
    if (job.layout.depth == 8)
      to[i] = static_cast<std::uint8_t>(code);
    else
      reinterpret_cast<std::uint16_t*>(to)[i] = static_cast<std::uint16_t>(code);
  }
}

__global__ void __launch_bounds__(kThreads) extract_any(const __grid_constant__ LumaJob job) {
  Place at = first_place(job);
  if (at.x >= job.width) return;
  for (; at.y < job.last_row; at.y += static_cast<int>(gridDim.y))
    extract(job, at.x, at.y, loop_bound(min(kPixels, job.width - at.x)));
}

/// One plane of 8-bit samples, kStride bytes a pixel, rows at multiples of 4 bytes: 4 pixels are kStride words.
template <int kStride>
__global__ void __launch_bounds__(kThreads) extract_packed(const __grid_constant__ LumaJob job) {
  Place at = first_place(job);
  if (at.x >= job.width) return;
  const bool rgb = job.layout.kind == PixelLayout::Kind::kRgb, whole = at.x + kPixels <= job.width;
  const int plane = job.layout.plane[0];
  const unsigned shift[3] = {8u * job.layout.offset[0], 8u * job.layout.offset[1], 8u * job.layout.offset[2]};
  for (; at.y < job.last_row; at.y += static_cast<int>(gridDim.y)) {
    if (!whole) {  // what lies behind the row may not be ours to read
      extract(job, at.x, at.y, job.width - at.x);
      continue;
    }
    const auto* from = reinterpret_cast<const unsigned*>(job.frame.plane[plane] + at.y * job.frame.stride[plane] +
                                                         static_cast<std::int64_t>(at.x) * kStride);
    unsigned word[kStride + 1] = {};
#pragma unroll
    for (int i = 0; i < kStride; ++i) word[i] = __ldg(from + i);
    unsigned luma = 0;
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const unsigned pixel = __funnelshift_r(word[i * kStride / 4], word[i * kStride / 4 + 1], i * kStride % 4 * 8);
      const unsigned a = pixel >> shift[0] & 255u;
      luma |= (rgb ? luma_of(a, pixel >> shift[1] & 255u, pixel >> shift[2] & 255u) : a) << (8 * i);
    }
    *reinterpret_cast<unsigned*>(job.luma + at.y * job.pitch + at.x) = luma;
  }
}

}  // namespace

Kernel luma_kernel(const PixelLayout& layout, bool is_aligned) {
  Kernel k;
  k.threads = kThreads;
  k.tile_width = kThreads * kPixels;
  k.function = reinterpret_cast<const void*>(&extract_any);
  if (!is_aligned || layout.kind == PixelLayout::Kind::kGray10x3 || layout.word_bytes != 1 || layout.shift != 0)
    return k;
  for (int c = 1; c < layout.components(); ++c)
    if (layout.plane[c] != layout.plane[0]) return k;
  if (layout.pixel_stride == 2) k.function = reinterpret_cast<const void*>(&extract_packed<2>);
  if (layout.pixel_stride == 3) k.function = reinterpret_cast<const void*>(&extract_packed<3>);
  if (layout.pixel_stride == 4) k.function = reinterpret_cast<const void*>(&extract_packed<4>);
  return k;
}

}  // namespace framequality::cuda
