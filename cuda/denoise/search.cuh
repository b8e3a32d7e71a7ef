// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel: a warp's work on its pixels' windows.
#pragma once

#include "cuda/denoise/family.h"
#include "cuda/denoise/fill.cuh"

namespace framequality::cuda::tile {

/// d = a b + c, 16x32 times 32x8 signed bytes.
__device__ __forceinline__ void multiply(int (&d)[4], const std::uint32_t (&a)[4], uint2 b, const int (&c)[4]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, "
      "%13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

/// d = a b + c, 16x16 times 16x8 half floats. Turing does half of it at a time.
__device__ __forceinline__ void multiply(float (&d)[4], const std::uint32_t (&a)[4], uint2 b, const float (&c)[4]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, "
      "%12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  const auto half = [&](std::uint32_t upper, std::uint32_t lower, std::uint32_t column, const float(&from)[4]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(upper), "r"(lower), "r"(column), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]));
  };
  half(a[0], a[1], b.x, c);
  half(a[2], a[3], b.y, d);
#endif
}

/// The float of a product, which includes the bias of its samples.
__device__ __forceinline__ float float_of(int product) { return __int_as_float(product); }
__device__ __forceinline__ float float_of(float product) { return product; }

/// 2^x, 0 below 2^-126.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// a * b, limited to 0...1: at no cost, on the pipe that has most room.
__device__ __forceinline__ float saturated_product(float a, float b) {
  float y;
  asm("mul.rn.ftz.sat.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

/// A lane's sums for its halves' pixels, from its quarter of the candidates.
template <int kHalves, int kPlanes>
struct Sums {
  float weights[kHalves] = {}, values[kPlanes][kHalves] = {}, largest[kHalves] = {};
  __device__ __forceinline__ void take(const Sums& part) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      weights[half] = __fadd_rn(weights[half], part.weights[half]);
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) values[k][half] = __fadd_rn(values[k][half], part.values[k][half]);
      largest[half] = fmaxf(largest[half], part.largest[half]);
    }
  }
};

/// A warp's pixels, in registers: each lane's share of all patches.
template <class Samples, int kPlanes, int kStack, unsigned kFeatures>
struct Patches {
  std::uint32_t a[kStack][kPlanes][Samples::kProducts][4];
  // Half the sum of squares, rounded down, plus the bias, negated; if not exact, times twice the scale.
  float shift[2 * kStack];
  float floor[2 * kStack];         // including the rounding's correction
  float own[kPlanes][2 * kStack];  // samples as in Value

  /// x, y: candidate at the lane's pixel of the first half.
  __device__ __forceinline__ void load(const Layout& l, const Shared<Samples, kPlanes>& s, int x, int y, int lane,
                                       int patch, float scale, float least) {
#pragma unroll
    for (int half = 0; half < 2 * kStack; ++half) {
      const int m = half / 2, h = half % 2, v = y + half * kRowsPerHalf;
#pragma unroll
      for (int k = 0; k < kPlanes; ++k)
#pragma unroll
        for (int j = 0; j < Samples::kProducts; ++j) {
          const uint2 pair =
              s.pairs[k * l.plane_pairs() + (v + word_y(lane) + 2 * j) * l.pair_pitch + x + word_x(lane)];
          a[m][k][j][h] = pair.x & word_mask<Samples>(patch, lane, j, 0);
          a[m][k][j][h + 2] = pair.y & word_mask<Samples>(patch, lane, j, 1);
        }
      const int at = v * l.value_pitch + x;
      shift[half] = __fadd_rn(float_of(s.begins[s.begin_place(at)]), -2 * Samples::kBiasValue);
      if constexpr (is_exact(kFeatures)) {
        const float rounding = s.values[at].rounding;
        floor[half] = __fadd_rn(least, saturates(kFeatures) ? (rounding < 1 ? -scale / 2 : 0.0f) : rounding);
#pragma unroll
        for (int k = 0; k < kPlanes; ++k) own[k][half] = s.values[at].code[k];
      } else {
        shift[half] *= scale;
      }
    }
  }
};

