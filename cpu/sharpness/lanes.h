// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers that metrics compute with, kVec columns at once. Everything is in an unnamed namespace, as in simd.h.
#pragma once

#include "algorithms/sharpness/metric.h"
#include "cpu/sharpness/kernels.h"
#include "cpu/simd.h"

#include <type_traits>

namespace framequality::cpu {
namespace {

// Each has the operations that metrics with its gain use, the neighbourhood of kCount samples at once, and the totals
// of sums and products.

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

/// Storage of kVec columns of samples that fit 15 bits.
enum class Source {
  kBytes,  ///< bytes: even and odd columns are separated with an AND and a shift
  kWords,  ///< words: the first half and the second
  kSplit,  ///< words, each row's even columns first and its odd ones kSplitBytes later; loads start at even columns
  kLow,    ///< words with other bits above the sample
  kHigh,   ///< words with other bits below the sample
  kInner,  ///< words with other bits on both sides
};

/// kVec columns as two vectors of signed words; from bytes and split rows, a has the even columns and b the odd ones.
template <Source kSource>
struct Words {
  static constexpr int kCount = kVec;
  S16v a, b;
  using Mask = Words;
  // Masked columns may hold anything: their overflow must not be undefined behaviour.
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
  FQ_HD Words masked(Words m) const { return {kept(a, m.a), kept(b, m.b)}; }

