// SPDX-License-Identifier: LGPL-2.1-or-later
// Vectors of integers for the kernels: compiler vector extensions, with instructions named only where those have no
// operator. Everything is in an unnamed namespace: code built for one instruction set must not leak into another.
#pragma once

#include "algorithms/host_device.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

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

/// acc + the bytes of v, some to each lane: less than 2^22 vectors may be added. Which lane gets a byte is unspecified.
FQ_HD U32v add_bytes(U32v acc, U8v v) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<U32v>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc), reinterpret_cast<__m512i>(v), _mm512_set1_epi8(1)));
#else
  return acc + reinterpret_cast<U32v>(sum_bytes(v));
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

/// The upper 16 bits of the squares of v's words.
FQ_HD U16v upper_squares(U16v v) {
#if defined(__AVX512BW__)
  return reinterpret_cast<U16v>(_mm512_mulhi_epu16(reinterpret_cast<__m512i>(v), reinterpret_cast<__m512i>(v)));
#elif defined(__AVX2__)
  return reinterpret_cast<U16v>(_mm256_mulhi_epu16(reinterpret_cast<__m256i>(v), reinterpret_cast<__m256i>(v)));
#elif defined(__SSE2__)
  return reinterpret_cast<U16v>(_mm_mulhi_epu16(reinterpret_cast<__m128i>(v), reinterpret_cast<__m128i>(v)));
#else
  const U32v w = reinterpret_cast<U32v>(v), low = w & 0xffff, high = w >> 16;
  return reinterpret_cast<U16v>((low * low) >> 16 | ((high * high) & 0xffff0000));
#endif
}

/// a + b for lanes that may hold unsigned values, without undefined overflow.
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

/// The same without an accumulator.
FQ_HD S32v dot(S16v a, S16v b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<S32v>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
  return dot(S32v{}, a, b);
#endif
}

/// The elements of a and b whose number is even, those of a first.
template <class V, int... i>
FQ_HD V evens(V a, V b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, 2 * i...);
}
template <class V>
FQ_HD V evens(V a, V b) {
  return evens(a, b, std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(a[0]))>());
}

/// Restores the order of four vectors that were packed into one: packing leaves a quarter of each in every 16 bytes.
FQ_HD U8v in_order(U8v v) {
#if defined(__AVX512BW__)
  const __m512i from = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return reinterpret_cast<U8v>(_mm512_permutexvar_epi32(from, reinterpret_cast<__m512i>(v)));
#elif defined(__AVX2__)
  const __m256i from = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return reinterpret_cast<U8v>(_mm256_permutevar8x32_epi32(reinterpret_cast<__m256i>(v), from));
#else
  return v;
#endif
}
/// The same for two vectors: packing leaves half of each in every 16 bytes.
FQ_HD U8v in_order_of_two(U8v v) {
#if defined(__AVX512BW__)
  const __m512i from = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return reinterpret_cast<U8v>(_mm512_permutexvar_epi64(from, reinterpret_cast<__m512i>(v)));
#elif defined(__AVX2__)
  return reinterpret_cast<U8v>(_mm256_permute4x64_epi64(reinterpret_cast<__m256i>(v), 0xd8));
#else
  return v;
#endif
}
/// Lanes of 0...65535; of 0...32767 with SSE2.
FQ_HD U16v pack_ints(U32v a, U32v b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<U16v>(_mm512_packus_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<U16v>(_mm256_packus_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<U16v>(_mm_packs_epi32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return evens(reinterpret_cast<U16v>(a), reinterpret_cast<U16v>(b));
#endif
}
FQ_HD U8v pack_words(U16v a, U16v b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<U8v>(_mm512_packus_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<U8v>(_mm256_packus_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<U8v>(_mm_packus_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return evens(reinterpret_cast<U8v>(a), reinterpret_cast<U8v>(b));
#endif
}

/// Lanes of 0...255 as bytes, those of a first.
FQ_HD U8v packed(U16v a, U16v b) { return in_order_of_two(pack_words(a, b)); }
FQ_HD U8v packed(U32v a, U32v b, U32v c, U32v d) { return in_order(pack_words(pack_ints(a, b), pack_ints(c, d))); }
#ifdef __AVX2__
/// Lanes of 0...65535 as words.
FQ_HD U8v packed(U64v a, U64v b, U64v c, U64v d) {
  const auto pack = [](auto x, auto y) {
    return reinterpret_cast<U32v>(pack_ints(reinterpret_cast<U32v>(x), reinterpret_cast<U32v>(y)));
  };
  return in_order(reinterpret_cast<U8v>(pack(pack(a, b), pack(c, d))));
}
#endif

/// low, high, low, high...
template <int low, int high>
FQ_HD S16v pairs() {
  return reinterpret_cast<S16v>(S32v{} + (high * 65536 + low));
}

/// v where m is all ones, 0 where m is 0. AVX-512 merges this into the instruction that computes v.
FQ_HD S16v kept(S16v v, S16v m) {
#if defined(__AVX512BW__)
  return reinterpret_cast<S16v>(
      _mm512_maskz_mov_epi16(_mm512_movepi16_mask(reinterpret_cast<__m512i>(m)), reinterpret_cast<__m512i>(v)));
#else
  return v & m;
#endif
}
FQ_HD S32v kept(S32v v, S32v m) {
#if defined(__AVX512BW__)
  return reinterpret_cast<S32v>(
      _mm512_maskz_mov_epi32(_mm512_movepi32_mask(reinterpret_cast<__m512i>(m)), reinterpret_cast<__m512i>(v)));
#else
  return v & m;
#endif
}

/// Element i of the result is element i + step of v; undefined where v has none.
template <int step, class V, int... i>
FQ_HD V moved(V v, std::integer_sequence<int, i...>) {
  constexpr int kCount = sizeof...(i);
  return __builtin_shufflevector(v, v, (i + step + kCount) % kCount...);
}
template <int step, class V>
FQ_HD V moved(V v) {
  return moved<step>(v, std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(v[0]))>());
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

}  // namespace
}  // namespace framequality::cpu
