// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the denoisers. This file is compiled once for each instruction set, named by FQ_ISA.
//
// Every float is computed by the operations of weight.h in their order, so all instruction sets give the same bits.
// Distances are exact integers, whatever the order of their sums.
#include "cpu/denoise/kernels.h"

#include "algorithms/denoise/noise.h"
#include "cpu/simd.h"

#include <cstddef>
#include <utility>

namespace framequality::cpu {
namespace {

typedef float F32v __attribute__((vector_size(kVec)));
typedef float F32half __attribute__((vector_size(kVec / 2)));
typedef double F64v __attribute__((vector_size(kVec)));
constexpr int kLanesOf = kVec / 4;

template <class V, class T>
FQ_HD V load_at(const T* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

FQ_HD F32v minimum(F32v a, F32v b) {
#if defined(__AVX512BW__)
  return _mm512_min_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_min_ps(a, b);
#elif defined(__SSE2__)
  return _mm_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

FQ_HD F32v maximum(F32v a, F32v b) {
#if defined(__AVX512BW__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#elif defined(__SSE2__)
  return _mm_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

/// v, loaded into a register once: GCC would read memory again for each of its uses.
FQ_HD F32v once(F32v v) {
#if defined(__AVX512BW__)
  asm("" : "+v"(v));
#elif defined(__x86_64__)
  asm("" : "+x"(v));
#endif
  return v;
}

void widen(const std::uint16_t* codes, int n, int middle, float* values) {
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>(codes[i] - middle);
}

/// Elements of a and b in turn, from kFirst on.
template <int kFirst, int... i>
FQ_HD F32v zip(F32v a, F32v b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, kFirst + i / 2 + i % 2 * kLanesOf...);
}

// A tile's width may be rounded up to whole vectors, and then what its searches reach.
static_assert(2 * (kLanesOf - 1) <= kDenoiseSlack);

void interleave(const float* row, int chunk, int count, float* out) {
  constexpr auto kLanes = std::make_integer_sequence<int, kLanesOf>();
  for (int i = 0; i < count; i += kLanesOf) {
    // Each step turns the bits of an element's number, vector and lane, by one place: in the end they have swapped.
    F32v v[kLanesOf], zipped[kLanesOf];
#pragma GCC unroll 16
    for (int j = 0; j < kLanesOf; ++j) v[j] = load_at<F32v>(row + std::ptrdiff_t{j} * chunk + i);
#pragma GCC unroll 4
    for (int step = 1; step < kLanesOf; step *= 2) {
#pragma GCC unroll 8
      for (int j = 0, to = 0; j < kLanesOf / 2; ++j) {
        zipped[to++] = zip<0>(v[j], v[j + kLanesOf / 2], kLanes);
        zipped[to++] = zip<kLanesOf / 2>(v[j], v[j + kLanesOf / 2], kLanes);
      }
#pragma GCC unroll 16
      for (int j = 0; j < kLanesOf; ++j) v[j] = zipped[j];
    }
#pragma GCC unroll 16
    for (int j = 0; j < kLanesOf; ++j) store(out + std::ptrdiff_t{i + j} * kLanesOf, v[j]);
  }
}

void pair(const float* entering, const float* leaving, int n, std::uint32_t* pairs) {
  const auto bits = [](const float* v) {
    return reinterpret_cast<U32v>(__builtin_convertvector(load_at<F32v>(v), S32v));
  };
  for (int i = 0; i < n; i += kLanesOf) store(pairs + i, (bits(entering + i) & 0xffff) | bits(leaving + i) << 16);
}

void slide(const std::uint32_t* own, const std::uint32_t* other, int n, bool grows, std::uint32_t* columns) {
  const std::uint32_t signs = grows ? 0x00000001 : 0xffff0001;
  const S16v sign = reinterpret_cast<S16v>(U32v{} + signs);
  for (int i = 0; i < n; i += kLanesOf) {
    const S16v d = load_at<S16v>(own + i) - load_at<S16v>(other + i);
    store(columns + i, dot(load_at<S32v>(columns + i), d, d * sign));
  }
}

template <bool kGrows>
FQ_HD void slide_halves(const std::uint32_t* own, const std::uint32_t* other, int n, std::uint32_t* columns) {
  // Halves are unsigned, the dot product takes signed ones. Their offset cancels in a difference.
  constexpr std::uint16_t kOffset = 1 << 15;
  const S16v sign = reinterpret_cast<S16v>(U32v{} + (kGrows ? 0x00000001u : 0xffff0001u));
  const S32v offset = S32v{} + (kGrows ? kOffset : 0);
  const auto add = [&](std::uint32_t* to, U16v halves) {
    store(to, wrapping_add(dot(load_at<S32v>(to), reinterpret_cast<S16v>(halves ^ kOffset), sign), offset));
  };
  for (int i = 0; i < n; i += kLanesOf, columns += std::ptrdiff_t{2} * kLanesOf) {
    const S16v a = load_at<S16v>(own + i), b = load_at<S16v>(other + i);
    const U16v d = reinterpret_cast<U16v>(max_shorts(a, b)) - reinterpret_cast<U16v>(min_shorts(a, b));
    add(columns, d * d);
    add(columns + kLanesOf, upper_squares(d));
  }
}

void slide_split(const std::uint32_t* own, const std::uint32_t* other, int n, bool grows, std::uint32_t* columns) {
  if (grows)
    slide_halves<true>(own, other, n, columns);
  else
    slide_halves<false>(own, other, n, columns);
}

/// A small distance D is kept as the bits of the float kRaised + D. For finite kRaised * scale, which is exact,
/// (kRaised + D) * scale - kRaised * scale rounds as D * scale does, if it rounds once.
constexpr float kRaised = 8388608;  // 2^23
constexpr std::uint32_t kRaisedBits = __builtin_bit_cast(std::uint32_t, kRaised);

/// The nearest float to high * 2^16 + low, which are exact as floats: only the sum rounds.
FQ_HD F32v joined(U32v high, U32v low) {
  const S32v upper = reinterpret_cast<S32v>(high), lower = reinterpret_cast<S32v>(low);
  return __builtin_convertvector(upper, F32v) * 65536.0f + __builtin_convertvector(lower, F32v);
}

/// Sums over 2 * patch + 1 vectors of columns, one for each vector of a row.
template <int kParts>
struct RowSums {
  const std::uint32_t* columns;
  const std::ptrdiff_t reach;  // from the first column of a sum to the one after its last
  U32v sum[kParts];
  FQ_HD RowSums(const std::uint32_t* c, int patch, std::uint32_t bias)
      : columns(c), reach(std::ptrdiff_t{2 * patch + 1} * kParts * kLanesOf) {
    for (U32v& s : sum) s = U32v{} + bias;
    for (std::ptrdiff_t i = 0; i < reach; i += std::ptrdiff_t{kParts} * kLanesOf)
      for (int k = 0; k < kParts; ++k) sum[k] += load_at<U32v>(columns + i + std::ptrdiff_t{k} * kLanesOf);
  }
  FQ_HD void move() {
#pragma GCC unroll 2
    for (int k = 0; k < kParts; ++k, columns += kLanesOf)
      sum[k] += load_at<U32v>(columns + reach) - load_at<U32v>(columns);
  }
};

FQ_HD F64v low_half(U32v v) {
  S32half half;
  std::memcpy(&half, &v, sizeof half);
  return __builtin_convertvector(half, F64v);
}
FQ_HD F64v high_half(U32v v) {
  S32half half;
  std::memcpy(&half, reinterpret_cast<const char*>(&v) + sizeof half, sizeof half);
  return __builtin_convertvector(half, F64v);
}

/// Distances of a row, vector by vector.
template <Distances kKind>
struct RowDistances {
  RowSums<1> sums;
  FQ_HD RowDistances(const std::uint32_t* columns, int patch)
      : sums(columns, patch, kKind == Distances::kSmall ? kRaisedBits : 0) {}
  FQ_HD U32v next() {
    const U32v now = sums.sum[0];
    sums.move();
    return now;
  }
};

/// The nearest floats to the distances: only the last addition, or conversion, rounds.
template <Distances kKind>
requires(kKind >= Distances::kSplit) struct RowDistances<kKind> {
  RowSums<2> sums;
  FQ_HD RowDistances(const std::uint32_t* columns, int patch) : sums(columns, patch, 0) {}
  FQ_HD U32v next() {
    const U32v low = sums.sum[0], high = sums.sum[1];
    sums.move();
    if constexpr (kKind == Distances::kSplit) {
      return reinterpret_cast<U32v>(joined(high, low));
    } else {
      const F32half halves[] = {__builtin_convertvector(low_half(high) * 65536.0 + low_half(low), F32half),
                                __builtin_convertvector(high_half(high) * 65536.0 + high_half(low), F32half)};
      return load_at<U32v>(halves);
    }
  }
};

/// The nearest floats to distances of RowDistances, times scale.
template <Distances kKind>
FQ_HD F32v scaled(U32v distance, float scale) {
  if constexpr (kKind == Distances::kSmall) {
    const F32v raised = reinterpret_cast<F32v>(distance);
#if defined(__AVX512BW__)
    return _mm512_fmadd_ps(raised, F32v{} + scale, F32v{} - kRaised * scale);
#elif defined(__AVX2__)
    return _mm256_fmadd_ps(raised, F32v{} + scale, F32v{} - kRaised * scale);
#else
    return (raised - kRaised) * scale;
#endif
  } else if constexpr (kKind == Distances::kInt) {
    return __builtin_convertvector(reinterpret_cast<S32v>(distance), F32v) * scale;
  } else if constexpr (kKind == Distances::kUnsigned) {
#if defined(__AVX512BW__)
    return F32v(_mm512_cvtepu32_ps(reinterpret_cast<__m512i>(distance))) * scale;
#else
    return joined(distance >> 16, distance & 0xffff) * scale;
#endif
  } else {
    return reinterpret_cast<F32v>(distance) * scale;
  }
}

/// Neighbouring vectors that each operation processes before the next, dependent one: cores do not look far
/// enough ahead to find this parallelism themselves.
template <int kVectors>
struct Batch {
  F32v v[kVectors];
  template <class F>
  FQ_HD static Batch each(const F& f) {
    Batch b;
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) b.v[j] = f(j);
    return b;
  }
};
#define FQ_BATCH(expression) Batch<kVectors>::each([&](int j) __attribute__((always_inline)) { return expression; })

template <int kVectors>
FQ_HD Batch<kVectors> operator*(const Batch<kVectors>& a, const Batch<kVectors>& b) {
  return FQ_BATCH(a.v[j] * b.v[j]);
}
template <int kVectors>
FQ_HD Batch<kVectors> operator+(const Batch<kVectors>& a, const Batch<kVectors>& b) {
  return FQ_BATCH(a.v[j] + b.v[j]);
}
template <int kVectors>
FQ_HD Batch<kVectors> operator*(const Batch<kVectors>& a, float b) {
  return FQ_BATCH(a.v[j] * b);
}
template <int kVectors>
FQ_HD Batch<kVectors> operator+(const Batch<kVectors>& a, float b) {
  return FQ_BATCH(a.v[j] + b);
}
template <int kVectors>
FQ_HD Batch<kVectors> operator-(const Batch<kVectors>& a, float b) {
  return FQ_BATCH(a.v[j] - b);
}
template <int kVectors>
FQ_HD Batch<kVectors> operator-(float a, const Batch<kVectors>& b) {
  return FQ_BATCH(a - b.v[j]);
}

/// As exponent() and exp2_minus(), with the same operations except pairs of signs that cancel.
/// kPlain: floor and spatial are 0, the scale is finite.
template <bool kPlain, int kVectors>
FQ_HD Batch<kVectors> weights_of(Batch<kVectors> x, const denoise::Weights& w, float spatial) {
  if constexpr (!kPlain) {
    x = x - w.floor;
    x = FQ_BATCH(maximum(x.v[j], F32v{})) + spatial;
  }
  x = FQ_BATCH(minimum(x.v[j], F32v{} + denoise::kLargestExponent));
  constexpr float kRound = 12582912;
  const Batch<kVectors> t = kRound - x, f = x + (t - kRound);
  Batch<kVectors> p = 9.6755363e-3f - f * 1.3276455e-3f;
  p = 5.5507131e-2f - p * f;
  p = 2.40221202e-1f - p * f;
  p = 6.93146944e-1f - p * f;
  p = 1.0f - p * f;
  return FQ_BATCH(reinterpret_cast<F32v>(reinterpret_cast<U32v>(p.v[j]) + (reinterpret_cast<U32v>(t.v[j]) << 23)));
}

/// The next kVectors vectors of a row.
template <Distances kKind, bool kPlain, int kVectors>
FQ_HD void weigh_next(RowDistances<kKind>& rows, const denoise::Weights& w, float spatial, float* out) {
  U32v distances[kVectors];
#pragma GCC unroll 4
  for (U32v& d : distances) d = rows.next();
  const Batch<kVectors> x = FQ_BATCH(scaled<kKind>(distances[j], w.scale)), b = weights_of<kPlain>(x, w, spatial);
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) store(out + std::ptrdiff_t{j} * kLanesOf, b.v[j]);
}

template <Distances kKind, bool kPlain>
FQ_HD void weigh_row(const std::uint32_t* columns, int n, int patch, const denoise::Weights& weights, float spatial,
                     float* out) {
  constexpr int kVectors = 4;
  const denoise::Weights w = weights;
  RowDistances<kKind> rows(columns, patch);
  int i = 0;
  for (; i + (kVectors - 1) * kLanesOf < n; i += kVectors * kLanesOf)
    weigh_next<kKind, kPlain, kVectors>(rows, w, spatial, out + i);
  for (; i < n; i += kLanesOf) weigh_next<kKind, kPlain, 1>(rows, w, spatial, out + i);
}

template <Distances kKind>
void weigh(const std::uint32_t* columns, int n, int patch, const denoise::Weights& w, float spatial, float* out) {
  if (!(w.scale * kRaised < __builtin_inff()))
    weigh_row<kKind == Distances::kSmall ? Distances::kInt : kKind, false>(columns, n, patch, w, spatial, out);
  else if (w.floor == 0 && spatial == 0)
    weigh_row<kKind, true>(columns, n, patch, w, spatial, out);
  else
    weigh_row<kKind, false>(columns, n, patch, w, spatial, out);
}

/// kVectors neighbouring vectors of pixels: their sums stay in registers for all terms.
template <int kPlanes, bool kLargest, int kVectors>
FQ_HD void add_vectors(const Term* terms, int count, std::ptrdiff_t at, const Collected& c) {
  F32v weights[kVectors], values[kPlanes][kVectors], largest[kVectors] = {};
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const std::ptrdiff_t i = at + std::ptrdiff_t{j} * kLanesOf;
    weights[j] = load_at<F32v>(c.weights + i);
    for (int k = 0; k < kPlanes; ++k) values[k][j] = load_at<F32v>(c.values[k] + i);
    if constexpr (kLargest) largest[j] = load_at<F32v>(c.largest + i);
  }
  for (const Term* term = terms; term != terms + count; ++term) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const std::ptrdiff_t i = at + std::ptrdiff_t{j} * kLanesOf;
      const F32v w = once(load_at<F32v>(term->weights + i));
      weights[j] += w;
#pragma GCC unroll 3
      for (int k = 0; k < kPlanes; ++k) values[k][j] += w * load_at<F32v>(term->values[k] + i);
      if constexpr (kLargest) largest[j] = maximum(largest[j], w);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const std::ptrdiff_t i = at + std::ptrdiff_t{j} * kLanesOf;
    store(c.weights + i, weights[j]);
    for (int k = 0; k < kPlanes; ++k) store(c.values[k] + i, values[k][j]);
    if constexpr (kLargest) store(c.largest + i, largest[j]);
  }
}