  /// The samples at columns d, d+2, ... and d+1, d+3, ... of those at p (kWords: d, d+1, ... and so on).
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
  struct Plain {
    const std::uint8_t* p;
    FQ_HD Words c() const { return at<0>(p); }
    FQ_HD Words l() const { return at<-1>(p); }
    FQ_HD Words r() const { return at<1>(p); }
    FQ_HD Words r2() const { return at<2>(p); }
  };
  /// The samples at columns d, d+1, ... of words that hold other bits too.
  struct Parts {
    const std::uint8_t* p;
    WordFormat words;
    FQ_HD S16v part(const std::uint8_t* from) const {
      if constexpr (kSource == Source::kInner) from -= words.before;
      U16v v = load<U16v>(from);
      if constexpr (kSource != Source::kHigh) v &= words.mask;
      if constexpr (kSource != Source::kLow) v >>= words.shift;
      return reinterpret_cast<S16v>(v);
    }
    FQ_HD Words at(int d) const {
      const std::uint8_t* const first = p + std::ptrdiff_t{2} * d;
      return {part(first), part(first + kVec)};
    }
    FQ_HD Words c() const { return at(0); }
    FQ_HD Words l() const { return at(-1); }
    FQ_HD Words r() const { return at(1); }
    FQ_HD Words r2() const { return at(2); }
  };
  static constexpr bool kHasParts = kSource != Source::kBytes && kSource != Source::kWords && kSource != Source::kSplit;
  using Neighbours = std::conditional_t<kHasParts, Parts, Plain>;
  static constexpr bool kInOrder = kHasParts || kSource == Source::kWords;
  FQ_HD static std::ptrdiff_t offset(int x) { return std::ptrdiff_t{x} * (kInOrder ? 2 : 1); }
  /// Column of element i of each vector.
  FQ_HD static int column_a(int i) { return kInOrder ? i : 2 * i; }
  FQ_HD static int column_b(int i) { return kInOrder ? i + kVec / 2 : 2 * i + 1; }
};

/// The neighbourhood of the column at p.
template <class L>
FQ_HD typename L::Neighbours neighbours(const std::uint8_t* p, [[maybe_unused]] const WordFormat& words) {
  if constexpr (requires(typename L::Neighbours n) { n.words; })
    return {p, words};
  else
    return {p};
}

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

/// kVec / 2 columns of words of up to 16 bits, in 32-bit lanes: a has the even columns and b the odd ones.
struct SplitInts {
  static constexpr int kCount = kVec / 2;
  S32v a, b;
  using Mask = SplitInts;
  FQ_HD friend SplitInts operator+(SplitInts x, SplitInts y) { return {x.a + y.a, x.b + y.b}; }
  FQ_HD friend SplitInts operator-(SplitInts x, SplitInts y) { return {x.a - y.a, x.b - y.b}; }
  FQ_HD friend SplitInts twice(SplitInts x) { return x + x; }
  FQ_HD friend SplitInts absolute(SplitInts x) { return {absolute(Ints{x.a}).v, absolute(Ints{x.b}).v}; }
  FQ_HD friend SplitInts abs_difference(SplitInts x, SplitInts y) { return absolute(x - y); }
  FQ_HD friend SplitInts minimum(SplitInts x, SplitInts y) {
    return {minimum(Ints{x.a}, Ints{y.a}).v, minimum(Ints{x.b}, Ints{y.b}).v};
  }
  FQ_HD friend SplitInts maximum(SplitInts x, SplitInts y) {
    return {maximum(Ints{x.a}, Ints{y.a}).v, maximum(Ints{x.b}, Ints{y.b}).v};
  }
  FQ_HD SplitInts masked(Mask m) const { return {kept(a, m.a), kept(b, m.b)}; }
  FQ_HD static int column_a(int i) { return 2 * i; }
  FQ_HD static int column_b(int i) { return 2 * i + 1; }
};

/// The neighbourhood of split columns in registers. A neighbour beyond the vector's own columns is undefined.
template <class L>
struct Within {
  L v;
  FQ_HD L c() const { return v; }
  FQ_HD L l() const { return {moved<-1>(v.b), v.a}; }
  FQ_HD L r() const { return {v.b, moved<1>(v.a)}; }
  FQ_HD L r2() const { return {moved<1>(v.a), moved<1>(v.b)}; }
};

/// Mask of elements i whose column(i) lies in first...last-1.
template <class V, class F>
FQ_HD V column_mask(int first, int last, F column) {
  using Element = std::remove_reference_t<decltype(V{}[0])>;
  V columns{};
  for (unsigned i = 0; i < sizeof(V) / sizeof(Element); ++i)
    columns[i] = static_cast<Element>(column(static_cast<int>(i)));
  return reinterpret_cast<V>((columns >= static_cast<Element>(first)) & (columns < static_cast<Element>(last)));
}

/// Mask of lanes whose column lies in first...last-1 of the vector's, 0 <= first.
template <class L>
FQ_HD typename L::Mask lane_mask(int first, int last) {
  if constexpr (requires(L l) { l.b; }) {
    using V = decltype(L{}.a);
    return {column_mask<V>(first, last, [](int i) { return L::column_a(i); }),
            column_mask<V>(first, last, [](int i) { return L::column_b(i); })};
  } else {
    return column_mask<typename L::Mask>(first, last, [](int i) { return i; });
  }
}

/// True if totals of L are kept in 32-bit lanes for some rows.
template <class L>
inline constexpr bool kIsNarrow = !std::is_same_v<L, Ints> && !std::is_same_v<L, SplitInts>;

/// Accumulators per total. A fused dot product waits four cycles for the one before it: with few totals
/// two alternate, more would exceed the registers.
#ifdef __AVX512VNNI__
constexpr int chains(int totals) { return totals <= 2 ? 2 : 1; }
#else
constexpr int chains(int) { return 1; }
#endif

/// Totals of a metric in vectors. 32-bit lanes hold the sums of a few rows; flush() moves them to 64 bits in time.
template <class L, int kTotals, bool kSigned, bool kMasked>
struct Sums {
  static constexpr int kChains = chains(kTotals);
  S32v narrow[kTotals][kChains] = {};
  S64v wide[kTotals] = {};
  typename L::Mask mask = {};

  template <int i>
  FQ_HD void add_dots(S16v a, S16v b, S16v c, S16v d) {
    narrow[i][0] = dot(narrow[i][0], a, b);
    narrow[i][kChains - 1] = dot(narrow[i][kChains - 1], c, d);
  }
  template <int i>
  FQ_HD void add(L x) {
    if constexpr (kMasked) x = x.masked(mask);
    if constexpr (std::is_same_v<L, SplitInts>) {
      wide[i] += wide_sums(x.a + x.b);
    } else if constexpr (requires { x.b; }) {
      add_dots<i>(x.a, S16v{} + 1, x.b, S16v{} + 1);
    } else if constexpr (sizeof(x.v[0]) == 1) {
      wide[i] += reinterpret_cast<S64v>(sum_bytes(x.v));
    } else {
      wide[i] += wide_sums(x.v);
    }
  }
  template <int i>
  FQ_HD void add_product(L x, L y) {
    // Both operands, so that a square remains one.
    if constexpr (kMasked) x = x.masked(mask), y = y.masked(mask);
    if constexpr (std::is_same_v<L, SplitInts>) {
      wide[i] += wide_products(x.a, y.a) + wide_products(x.b, y.b);
    } else if constexpr (requires { x.b; }) {
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
    for (int i = 0; i < kTotals; ++i)
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
