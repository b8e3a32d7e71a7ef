// SPDX-License-Identifier: LGPL-2.1-or-later
// Vectors of integers for kernels.cpp: compiler vector extensions, with instructions named only where those have no
// operator. Everything is in an unnamed namespace: code built for one instruction set must not leak into another.
#pragma once

#include "algorithms/host_device.h"
#include "algorithms/metric.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace framequality::cpu {
namespace {

#if defined(__AVX512BW__)
constexpr int kVec = 64;
#elif defined(__AVX2__)
constexpr int kVec = 32;
#else
constexpr int kVec = 16;
#endif

typedef std::uint8_t U8v __attribute__((vector_size(kVec)));
typedef std::int16_t S16v __attribute__((vector_size(kVec)));
typedef std::uint16_t U16v __attribute__((vector_size(kVec)));
typedef std::int32_t S32v __attribute__((vector_size(kVec)));
typedef std::uint32_t U32v __attribute__((vector_size(kVec)));
typedef std::int64_t S64v __attribute__((vector_size(kVec)));
typedef std::uint64_t U64v __attribute__((vector_size(kVec)));
typedef std::int32_t S32half __attribute__((vector_size(kVec / 2)));
typedef std::uint16_t U16half __attribute__((vector_size(kVec / 2)));

template <class V>
FQ_HD V load(const std::uint8_t* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
FQ_HD void store(void* p, V v) {
  std::memcpy(p, &v, sizeof v);
}

/// Sum of the bytes of each 64-bit lane.
FQ_HD U64v sum_bytes(U8v v) {
#if defined(__AVX512BW__)
  return reinterpret_cast<U64v>(_mm512_sad_epu8(reinterpret_cast<__m512i>(v), _mm512_setzero_si512()));
#elif defined(__AVX2__)
  return reinterpret_cast<U64v>(_mm256_sad_epu8(reinterpret_cast<__m256i>(v), _mm256_setzero_si256()));
#elif defined(__SSE2__)
  return reinterpret_cast<U64v>(_mm_sad_epu8(reinterpret_cast<__m128i>(v), _mm_setzero_si128()));
#else
  const U16v w = reinterpret_cast<U16v>(v), s = (w & 0xff) + (w >> 8);
  const U32v x = reinterpret_cast<U32v>(s), t = (x & 0xffff) + (x >> 16);
  const U64v y = reinterpret_cast<U64v>(t);
  return (y & 0xffffffff) + (y >> 32);
#endif
}

FQ_HD U8v min_bytes(U8v a, U8v b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<U8v>(_mm512_min_epu8(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<U8v>(_mm256_min_epu8(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<U8v>(_mm_min_epu8(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return a < b ? a : b;
#endif
}

FQ_HD U8v max_bytes(U8v a, U8v b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<U8v>(_mm512_max_epu8(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<U8v>(_mm256_max_epu8(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<U8v>(_mm_max_epu8(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return a > b ? a : b;
#endif
}

FQ_HD S16v min_shorts(S16v a, S16v b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<S16v>(_mm512_min_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<S16v>(_mm256_min_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<S16v>(_mm_min_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return a < b ? a : b;
#endif
}

FQ_HD S16v max_shorts(S16v a, S16v b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<S16v>(_mm512_max_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<S16v>(_mm256_max_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<S16v>(_mm_max_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return a > b ? a : b;
#endif
}

FQ_HD S16v abs_shorts(S16v a) {
#if defined(__AVX512BW__)
  return reinterpret_cast<S16v>(_mm512_abs_epi16(reinterpret_cast<__m512i>(a)));
#elif defined(__AVX2__)
  return reinterpret_cast<S16v>(_mm256_abs_epi16(reinterpret_cast<__m256i>(a)));
#else
  return max_shorts(a, -a);
#endif
}

/// acc + a[2i] * b[2i] + a[2i+1] * b[2i+1], in 32 bits.
FQ_HD S32v dot(S32v acc, S16v a, S16v b) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<S32v>(
      _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(acc), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return acc + reinterpret_cast<S32v>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return acc + reinterpret_cast<S32v>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  const S32v x = reinterpret_cast<S32v>(a), y = reinterpret_cast<S32v>(b);
  return acc + ((x << 16) >> 16) * ((y << 16) >> 16) + (x >> 16) * (y >> 16);
#endif
}

/// low * v[2i] + high * v[2i+1] of unsigned bytes, as words. Weights 0...127; the sum must fit 15 bits.
template <int low, int high>
FQ_HD U16v weigh_pairs(U8v v) {
#if defined(__AVX512BW__)
  return reinterpret_cast<U16v>(
      _mm512_maddubs_epi16(reinterpret_cast<__m512i>(v), _mm512_set1_epi16(static_cast<short>(high << 8 | low))));
#elif defined(__AVX2__)
  return reinterpret_cast<U16v>(
      _mm256_maddubs_epi16(reinterpret_cast<__m256i>(v), _mm256_set1_epi16(static_cast<short>(high << 8 | low))));
#else
  const U16v w = reinterpret_cast<U16v>(v);
  return (w & 0xff) * static_cast<std::uint16_t>(low) + (w >> 8) * static_cast<std::uint16_t>(high);
#endif
}

/// Sum of a[i] * b[i] over even i and over odd i of 32-bit lanes, in 64 bits.
FQ_HD S64v wide_products(S32v a, S32v b) {
#if defined(__AVX512F__)
  const auto x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b);
  return reinterpret_cast<S64v>(_mm512_mul_epi32(x, y)) +
         reinterpret_cast<S64v>(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32)));
#elif defined(__AVX2__)
  const auto x = reinterpret_cast<__m256i>(a), y = reinterpret_cast<__m256i>(b);
  return reinterpret_cast<S64v>(_mm256_mul_epi32(x, y)) +
         reinterpret_cast<S64v>(_mm256_mul_epi32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(y, 32)));
#else
  S64v sum{};
  for (int i = 0; i < kVec / 8; ++i)
    sum[i] = std::int64_t{a[2 * i]} * b[2 * i] + std::int64_t{a[2 * i + 1]} * b[2 * i + 1];
  return sum;
#endif
}

/// Sum of each pair of 32-bit lanes, in 64 bits.
FQ_HD S64v wide_sums(S32v v) {
  S32half half[2];
  std::memcpy(half, &v, sizeof v);
  return __builtin_convertvector(half[0], S64v) + __builtin_convertvector(half[1], S64v);
}

FQ_HD std::int64_t total(S64v v) {
  std::int64_t sum = 0;
  for (int i = 0; i < kVec / 8; ++i) sum += v[i];
  return sum;
}

// The numbers that metrics compute with. Each has the operations that metrics with its gain use, the neighbourhood of
// kCount samples at once, and the totals of sums and products.

/// Bytes, for metrics that never leave the samples' range (kGain == 0).
struct Bytes {
  static constexpr int kCount = kVec, kSampleBytes = 1;
  U8v v;
  using Mask = U8v;
  FQ_HD friend Bytes minimum(Bytes a, Bytes b) { return {min_bytes(a.v, b.v)}; }
  FQ_HD friend Bytes maximum(Bytes a, Bytes b) { return {max_bytes(a.v, b.v)}; }
  FQ_HD friend Bytes abs_difference(Bytes a, Bytes b) { return {max_bytes(a.v, b.v) - min_bytes(a.v, b.v)}; }
  FQ_HD Bytes masked(Mask m) const { return {v & m}; }
  struct Neighbours {
    const std::uint8_t* p;
    FQ_HD Bytes c() const { return {load<U8v>(p)}; }
    FQ_HD Bytes l() const { return {load<U8v>(p - 1)}; }
    FQ_HD Bytes r() const { return {load<U8v>(p + 1)}; }
    FQ_HD Bytes r2() const { return {load<U8v>(p + 2)}; }
  };
};

/// Bytes as two vectors of words: the even columns and the odd ones, which cost an AND and a shift to part.
struct Pairs {
  static constexpr int kCount = kVec, kSampleBytes = 1;
  S16v even, odd;
  using Mask = Pairs;
  FQ_HD friend Pairs operator+(Pairs a, Pairs b) { return {a.even + b.even, a.odd + b.odd}; }
  FQ_HD friend Pairs operator-(Pairs a, Pairs b) { return {a.even - b.even, a.odd - b.odd}; }
  FQ_HD friend Pairs absolute(Pairs a) { return {abs_shorts(a.even), abs_shorts(a.odd)}; }
  FQ_HD Pairs masked(Pairs m) const { return {even & m.even, odd & m.odd}; }
  FQ_HD static S16v low(const std::uint8_t* p) { return reinterpret_cast<S16v>(load<U16v>(p) & 0xff); }
  FQ_HD static S16v high(const std::uint8_t* p) { return reinterpret_cast<S16v>(load<U16v>(p) >> 8); }
  struct Neighbours {
    const std::uint8_t* p;
    FQ_HD Pairs c() const { return {low(p), high(p)}; }
    FQ_HD Pairs l() const { return {low(p - 1), low(p)}; }
    FQ_HD Pairs r() const { return {high(p), high(p + 1)}; }
    FQ_HD Pairs r2() const { return {high(p + 1), high(p + 2)}; }
  };
};

/// Words of at most 15 bits.
struct Shorts {
  static constexpr int kCount = kVec / 2, kSampleBytes = 2;
  S16v v;
  using Mask = S16v;
  FQ_HD friend Shorts operator+(Shorts a, Shorts b) { return {a.v + b.v}; }
  FQ_HD friend Shorts operator-(Shorts a, Shorts b) { return {a.v - b.v}; }
  FQ_HD friend Shorts absolute(Shorts a) { return {abs_shorts(a.v)}; }
  FQ_HD friend Shorts abs_difference(Shorts a, Shorts b) { return {abs_shorts(a.v - b.v)}; }
  FQ_HD friend Shorts minimum(Shorts a, Shorts b) { return {min_shorts(a.v, b.v)}; }
  FQ_HD friend Shorts maximum(Shorts a, Shorts b) { return {max_shorts(a.v, b.v)}; }
  FQ_HD Shorts masked(Mask m) const { return {v & m}; }
  struct Neighbours {
    const std::uint8_t* p;
    FQ_HD Shorts c() const { return {load<S16v>(p)}; }
    FQ_HD Shorts l() const { return {load<S16v>(p - 2)}; }
    FQ_HD Shorts r() const { return {load<S16v>(p + 2)}; }
    FQ_HD Shorts r2() const { return {load<S16v>(p + 4)}; }
  };
};

/// Words of up to 16 bits, in 32-bit lanes.
struct Ints {
  static constexpr int kCount = kVec / 4, kSampleBytes = 2;
  S32v v;
  using Mask = S32v;
  FQ_HD friend Ints operator+(Ints a, Ints b) { return {a.v + b.v}; }
  FQ_HD friend Ints operator-(Ints a, Ints b) { return {a.v - b.v}; }
  FQ_HD friend Ints absolute(Ints a) { return {a.v < 0 ? -a.v : a.v}; }
  FQ_HD friend Ints abs_difference(Ints a, Ints b) { return absolute(a - b); }
  FQ_HD friend Ints minimum(Ints a, Ints b) { return {a.v < b.v ? a.v : b.v}; }
  FQ_HD friend Ints maximum(Ints a, Ints b) { return {a.v > b.v ? a.v : b.v}; }
  FQ_HD Ints masked(Mask m) const { return {v & m}; }
  FQ_HD static Ints at(const std::uint8_t* p) { return {__builtin_convertvector(load<U16half>(p), S32v)}; }
  struct Neighbours {
    const std::uint8_t* p;
    FQ_HD Ints c() const { return at(p); }
    FQ_HD Ints l() const { return at(p - 2); }
    FQ_HD Ints r() const { return at(p + 2); }
    FQ_HD Ints r2() const { return at(p + 4); }
  };
};

/// Mask of lanes whose column lies in first...last-1 of the vector's.
template <class L>
FQ_HD typename L::Mask lane_mask(int first, int last) {
  typename L::Mask m{};
  if constexpr (requires { m.even; }) {
    for (int i = 0; i < kVec / 2; ++i) {
      m.even[i] = 2 * i >= first && 2 * i < last ? -1 : 0;
      m.odd[i] = 2 * i + 1 >= first && 2 * i + 1 < last ? -1 : 0;
    }
  } else {
    using Element = std::remove_reference_t<decltype(m[0])>;
    for (int i = 0; i < L::kCount; ++i) m[i] = static_cast<Element>(i >= first && i < last ? -1 : 0);
  }
  return m;
}

/// Totals of a metric in vectors. 32-bit lanes take what a few rows add; flush() moves them to 64 bits in time.
template <class L, bool kMasked>
struct Sums {
  S32v narrow[kMaxTotals] = {};
  S64v wide[kMaxTotals] = {};
  typename L::Mask mask = {};

  template <int i>
  FQ_HD void add(L a) {
    if constexpr (kMasked) a = a.masked(mask);
    if constexpr (requires { a.even; }) {
      narrow[i] = dot(dot(narrow[i], a.even, S16v{} + 1), a.odd, S16v{} + 1);
    } else if constexpr (sizeof(a.v[0]) == 1) {
      wide[i] += reinterpret_cast<S64v>(sum_bytes(a.v));
    } else if constexpr (sizeof(a.v[0]) == 2) {
      narrow[i] = dot(narrow[i], a.v, S16v{} + 1);
    } else {
      wide[i] += wide_sums(a.v);
    }
  }
  template <int i>
  FQ_HD void add_product(L a, L b) {
    if constexpr (kMasked) a = a.masked(mask);
    if constexpr (requires { a.even; }) {
      narrow[i] = dot(dot(narrow[i], a.even, b.even), a.odd, b.odd);
    } else if constexpr (sizeof(a.v[0]) == 1) {
      const U16v x = reinterpret_cast<U16v>(a.v), y = reinterpret_cast<U16v>(b.v);
      narrow[i] = dot(dot(narrow[i], reinterpret_cast<S16v>(x & 0xff), reinterpret_cast<S16v>(y & 0xff)),
                      reinterpret_cast<S16v>(x >> 8), reinterpret_cast<S16v>(y >> 8));
    } else if constexpr (sizeof(a.v[0]) == 2) {
      narrow[i] = dot(narrow[i], a.v, b.v);
    } else {
      wide[i] += wide_products(a.v, b.v);
    }
  }
  FQ_HD void flush() {
    for (int i = 0; i < kMaxTotals; ++i) {
      wide[i] += wide_sums(narrow[i]);
      narrow[i] = S32v{};
    }
  }
};

}  // namespace
}  // namespace framequality::cpu
