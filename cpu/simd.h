// SPDX-License-Identifier: LGPL-2.1-or-later
// Vectors of integers for kernels.cpp: compiler vector extensions, with instructions named only where those have no
// operator. Everything is in an unnamed namespace: code built for one instruction set must not leak into another.
#pragma once

#include "algorithms/host_device.h"
#include "algorithms/sharpness/metric.h"
#include "cpu/sharpness/kernels.h"

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

/// a + b for lanes that may hold unsigned values: no overflow in the language's eyes.
FQ_HD S32v wrapping_add(S32v a, S32v b) {
  return reinterpret_cast<S32v>(reinterpret_cast<U32v>(a) + reinterpret_cast<U32v>(b));
}

/// acc + a[2i] * b[2i] + a[2i+1] * b[2i+1], in 32 bits.
FQ_HD S32v dot(S32v acc, S16v a, S16v b) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<S32v>(
      _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(acc), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return wrapping_add(
      acc, reinterpret_cast<S32v>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b))));
#elif defined(__SSE2__)
  return wrapping_add(
      acc, reinterpret_cast<S32v>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b))));
#else
  const S32v x = reinterpret_cast<S32v>(a), y = reinterpret_cast<S32v>(b);
  return wrapping_add(acc, wrapping_add(((x << 16) >> 16) * ((y << 16) >> 16), (x >> 16) * (y >> 16)));
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
  static constexpr int kCount = kVec;
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
  FQ_HD static std::ptrdiff_t offset(int x) { return x; }
};

/// Where kVec columns of samples that fit 15 bits come from.
enum class Source {
  kBytes,  ///< bytes: even columns and odd ones are parted with an AND and a shift
  kWords,  ///< words: the first half and the second
  kSplit,  ///< words, each row's even columns first and its odd ones kSplitBytes later; loads start at even columns
};

/// kVec columns as two vectors of signed words; from bytes and split rows a is the even columns and b the odd ones.
template <Source kSource>
struct Words {
  static constexpr int kCount = kVec;
  S16v a, b;
  using Mask = Words;
  // Columns that are masked away may hold anything: their overflow must not be the language's business.
  FQ_HD static S16v plus(S16v x, S16v y) {
    return reinterpret_cast<S16v>(reinterpret_cast<U16v>(x) + reinterpret_cast<U16v>(y));
  }
  FQ_HD static S16v minus(S16v x, S16v y) {
    return reinterpret_cast<S16v>(reinterpret_cast<U16v>(x) - reinterpret_cast<U16v>(y));
  }
  FQ_HD friend Words operator+(Words x, Words y) { return {plus(x.a, y.a), plus(x.b, y.b)}; }
  FQ_HD friend Words operator-(Words x, Words y) { return {minus(x.a, y.a), minus(x.b, y.b)}; }
  FQ_HD friend Words twice(Words x) { return x + x; }
  FQ_HD friend Words absolute(Words x) { return {abs_shorts(x.a), abs_shorts(x.b)}; }
  FQ_HD friend Words abs_difference(Words x, Words y) { return absolute(x - y); }
  FQ_HD friend Words minimum(Words x, Words y) { return {min_shorts(x.a, y.a), min_shorts(x.b, y.b)}; }
  FQ_HD friend Words maximum(Words x, Words y) { return {max_shorts(x.a, y.a), max_shorts(x.b, y.b)}; }
  FQ_HD Words masked(Words m) const { return {a & m.a, b & m.b}; }

  /// The samples at columns d, d+2, ... and d+1, d+3, ... of those at p (kWords: d, d+1, ... and on).
  template <int d>
  FQ_HD static Words at(const std::uint8_t* p) {
    if constexpr (kSource == Source::kWords)
      return {load<S16v>(p + std::ptrdiff_t{2} * d), load<S16v>(p + std::ptrdiff_t{2} * d + kVec)};
    return {every_other<d>(p), every_other<d + 1>(p)};
  }
  template <int d>
  FQ_HD static S16v every_other(const std::uint8_t* p) {
    if constexpr (kSource == Source::kSplit) return load<S16v>(p + (d & 1 ? kSplitBytes + d - 1 : d));
    // An odd column is the high byte of the word one column to its left, so that the columns at d = 0 and 1, and
    // those at 2 and 1 of a neighbour, share their loads.
    return d < 1 ? reinterpret_cast<S16v>(load<U16v>(p + d) & 0xff)
                 : reinterpret_cast<S16v>(load<U16v>(p + d - 1) >> 8);
  }
  struct Neighbours {
    const std::uint8_t* p;
    FQ_HD Words c() const { return at<0>(p); }
    FQ_HD Words l() const { return at<-1>(p); }
    FQ_HD Words r() const { return at<1>(p); }
    FQ_HD Words r2() const { return at<2>(p); }
  };
  FQ_HD static std::ptrdiff_t offset(int x) { return std::ptrdiff_t{x} * (kSource == Source::kWords ? 2 : 1); }
  /// Column of element i of each vector.
  FQ_HD static int column_a(int i) { return kSource == Source::kWords ? i : 2 * i; }
  FQ_HD static int column_b(int i) { return kSource == Source::kWords ? i + kVec / 2 : 2 * i + 1; }
};

