// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers that kernels compute in, and one thread's running totals in them. Nothing ever rounds.
#pragma once

#include "cuda/tile.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace framequality::cuda {

/// f(std::integral_constant<int, i>{}) for i in 0...kCount-1.
template <int kCount, class F>
__device__ __forceinline__ void unrolled(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (f(std::integral_constant<int, i>{}), ...); }
  (std::make_integer_sequence<int, kCount>{});
}

/// An integer below 2^24 held in a float: exact, and twice the throughput of 32-bit integers since Ampere.
struct Float {
  float v;
};
__device__ __forceinline__ Float operator+(Float a, Float b) { return {a.v + b.v}; }
__device__ __forceinline__ Float operator-(Float a, Float b) { return {a.v - b.v}; }
/// As a product, so that adding to it is one fused instruction.
__device__ __forceinline__ Float twice(Float a) { return {2.0f * a.v}; }
__device__ __forceinline__ Float absolute(Float a) { return {fabsf(a.v)}; }
__device__ __forceinline__ Float minimum(Float a, Float b) { return {fminf(a.v, b.v)}; }
__device__ __forceinline__ Float maximum(Float a, Float b) { return {fmaxf(a.v, b.v)}; }
__device__ __forceinline__ Float abs_difference(Float a, Float b) { return {fabsf(a.v - b.v)}; }

/// Most that one 8-bit pixel adds to total i of M.
template <class M>
constexpr int byte_peak(int i) {
  return M::kPeak[i].power == 2 ? M::kPeak[i].factor * 255 * 255 : M::kPeak[i].factor * 255;
}

/// One thread's totals of 8-bit samples: float parts of kFlush pixels, gathered in 32-bit integers.
template <class M>
class ByteSums {
 public:
  /// Pixels between two calls of flush() at most: a part stays below 2^24.
  static constexpr int kFlush = [] {
    int pixels = 16;
    for (int i = 0; i < kTotalsOf<M>; ++i)
      while (pixels * byte_peak<M>(i) >= 1 << 24) pixels /= 2;
    return pixels;
  }();
  /// Pixels that a thread may add in all.
  static constexpr int kPixels = [] {
    int pixels = INT32_MAX;
    for (int i = 0; i < kTotalsOf<M>; ++i) pixels = std::min(pixels, INT32_MAX / byte_peak<M>(i));
    return pixels;
  }();

  template <int kTotal>
  __device__ __forceinline__ void add(Float v) {
    part_[kTotal] += v.v;
  }
  template <int kTotal>
  __device__ __forceinline__ void add_product(Float a, Float b) {
    part_[kTotal] = fmaf(a.v, b.v, part_[kTotal]);
  }
  /// flush(false) drops what was added since the last flush.
  static constexpr bool kDiscards = true;
  __device__ __forceinline__ void flush(bool counts) {
#pragma unroll
    for (int i = 0; i < kTotalsOf<M>; ++i) {
      sum_[i] += counts ? static_cast<int>(part_[i]) : 0;
      part_[i] = 0;
    }
  }
  __device__ long long total(int i) const { return sum_[i]; }

 private:
  float part_[kTotalsOf<M>] = {};
  int sum_[kTotalsOf<M>] = {};
};

/// One thread's totals of samples of up to 16 bits: squares in 64 bits, what grows with the first power in 32.
template <class M>
class WordSums {
 public:
  static constexpr int kFlush = 16;
  /// Pixels that a thread may add in all.
  static constexpr int kPixels = [] {
    int pixels = INT32_MAX;
    for (const Peak& p : M::kPeak)
      if (p.power == 1) pixels = std::min(pixels, INT32_MAX / (p.factor * 65535));
    return pixels;
  }();

  template <int kTotal>
  __device__ __forceinline__ void add(int v) {
    if constexpr (M::kPeak[kTotal].power == 1) {
      narrow_[kTotal] += v;
    } else {
      wide_[kTotal] += v;
    }
  }
  template <int kTotal>
  __device__ __forceinline__ void add_product(int a, int b) {
    wide_[kTotal] += static_cast<long long>(a) * b;
  }
  static constexpr bool kDiscards = false;
  __device__ __forceinline__ void flush(bool) {}
  __device__ long long total(int i) const { return narrow_[i] + wide_[i]; }

 private:
  int narrow_[kTotalsOf<M>] = {};
  long long wide_[kTotalsOf<M>] = {};
};

/// A sample and its neighbours along the row, as metrics ask for them.
template <class V>
struct Around {
  V left, centre, right, right2;
  __device__ __forceinline__ V l() const { return left; }
  __device__ __forceinline__ V c() const { return centre; }
  __device__ __forceinline__ V r() const { return right; }
  __device__ __forceinline__ V r2() const { return right2; }
};

}  // namespace framequality::cuda
