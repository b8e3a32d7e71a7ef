// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the host twin of halftoning, built once for each instruction set and called through this table.
#pragma once

#include "algorithms/layout.h"

#include <cstddef>
#include <cstdint>

namespace framequality::cpu {

/// Rows that a vector of Floyd and Steinberg's errors holds, at most.
inline constexpr int kMostRows = 32;
/// Columns that a row of kept errors needs before its first and after its last.
inline constexpr int kKeptSlack = 2 * kMostRows;

/// A table of tones of 8-bit values as arithmetic: with d = min(max(code, black) - black, range), the tone is
/// whole * d + (mulhi(2 d, fraction) + 1 >> 1), or, inverted, white less that.
struct ToneFormula {
  std::uint16_t black = 0, range = 255, whole = 16, fraction = 0;
  bool invert = false;
};

/// A band of `lanes` rows, diffused together: row r is at column t - 2 r at step t, so that all that a row needs of the
/// one above it is ready.
struct DiffusionBand {
  const std::uint8_t* rows[kMostRows];  ///< pixel values, one byte each, or tones, native words
  std::uint8_t* out[kMostRows];         ///< rows of grey levels
  int width;
  bool tones;  ///< rows are of tones
  ToneFormula formula;
  int levels, strength;
  /// Kept errors of the row above the band and of its last row; columns -kKeptSlack...width-1+kKeptSlack exist.
  /// above: columns -1 and width are the bias. below: may be `above`; a step leaves garbage in columns after
  /// the one it completes.
  const std::uint16_t* above;
  std::uint16_t* below;
};

/// Vectors of a band, kept between two calls.
struct DiffusionState {
  alignas(64) std::uint16_t left[kMostRows], above[kMostRows], above_left[kMostRows];
};

/// A row of an image with its row of the blue-noise mask.
struct MaskedRow {
  const std::uint8_t* samples;  ///< one byte each, or native words
  int width;
  bool words;
  int levels;
  std::uint16_t bits, flip;  ///< (sample & bits) ^ flip are signed numbers that increase from black to white
  /// For levels 1, 2, ..., kMaskSide of those numbers each, bytes or words as the samples: the last ones below the
  /// level.
  const std::uint8_t* last_below;
};

/// A row of an image with its row of the blue-noise mask, for colours (algorithms/halftone/colour.h).
struct MaskedColours {
  const std::uint64_t* tones;  ///< Triples
  int width;
  // For kMaskSide pixels: MaskedPixel::rounding, and the threshold in each field where a Mixture has one.
  const std::uint64_t *rounding, *threshold;
  const std::uint64_t* mixed;  ///< Mixtures by node_of()
};

struct HalftoneKernels {
  /// Luma of pixels x...x+n-1, as bytes if the depth is 8, else as words. rows: the row in each plane.
  void (*luma)(const PixelLayout&, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out);
  /// Rows of a band; 0: the instruction set has no vectors for it.
  int lanes;
  /// Steps t0...t0+count-1 of a band; t0 and count are multiples of `lanes`. All of a band are its width + 2 (lanes -
  /// 1), rounded up. Before the first, every word of the state is the bias.
  void (*diffuse)(const DiffusionBand& band, DiffusionState& state, int t0, int count);
  /// Grey levels of a row: the number of levels whose `last_below` the sample exceeds.
  void (*mask)(const MaskedRow& row, std::uint8_t* out);
  /// Palette indices of a row.
  void (*mask_colours)(const MaskedColours& row, std::uint8_t* out);
  /// Packs n values, 0 or 255, into bits, highest first; bits left over are 0.
  void (*pack)(const std::uint8_t* codes, int n, std::uint8_t* out);
};

namespace baseline {
const HalftoneKernels& halftone_kernels();
}
namespace avx2 {
const HalftoneKernels& halftone_kernels();
}
namespace avx512 {
const HalftoneKernels& halftone_kernels();
}

}  // namespace framequality::cpu
