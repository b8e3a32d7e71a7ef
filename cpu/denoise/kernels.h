// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the denoisers, built once for each instruction set and called through this table.
#pragma once

#include "algorithms/denoise/weight.h"

#include <cstdint>

namespace framequality::cpu {

/// Numbers that loops may read or write past the end of a row: all their buffers have this many more.
inline constexpr int kDenoiseSlack = 64;

/// Type in which distances are added up: signed 32 bits, unsigned 32 bits, or doubles; exact in each.
enum class Distances : std::uint8_t { kInt, kUnsigned, kWide };
inline constexpr int kDistances = 3;

/// One offset's contribution to a pixel: weight i times value i of each plane, for pixel i of the row.
struct Term {
  const float* weights;
  const float* values[3];
};

/// The sums of a row of pixels so far.
struct Collected {
  float* weights;
  float* values[3];
  float* largest;  ///< weight; null if not needed
};

/// Sums of columns of pixels.
struct NoiseSums {
  float *fine, *coarse;
  std::int32_t* clipped;
};

struct DenoiseKernels {
  /// values[i] = codes[i] - middle.
  void (*widen)(const std::uint16_t* codes, int n, int middle, float* values);
  /// pairs[i] = the sample that enters a patch (low half) and the one that leaves it, each of at most 15 bits.
  void (*pair)(const std::uint16_t* entering, const std::uint16_t* leaving, int n, std::uint32_t* pairs);
  /// Moves sums over the rows of patches down by one row: adds the squared differences of entering samples and,
  /// unless grows is true, subtracts those of leaving ones.
  void (*slide)(const std::uint32_t* own, const std::uint32_t* other, int n, bool grows, std::uint32_t* columns);
  /// The same for values of 16 bits. leaving, other_leaving: null if the sums grow.
  void (*slide_wide)(const float* entering, const float* other_entering, const float* leaving,
                     const float* other_leaving, int n, double* columns);
  /// weights[i] of the distance columns[i] + ... + columns[i + 2 * patch radius]; columns: 32 bits or doubles.
  /// spatial: |t|^2 * w.spatial.
  using Weigh = void (*)(const void* columns, int n, const denoise::Weights& w, float spatial, float* weights);
  Weigh weigh[kDistances][denoise::kMaxPatchRadius + 1];
  /// Adds all terms, in their order, to n pixels of 1...3 planes.
  void (*add[3])(const Term* terms, int count, int n, const Collected&);
  /// The means of a row's values in one plane, and the resulting samples.
  void (*finish)(const float* values, const float* weights, int n, int depth, float* means, std::uint16_t* codes);
  /// Adds the sums of noise.h for pixels 2...n-3 of the middle one of five rows of n, pixel 2 first: |residuals|, and 1
  /// for each value that is lowest or highest. Exact for up to 16 rows.
  void (*noise)(const float* const rows[5], int n, float lowest, float highest, const NoiseSums& sums);
};

namespace baseline {
const DenoiseKernels& denoise_kernels();
}
namespace avx2 {
const DenoiseKernels& denoise_kernels();
}
namespace avx512 {
const DenoiseKernels& denoise_kernels();
}

}  // namespace framequality::cpu
