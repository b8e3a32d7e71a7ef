// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the denoisers' kernels. No OpenCL headers: it can be printed where there is no device.
#pragma once

#include "algorithms/denoise/weight.h"
#include "algorithms/picture.h"

#include <cstddef>
#include <string>

namespace framequality::opencl {

/// Data shared by the work items of a group.
enum class Together {
  kNothing,  ///< each one reads everything itself
  kSamples,  ///< samples: patches of 3x3, small windows, one plane, no other frames
  kSums,     ///< samples, and sums over columns of patches
  kWeights   ///< also weights: that of t at p is that of -t at p + t; no other frames
};

/// Shape of the filter's kernel for a device.
struct DenoiseShape {
  Together together = Together::kSums;
  int lanes = 1;               ///< adjacent pixels of a work item, if it is independent
  int run = 8;                 ///< rows per work item; kSamples: 2; kWeights: computed, see SumsTile
  int across = 128, down = 1;  ///< work items of a group
  bool holds_floats = true;    ///< samples shared are floats in local memory, else words; if float sums are exact
  int columns = 0, rows = 0;   ///< kWeights: pixels of a group, kSegment for each of its items

  bool operator==(const DenoiseShape&) const = default;
};

/// The parameters of a filter kernel's text.
struct DenoiseText {
  int planes = 1;                            ///< filtered jointly
  int patch = 3, search = 10;                ///< radii; kNothing takes any search
  bool has_floor = false;                    ///< weights have one, or an infinite scale
  bool has_spatial = false;                  ///< they also decrease with the distance
  bool takes_largest = false;                ///< CenterWeight::kMax
  bool has_others = false;                   ///< windows have more frames than the filtered one
  bool divides_exactly = false;              ///< divisions are rounded correctly
  bool is_dense = false;                     ///< rows of every written plane hold only its samples, in the host's form
  int depth = 8, word_bytes = 1, shift = 0;  ///< of PictureLayout
  bool big_endian = false;
};

/// Whether samples with their border are floats less 2^(depth - 1) for the filter's kernel, or words.
bool has_float_cells(const DenoiseShape& shape, const DenoiseText& text);
inline std::size_t cell_bytes(bool is_float) { return is_float ? 4 : 2; }

/// Whether the kernel's exponents are in units of kExponents, and its weights kLift times as large (weight.h).
inline bool lifts_weights(const DenoiseShape& shape) {
  return shape.together == Together::kSums || shape.together == Together::kWeights;
}

/// Pixels of a group, and bytes of its local memory.
int denoise_columns(const DenoiseShape& shape, int patch);
int denoise_rows(const DenoiseShape& shape);
/// Cells on each side of a plane.
int denoise_reach(const DenoiseShape& shape, int patch, int search);
std::size_t denoise_local_bytes(const DenoiseShape& shape, const DenoiseText& text);

inline constexpr int kMostFrames = 2 * denoise::kMaxTemporalRadius + 1;

/// Kernel `filter`:
///   (frame0, ... frame8, others, at0, at1, at2, pitch, search, scale, floor, spatial,
///    out, origin0, origin1, origin2, pitch0, pitch1, pitch2, stride0, stride1, stride2, width, height)
/// frame0: cells of the filtered frame, then those of `others` more frames in the order of weight.h. at:
/// index of the first pixel's cell of each plane, whose rows are `pitch` cells apart. search: at most that
/// of the text. out: sample x of row y of plane k is at origin + y * pitch + x * stride.
std::string filter_text(const DenoiseShape& shape, const DenoiseText& text);

/// Kernels for a frame's planes. Cells have the type that the filter's kernel reads.
///   fill(in, origin, pitch, stride, width, height, cells, at, columns, rows, reach): cells of a plane and its border,
///     kFillRows of a column by each item
///   copy(in, origin, pitch, out, origin, pitch, bytes, rows): bytes of rows
///   noise(cells, at, columns, reach, blocks_across, block_width, block_height, sums, first): for each block of noise.h
///     the sums fine and coarse, and the number of clipped pixels
inline constexpr int kFillRows = 8;
std::string planes_text(const PictureLayout& layout, denoise::Border border, bool has_float_cells);

}  // namespace framequality::opencl
