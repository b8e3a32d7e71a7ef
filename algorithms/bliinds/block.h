// SPDX-License-Identifier: LGPL-2.1-or-later
// Statistics of one 5x5 block in BLIINDS-II: four numbers from its DCT coefficients.
//
// M. Saad, A. Bovik, C. Charrier, "Blind image quality assessment: a natural scene statistics approach in the DCT
// domain", IEEE Transactions on Image Processing 21(8), 2012, as the authors' LIVE release computes it.
// Both twins compute this very text, T being one number or a vector of blocks: the order of operations is part of the
// definition, so block values are equal to the bit. It must be double: on flat blocks the rounding of a float DCT is
// far above the release's epsilon of 1e-7.
#pragma once

#include "algorithms/host_device.h"

namespace framequality::bliinds {

inline constexpr int kBlock = 5;   ///< rows and columns of a block
inline constexpr int kStride = 3;  ///< from one block to the next: neighbours share two pixels

/// Statistics of a block, all dimensionless; finite for finite pixels.
template <class T>
struct BlockStatistics {
  T zeta;    ///< coefficient of frequency variation: deviation of |x| over its mean, 0...4.9
  T rho;     ///< variance over squared mean deviation, 0...12.6; gamma.h makes the shape parameter of it
  T energy;  ///< how the energy is split among three bands of frequency, >= 0
  T orient;  ///< variance of the coefficient of frequency variation over three orientations, >= 0
};

/// Coefficients by their indices 5 * row + column. All loops are unrolled, so that a block stays in registers.
template <int... at>
struct Band {
  static constexpr int kCount = sizeof...(at);
  template <class T>
  FQ_HD static T sum(const T* x) {
    return (x[at] + ...);
  }
  template <class T>
  FQ_HD static T mean(const T* x) {
    return sum(x) * T(1.0 / kCount);
  }
  /// Sum of squared distances from m.
  template <class T>
  FQ_HD static T squares(const T* x, T m) {
    return (square(x[at] - m) + ...);
  }
  /// Sum of distances from m.
  template <class T>
  FQ_HD static T distances(const T* x, T m) {
    return (magnitude(x[at] - m) + ...);
  }
  /// The window's pixels minus one value.
  template <class T, class Window>
  FQ_HD static void fill(T* x, const Window& window, T less) {
    ((x[at] = window(at / kBlock, at % kBlock) - less), ...);
  }
  template <class T>
  FQ_HD static void drop_signs(T* x) {
    ((x[at] = magnitude(x[at])), ...);
  }
  template <class T>
  FQ_HD static T square(T x) {
    return x * x;
  }
};

using AllPlaces = Band<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24>;

// The 24 coefficients without the DC, split into three bands by frequency and into three by orientation.
using LowBand = Band<1, 5, 2, 10, 6>;
using MiddleBand = Band<15, 20, 11, 16, 21, 7, 12, 17, 3, 8, 13, 4, 9>;
using HighBand = Band<14, 18, 22, 19, 23, 24>;
using Flat = Band<1, 2, 3, 4, 7, 8, 9, 14>;
using Diagonal = Band<6, 12, 13, 17, 18, 19, 23, 24>;
using Steep = Band<5, 10, 15, 20, 11, 16, 21, 22>;
inline constexpr int kAc = kBlock * kBlock - 1;
static_assert(LowBand::kCount + MiddleBand::kCount + HighBand::kCount == kAc);
static_assert(Flat::kCount + Diagonal::kCount + Steep::kCount == kAc);

/// Mean of all 24 coefficients and sum of squared distances from it, combined from three disjoint sets: their own sums
/// plus the distances of their means. All terms are positive, so nothing cancels.
template <class T>
struct Spread {
  T mean, squares;
  template <class A, class B, class C>
  FQ_HD static Spread of(T mean_a, T squares_a, T mean_b, T squares_b, T mean_c, T squares_c) {
    Spread s;
    s.mean = (mean_a * T(A::kCount) + mean_b * T(B::kCount) + mean_c * T(C::kCount)) * T(1.0 / kAc);
    const T a = mean_a - s.mean, b = mean_b - s.mean, c = mean_c - s.mean;
    s.squares =
        ((squares_a + squares_b) + squares_c) + ((a * a * T(A::kCount) + b * b * T(B::kCount)) + c * c * T(C::kCount));
    return s;
  }
};

/// Orthonormal DCT-II in place of the five numbers x[first], x[first + step] ...
template <int first, int step, class T>
FQ_HD void dct5(T* x) {
  const T scale(0.63245553203367587);       // sqrt(2/5)
  const T half_root5(0.35355339059327376);  // sqrt(2/5) * sqrt(5)/4
  const T cos1(0.60150095500754561);        // sqrt(2/5) * cos(pi/10)
  const T cos3(0.37174803446018451);        // sqrt(2/5) * cos(3 pi/10)
  const T root_fifth(0.44721359549995793);  // sqrt(1/5)
  T &x0 = x[first], &x1 = x[first + step], &x2 = x[first + 2 * step], &x3 = x[first + 3 * step],
    &x4 = x[first + 4 * step];
  const T s0 = x0 + x4, s1 = x1 + x3, d0 = x0 - x4, d1 = x1 - x3, s = s0 + s1, centre = x2;
  x0 = (s + centre) * root_fifth;
  x1 = cos1 * d0 + cos3 * d1;
  x3 = cos3 * d0 - cos1 * d1;
  const T p = half_root5 * (s0 - s1), q = scale * (T(0.25) * s - centre);
  x2 = p + q;
  x4 = p - q;
}

/// Deviation over mean of the magnitudes of a set, from its mean and sum of squared distances.
template <class T>
FQ_HD T variation(T mean, T squares, int count) {
  return root(squares * T(1.0 / (count - 1))) / (mean + T(1e-7));
}

/// Statistics of a block of 5x5 pixels. window(y, x): the pixel in row y and column x, each 0...4, as a grey level.
template <class T, class Window>
FQ_HD BlockStatistics<T> block_statistics(const Window& window) {
  // Subtracting the centre pixel makes all coefficients of a flat block exactly zero.
  const T centre = window(2, 2);
  T x[kBlock * kBlock];
  AllPlaces::fill(x, window, centre);
  dct5<0, 1>(x), dct5<5, 1>(x), dct5<10, 1>(x), dct5<15, 1>(x), dct5<20, 1>(x);
  dct5<0, 5>(x), dct5<1, 5>(x), dct5<2, 5>(x), dct5<3, 5>(x), dct5<4, 5>(x);

  BlockStatistics<T> out;
  const T low = LowBand::mean(x), middle = MiddleBand::mean(x), high = HighBand::mean(x);
  const T low_squares = LowBand::squares(x, low), middle_squares = MiddleBand::squares(x, middle),
          high_squares = HighBand::squares(x, high);
  const auto all = Spread<T>::template of<LowBand, MiddleBand, HighBand>(low, low_squares, middle, middle_squares, high,
                                                                         high_squares);
  const T distance =
      ((LowBand::distances(x, all.mean) + MiddleBand::distances(x, all.mean)) + HighBand::distances(x, all.mean)) *
      T(1.0 / kAc);
  out.rho = all.squares * T(1.0 / (kAc - 1)) / (distance * distance + T(1e-7));

  const T v1 = low_squares * T(1.0 / (LowBand::kCount - 1)), v2 = middle_squares * T(1.0 / (MiddleBand::kCount - 1)),
          v3 = high_squares * T(1.0 / (HighBand::kCount - 1));
  const T lower = (v1 + v2) * T(0.5);
  // The release divides by v3 + v1 where the paper has v2 + v1.
  out.energy = (magnitude(v3 - lower) / ((v3 + lower) + T(1e-8)) + magnitude(v2 - v1) / ((v3 + v1) + T(1e-8))) * T(0.5);

  AllPlaces::drop_signs(x);
  const T a = Flat::mean(x), b = Diagonal::mean(x), c = Steep::mean(x);
  const T a_squares = Flat::squares(x, a), b_squares = Diagonal::squares(x, b), c_squares = Steep::squares(x, c);
  const auto sizes = Spread<T>::template of<Flat, Diagonal, Steep>(a, a_squares, b, b_squares, c, c_squares);
  out.zeta = variation(sizes.mean, sizes.squares, kAc);
  const T z1 = variation(a, a_squares, Flat::kCount), z2 = variation(b, b_squares, Diagonal::kCount),
          z3 = variation(c, c_squares, Steep::kCount);
  const T z = (z1 + z2 + z3) * T(1.0 / 3), d1 = z1 - z, d2 = z2 - z, d3 = z3 - z;
  out.orient = (d1 * d1 + d2 * d2 + d3 * d3) * T(0.5);
  return out;
}

}  // namespace framequality::bliinds
