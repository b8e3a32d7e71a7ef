// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of BLIINDS-II. This file is compiled once for each instruction set, named by FQ_ISA.
//
// A vector holds neighbouring blocks, whose pixels are adjacent once each row is split by column mod 3.
// Sums run over kSumLanes lanes on every machine, so that all instruction sets give the same bits.
#include "cpu/bliinds/kernels.h"

#include "algorithms/bliinds/block.h"
#include "algorithms/bliinds/scale.h"
#include "cpu/luma.h"
#include "cpu/simd.h"

#include <type_traits>

namespace framequality::cpu {
namespace {

typedef double Doubles __attribute__((vector_size(kVec)));
constexpr int kLanesOf = kVec / 8;
static_assert(kLanesOf <= kBliindsSlack);

FQ_HD Doubles load_doubles(const double* p) {
  Doubles v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// The number T of block.h: one double for each of several blocks.
struct Lanes {
  Doubles v;
  Lanes() = default;
  FQ_HD Lanes(Doubles value) : v(value) {}
  FQ_HD explicit Lanes(double value) : v(Doubles{} + value) {}
  FQ_HD friend Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  FQ_HD friend Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  FQ_HD friend Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
  FQ_HD friend Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }
  FQ_HD friend Lanes magnitude(Lanes a) {
    return reinterpret_cast<Doubles>(reinterpret_cast<S64v>(a.v) & 0x7fffffffffffffff);
  }
  FQ_HD friend Lanes root(Lanes a) {
#if defined(__AVX512BW__)
    return _mm512_sqrt_pd(a.v);
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(a.v);
#elif defined(__SSE2__)
    return _mm_sqrt_pd(a.v);
#else
    Doubles r;
    for (int i = 0; i < kLanesOf; ++i) r[i] = __builtin_sqrt(a.v[i]);
    return r;
#endif
  }
};

template <class T>
void widen(const std::uint8_t* codes, int n, double unit, double* __restrict out) {
  for (int i = 0; i < n; ++i) {
    T code;
    std::memcpy(&code, codes + static_cast<std::size_t>(i) * sizeof code, sizeof code);
    out[i] = code * unit;
  }
}

template <class T>
FQ_HD T code_at(const std::uint8_t* codes, int i) {
  T code;
  std::memcpy(&code, codes + static_cast<std::size_t>(i) * sizeof code, sizeof code);
  return code;
}

template <int kTimes, class T>
void repeat(const std::uint8_t* codes, int n, std::uint8_t* __restrict out) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < kTimes; ++k) put<T>(out, kTimes * i + k, code_at<T>(codes, i));
}

/// red_code() in vector arithmetic: for 8 bits, 32 suffice for the sum; that of deeper values
/// is exact in doubles too, and above 0 truncation equals a shift.
template <class T>
void red(const bliinds::RedOfYuv& red, const std::uint8_t* y, const std::uint8_t* v, int n, double unit,
         double* __restrict out) {
  using Sum = std::conditional_t<sizeof(T) == 1, int, double>;
  constexpr int kAbove = 1 << 17;  // makes any sum positive
  const int y_zero = red.y_zero, v_zero = red.v_zero, most = (1 << red.v.depth) - 1;
  const Sum y_gain = red.y_gain, v_gain = red.v_gain, half = 1 << (bliinds::kRedBits - 1);
  for (int i = 0; i < n; ++i) {
    const Sum sum = y_gain * (code_at<T>(y, i) - y_zero) + v_gain * (code_at<T>(v, i) - v_zero) + half;
    int code;
    if constexpr (sizeof(T) == 1)
      code = sum >> bliinds::kRedBits;
    else
      code = static_cast<int>(sum * (1.0 / (1 << bliinds::kRedBits)) + kAbove) - kAbove;
    code = code < 0 ? 0 : code;
    code = code > most ? most : code;
    out[i] = code * unit;
  }
}

void part(const double* row, int n, std::int64_t pitch, double* __restrict out) {
  double* __restrict a = out, * __restrict b = out + pitch, * __restrict c = b + pitch;
  for (int i = 0; i < n; ++i, row += 3) {
    a[i] = row[0];
    b[i] = row[1];
    c[i] = row[2];
  }
}

void halve(const double* above, const double* middle, const double* below, int n, double* __restrict scratch,
           double* __restrict out) {
  for (int i = 1; i < 2 * n + 2; ++i) scratch[i] = bliinds::weigh(above[i], middle[i], below[i]);
  for (int i = 0; i < n; ++i) out[i] = bliinds::weigh(scratch[2 * i + 1], scratch[2 * i + 2], scratch[2 * i + 3]);
}

