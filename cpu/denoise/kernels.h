// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the denoisers, built once for each instruction set and called through this table.
#pragma once

#include "algorithms/denoise/weight.h"

#include <cstdint>

namespace framequality::cpu {

/// Numbers that loops may read past the end of a plane's row or write past the end of a row's sums: their buffers have
/// this many more.
inline constexpr int kDenoiseSlack = 64;

/// How distances are added up, exactly: as integers below 2^23, below 2^31 or below 2^32; or, of values of 16 bits, as
/// one sum of the squares' lower 16 bits and one of their upper bits, each below 2^24 or larger.
enum class Distances : std::uint8_t { kSmall, kInt, kUnsigned, kSplit, kWide };
inline constexpr int kDistances = 5;

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

/// Loops over tiles work on interleaved rows: a row of lanes * m pixels is cut into as many chunks as a vector has
/// lanes, and vector i holds pixel i of each chunk. The neighbour of a whole vector is then the next vector, for any
/// offset: no load crosses a cache line, and no lanes have to be moved. n is a number of numbers, a multiple of lanes.
struct DenoiseKernels {
  int lanes;  ///< of a vector of floats
  /// values[i] = codes[i] - middle, in the order of the codes.
  void (*widen)(const std::uint16_t* codes, int n, int middle, float* values);
  /// out[i * lanes + j] = row[j * chunk + i], 0 <= i < count, a multiple of lanes.
  void (*interleave)(const float* row, int chunk, int count, float* out);
  /// pairs[i] = the value that enters a patch (low half) and the one that leaves it.
  void (*pair)(const float* entering, const float* leaving, int n, std::uint32_t* pairs);
  /// Moves sums over the rows of patches down by one row: adds the squared differences of entering values and,
  /// unless grows is true, subtracts those of leaving ones. Values of at most 15 bits.
  void (*slide)(const std::uint32_t* own, const std::uint32_t* other, int n, bool grows, std::uint32_t* columns);
  /// The same for values of 16 bits: columns has a vector of sums of lower bits, one of upper bits, and so on.
  void (*slide_split)(const std::uint32_t* own, const std::uint32_t* other, int n, bool grows, std::uint32_t* columns);
  /// Weights of n distances, each the sum of 2 * patch + 1 vectors of columns from its own on. Reads one vector more.
  /// spatial: |t|^2 * w.spatial.
  void (*weigh[kDistances])(const std::uint32_t* columns, int n, int patch, const denoise::Weights& w, float spatial,
                            float* weights);
  /// Adds all terms, in their order, to n pixels of 1...3 planes.
  void (*add[3])(const Term* terms, int count, int n, const Collected&);
  /// The means of a row's values in one plane, and the resulting samples.
  void (*finish)(const float* values, const float* weights, int n, int depth, float* means, std::uint16_t* codes);
  /// Adds the sums of noise.h for pixels 2...n-3 of the middle one of five rows of n in their own order, pixel 2 first:
  /// |residuals|, and 1 for each value that is lowest or highest. Exact for up to 16 rows.
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
