// SPDX-License-Identifier: LGPL-2.1-or-later
// The members of a metric and their contract. Each metric is one header in metrics/ and one entry of the list in
// metrics.h.
//
// A metric is computed in three steps that every backend shares and none repeats:
//   row(n)               features of one sample's horizontal neighbourhood n (l, c, r, r2: the samples at x-1, x, x+1,
//                        x+2); depends on one row only, so a backend walking down a column computes it once
//                        per row and keeps the last three
//   pixel(up, mid, down) combines three such rows into what the pixel adds to the totals
//   score(totals, n)     finishes the totals of a region of n pixels, on the host
//   corrected(totals, n, inner, noise)
//                        the same without the share of white noise, for metrics that support it: noise[i] is its
//                        contribution to total i from each of the `inner` pixels that add to it
// A metric that differs from its base in the last two alone names that base as its Totals: then the GPU's
// kernels are compiled once for both.
// V is the backend's number: on the CPU a vector of 8-, 16- or 32-bit lanes, on the GPU an int or a register with two
// samples in it, and where its products are listed (quadratic.h) a symbol. The declarations kGain and kPeak let a
// backend prove that its lanes are wide enough; nothing ever rounds.
#pragma once

#include "algorithms/host_device.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace framequality::sharpness {

/// The samples that a pixel's share depends on: it exists where all of them lie inside the image.
struct Reach {
  int left = 0, right = 0, up = 0, down = 0;
};

/// A pixel adds at most factor * largest_sample^power (in magnitude) to one total.
struct Peak {
  int factor;
  int power;
};

struct MetricInfo {
  const char* name;  ///< nick of the `metric` property
  int power;         ///< of the pixel value that the score grows with; 0: independent of the scale
  const char* unit;
  const char* formula;  ///< one line, g(x,y) a working sample, N the pixels of the region
  const char* summary;  ///< what it is good for, one line, with its source
};

inline constexpr int kHistogramBins = 256;

/// 64-bit totals that metric M keeps, which declares a Peak for each.
template <class M>
inline constexpr int kTotalsOf = static_cast<int>(std::size(M::kPeak));
/// Words of a cell: M's totals, then the sum of samples for `normalize`; or the histogram's bins.
template <class M>
inline constexpr int kWordsOf = M::kHistogram ? kHistogramBins : kTotalsOf<M> + 1;

/// Numbers in a row of M. A Row<V> holds Vs and nothing else, so that it can be seen as an array of them: numbers that
/// record what is done to them (algorithms/text) are given to pixel() one by one, by name.
template <class M>
inline constexpr int kFeaturesOf = [] {
  struct Number {
    int node;
  };
  using Row = typename M::template Row<Number>;
  static_assert(std::is_trivially_copyable_v<Row> && std::is_aggregate_v<Row> && sizeof(Row) % sizeof(Number) == 0,
                "a metric's Row<V> holds numbers of type V and nothing else");
  return static_cast<int>(sizeof(Row) / sizeof(Number));
}();

// Operations that metrics need besides + and -; here for plain integers, in cpu/ and cuda/ for their own.
FQ_HD constexpr int twice(int a) { return a + a; }
FQ_HD constexpr int absolute(int a) { return a < 0 ? -a : a; }
FQ_HD constexpr int minimum(int a, int b) { return a < b ? a : b; }
FQ_HD constexpr int maximum(int a, int b) { return a > b ? a : b; }
FQ_HD constexpr int abs_difference(int a, int b) { return absolute(a - b); }

/// Population variance of n values from their exact sum and sum of squares; 0 if n is 0.
inline double exact_variance(std::int64_t sum, std::int64_t squares, std::uint64_t n) {
  if (n == 0) return 0;
  __extension__ typedef __int128 Wide;
  const Wide v = static_cast<Wide>(n) * squares - static_cast<Wide>(sum) * sum;
  return static_cast<double>(v) / (static_cast<double>(n) * static_cast<double>(n));
}

/// A total divided by the region's pixels; 0 if n is 0.
inline double mean_of(std::int64_t total, std::uint64_t n) {
  return n == 0 ? 0 : static_cast<double>(total) / static_cast<double>(n);
}

/// True if the share of noise can be subtracted from M's score.
template <class M>
inline constexpr bool kIsCorrected = requires(const std::int64_t* t, const double* noise) {
  M::corrected(t, std::uint64_t{}, std::uint64_t{}, noise);
};

/// If less than this share of the noise's energy is left after subtracting the noise, the image is nothing but
/// noise: the rest is the error of the estimate.
inline constexpr double kLeastSignal = 0.15;

/// Defaults that most metrics share.
struct MetricBase {
  static constexpr bool kSigned = false;        ///< true: totals may be negative
  static constexpr bool kReflect = false;       ///< true: defined on all pixels, border reflected without its edge
  static constexpr bool kCancelsLight = false;  ///< true: the same scene in less light scores the same
  static constexpr int kNoiseTotals = 1;        ///< number of last totals that tell an image from noise
  static constexpr bool kHistogram = false;     ///< true: totals are 256 bins of the top 8 bits, no row() or pixel()
};

}  // namespace framequality::sharpness