/// Columns of matrices processed at a time: one; or a window's first and last one. A candidate there matters in at
/// most one of the two, so one exponential does for both; but with even radii a pixel's
/// window ends (kEdgesAndEnd) where in the first column it begins.
/// kOneWithCenter: one that may contain the pixels themselves, which are excluded.
enum class Columns : std::uint8_t { kOne, kOneWithCenter, kEdges, kEdgesAndEnd };

/// One frame's candidates of one warp. kRadius: of the search; 0: known at run time only.
template <class Samples, int kPlanes, int kStack, int kRadius, unsigned kFeatures>
struct Search {
  static constexpr int kHalves = 2 * kStack;
  using Product = typename Samples::Product;
  /// Two adjacent candidates' values.
  struct alignas(16) Values {
    Value<kPlanes> of[2];
  };
  struct alignas(16) Begins {
    Product of[4];
  };
  const Patches<Samples, kPlanes, kStack, kFeatures>& patches;
  Sums<kHalves, kPlanes>& total;
  float scale, spatial;
  bool own_frame;
  int lane, radius;
  // For the current columns, for each pair of pixels of a lane:
  float addend[kHalves][3] = {}, column[3] = {};
  int center[2] = {-1, -1};   // step, from a half's first, whose candidate is the pixel itself
  float upper[kHalves] = {};  // rows' share of the spatial exponent, of the step's first half first
  Sums<kHalves, kPlanes> sums = {};

  /// A step's products that matter, and their candidates.
  template <int kPairs>
  struct Products {
    Product d[kHalves][kPairs];
    Value<kPlanes> value[kPairs];
  };

  /// tx: from the pixel to the candidate.
  __device__ __forceinline__ void begin_pair(int e, int tx) {
    const bool inside = tx >= -radius && tx <= radius;
#pragma unroll
    for (int half = 0; half < kHalves; ++half) addend[half][e] = inside ? patches.shift[half] : -__builtin_huge_valf();
    if constexpr (kFeatures & kSpatial) column[e] = -spatial * static_cast<float>(tx * tx);
  }

  /// offset: the step from the half's first one on.
  template <bool kCenter>
  __device__ __forceinline__ void add(int half, int e, Product product, const Value<kPlanes>& value, float constant,
                                      int offset) {
    float x;
    if constexpr (saturates(kFeatures)) {
      x = __fmaf_rn(__fadd_rn(float_of(product), constant), scale, patches.floor[half]);
    } else if constexpr (is_exact(kFeatures)) {
      // Sum and product are exact, so that equal patches weigh 1.
      x = __fadd_rn(__fmaf_rn(__fadd_rn(float_of(product), constant), scale, value.rounding), patches.floor[half]);
      if constexpr (kFeatures & kFloor) x = fminf(x, 0.0f);
    } else {
      x = __fmaf_rn(float_of(product), scale, constant);
    }
    if constexpr (kFeatures & kSpatial) x = __fadd_rn(x, __fadd_rn(upper[half], column[e]));
    float w = exp2_of(x);
    if constexpr (saturates(kFeatures)) w = saturated_product(w, value.rounding);
    if constexpr (kFeatures & kMaxCenter) {
      if constexpr (kCenter) w = offset == center[e] ? 0.0f : w;
      sums.largest[half] = fmaxf(sums.largest[half], w);
    }
    sums.weights[half] =
        is_exact(kFeatures) ? __fadd_rn(sums.weights[half], w) : __fmaf_rn(w, value.rounding, sums.weights[half]);
#pragma unroll
    for (int k = 0; k < kPlanes; ++k) sums.values[k][half] = __fmaf_rn(w, value.code[k], sums.values[k][half]);
  }