/// Pixels of the blocks from number `at` on.
struct Window {
  const double* const (&rows)[5];
  std::int64_t pitch;
  std::int64_t at;
  FQ_HD Lanes operator()(int y, int x) const { return load_doubles(rows[y] + (x % 3) * pitch + x / 3 + at); }
};

void blocks(const double* const (&rows)[5], std::int64_t pitch, int n, double* zeta, double* rho, double* energy,
            double* orient) {
  const double* const local[5] = {rows[0], rows[1], rows[2], rows[3], rows[4]};
  for (int i = 0; i < n; i += kLanesOf) {
    const auto s = bliinds::block_statistics<Lanes>(Window{local, pitch, i});
    store(zeta + i, s.zeta.v);
    store(rho + i, s.rho.v);
    store(energy + i, s.energy.v);
    store(orient + i, s.orient.v);
  }
}

void shapes(const bliinds::ShapeTable& table, const double* rho, int n, std::uint16_t* out) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<std::uint16_t>(bliinds::shape_of(table, rho[i]));
}

constexpr int kSumLanes = 8;
constexpr int kSumVectors = kSumLanes / kLanesOf;

FQ_HD double total(const Doubles (&sums)[kSumVectors]) {
  double s[kSumLanes];
  std::memcpy(s, sums, sizeof s);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// Whether any lane of a comparison is true.
FQ_HD bool any(S64v mask) {
#if defined(__AVX512BW__)
  return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(mask)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_pd(reinterpret_cast<__m128d>(mask)) != 0;
#else
  return (mask[0] | mask[1]) != 0;
#endif
}

FQ_HD int value_bin(double value) {
  std::int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::int64_t bin = (bits >> (52 - kValueBits)) - (std::int64_t{1023 - 44} << kValueBits);
  return static_cast<int>(bin < 0 ? 0 : bin < kValueBins ? bin : kValueBins - 1);
}

double count(const double* values, int n, std::uint32_t* bins) {
  Doubles sum[kSumVectors] = {};
  int i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for (int k = 0; k < kSumVectors; ++k) sum[k] += load_doubles(values + i + std::ptrdiff_t{k} * kLanesOf);
    for (int k = 0; k < kSumLanes; ++k) ++bins[value_bin(values[i + k])];
  }
  double rest = 0;
  for (; i < n; ++i) {
    rest += values[i];
    ++bins[value_bin(values[i])];
  }
  return total(sum) + rest;
}

/// Least value of a bin.
FQ_HD double bin_start(int bin) {
  if (bin <= 0) return 0;
  if (bin >= kValueBins) return __builtin_inf();
  const std::int64_t bits = (bin + (std::int64_t{1023 - 44} << kValueBits)) << (52 - kValueBits);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double above(const double* values, int n, int bin, double* inside, int* found) {
  const double first = bin_start(bin), end = bin_start(bin + 1);
  Doubles sum[kSumVectors] = {};
  int count = 0;
  const auto take = [&](double v) {
    inside[count] = v;
    count += (v >= first) & (v < end);
  };
  int i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    S64v inside_bin = {};
    for (int k = 0; k < kSumVectors; ++k) {
      const Doubles v = load_doubles(values + i + std::ptrdiff_t{k} * kLanesOf);
      sum[k] += reinterpret_cast<Doubles>(reinterpret_cast<S64v>(v) & (v >= end));
      inside_bin |= (v >= first) & (v < end);
    }
    // Few values lie in the one bin: most vectors are skipped.
    if (any(inside_bin))
      for (int k = 0; k < kSumLanes; ++k) take(values[i + k]);
  }
  double rest = 0;
  for (; i < n; ++i) {
    rest += values[i] >= end ? values[i] : 0;
    take(values[i]);
  }
  *found = count;
  return total(sum) + rest;
}

}  // namespace

const BliindsKernels& FQ_ISA::bliinds_kernels() {
  static const BliindsKernels table = {
      luma,
      {widen<std::uint8_t>, widen<std::uint16_t>},
      {red<std::uint8_t>, red<std::uint16_t>},
      {{repeat<2, std::uint8_t>, repeat<2, std::uint16_t>}, {repeat<4, std::uint8_t>, repeat<4, std::uint16_t>}},
      part,
      halve,
      blocks,
      shapes,
      count,
      above};
  return table;
}

}  // namespace framequality::cpu
