// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel: from a frame to the pairs, sums of squares and values of a thread block.
#pragma once

#include "algorithms/denoise/weight.h"
#include "algorithms/picture.h"
#include "cuda/denoise/lanes.h"

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

namespace framequality::cuda::tile {

/// One plane of one frame's field as the kernel reads it.
struct Picture {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
  int step, width, height;
  denoise::Border border;
};

/// A candidate: correction for the rounding of its half sum of squares, and its samples.
template <int kPlanes>
struct alignas(kPlanes == 1 ? 8 : 16) Value {
  float rounding, code[kPlanes];
};

template <class Samples, int kPlanes>
struct Shared {
  using Code = typename Samples::Code;
  uint2* pairs;
  typename Samples::Product* begins;
  Value<kPlanes>* values;
  Code* raw;

  __device__ __forceinline__ Shared(const Layout& l, uint4* memory) {
    auto* at = reinterpret_cast<std::uint8_t*>(memory);
    pairs = reinterpret_cast<uint2*>(at);
    begins = reinterpret_cast<typename Samples::Product*>(at += l.all_pair_bytes());
    values = reinterpret_cast<Value<kPlanes>*>(at += l.all_begin_bytes());
    raw = reinterpret_cast<Code*>(at += l.all_value_bytes());
  }
  /// The first of two candidates, at an even place.
  __device__ __forceinline__ static int begin_place(int at) { return at / 2 * 4 + at % 2; }
};

/// Four bytes from any address; reads aligned words that contain at least one of them.
__device__ __forceinline__ std::uint32_t load_word(const std::uint8_t* from) {
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  const auto low = *reinterpret_cast<const std::uint32_t*>(at & ~std::uintptr_t{3});
  const auto high = *reinterpret_cast<const std::uint32_t*>((at + 3) & ~std::uintptr_t{3});
  return __funnelshift_r(low, high, static_cast<unsigned>(at & 3) * 8);
}

__device__ __forceinline__ std::int8_t code_at(Bytes, const PictureLayout&, const std::uint8_t* p) {
  return static_cast<std::int8_t>(*p ^ 0x80);
}
__device__ __forceinline__ std::int16_t code_at(Halves, const PictureLayout& l, const std::uint8_t* p) {
  return static_cast<std::int16_t>(static_cast<int>(read_sample(l, p)) - (1 << (l.depth - 1)));
}

/// Samples of a plane, from (left, top) on.
template <int kThreads, class Samples>
__device__ __forceinline__ void fill_raw(const Layout& l, typename Samples::Code* raw, const PictureLayout& words,
                                         const Picture& p, int left, int top) {
  const int thread = static_cast<int>(threadIdx.x);
  const auto read = [&](auto place) {
#pragma unroll 4
    for (int i = thread; i < l.raw_rows * l.raw_columns; i += kThreads) {
      const int r = l.by_raw_columns.quotient(i), c = i - r * l.raw_columns;
      raw[r * l.raw_pitch + c] = code_at(Samples{}, words, place(left + c, top + r));
    }
  };
  if (left >= 0 && top >= 0 && left + l.raw_columns <= p.width && top + l.raw_rows <= p.height) {
    if constexpr (Samples::kPerWord == 4) {
      if (p.step == 1) {
        const int quads = l.by_raw_words.divisor;
#pragma unroll 2
        for (int i = thread; i < l.raw_rows * quads; i += kThreads) {
          const int r = l.by_raw_words.quotient(i), q = i - r * quads;
          reinterpret_cast<std::uint32_t*>(raw + r * l.raw_pitch)[q] =
              load_word(p.data + (top + r) * p.stride + left + 4 * q) ^ 0x80808080u;
        }
        return;
      }
    }
    read([&](int x, int y) { return p.data + y * p.stride + static_cast<std::ptrdiff_t>(x) * p.step; });
  } else {
    read([&](int x, int y) {
      x = denoise::bordered(x, p.width, p.border);
      y = denoise::bordered(y, p.height, p.border);
      return p.data + y * p.stride + static_cast<std::ptrdiff_t>(x) * p.step;
    });
  }
}

/// Four adjacent pairs, the first one's row and column at `at`, a multiple of 4.
__device__ __forceinline__ void make_pairs(const Layout& l, const std::int8_t* at, uint4* to) {
  const auto* const upper = reinterpret_cast<const std::uint32_t*>(at);
  const auto* const lower = reinterpret_cast<const std::uint32_t*>(at + Bytes::kSecondY * l.raw_pitch);
  const std::uint32_t u = upper[0], u2 = upper[1], w = lower[0], w2 = lower[1];
  to[0] = make_uint4(u, w, __funnelshift_r(u, u2, 8), __funnelshift_r(w, w2, 8));
  to[1] = make_uint4(__funnelshift_r(u, u2, 16), __funnelshift_r(w, w2, 16), __funnelshift_r(u, u2, 24),
                     __funnelshift_r(w, w2, 24));
}
__device__ __forceinline__ std::uint32_t half_bits(std::int16_t code) {
  return __half_as_ushort(__short2half_rn(code));
}
__device__ __forceinline__ void make_pairs(const Layout&, const std::int16_t* at, uint4* to) {
  std::uint32_t even[4], odd[3];
#pragma unroll
  for (int i = 0; i < 4; ++i) even[i] = half_bits(at[2 * i]) | half_bits(at[2 * i + 1]) << 16;
#pragma unroll
  for (int i = 0; i < 3; ++i) odd[i] = __funnelshift_r(even[i], even[i + 1], 16);
  to[0] = make_uint4(even[0], even[1], odd[0], odd[1]);
  to[1] = make_uint4(even[1], even[2], odd[1], odd[2]);
}

__device__ __forceinline__ int multiply_word(std::uint32_t word, std::uint32_t mask, int sum) {
  return __dp4a(static_cast<int>(word & mask), static_cast<int>(word), sum);
}
/// Adds squares of rows of patches to `row`, ten from the given pair and sample on: the patches of kColumns
/// adjacent candidates.
__device__ __forceinline__ void add_squares(const Layout& l, const uint2* pairs, const std::int8_t*, int patch,
                                            int (&row)[10][1]) {
  const std::uint32_t first = row_mask<Bytes>(patch, 0), second = row_mask<Bytes>(patch, 4);
#pragma unroll
  for (int r = 0; r < 6; ++r) {
    const uint2 a = pairs[r * l.pair_pitch], b = pairs[r * l.pair_pitch + 4];
    if (r < 4) row[r][0] = multiply_word(a.x, first, multiply_word(b.x, second, row[r][0]));
    row[r + 4][0] = multiply_word(a.y, first, multiply_word(b.y, second, row[r + 4][0]));
  }
}
__device__ __forceinline__ void add_squares(const Layout& l, const uint2*, const std::int16_t* codes, int patch,
                                            int (&row)[10][2]) {
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    // Both candidates' rows lie in 2 * patch + 2 samples: one without the last of them, one without the first.
    int sum = 0, first = 0, last = 0;
#pragma unroll
    for (int i = 0; i <= kMaxPatch; ++i) {
      if (i > patch) break;
      const auto two = reinterpret_cast<const std::uint32_t*>(codes + r * l.raw_pitch)[i];
      const int a = static_cast<std::int16_t>(two & 0xffff), b = static_cast<int>(two) >> 16;
      if (i == 0) first = a * a;
      last = b * b;
      sum += a * a + last;
    }
    row[r][0] += sum - last;
    row[r][1] += sum - first;
  }
}

