// SPDX-License-Identifier: LGPL-2.1-or-later
// Luma of packed, planar RGB and other layouts as a separate plane, for the kernels that stream rows.
#include "cuda/loop_bound.cuh"
#include "cuda/sharpness/job.h"
#include "cuda/sharpness/overlap.cuh"

namespace framequality::cuda {
namespace {

// A thread turns 4 adjacent pixels of a row into one store, then those of the row gridDim.y further down, and so on.
constexpr int kPixels = 4, kThreads = 256;
using Codes = unsigned[kPixels];

/// A thread's position.
struct Place {
  int x, y;
};
__device__ Place first_place(const LumaJob& job) {
  let_next_begin();
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

/// Stores the luma of 4 pixels, kBytes each.
template <int kBytes>
__device__ void store(const LumaJob& job, Place at, const Codes& code) {
  std::uint8_t* to = job.luma + at.y * job.pitch + kBytes * at.x;
  if constexpr (kBytes == 1)
    *reinterpret_cast<unsigned*>(to) = code[0] | code[1] << 8 | code[2] << 16 | code[3] << 24;
  else
    *reinterpret_cast<uint2*>(to) = {code[0] | code[1] << 16, code[2] | code[3] << 16};
}

/// Fills a thread's pixels with the results of codes_at(place, codes) for 4 of them at once, kBytes each.
template <int kBytes, class CodesAt>
__device__ void fill(const LumaJob& job, CodesAt codes_at) {
  Place at = first_place(job);
  if (at.x >= job.width) return;
  const bool whole = at.x + kPixels <= job.width;
  for (; at.y < job.last_row; at.y += static_cast<int>(gridDim.y)) {
    if (!whole) {  // memory after the row may not be readable
      extract(job, at.x, at.y, job.width - at.x);
      continue;
    }
    Codes code;
    codes_at(at, code);
    store<kBytes>(job, at, code);
  }
}

/// Address of pixel `at` in a plane, kStride bytes a pixel.
template <int kStride, class T = unsigned>
__device__ const T* source(const LumaJob& job, int plane, Place at) {
  return reinterpret_cast<const T*>(job.frame.plane[plane] + at.y * job.frame.stride[plane] +
                                    std::int64_t{at.x} * kStride);
}

/// One plane of 8-bit samples, kStride bytes a pixel, rows at multiples of 4 bytes: 4 pixels are kStride words.
template <int kStride>
__global__ void __launch_bounds__(kThreads) extract_packed(const __grid_constant__ LumaJob job) {
  const bool rgb = job.layout.kind == PixelLayout::Kind::kRgb;
  const int plane = job.layout.plane[0];
  const unsigned shift[3] = {8u * job.layout.offset[0], 8u * job.layout.offset[1], 8u * job.layout.offset[2]};
  fill<1>(job, [&](Place at, Codes& luma) {
    const unsigned* from = source<kStride>(job, plane, at);
    unsigned word[kStride + 1] = {};
#pragma unroll
    for (int i = 0; i < kStride; ++i) word[i] = __ldg(from + i);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const unsigned pixel = __funnelshift_r(word[i * kStride / 4], word[i * kStride / 4 + 1], i * kStride % 4 * 8);
      const unsigned a = pixel >> shift[0] & 255u;
      luma[i] = rgb ? luma_of(a, pixel >> shift[1] & 255u, pixel >> shift[2] & 255u) : a;
    }
  });
}

/// A component's values from 16-bit words.
struct WordCodes {
  unsigned shift, bits, order;
  __device__ explicit WordCodes(const PixelLayout& l)
      : shift(l.shift), bits((1u << l.depth) - 1u), order(l.big_endian ? 0x4401u : 0x4410u) {}
  /// The lower two bytes of v.
  __device__ unsigned operator()(unsigned v) const { return __byte_perm(v, 0, order) >> shift & bits; }
};

/// One plane of 16-bit samples, 4 kWords bytes a pixel, rows at multiples of 4 bytes.
template <int kWords>
__global__ void __launch_bounds__(kThreads) extract_packed_words(const __grid_constant__ LumaJob job) {
  const bool rgb = job.layout.kind == PixelLayout::Kind::kRgb;
  const int plane = job.layout.plane[0];
  const WordCodes codes(job.layout);
  fill<2>(job, [&](Place at, Codes& luma) {
    const unsigned* from = source<4 * kWords>(job, plane, at);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      unsigned word[kWords];
#pragma unroll
      for (int w = 0; w < kWords; ++w) word[w] = __ldg(from + i * kWords + w);
      const auto component = [&](int c) {
        const int offset = job.layout.offset[c];
        return codes((kWords == 2 && offset >= 4 ? word[kWords - 1] : word[0]) >> (8 * (offset % 4)));
      };
      luma[i] = rgb ? luma_of(component(0), component(1), component(2)) : component(0);
    }
  });
}

/// Three planes of adjacent samples, kBytes each, their rows at multiples of 4 kBytes bytes.
template <int kBytes>
__global__ void __launch_bounds__(kThreads) extract_planar(const __grid_constant__ LumaJob job) {
  const WordCodes codes(job.layout);
  fill<kBytes>(job, [&](Place at, Codes& luma) {
    Codes code[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const int plane = job.layout.plane[c];
      if constexpr (kBytes == 1) {
        const unsigned v = __ldg(source<kBytes>(job, plane, at));
#pragma unroll
        for (int i = 0; i < kPixels; ++i) code[c][i] = v >> (8 * i) & 255u;
      } else {
        const uint2 v = __ldg(source<kBytes, uint2>(job, plane, at));
#pragma unroll
        for (int i = 0; i < kPixels; ++i) code[c][i] = codes((i < 2 ? v.x : v.y) >> (16 * (i % 2)));
      }
    }
#pragma unroll
    for (int i = 0; i < kPixels; ++i) luma[i] = luma_of(code[0][i], code[1][i], code[2][i]);
  });
}

/// A mosaic of samples of kBytes, rows at multiples of 4 bytes: 4 cells are 2 kBytes words of each of their rows.
template <int kBytes>
__global__ void __launch_bounds__(kThreads) extract_cells(const __grid_constant__ LumaJob job) {
  const WordCodes codes(job.layout);
  const unsigned at_red = 8u * job.layout.offset[0], at_blue = 8u * job.layout.offset[2];
  const auto sample = [&](unsigned v) { return kBytes == 1 ? v & 255u : codes(v); };
  fill<kBytes>(job, [&](Place at, Codes& luma) {
    const unsigned* red = source<2 * kBytes>(job, job.layout.plane[0], at);
    const unsigned* blue = source<2 * kBytes>(job, job.layout.plane[2], at);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const int word = i * kBytes / 2, below = i * 16 * kBytes % 32;
      const unsigned rg = __ldg(red + word) >> below, gb = __ldg(blue + word) >> below;
      luma[i] = luma_of_cell(sample(rg) + sample(rg >> (8 * kBytes)) + sample(gb >> at_red), sample(gb >> at_blue));
    }
  });
}

}  // namespace

