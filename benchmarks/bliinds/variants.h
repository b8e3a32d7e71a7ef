// SPDX-License-Identifier: LGPL-2.1-or-later
// How others do the steps of BLIINDS-II on a GPU: what ours are measured against. Current device, legacy stream.
#pragma once

#include "cuda/bliinds/job.h"

namespace framequality::variants {

/// The DCT of all blocks by way of memory. Unit: seconds, mean of one.
struct MatrixDct {
  double rearrange;  ///< pixels to an array of whole blocks
  double multiply;   ///< two products with the DCT's matrix, to an array of coefficients
  double megabytes;  ///< of both arrays
};
/// `job`: one that has been measured. Throws cuda::Error; std::runtime_error if coefficients do not have the squares
/// of the pixels.
MatrixDct time_matrix_dct(const cuda::BliindsJob& job, int repeats);

/// Gamma of all blocks of the first scale from their ratios of moments. Unit: seconds, mean of one.
struct Gamma {
  double linear, binary;  ///< table read from its first entry on; by halves
  double start;           ///< ours: from a start index
};
/// Throws cuda::Error; std::runtime_error if the three differ.
Gamma time_gamma(const cuda::BliindsJob& job, int repeats);

/// All features of a job's values by radix sorts of all twelve arrays (CUB) and sums. Unit: seconds, mean of one.
/// Throws cuda::Error; std::runtime_error if features differ from `expected`.
double time_sort(const cuda::BliindsJob& job, const bliinds::Features& expected, int repeats);

}  // namespace framequality::variants
