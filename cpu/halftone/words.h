// SPDX-License-Identifier: LGPL-2.1-or-later
// Vectors of 16-bit words, one image row per lane, and bytes, for kernels.cpp, named after their operations.
// Everything is in an unnamed namespace: code built for one instruction set must not leak into another.
#pragma once

#ifdef __AVX2__

#include "algorithms/host_device.h"

#include <cstdint>
#include <immintrin.h>

namespace framequality::cpu {
namespace {

#ifdef __AVX512BW__
constexpr int kRows = 32;
using Words = __m512i;
using Bytes = __m256i;
FQ_HD Words splat(int v) { return _mm512_set1_epi16(static_cast<short>(v)); }
FQ_HD Words plus(Words a, Words b) { return _mm512_add_epi16(a, b); }
FQ_HD Words minus(Words a, Words b) { return _mm512_sub_epi16(a, b); }
FQ_HD Words minus_clamped(Words a, Words b) { return _mm512_subs_epu16(a, b); }
FQ_HD Words minimum(Words a, Words b) { return _mm512_min_epu16(a, b); }
FQ_HD Words exclusive(Words a, Words b) { return _mm512_xor_si512(a, b); }
template <int n>
FQ_HD Words left(Words a) {
  return _mm512_slli_epi16(a, n);
}
template <int n>
FQ_HD Words right(Words a) {
  return _mm512_srli_epi16(a, n);
}
FQ_HD Words high_product(Words a, Words b) { return _mm512_mulhi_epu16(a, b); }
FQ_HD Words product(Words a, Words b) { return _mm512_mullo_epi16(a, b); }
FQ_HD Words rounded_product(Words a, Words b) { return _mm512_mulhrs_epi16(a, b); }
FQ_HD Words halved(Words a) { return _mm512_avg_epu16(a, _mm512_setzero_si512()); }
FQ_HD Words load_words(const void* p) { return _mm512_loadu_si512(p); }
FQ_HD void store_words(void* p, Words v) { _mm512_storeu_si512(p, v); }
FQ_HD Bytes load_bytes(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
FQ_HD void store_bytes(void* p, Bytes v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
FQ_HD Words widen(Bytes v) { return _mm512_cvtepu8_epi16(v); }
FQ_HD Bytes narrow(Words v) { return _mm512_cvtepi16_epi8(v); }
/// Bytes of all ones where a != b.
FQ_HD Bytes differ(Words a, Words b) { return _mm256_movm_epi8(_mm512_cmpneq_epi16_mask(a, b)); }
/// a where mask is all ones, b where it is 0.
FQ_HD Words select(Words mask, Words a, Words b) { return _mm512_ternarylogic_epi32(mask, a, b, 0xca); }
FQ_HD Words greater(Words a, Words b) { return _mm512_movm_epi16(_mm512_cmpgt_epi16_mask(a, b)); }
FQ_HD Words lane_numbers() {
  alignas(64) std::int16_t n[kRows];
  for (int i = 0; i < kRows; ++i) n[i] = static_cast<std::int16_t>(i);
  return load_words(n);
}
/// Every lane moves to its predecessor; the last becomes `last`.
struct Shift {
  Words next = plus(lane_numbers(), splat(1));
  Words operator()(Words v, std::uint16_t last) const {
    return _mm512_mask_permutexvar_epi16(splat(last), 0x7fffffff, next, v);
  }
};
#else
constexpr int kRows = 16;
using Words = __m256i;
using Bytes = __m128i;
FQ_HD Words splat(int v) { return _mm256_set1_epi16(static_cast<short>(v)); }
FQ_HD Words plus(Words a, Words b) { return _mm256_add_epi16(a, b); }
FQ_HD Words minus(Words a, Words b) { return _mm256_sub_epi16(a, b); }
FQ_HD Words minus_clamped(Words a, Words b) { return _mm256_subs_epu16(a, b); }
FQ_HD Words minimum(Words a, Words b) { return _mm256_min_epu16(a, b); }
FQ_HD Words exclusive(Words a, Words b) { return _mm256_xor_si256(a, b); }
template <int n>
FQ_HD Words left(Words a) {
  return _mm256_slli_epi16(a, n);
}
template <int n>
FQ_HD Words right(Words a) {
  return _mm256_srli_epi16(a, n);
}
FQ_HD Words high_product(Words a, Words b) { return _mm256_mulhi_epu16(a, b); }
FQ_HD Words product(Words a, Words b) { return _mm256_mullo_epi16(a, b); }
FQ_HD Words rounded_product(Words a, Words b) { return _mm256_mulhrs_epi16(a, b); }
FQ_HD Words halved(Words a) { return _mm256_avg_epu16(a, _mm256_setzero_si256()); }
FQ_HD Words load_words(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
FQ_HD void store_words(void* p, Words v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
FQ_HD Bytes load_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
FQ_HD void store_bytes(void* p, Bytes v) { _mm_storeu_si128(static_cast<__m128i*>(p), v); }
FQ_HD Words widen(Bytes v) { return _mm256_cvtepu8_epi16(v); }
FQ_HD Bytes narrow(Words v) {
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0x08));
}
FQ_HD Bytes differ(Words a, Words b) {
  const Words same = _mm256_cmpeq_epi16(a, b);
  const Words bytes = _mm256_packs_epi16(same, same);
  return _mm_xor_si128(_mm256_castsi256_si128(_mm256_permute4x64_epi64(bytes, 0x08)), _mm_set1_epi8(-1));
}
FQ_HD Words select(Words mask, Words a, Words b) { return _mm256_blendv_epi8(b, a, mask); }
FQ_HD Words greater(Words a, Words b) { return _mm256_cmpgt_epi16(a, b); }
FQ_HD Words lane_numbers() { return _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
struct Shift {
  Words operator()(Words v, std::uint16_t last) const {
    return _mm256_alignr_epi8(_mm256_permute2x128_si256(v, splat(last), 0x21), v, 2);
  }
};
#endif

/// Transposes 16 x 16 bytes in each 128 bits: four times, vectors i and i + 8 are interleaved, which rotates the digits
/// of (row, column) by one.
template <class V>
FQ_HD void transpose_16(V (&v)[16]) {
  for (int round = 0; round < 4; ++round) {
    V w[16];
    for (int i = 0; i < 8; ++i) {
#ifdef __AVX512BW__
      w[2 * i] = _mm256_unpacklo_epi8(v[i], v[i + 8]);
      w[2 * i + 1] = _mm256_unpackhi_epi8(v[i], v[i + 8]);
#else
      w[2 * i] = _mm_unpacklo_epi8(v[i], v[i + 8]);
      w[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + 8]);
#endif
    }
    for (int i = 0; i < 16; ++i) v[i] = w[i];
  }
}

FQ_HD void transpose(Bytes (&v)[kRows]) {
#ifdef __AVX512BW__
  // Rows i and i + 16 share a vector: columns 0...15 of both, then 16...31.
  Bytes first[16], second[16];
  for (int i = 0; i < 16; ++i) {
    first[i] = _mm256_permute2x128_si256(v[i], v[i + 16], 0x20);
    second[i] = _mm256_permute2x128_si256(v[i], v[i + 16], 0x31);
  }
  transpose_16(first);
  transpose_16(second);
  for (int i = 0; i < 16; ++i) v[i] = first[i], v[i + 16] = second[i];
#else
  transpose_16(v);
#endif
}

}  // namespace
}  // namespace framequality::cpu

#endif