Kernel luma_kernel(LumaRoute route, const PixelLayout& layout) {
  const bool is_words = layout.word_bytes == 2;
  Kernel k;
  k.threads = kThreads;
  k.tile_width = kThreads * kPixels;
  k.function = reinterpret_cast<const void*>(&extract_any);
  if (route == LumaRoute::kPlanar)
    k.function = reinterpret_cast<const void*>(is_words ? &extract_planar<2> : &extract_planar<1>);
  if (route == LumaRoute::kMosaic)
    k.function = reinterpret_cast<const void*>(is_words ? &extract_cells<2> : &extract_cells<1>);
  if (route == LumaRoute::kPacked && is_words) {
    // The first word of a luma plane's pixels, or those of RGB.
    if (layout.pixel_stride == 4) k.function = reinterpret_cast<const void*>(&extract_packed_words<1>);
    if (layout.pixel_stride == 8) k.function = reinterpret_cast<const void*>(&extract_packed_words<2>);
  } else if (route == LumaRoute::kPacked) {
    if (layout.pixel_stride == 2) k.function = reinterpret_cast<const void*>(&extract_packed<2>);
    if (layout.pixel_stride == 3) k.function = reinterpret_cast<const void*>(&extract_packed<3>);
    if (layout.pixel_stride == 4) k.function = reinterpret_cast<const void*>(&extract_packed<4>);
  }
  return k;
}

}  // namespace framequality::cuda
