// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples of up to 12 bits, two to a register, and one thread's running totals of them. Nothing ever rounds.
#pragma once

#include "algorithms/sharpness/quadratic.h"
#include "cuda/sharpness/sums.cuh"

namespace framequality::cuda {

/// Two integers, one in each half of a register: upper * 2^16 + lower, modulo 2^32. Sums and differences are
/// right whatever the signs; to separate the halves, both must be non-negative.
struct Duo {
  unsigned bits;
};
__device__ __forceinline__ Duo operator+(Duo a, Duo b) { return {a.bits + b.bits}; }
__device__ __forceinline__ Duo operator-(Duo a, Duo b) { return {a.bits - b.bits}; }
__device__ __forceinline__ Duo twice(Duo a) { return {2 * a.bits}; }
// No operand is negative, so they compare as 16-bit floats, whose order is that of their bits.
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ Duo minimum(Duo a, Duo b) { return {minimum(Pair{a.bits}, Pair{b.bits}).bits}; }
__device__ __forceinline__ Duo maximum(Duo a, Duo b) { return {maximum(Pair{a.bits}, Pair{b.bits}).bits}; }
#else
__device__ __forceinline__ Duo minimum(Duo a, Duo b) { return {__vminu2(a.bits, b.bits)}; }
__device__ __forceinline__ Duo maximum(Duo a, Duo b) { return {__vmaxu2(a.bits, b.bits)}; }
#endif
__device__ __forceinline__ Duo abs_difference(Duo a, Duo b) { return maximum(a, b) - minimum(a, b); }
/// For numbers below 15360 in magnitude: with this offset their floats are finite.
__device__ __forceinline__ Duo absolute(Duo a) {
  constexpr unsigned kBias = 15360u * 0x10001u;
  const Duo up = a + Duo{kBias};
  return maximum(up, Duo{2 * kBias} - up) - Duo{kBias};
}

/// acc + sum of the products of four bytes; those of a are unsigned, those of b signed if kSigned.
template <bool kSigned>
__device__ __forceinline__ int mixed_dp4a(unsigned a, unsigned b, int acc) {
  if constexpr (!kSigned) return static_cast<int>(__dp4a(a, b, static_cast<unsigned>(acc)));
  int sum;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(acc));
  return sum;
}

inline constexpr unsigned kOnes = 0x01010101;

/// Whether all products that a metric adds are squares, and their number per pixel.
struct Squares {
  bool all = true;
  int count = 0;
  template <int kTotal>
  FQ_HD constexpr void add(const sharpness::Symbol&) {}
  template <int kTotal>
  FQ_HD constexpr void add_product(const sharpness::Symbol& a, const sharpness::Symbol& b) {
    ++count;
    all = all && a.kind == b.kind && a.kind != sharpness::Symbol::Kind::kOther;
    for (int y = 0; y < sharpness::Symbol::kRows; ++y)
      for (int x = 0; x < sharpness::Symbol::kColumns; ++x) all = all && a.weight[y][x] == b.weight[y][x];
  }
};
template <class M>
inline constexpr Squares kProductsOf = [] {
  Squares squares;
  const auto row = [](int dy) { return M::template row<sharpness::Symbol>(sharpness::Symbol::Neighbours{dy}); };
  M::template pixel<sharpness::Symbol>(row(-1), row(0), row(1), squares);
  return squares;
}();
/// Whether factors, or summands, of a metric may be negative.
template <class M>
inline constexpr bool kBiased = M::kGain > 0;
/// Offsets that make 16-bit numbers, and their upper bytes, positive.
inline constexpr unsigned kBias = 0x80008000, kByteBias = 0x80808080;

/// One thread's totals of metric M. Units of two pixels are processed in couples: four bytes are multiplied at a time.
/// kMasked: some pixels do not count.
template <class M, bool kMasked>
class DuoSums {
 public:
  /// Most pixels that a thread may add: two products of bytes each, to one total.
  static constexpr int kPixels = INT32_MAX / (2 * 2 * 255 * 255);