  /// step: of the phase; done: steps before it.
  template <Columns kColumns, int kPairs>
  __device__ __forceinline__ void add_step(const Products<kPairs>& from, Phase phase, int step, int done) {
    const bool first = candidate_y(lane) >= pixel_y(lane), last = candidate_y(lane) <= pixel_y(lane);
    if constexpr (kFeatures & kSpatial) {
#pragma unroll
      for (int half = kHalves - 1; half > 0; --half) upper[half] = upper[half - 1];
      const float ty = static_cast<float>(2 * (done + step) + candidate_y(lane) - radius - pixel_y(lane));
      upper[0] = -spatial * ty * ty;
    }
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const RowPart part = row_part(phase, step, half);
      if (part == RowPart::kNone) continue;
#pragma unroll
      for (int e = 0; e < kPairs; ++e) {
        const bool use = part == RowPart::kInner || (part == RowPart::kFirst ? first : last);
        const float constant = use ? addend[half][e] : -__builtin_huge_valf();
        const int offset = done + step - half;
        add<kColumns == Columns::kOneWithCenter>(half, e, from.d[half][e], from.value[e], constant, offset);
      }
    }
  }

  /// One matrix's share of a step. here: pairs of all but the step's last product.
  struct Matrix {
    Product d[kStack][4];
    Values value;
    uint2 here[kPlanes][Samples::kProducts - 1];
  };
  /// last: pairs of the last product.
  __device__ __forceinline__ void multiply_step(Matrix& to, Phase phase, int step, const Begins& begins,
                                                const uint2 (&last)[kPlanes]) const {
    constexpr int kLast = Samples::kProducts - 1;
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
#pragma unroll
      for (int j = 0; j <= kLast; ++j)
#pragma unroll
        for (int m = 0; m < kStack; ++m) {
          if (row_part(phase, step, 2 * m) == RowPart::kNone && row_part(phase, step, 2 * m + 1) == RowPart::kNone)
            continue;
          const uint2 pair = j < kLast ? to.here[k][j] : last[k];
          if (k == 0 && j == 0)
            multiply(to.d[m], patches.a[m][k][j], pair, begins.of);
          else
            multiply(to.d[m], patches.a[m][k][j], pair, to.d[m]);
        }
#pragma unroll
    for (int k = 0; k < kPlanes; ++k)
#pragma unroll
      for (int j = 0; j < kLast; ++j) to.here[k][j] = j + 1 < kLast ? to.here[k][j + 1] : last[k];
  }

  template <int kPairs, int kMatrices>
  __device__ __forceinline__ void collect(Products<kPairs>& to, const Matrix (&from)[kMatrices]) const {
    constexpr int kLast = kMatrices - 1;
    const bool odd = pixel_x(lane) % 2;  // which of the two candidates may be the window's end
#pragma unroll
    for (int e = 0; e < 2; ++e) to.value[e] = pick(in_last(e) && kLast, from[kLast].value.of[e], from[0].value.of[e]);
    if constexpr (kPairs > 2) to.value[2] = pick(odd, from[kLast].value.of[1], from[kLast].value.of[0]);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const int m = half / 2, h = half % 2 * 2;
#pragma unroll
      for (int e = 0; e < 2; ++e) to.d[half][e] = in_last(e) && kLast ? from[kLast].d[m][h + e] : from[0].d[m][h + e];
      if constexpr (kPairs > 2) to.d[half][2] = odd ? from[kLast].d[m][h + 1] : from[kLast].d[m][h];
    }
  }
  __device__ __forceinline__ static Value<kPlanes> pick(bool first, const Value<kPlanes>& a, const Value<kPlanes>& b) {
    Value<kPlanes> value;
    value.rounding = first ? a.rounding : b.rounding;
#pragma unroll
    for (int k = 0; k < kPlanes; ++k) value.code[k] = first ? a.code[k] : b.code[k];
    return value;
  }
  /// Whether, for the lane's candidate e of the window's edges, the last column's one counts.
  __device__ __forceinline__ bool in_last(int e) const { return candidate_x(lane) + e < pixel_x(lane); }

  /// A lane's addresses in shared memory.
  struct Place {
    const uint2* pair;
    const Begins* begin;
    const Value<kPlanes>* value;
    /// The place x candidates further right, an even number.
    __device__ __forceinline__ Place right(int x) const { return {pair + x, begin + x / 2, value + x}; }
  };

  /// at: the first matrix; last: from there to the last one, in candidates.
  template <Columns kColumns>
  __device__ __forceinline__ void run_columns(const Layout& l, Place at, int last) {
    constexpr int kMatrices = kColumns < Columns::kEdges ? 1 : 2, kPairs = kColumns == Columns::kEdgesAndEnd ? 3 : 2;
    const int r = kRadius ? kRadius : radius;
    sums = {};  // separate: if all weights are equal, all sums are rounded in one direction
    Matrix matrix[kMatrices];
#pragma unroll
    for (int j = 0; j < Samples::kProducts - 1; ++j) {
#pragma unroll
      for (int i = 0; i < kMatrices; ++i)
#pragma unroll
        for (int k = 0; k < kPlanes; ++k) matrix[i].here[k][j] = at.pair[k * l.plane_pairs() + i * last];
      at.pair += kRowsPerHalf * l.pair_pitch;
    }
    const auto multiply_next = [&](Phase phase, int step) {
#pragma unroll
      for (int i = 0; i < kMatrices; ++i) {
        const Place from = at.right(i * last);
        matrix[i].value = *reinterpret_cast<const Values*>(from.value);
        uint2 pairs[kPlanes];
#pragma unroll
        for (int k = 0; k < kPlanes; ++k) pairs[k] = from.pair[k * l.plane_pairs()];
        multiply_step(matrix[i], phase, step, *from.begin, pairs);
      }
      at.pair += kRowsPerHalf * l.pair_pitch;
      at.begin += kRowsPerHalf / 2 * l.value_pitch;
      at.value += kRowsPerHalf * l.value_pitch;
    };
    // One step's products are in flight while those of the previous step become weights.
    Products<kPairs> now;
    multiply_next(Phase::kHead, 0);
    collect(now, matrix);
    const auto go = [&](Phase phase, int step, int done, Phase next_phase, int next_step) {
      multiply_next(next_phase, next_step);
      add_step<kColumns>(now, phase, step, done);
      collect(now, matrix);
    };
#pragma unroll
    for (int s = 0; s < kHalves - 1; ++s) go(Phase::kHead, s, 0, Phase::kHead, s + 1);
    go(Phase::kHead, kHalves - 1, 0, Phase::kMiddle, 0);
    if constexpr (kRadius != 0) {
#pragma unroll
      for (int s = kHalves; s < kRadius; ++s) go(Phase::kMiddle, 0, s, Phase::kMiddle, 0);
    } else {
#pragma unroll 2
      for (int s = kHalves; s < r; ++s) go(Phase::kMiddle, 0, s, Phase::kMiddle, 0);
    }
#pragma unroll
    for (int s = 0; s < kHalves - 1; ++s) go(Phase::kTail, s, r, Phase::kTail, s + 1);
    add_step<kColumns>(now, Phase::kTail, kHalves - 1, r);
    total.take(sums);
  }

  /// at: candidate (0, 0) of the warp's first window, and the lane's from there on.
  __device__ __forceinline__ void run(const Layout& l, const Place& at) {
    const int r = kRadius ? kRadius : radius, last = kBlock * (Layout::tiles(r) - 1);
    const int tx = candidate_x(lane) - radius - pixel_x(lane);  // of the first candidate
#pragma unroll 1
    for (int x = kBlock; x <= last - kBlock; x += kBlock) {
#pragma unroll
      for (int e = 0; e < 2; ++e) begin_pair(e, tx + x + e);
      if (kFeatures & kMaxCenter && own_frame && x + kBlock > r && x - kBlock < r) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int ty = r + pixel_y(lane) - candidate_y(lane);  // of the candidate, from the half's first one on
          center[e] = tx + x + e == 0 && ty % 2 == 0 ? ty / 2 : -1;
        }
        run_columns<Columns::kOneWithCenter>(l, at.right(x), 0);
      } else {
        run_columns<Columns::kOne>(l, at.right(x), 0);
      }
    }
    run_edges(l, at, tx, last);
  }

  __device__ __forceinline__ void run_edges(const Layout& l, const Place& at, int tx, int last) {
#pragma unroll
    for (int e = 0; e < 2; ++e) begin_pair(e, tx + e + (in_last(e) ? last : 0));
    if ((kRadius ? kRadius : radius) % 2) {
      run_columns<Columns::kEdges>(l, at, last);
    } else {
      begin_pair(2, candidate_x(lane) / 2 == pixel_x(lane) / 2 ? radius : radius + 1);
      run_columns<Columns::kEdgesAndEnd>(l, at, last);
    }
  }
};

}  // namespace framequality::cuda::tile
