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

void widen(const std::uint16_t* codes, int n, int middle, float* values) {
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>(codes[i] - middle);
}

void pair(const std::uint16_t* entering, const std::uint16_t* leaving, int n, std::uint32_t* pairs) {
  for (int i = 0; i < n; ++i) pairs[i] = entering[i] | std::uint32_t{leaving[i]} << 16;
}

void slide(const std::uint32_t* own, const std::uint32_t* other, int n, bool grows, std::uint32_t* columns) {
  const std::uint32_t signs = grows ? 0x00000001 : 0xffff0001;
  const S16v sign = reinterpret_cast<S16v>(U32v{} + signs);
  for (int i = 0; i < n; i += kLanesOf) {
    const S16v d = load_at<S16v>(own + i) - load_at<S16v>(other + i);
    store(columns + i, dot(load_at<S32v>(columns + i), d, d * sign));
  }
}

FQ_HD F64v low_half(F32v v) {
  F32half half;
  std::memcpy(&half, &v, sizeof half);
  return __builtin_convertvector(half, F64v);
}
FQ_HD F64v high_half(F32v v) {
  F32half half;
  std::memcpy(&half, reinterpret_cast<const char*>(&v) + sizeof half, sizeof half);
  return __builtin_convertvector(half, F64v);
}

template <bool kGrows>
void slide_doubles(const float* entering, const float* other_entering, const float* leaving, const float* other_leaving,
                   int n, double* columns) {
  for (int i = 0; i < n; i += kLanesOf) {
    const F32v in = load_at<F32v>(entering + i) - load_at<F32v>(other_entering + i);
    F32v out = {};
    if constexpr (!kGrows) out = load_at<F32v>(leaving + i) - load_at<F32v>(other_leaving + i);
    // a^2 - b^2 by one product; sum and difference of 17-bit integers are exact.
    const F32v sum = in + out, difference = in - out;
    double* const c = columns + i;
    store(c, load_at<F64v>(c) + low_half(sum) * low_half(difference));
    store(c + kLanesOf / 2, load_at<F64v>(c + kLanesOf / 2) + high_half(sum) * high_half(difference));
  }
}

void slide_wide(const float* entering, const float* other_entering, const float* leaving, const float* other_leaving,
                int n, double* columns) {
  if (leaving)
    slide_doubles<false>(entering, other_entering, leaving, other_leaving, n, columns);
  else
    slide_doubles<true>(entering, other_entering, nullptr, nullptr, n, columns);
}

/// Converts to the nearest float.
template <Distances kKind>
FQ_HD F32v to_float(U32v v) {
#if defined(__AVX512BW__)
  return _mm512_cvtepu32_ps(reinterpret_cast<__m512i>(v));
#else
  if constexpr (kKind == Distances::kInt) return __builtin_convertvector(reinterpret_cast<S32v>(v), F32v);
  const S32v high = reinterpret_cast<S32v>(v >> 16), low = reinterpret_cast<S32v>(v & 0xffff);
  return __builtin_convertvector(high, F32v) * 65536.0f + __builtin_convertvector(low, F32v);  // only the sum rounds
#endif
}

/// Distances of a row, vector by vector, from sums over columns.
template <Distances kKind, int kRadius>
struct RowDistances {
  const std::uint32_t* columns;
#if defined(__AVX512BW__)
  // Sums of 1, 2, 4 and 8 columns, each made from two of the previous, and of the following vectors that the next level
  // needs. An unaligned load costs twice as much as moving lanes between registers.
  static constexpr int kTop = kRadius == 0 ? 0 : kRadius == 1 ? 1 : kRadius < 4 ? 2 : 3;
  __m512i level[kTop + 1][kTop + 1] = {};