  /// Begins unit `unit`, whose pixels count where `mask` has ones.
  __device__ __forceinline__ void begin(int unit, unsigned mask) { unit_ = unit, call_ = 0, mask_ = mask; }
  __device__ __forceinline__ void end() {}

  template <int kTotal>
  __device__ __forceinline__ void add(Duo v) {
    if constexpr (M::kSigned) {
      const unsigned u = halves(v);
      if (unit_ % 2 == 0) {
        held_sum_ = u;
        return;
      }
      sum_[kTotal].low = __dp4a(lower(held_sum_, u), kOnes, sum_[kTotal].low);
      sum_[kTotal].middle = mixed_dp4a<true>(kOnes, upper(held_sum_, u), sum_[kTotal].middle);
    } else {
      sum_[kTotal].low = __dp2a_lo(kMasked ? v.bits & mask_ : v.bits, 0x0101u, sum_[kTotal].low);
    }
  }

  template <int kTotal>
  __device__ __forceinline__ void add_product(Duo a, Duo b) {
    const int call = call_++;
    const unsigned x = halves(a), y = halves(b);
    if (unit_ % 2 == 0) {
      held_[call][0] = x, held_[call][1] = y;
      return;
    }
    Parts& sum = product_[kTotal];
    const unsigned al = lower(held_[call][0], x), ah = upper(held_[call][0], x);
    if constexpr (kProductsOf<M>.all) {
      sum.low = __dp4a(al, al, sum.low);
      sum.middle = mixed_dp4a<kBiased<M>>(al, ah, sum.middle);  // one sum for both of its halves
      sum.high = high(ah, ah, sum.high);
    } else {
      const unsigned bl = lower(held_[call][1], y), bh = upper(held_[call][1], y);
      sum.low = __dp4a(al, bl, sum.low);
      sum.middle = mixed_dp4a<kBiased<M>>(al, bh, mixed_dp4a<kBiased<M>>(bl, ah, sum.middle));
      sum.high = high(ah, bh, sum.high);
    }
  }

  __device__ long long total(int i) const {
    constexpr int kMiddle = kProductsOf<M>.all ? 512 : 256;
    return sum_[i].low + 256ll * sum_[i].middle + product_[i].low +
           static_cast<long long>(kMiddle) * product_[i].middle + 65536ll * product_[i].high;
  }

 private:
  struct Parts {
    unsigned low = 0;
    int middle = 0, high = 0;
  };

  /// The two numbers, each in its half; biased ones complete only if masked.
  __device__ __forceinline__ unsigned halves(Duo v) const {
    if constexpr (!kBiased<M>) return kMasked ? v.bits & mask_ : v.bits;
    const unsigned u = v.bits + kBias;
    return kMasked ? (u ^ kBias) & mask_ : u;
  }
  /// The lower bytes of four numbers, and the upper, signed if numbers are.
  __device__ static __forceinline__ unsigned lower(unsigned a, unsigned b) { return __byte_perm(a, b, 0x6420); }
  __device__ static __forceinline__ unsigned upper(unsigned a, unsigned b) {
    const unsigned bytes = __byte_perm(a, b, 0x7531);
    return kBiased<M> && !kMasked ? bytes ^ kByteBias : bytes;
  }
  __device__ static __forceinline__ int high(unsigned a, unsigned b, int acc) {
    if constexpr (kBiased<M>) return __dp4a(static_cast<int>(a), static_cast<int>(b), acc);
    return static_cast<int>(__dp4a(a, b, static_cast<unsigned>(acc)));
  }

  int unit_ = 0, call_ = 0;
  unsigned mask_ = ~0u, held_sum_ = 0, held_[kProductsOf<M>.count > 0 ? kProductsOf<M>.count : 1][2] = {};
  Parts sum_[sharpness::kTotalsOf<M>], product_[sharpness::kTotalsOf<M>];
};

}  // namespace framequality::cuda
