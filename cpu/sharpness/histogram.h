// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting of samples in 256 bins. Everything is in an unnamed namespace, as in simd.h.
//
// A counter that is increased again waits until a core has forwarded its last value from the store to the load, some 5
// cycles; other than that an increment costs the store. So one increment counts two neighbours, in a table of pairs,
// unless the same pairs follow each other: then samples are counted in eight tables by turns, and runs of one value at
// once.
#pragma once

#include "cpu/sharpness/kernels.h"
#include "cpu/simd.h"

#include <cstdint>
#include <cstring>

namespace framequality::cpu {
namespace {

constexpr int kRun = 4096;  // samples that are brought together and counted one way
constexpr int kNarrow = 512;

/// The upper eight bits of n <= kRun samples at p: bytes themselves, or words moved down into a buffer.
template <class T>
FQ_HD const std::uint8_t* upper_bits(const std::uint8_t* p, int n, int shift, WordFormat words, std::uint8_t* buffer) {
  if constexpr (sizeof(T) == 1) return p;
  const int down = shift + words.shift, whole = n - words.is_byte;
  const auto codes = [&](const std::uint8_t* from) { return (load<U16v>(from) & words.mask) >> down; };
  int i = 0;
  for (; whole >= kVec && i < whole; i += kVec) {
    const int at = i + kVec <= whole ? i : whole - kVec;
    const std::uint8_t* from = p + std::ptrdiff_t{2} * at;
    store(buffer + at, packed(codes(from), codes(from + kVec)));
  }
  for (i = i < whole ? i : whole; i < n; ++i) {
    const std::uint8_t* from = p + std::ptrdiff_t{2} * i;
    T word = *from;
    if (!words.is_byte) std::memcpy(&word, from, sizeof word);
    buffer[i] = static_cast<std::uint8_t>((word & words.mask) >> down);
  }
  return buffer;
}

enum class Repeats : std::uint8_t { kFew, kMany, kAll };

/// Bytes of kVec that equal the one before the last.
FQ_HD U8v repeated(const std::uint8_t* p) { return reinterpret_cast<U8v>(load<U8v>(p) == load<U8v>(p + 2)); }

/// How many of n samples equal the one before the last; of few, judged by the first ones.
FQ_HD Repeats repeats(const std::uint8_t* p, int n) {
  const int end = n - 2;
  if (end < kVec) return Repeats::kFew;
  // A pair costs one store, two samples two: 6 cycles of waiting for one pair in three are as much, and pairs are equal
  // about as often as both of two bytes.
  if (total(reinterpret_cast<S64v>(sum_bytes(repeated(p) & 1))) < kVec * 6 / 10) return Repeats::kFew;
  U8v all = repeated(p);
  for (int i = kVec; i < end; i += kVec) all &= repeated(p + (i + kVec <= end ? i : end - kVec));
  return total(reinterpret_cast<S64v>(sum_bytes(all & 1))) == kVec ? Repeats::kAll : Repeats::kMany;
}

FQ_HD void count_singles(const std::uint8_t* p, int n, std::uint32_t* singles) {
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t w;
    std::memcpy(&w, p, 8);
    for (int i = 0; i < 8; ++i) ++singles[i * sharpness::kHistogramBins + static_cast<int>(w >> (8 * i) & 0xff)];
  }
  for (; n > 0; --n, ++p) ++singles[*p];
}

FQ_HD void count_pairs(const std::uint8_t* p, int n, std::uint32_t* counters) {
  std::uint32_t* pairs = counters + kSingleCounters;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t w;
    std::memcpy(&w, p, 8);
    for (int i = 0; i < 4; ++i) ++pairs[w >> (16 * i) & 0xffff];
  }
  count_singles(p, n, counters);
}

/// SharpnessKernels::count.
template <class T>
void count(const Block& b, int shift, bool has_pairs, std::uint32_t* counters) {
  std::uint8_t buffer[kRun];
  for (int y = 0; y < b.count; ++y)
    for (int x = b.x0; x < b.x1; x += kRun) {
      const int n = b.x1 - x < kRun ? b.x1 - x : kRun;
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(x) * static_cast<int>(sizeof(T));
      // No prefetcher of the machine expects the next row of a narrow cell.
      for (int i = 0; n <= kNarrow && i < n * static_cast<int>(sizeof(T)); i += 64)
        __builtin_prefetch(b.rows[y + 2 < b.count ? y + 2 : y] + at + i);
      const std::uint8_t* p = upper_bits<T>(b.rows[y] + at, n, shift, b.words, buffer);
      const Repeats repeated = repeats(p, n);
      if (repeated == Repeats::kAll) {
        counters[p[0]] += static_cast<std::uint32_t>(n + 1) / 2;
        counters[p[1]] += static_cast<std::uint32_t>(n) / 2;
      } else if (has_pairs && repeated == Repeats::kFew) {
        count_pairs(p, n, counters);
      } else {
        count_singles(p, n, counters);
      }
    }
}

/// SharpnessKernels::fold.
void fold(std::uint32_t* counters, bool has_pairs, std::int64_t* bins) {
  std::uint32_t low[sharpness::kHistogramBins] = {};
  for (int i = 0; i < kSingleCounters; i += sharpness::kHistogramBins)
    for (int k = 0; k < sharpness::kHistogramBins; ++k) low[k] += counters[i + k];
  if (has_pairs)
    for (int k = 0; k < sharpness::kHistogramBins; ++k) {
      const std::uint32_t* row = counters + kSingleCounters + std::ptrdiff_t{k} * sharpness::kHistogramBins;
      std::uint32_t high = 0;
      for (int j = 0; j < sharpness::kHistogramBins; ++j) {
        high += row[j];
        low[j] += row[j];
      }
      bins[k] += high;
    }
  for (int k = 0; k < sharpness::kHistogramBins; ++k) bins[k] += low[k];
  std::memset(counters, 0, sizeof(std::uint32_t) * static_cast<std::size_t>(has_pairs ? kCounters : kSingleCounters));
}

}  // namespace
}  // namespace framequality::cpu
