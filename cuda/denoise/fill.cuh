// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel: from a frame to the words, sums of squares and values of a thread block.
#pragma once

#include "algorithms/denoise/weight.h"
#include "cuda/denoise/lanes.h"

#include <cstddef>
#include <cstdint>

namespace framequality::cuda::tile {

/// One frame's field as the kernel reads it.
struct Picture {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
  int step, width, height;
  denoise::Border border;
};

struct Shared {
  uint2* pairs;
  int4* begins;  ///< of two candidates each
  float2* values;
  std::uint8_t* raw;
};

__device__ __forceinline__ int multiply_word(std::uint32_t word, std::uint32_t mask, int sum) {
  return __dp4a(static_cast<int>(word & mask), static_cast<int>(word), sum);
}

/// Four bytes from anywhere; reads aligned words that hold one of them at least.
__device__ __forceinline__ std::uint32_t load_word(const std::uint8_t* from) {
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  const auto low = *reinterpret_cast<const std::uint32_t*>(at & ~std::uintptr_t{3});
  const auto high = *reinterpret_cast<const std::uint32_t*>((at + 3) & ~std::uintptr_t{3});
  return __funnelshift_r(low, high, static_cast<unsigned>(at & 3) * 8);
}

/// Fills shared memory with what lies around the thread block's pixels. value_of: see Layout, of whether the sum of
/// squares is odd and the code less 128. All threads; ends with a barrier.
template <int kThreads, class F>
__device__ __forceinline__ void fill(const Layout& l, const Shared& s, const Picture& p, int left, int top, int patch,
                                     F value_of) {
  const int thread = static_cast<int>(threadIdx.x);
  left -= patch;
  top -= patch;
  const auto read = [&](auto code_at) {
#pragma unroll 4
    for (int i = thread; i < l.raw_rows * l.raw_columns; i += kThreads) {
      const int r = l.by_raw_columns.quotient(i), c = i - r * l.raw_columns;
      s.raw[r * l.raw_pitch + c] = code_at(left + c, top + r) ^ 0x80;
    }
  };
  if (left >= 0 && top >= 0 && left + l.raw_columns <= p.width && top + l.raw_rows <= p.height) {
    if (p.step == 1) {
      const int words = l.by_raw_words.divisor;
#pragma unroll 2
      for (int i = thread; i < l.raw_rows * words; i += kThreads) {
        const int r = l.by_raw_words.quotient(i), q = i - r * words;
        reinterpret_cast<std::uint32_t*>(s.raw + r * l.raw_pitch)[q] =
            load_word(p.data + (top + r) * p.stride + left + 4 * q) ^ 0x80808080u;
      }
    } else {
      read([&](int x, int y) { return p.data[y * p.stride + static_cast<std::ptrdiff_t>(x) * p.step]; });
    }
  } else {
    read([&](int x, int y) {
      x = denoise::bordered(x, p.width, p.border);
      y = denoise::bordered(y, p.height, p.border);
      return p.data[y * p.stride + static_cast<std::ptrdiff_t>(x) * p.step];
    });
  }
  __syncthreads();
  const int quads = l.by_quads.divisor;
  for (int i = thread; i < l.pair_rows * quads; i += kThreads) {
    const int r = l.by_quads.quotient(i), q = i - r * quads;
    const auto* const upper = reinterpret_cast<const std::uint32_t*>(s.raw + r * l.raw_pitch) + q;
    const auto* const lower = reinterpret_cast<const std::uint32_t*>(s.raw + (r + 4) * l.raw_pitch) + q;
    const std::uint32_t u = upper[0], u2 = upper[1], w = lower[0], w2 = lower[1];
    auto* const to = reinterpret_cast<uint4*>(s.pairs + r * l.pair_pitch + 4 * q);
    to[0] = make_uint4(u, w, __funnelshift_r(u, u2, 8), __funnelshift_r(w, w2, 8));
    to[1] = make_uint4(__funnelshift_r(u, u2, 16), __funnelshift_r(w, w2, 16), __funnelshift_r(u, u2, 24),
                       __funnelshift_r(w, w2, 24));
  }
  __syncthreads();
  const std::uint32_t first = row_mask(patch, 0), second = row_mask(patch, 4);
  for (int i = thread; i < l.rows / 4 * l.columns; i += kThreads) {
    const int strip = l.by_columns.quotient(i), c = i - strip * l.columns;
    int row[10];  // sums of squares of rows of patches, from the strip's first on
#pragma unroll
    for (int r = 0; r < 6; ++r) {
      const uint2 a = s.pairs[(4 * strip + r) * l.pair_pitch + c], b = s.pairs[(4 * strip + r) * l.pair_pitch + c + 4];
      if (r < 4) row[r] = multiply_word(a.x, first, multiply_word(b.x, second, 0));
      row[r + 4] = multiply_word(a.y, first, multiply_word(b.y, second, 0));
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      int sum = row[r];
      if (patch > 0) sum += row[r + 1] + row[r + 2];
      if (patch > 1) sum += row[r + 3] + row[r + 4];
      if (patch > 2) sum += row[r + 5] + row[r + 6];
      const int y = 4 * strip + r;
      const auto code = static_cast<std::int8_t>(s.raw[(y + patch) * l.raw_pitch + c + patch]);
      const int at = y * l.value_pitch + c;
      int* const begin = reinterpret_cast<int*>(s.begins + at / 2) + at % 2;
      begin[0] = begin[2] = kBias - (sum >> 1);
      s.values[at] = value_of(sum % 2 != 0, static_cast<float>(code));
    }
  }
  __syncthreads();
}

}  // namespace framequality::cuda::tile
