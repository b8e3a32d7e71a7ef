// SPDX-License-Identifier: LGPL-2.1-or-later
// The prefilter of a vector of columns that moves down a block. Everything is in an unnamed namespace, as in
// simd.h.
#pragma once

#include "cpu/sharpness/kernels.h"
#include "cpu/sharpness/lanes.h"
#include "cpu/simd.h"

#include <cstdint>

namespace framequality::cpu {
namespace {

/// Horizontal taps of kVec output columns, the even ones and the odd ones. p: the first column's leftmost tap.
template <int kRadius>
FQ_HD void prefilter_bytes_row(const std::uint8_t* p, U16v& even, U16v& odd) {
  const U8v v0 = load<U8v>(p), v2 = load<U8v>(p + 2);
  const U16v w0 = reinterpret_cast<U16v>(v0), w2 = reinterpret_cast<U16v>(v2);
  if constexpr (kRadius == 1) {
    even = weigh_pairs<1, 2>(v0) + (w2 & 0xff);
    odd = (w0 >> 8) + weigh_pairs<2, 1>(v2);
  } else {
    const U8v v4 = load<U8v>(p + 4);
    even = weigh_pairs<1, 4>(v0) + weigh_pairs<6, 4>(v2) + (reinterpret_cast<U16v>(v4) & 0xff);
    odd = (w0 >> 8) + weigh_pairs<4, 6>(v2) + weigh_pairs<4, 1>(v4);
  }
}

/// Vertical taps: kRadius * 2 cascaded pair sums ((1 1)^2r = the binomial), whose last values stay in registers.
template <int kRadius, class V>
struct Cascade {
  V last[2 * kRadius] = {};
  FQ_HD V add(V v) {
    for (V& before : last) {
      const V sum = v + before;
      before = v;
      v = sum;
    }
    return v;
  }
};

/// Prefilters kVec columns of bytes, row after row downwards.
template <int radius>
struct BytePrefilter {
  static constexpr int kRadius = radius, kLate = 0;
  using Samples = Words<Source::kSplit>;
  static constexpr int kValueBytes = 1;
  static constexpr int kShift = kRadius == 1 ? 0 : 4;  // as sample_format() for 8-bit luma
  Cascade<kRadius, U16v> even, odd;

  FQ_HD explicit BytePrefilter(const PrefilterFormat&) {}
  /// Samples whose lowest taps are in the row kLate calls ago. p: the first column's leftmost tap.
  FQ_HD Samples next(const std::uint8_t* p) {
    U16v e, o;
    prefilter_bytes_row<kRadius>(p, e, o);
    constexpr std::uint16_t kHalf = kShift ? 1 << (kShift - 1) : 0;
    return {reinterpret_cast<S16v>((even.add(e) + kHalf) >> kShift),
            reinterpret_cast<S16v>((odd.add(o) + kHalf) >> kShift)};
  }
};

/// The same for kVec / 2 columns of words. If registers allow, samples come a row late, which cuts the
/// long chain of instructions from values to samples in two: neither waits for the other.
template <int radius>
struct WordPrefilter {
  static constexpr int kRadius = radius, kLate = kVec == 64 ? 1 : 0;
  using Samples = SplitInts;
  static constexpr int kValueBytes = 2;
  // Words are multiplied as signed ones: this bias, weighted by all taps, is added back.
  static constexpr int kBias = 1 << 15;
  S32v even_taps{}, odd_taps{};  // of the late row
  Cascade<kRadius, S32v> even, odd;
  const std::uint16_t mask;
  const int half, shift;

  FQ_HD explicit WordPrefilter(const PrefilterFormat& s)
      : mask(s.mask), half(s.half + (kBias << (4 * kRadius))), shift(s.shift) {}
  FQ_HD S16v load_words(const std::uint8_t* p) const { return reinterpret_cast<S16v>((load<U16v>(p) & mask) ^ kBias); }
  FQ_HD Samples next(const std::uint8_t* p) {
    const S16v w0 = load_words(p), w2 = load_words(p + 4);
    S32v e, o;
    if constexpr (kRadius == 1) {
      e = dot(dot(w0, pairs<1, 2>()), w2, pairs<1, 0>());
      o = dot(dot(w0, pairs<0, 1>()), w2, pairs<2, 1>());
    } else {
      const S16v w4 = load_words(p + 8);
      e = dot(dot(dot(w0, pairs<1, 4>()), w2, pairs<6, 4>()), w4, pairs<1, 0>());
      o = dot(dot(dot(w0, pairs<0, 1>()), w2, pairs<4, 6>()), w4, pairs<4, 1>());
    }
    if constexpr (kLate > 0) {
      const S32v even_before = even_taps, odd_before = odd_taps;
      even_taps = e;
      odd_taps = o;
      e = even_before;
      o = odd_before;
    }
    return {(even.add(e) + half) >> shift, (odd.add(o) + half) >> shift};
  }
};

}  // namespace
}  // namespace framequality::cpu