/// Fills shared memory with the surroundings of the thread block's pixels. value_of: the rounding's correction, and the
/// factor of samples, by whether the sum of squares is odd. All threads; ends with a barrier.
template <int kThreads, class Samples, int kPlanes, class F>
__device__ __forceinline__ void fill(const Layout& l, const Shared<Samples, kPlanes>& s, const PictureLayout& words,
                                     const Picture (&planes)[kPlanes], int left, int top, int patch, F value_of) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int k = 0; k < kPlanes; ++k)
    fill_raw<kThreads, Samples>(l, s.raw + k * l.plane_codes(), words, planes[k], left - patch, top - patch);
  __syncthreads();
  const int quads = l.by_quads.divisor;
  for (int i = thread; i < l.pair_rows * quads; i += kThreads) {
    const int r = l.by_quads.quotient(i), q = i - r * quads;
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
      make_pairs(l, s.raw + k * l.plane_codes() + r * l.raw_pitch + 4 * q,
                 reinterpret_cast<uint4*>(s.pairs + k * l.plane_pairs() + r * l.pair_pitch + 4 * q));
  }
  __syncthreads();
  constexpr int kColumns = Samples::kColumns;
  const int strip_items = l.by_columns.divisor;
  for (int i = thread; i < l.rows / 4 * strip_items; i += kThreads) {
    const int strip = l.by_columns.quotient(i), c = (i - strip * strip_items) * kColumns;
    int row[10][kColumns] = {};  // sums of squares of rows of patches, from the strip's first on
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
      add_squares(l, s.pairs + k * l.plane_pairs() + 4 * strip * l.pair_pitch + c,
                  s.raw + k * l.plane_codes() + 4 * strip * l.raw_pitch + c, patch, row);
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int e = 0; e < kColumns; ++e) {
        int sum = row[r][e];
        if (patch > 0) sum += row[r + 1][e] + row[r + 2][e];
        if (patch > 1) sum += row[r + 3][e] + row[r + 4][e];
        if (patch > 2) sum += row[r + 5][e] + row[r + 6][e];
        const int y = 4 * strip + r, at = y * l.value_pitch + c + e;
        auto* const begin = s.begins + s.begin_place(at);
        begin[0] = begin[2] = Samples::begin_of(sum >> 1);
        const float2 factors = value_of(sum % 2 != 0);
        Value<kPlanes> value;
        value.rounding = factors.x;
#pragma unroll
        for (int k = 0; k < kPlanes; ++k)
          value.code[k] =
              factors.y * static_cast<float>(s.raw[k * l.plane_codes() + (y + patch) * l.raw_pitch + c + e + patch]);
        s.values[at] = value;
      }
  }
  __syncthreads();
}

}  // namespace framequality::cuda::tile