template <int kPlanes, bool kLargest>
void add_terms(const Term* terms, int count, int n, const Collected& c) {
  // Enough sums at once to hide the latency of an addition, few enough for 16 registers.
  constexpr int kVectors = kVec == 64 || kPlanes == 1 ? 4 : 2;
  int i = 0;
  for (; i + (kVectors - 1) * kLanesOf < n; i += kVectors * kLanesOf)
    add_vectors<kPlanes, kLargest, kVectors>(terms, count, i, c);
  for (; i < n; i += kLanesOf) add_vectors<kPlanes, kLargest, 1>(terms, count, i, c);
}

template <int kPlanes>
void add(const Term* terms, int count, int n, const Collected& c) {
  if (c.largest)
    add_terms<kPlanes, true>(terms, count, n, c);
  else
    add_terms<kPlanes, false>(terms, count, n, c);
}

void finish(const float* values, const float* weights, int n, int depth, float* means, std::uint16_t* codes) {
  const float middle = static_cast<float>(1 << (depth - 1)), largest = static_cast<float>((1 << depth) - 1);
  for (int i = 0; i < n; i += kLanesOf) {
    const F32v mean = load_at<F32v>(values + i) / load_at<F32v>(weights + i) + middle;
    store(means + i, mean);
    const F32v code = minimum(maximum(mean, F32v{}), F32v{} + largest);
    // Adding 2^23 removes fraction bits: rounds to the nearest integer, ties to even, into the low bits.
    const U32v bits = reinterpret_cast<U32v>(code + 8388608.0f) & 0xffff;
    store(codes + i, __builtin_convertvector(bits, U16half));
  }
}

