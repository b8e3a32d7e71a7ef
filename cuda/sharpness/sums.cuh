// SPDX-License-Identifier: LGPL-2.1-or-later
// The number types of kernels, and one thread's running totals in them. Nothing ever rounds.
#pragma once

#include "cuda/sharpness/tile.cuh"

#include <cuda_fp16.h>

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

/// Two integers of magnitude below 2048, one in each half of a register: as 16-bit floats, in units of the smallest
/// one. In that range they are exact, and the bits of a positive one are those of the integer.
struct Pair {
  unsigned bits;
  __device__ __forceinline__ __half2 halves() const { return reinterpret_cast<const __half2&>(bits); }
  __device__ static __forceinline__ Pair of(__half2 h) { return {reinterpret_cast<const unsigned&>(h)}; }
};
__device__ __forceinline__ Pair operator+(Pair a, Pair b) { return Pair::of(__hadd2(a.halves(), b.halves())); }
__device__ __forceinline__ Pair operator-(Pair a, Pair b) { return Pair::of(__hsub2(a.halves(), b.halves())); }
__device__ __forceinline__ Pair absolute(Pair a) { return {a.bits & 0x7fff7fffu}; }
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ Pair minimum(Pair a, Pair b) { return Pair::of(__hmin2(a.halves(), b.halves())); }
__device__ __forceinline__ Pair maximum(Pair a, Pair b) { return Pair::of(__hmax2(a.halves(), b.halves())); }
#else  // no instruction: by integers, no operand is negative
__device__ __forceinline__ Pair minimum(Pair a, Pair b) { return {__vminu2(a.bits, b.bits)}; }
__device__ __forceinline__ Pair maximum(Pair a, Pair b) { return {__vmaxu2(a.bits, b.bits)}; }
#endif
__device__ __forceinline__ Pair abs_difference(Pair a, Pair b) { return absolute(a - b); }

/// One thread's totals of pairs of 8-bit samples, for metrics that add no negative numbers.
template <class M>
class PairSums {
 public:
  /// Most pixels that a thread may add.
  static constexpr int kPixels = [] {
    int pixels = INT32_MAX;
    for (const sharpness::Peak& p : M::kPeak)
      pixels = std::min(pixels, INT32_MAX / (p.power == 1 ? p.factor * 255 : p.factor * 255 * 255));
    return pixels;
  }();

  /// Begins a pair of pixels, which count where `mask` has ones.
  __device__ __forceinline__ void begin(int, unsigned mask) { mask_ = mask; }

  template <int kTotal>
  __device__ __forceinline__ void add(Pair v) {
    static_assert(!M::kSigned && M::kPeak[kTotal].power == 1 && M::kPeak[kTotal].factor * 255 < 2048);
    part_[kTotal] = part_[kTotal] + v;
  }
  template <int kTotal>
  __device__ __forceinline__ void add_product(Pair a, Pair b) {
    static_assert(!M::kSigned && M::kGain == 0);  // factors are bytes
    sum_[kTotal] = __dp4a(a.bits & mask_, b.bits, sum_[kTotal]);
  }
  /// Ends the pair.
  __device__ __forceinline__ void end() {
    unrolled<sharpness::kTotalsOf<M>>([&](auto index) {
      constexpr int i = decltype(index)::value;
      if constexpr (M::kPeak[i].power == 1) {
        sum_[i] = __dp2a_lo(part_[i].bits & mask_, 0x0101u, sum_[i]);
        part_[i] = {};
      }
    });
  }
  __device__ long long total(int i) const { return sum_[i]; }

 private:
  unsigned mask_;
  Pair part_[sharpness::kTotalsOf<M>] = {};
  unsigned sum_[sharpness::kTotalsOf<M>] = {};
};

/// One thread's totals of samples of up to 16 bits: squares in 64 bits, first powers in 32.
template <class M>
class WordSums {
 public:
  /// Most pixels that a thread may add.
  static constexpr int kPixels = [] {
    int pixels = INT32_MAX;
    for (const sharpness::Peak& p : M::kPeak)
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
  __device__ long long total(int i) const { return narrow_[i] + wide_[i]; }

 private:
  int narrow_[sharpness::kTotalsOf<M>] = {};
  long long wide_[sharpness::kTotalsOf<M>] = {};
};

/// A sample and its neighbours along the row, in the form that metrics use.
template <class V>
struct Around {
  V left, centre, right, right2;
  __device__ __forceinline__ V l() const { return left; }
  __device__ __forceinline__ V c() const { return centre; }
  __device__ __forceinline__ V r() const { return right; }
  __device__ __forceinline__ V r2() const { return right2; }
};

}  // namespace framequality::cuda