  template <int k>
  FQ_HD static __m512i moved(__m512i low, __m512i high) {
    return _mm512_alignr_epi32(high, low, k);
  }
  template <int l>
  FQ_HD void push() {
    constexpr int kLast = kTop - l;
#pragma GCC unroll 4
    for (int i = 0; i < kLast; ++i) level[l][i] = level[l][i + 1];
    if constexpr (l == 0) {
      level[0][kLast] = _mm512_loadu_si512(columns);
      columns += kLanesOf;
    } else {
      const __m512i low = level[l - 1][kLast], high = level[l - 1][kLast + 1];
      level[l][kLast] = _mm512_add_epi32(low, moved<1 << (l - 1)>(low, high));
    }
    if constexpr (l < kTop) push<l + 1>();
  }
  FQ_HD explicit RowDistances(const void* c) : columns(static_cast<const std::uint32_t*>(c)) {
#pragma GCC unroll 4
    for (int i = 0; i < kTop; ++i) push<0>();
  }
  FQ_HD F32v next() {
    push<0>();
    __m512i sum = level[kTop][0];
    constexpr int kSide = 2 * kRadius + 1;
    if constexpr (kTop == 3 && (kSide & 4)) sum = _mm512_add_epi32(sum, moved<8>(level[2][0], level[2][1]));
    if constexpr (kTop >= 2 && (kSide & 2)) sum = _mm512_add_epi32(sum, moved<(kSide & ~3)>(level[1][0], level[1][1]));
    if constexpr (kTop >= 1) sum = _mm512_add_epi32(sum, moved<kSide - 1>(level[0][0], level[0][1]));
    return to_float<kKind>(reinterpret_cast<U32v>(sum));
  }
#else
  FQ_HD explicit RowDistances(const void* c) : columns(static_cast<const std::uint32_t*>(c)) {}
  FQ_HD F32v next() {
    U32v sum = load_at<U32v>(columns);
#pragma GCC unroll 16
    for (int k = 1; k <= 2 * kRadius; ++k) sum += load_at<U32v>(columns + k);
    columns += kLanesOf;
    return to_float<kKind>(sum);
  }
#endif
};

template <int kRadius>
struct RowDistances<Distances::kWide, kRadius> {
  const double* columns;
  FQ_HD explicit RowDistances(const void* c) : columns(static_cast<const double*>(c)) {}
  FQ_HD F32half half() {
    F64v sum = load_at<F64v>(columns);
#pragma GCC unroll 16
    for (int k = 1; k <= 2 * kRadius; ++k) sum += load_at<F64v>(columns + k);
    columns += kLanesOf / 2;
    return __builtin_convertvector(sum, F32half);
  }
  FQ_HD F32v next() {
    const F32half halves[2] = {half(), half()};
    return load_at<F32v>(halves);
  }
};

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
FQ_HD Batch<kVectors> weights_of(const Batch<kVectors>& distances, const denoise::Weights& w, float spatial) {
  Batch<kVectors> x = distances * w.scale;
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

template <Distances kKind, int kRadius, bool kPlain>
FQ_HD void weigh_row(const void* columns, int n, const denoise::Weights& weights, float spatial, float* out) {
  constexpr int kVectors = 4;
  const denoise::Weights w = weights;
  RowDistances<kKind, kRadius> rows(columns);
  int i = 0;
  for (; i + (kVectors - 1) * kLanesOf < n; i += kVectors * kLanesOf) {
    Batch<kVectors> distances;
#pragma GCC unroll 8
    for (F32v& d : distances.v) d = rows.next();
    const Batch<kVectors> b = weights_of<kPlain>(distances, w, spatial);
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) store(out + i + std::ptrdiff_t{j} * kLanesOf, b.v[j]);
  }
  for (; i < n; i += kLanesOf) store(out + i, weights_of<kPlain>(Batch<1>{{rows.next()}}, w, spatial).v[0]);
}

template <Distances kKind, int kRadius>
void weigh(const void* columns, int n, const denoise::Weights& w, float spatial, float* out) {
  if (kKind == Distances::kInt && w.floor == 0 && spatial == 0 && w.scale < __builtin_inff())
    weigh_row<kKind, kRadius, true>(columns, n, w, spatial, out);
  else
    weigh_row<kKind, kRadius, false>(columns, n, w, spatial, out);
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
      const F32v w = load_at<F32v>(term->weights + i);
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

template <Distances kKind, int... kRadius>
constexpr void fill(DenoiseKernels& k, std::integer_sequence<int, kRadius...>) {
  ((k.weigh[static_cast<int>(kKind)][kRadius] = weigh<kKind, kRadius>), ...);
}

constexpr DenoiseKernels make_table() {
  DenoiseKernels k = {widen, pair, slide, slide_wide, {}, {add<1>, add<2>, add<3>}, finish, noise};
  constexpr auto kRadii = std::make_integer_sequence<int, denoise::kMaxPatchRadius + 1>();
  fill<Distances::kInt>(k, kRadii);
  fill<Distances::kUnsigned>(k, kRadii);
  fill<Distances::kWide>(k, kRadii);
  return k;
}

}  // namespace

const DenoiseKernels& FQ_ISA::denoise_kernels() {
  static constexpr DenoiseKernels kTable = make_table();
  return kTable;
}

}  // namespace framequality::cpu