/// Words of up to 16 bits, in 32-bit lanes.
struct Ints {
  static constexpr int kCount = kVec / 4;
  S32v v;
  using Mask = S32v;
  FQ_HD friend Ints operator+(Ints a, Ints b) { return {a.v + b.v}; }
  FQ_HD friend Ints operator-(Ints a, Ints b) { return {a.v - b.v}; }
  FQ_HD friend Ints twice(Ints a) { return a + a; }
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
  FQ_HD static std::ptrdiff_t offset(int x) { return std::ptrdiff_t{x} * 2; }
};

/// Mask of lanes whose column lies in first...last-1 of the vector's.
template <class L>
FQ_HD typename L::Mask lane_mask(int first, int last) {
  typename L::Mask m{};
  const auto bit = [&](int column) { return column >= first && column < last ? -1 : 0; };
  if constexpr (requires { m.b; }) {
    for (int i = 0; i < kVec / 2; ++i) {
      m.a[i] = static_cast<std::int16_t>(bit(L::column_a(i)));
      m.b[i] = static_cast<std::int16_t>(bit(L::column_b(i)));
    }
  } else {
    using Element = std::remove_reference_t<decltype(m[0])>;
    for (int i = 0; i < L::kCount; ++i) m[i] = static_cast<Element>(bit(i));
  }
  return m;
}

/// Accumulators of a total. A fused dot product waits four cycles for the one before it: two take turns.
#ifdef __AVX512VNNI__
constexpr int kChains = 2;
#else
constexpr int kChains = 1;
#endif

/// Totals of a metric in vectors. 32-bit lanes take what a few rows add; flush() moves them to 64 bits in time.
template <class L, bool kSigned, bool kMasked>
struct Sums {
  S32v narrow[kMaxTotals][kChains] = {};
  S64v wide[kMaxTotals] = {};
  typename L::Mask mask = {};

  template <int i>
  FQ_HD void add_dots(S16v a, S16v b, S16v c, S16v d) {
    narrow[i][0] = dot(narrow[i][0], a, b);
    narrow[i][kChains - 1] = dot(narrow[i][kChains - 1], c, d);
  }
  template <int i>
  FQ_HD void add(L x) {
    if constexpr (kMasked) x = x.masked(mask);
    if constexpr (requires { x.b; }) {
      add_dots<i>(x.a, S16v{} + 1, x.b, S16v{} + 1);
    } else if constexpr (sizeof(x.v[0]) == 1) {
      wide[i] += reinterpret_cast<S64v>(sum_bytes(x.v));
    } else {
      wide[i] += wide_sums(x.v);
    }
  }
  template <int i>
  FQ_HD void add_product(L x, L y) {
    if constexpr (kMasked) x = x.masked(mask);
    if constexpr (requires { x.b; }) {
      add_dots<i>(x.a, y.a, x.b, y.b);
    } else if constexpr (sizeof(x.v[0]) == 1) {
      const U16v p = reinterpret_cast<U16v>(x.v), q = reinterpret_cast<U16v>(y.v);
      add_dots<i>(reinterpret_cast<S16v>(p & 0xff), reinterpret_cast<S16v>(q & 0xff), reinterpret_cast<S16v>(p >> 8),
                  reinterpret_cast<S16v>(q >> 8));
    } else {
      wide[i] += wide_products(x.v, y.v);
    }
  }
  FQ_HD void flush() {
    for (int i = 0; i < kMaxTotals; ++i)
      for (S32v& n : narrow[i]) {
        if constexpr (kSigned) {
          wide[i] += wide_sums(n);
        } else {
          const U64v u = reinterpret_cast<U64v>(n);
          wide[i] += reinterpret_cast<S64v>((u & 0xffffffff) + (u >> 32));
        }
        n = S32v{};
      }
  }
};

}  // namespace
}  // namespace framequality::cpu