void noise(const float* const rows[5], int n, float lowest, float highest, const NoiseSums& sums) {
  const F32v least = F32v{} + lowest, most = F32v{} + highest;
  for (int i = 0; i < n - 2 * denoise::kNoiseReach; i += kLanesOf) {
    const auto value = [&](int row, int column) { return load_at<F32v>(rows[row] + i + column); };
    const F32v own = value(2, 2);
    // A residual's weights add up to 0, so the offset of `values` cancels.
    const F32v fine = denoise::noise_residual(value(1, 1), value(1, 2), value(1, 3), value(2, 1), own, value(2, 3),
                                              value(3, 1), value(3, 2), value(3, 3));
    const F32v coarse = denoise::noise_residual(value(0, 0), value(0, 2), value(0, 4), value(2, 0), own, value(2, 4),
                                                value(4, 0), value(4, 2), value(4, 4));
    store(sums.fine + i, load_at<F32v>(sums.fine + i) + maximum(fine, -fine));
    store(sums.coarse + i, load_at<F32v>(sums.coarse + i) + maximum(coarse, -coarse));
    store(sums.clipped + i, load_at<S32v>(sums.clipped + i) - reinterpret_cast<S32v>((own == least) | (own == most)));
  }
}

}  // namespace

const DenoiseKernels& FQ_ISA::denoise_kernels() {
  static constexpr DenoiseKernels kTable = {
      kLanesOf,
      widen,
      interleave,
      pair,
      slide,
      slide_split,
      {weigh<Distances::kSmall>, weigh<Distances::kInt>, weigh<Distances::kUnsigned>, weigh<Distances::kSplit>,
       weigh<Distances::kWide>},
      {add<1>, add<2>, add<3>},
      finish,
      noise};
  return kTable;
}

}  // namespace framequality::cpu
