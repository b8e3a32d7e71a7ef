// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the host twin of BLIINDS-II, built once for each instruction set and called through this table.
#pragma once

#include "algorithms/bliinds/gamma.h"
#include "algorithms/bliinds/red.h"
#include "algorithms/layout.h"

#include <cstdint>

namespace framequality::cpu {

/// Doubles that a kernel may read or write past the end of a row.
inline constexpr int kBliindsSlack = 8;
/// Bytes that a kernel may read past the last pixel of a row.
inline constexpr int kCodeSlack = 128;

/// Bins of a histogram of values >= 0 by their exponent and first five bits, from 2^-44 to 2^20; values beyond fall
/// into the first or the last.
inline constexpr int kValueBits = 5, kValueBins = 64 << kValueBits;

struct BliindsKernels {
  /// Luma of pixels x...x+n-1, as bytes if the depth is 8, else as words. rows: the row in each plane.
  void (*luma)(const PixelLayout&, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out);
  /// out[i] = luma i times unit; [0] bytes, [1] native words.
  void (*widen[2])(const std::uint8_t* codes, int n, double unit, double* out);
  /// The same for red from Y and V.
  void (*red[2])(const bliinds::RedOfYuv&, const std::uint8_t* y, const std::uint8_t* v, int n, double unit,
                 double* out);
  /// Repeats each of n samples of V over its width; by [halvings of V's width - 1][bytes, native words].
  void (*repeat[2][2])(const std::uint8_t* codes, int n, std::uint8_t* out);
  /// out[k][i] = row[3 i + k]; out: three rows of `pitch` doubles, one after the other.
  void (*part)(const double* row, int n, std::int64_t pitch, double* out);
  /// n pixels of half size from three rows whose first column is the one left of the image. scratch: 2 n + 2.
  void (*halve)(const double* above, const double* middle, const double* below, int n, double* scratch, double* out);
  /// Statistics of the n blocks of a row from five rows made by part().
  void (*blocks)(const double* const (&rows)[5], std::int64_t pitch, int n, double* zeta, double* rho, double* energy,
                 double* orient);
  void (*shapes)(const bliinds::ShapeTable& table, const double* rho, int n, std::uint16_t* out);
  /// Sum of n values; adds them to the histogram.
  double (*count)(const double* values, int n, std::uint32_t* bins);
  /// Sum of the values of bins above `bin`; copies those of `bin` to `inside` (n + kBliindsSlack) and sets *found.
  double (*above)(const double* values, int n, int bin, double* inside, int* found);
};

namespace baseline {
const BliindsKernels& bliinds_kernels();
}
namespace avx2 {
const BliindsKernels& bliinds_kernels();
}
namespace avx512 {
const BliindsKernels& bliinds_kernels();
}

}  // namespace framequality::cpu
