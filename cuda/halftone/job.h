// SPDX-License-Identifier: LGPL-2.1-or-later
// Parameters of a halftoning launch, and the functions that launch.
#pragma once

#include "algorithms/halftone/filter.h"
#include "algorithms/layout.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace framequality::cuda {

/// One frame. All pointers are to device memory.
struct HalftoneJob {
  Frame frame;
  PixelLayout layout;
  const std::int16_t* tones = nullptr;  ///< of all pixel values
  std::uint8_t* out = nullptr;          ///< row 0 of the Target
  std::ptrdiff_t out_stride = 0;        ///< bytes, may be negative
  int width = 0, height = 0;            ///< of all fields; not empty
  int fields = 1;                       ///< field f: rows y with y mod fields = f
  int levels = 2, strength = halftone::kFullStrength;
  bool packed = false;

  FQ_HD int field_height(int field) const { return (height - field + fields - 1) / fields; }
};

/// Blue noise. mask: ranks, on the device. One launch. Throws Error.
void launch_blue_noise(const HalftoneJob& job, const std::uint16_t* mask, cudaStream_t stream);

/// Error diffusion processes a frame in strips of rows, each by a warp: lane r has row r and is at column t - lead -
/// skew * r, counted along the row, at step t. Before and after those warps, a kernel brings pixels
/// into the order of the lanes and back, since that is parallel work: the warps,
/// whose dependent steps determine the time of an image, do nothing but diffuse.
///
/// Errors passed down from the last row of a strip go through device memory, in a line of one number per column: that
/// of strip i of a field is line i + 1; line 0 holds the values outside the image. Every number shows by
/// itself whether it has been written, so no counter has to be ordered with it.
struct Wavefront {
  static constexpr int kMaxLanes = 32;
  static constexpr int kGroup = 8;   ///< steps of a vector of terms
  static constexpr int kChunk = 32;  ///< steps between two checks for the image's end

  int lanes = kMaxLanes;   ///< rows of a strip
  int swath_rows = 0;      ///< rows that run in the same direction, whole strips; 0: all run rightward
  int skew = 1;            ///< columns by which a lane lags the one above
  int lead = 0;            ///< columns by which all lanes lag
  int chunks = 0;          ///< chunks per strip
  int ring = 0;            ///< lines of a field, used round-robin; 0: each strip has its own
  int column_bytes = 2;    ///< of a line
  unsigned outside = 0;    ///< fills line 0, four bytes
  unsigned empty = 0;      ///< fills the others
  int level_bits = 1;      ///< bits that store a level: eight steps to a word of 4 bits each, or 32, the first highest
  uint4* terms = nullptr;  ///< of each strip, chunk, group and lane: eight steps' of 16 bits
  unsigned* words = nullptr;  ///< of levels: per strip, chunk and lane, `level_bits` of them a lane apart
  uint4* lines = nullptr;
  unsigned* ticket = nullptr;  ///< strips begun

  FQ_HD int strips_of(const HalftoneJob& job, int field) const { return (job.field_height(field) + lanes - 1) / lanes; }
  FQ_HD int strips(const HalftoneJob& job) const {
    return strips_of(job, 0) + (job.fields == 2 ? strips_of(job, 1) : 0);
  }
  /// Vectors of a line: all columns that a strip may read.
  FQ_HD std::size_t line_vectors() const { return static_cast<std::size_t>(chunks) * kChunk * column_bytes / 16; }
  FQ_HD uint4* line(const HalftoneJob& job, int field, int n) const {
    const int before = field == 0 ? 0 : ring ? ring : strips_of(job, 0) + 1;
    return lines + static_cast<std::size_t>(before + (ring ? n % ring : n)) * line_vectors();
  }

  std::size_t term_vectors(const HalftoneJob& job) const {
    return static_cast<std::size_t>(strips(job)) * chunks * lanes * (kChunk / kGroup);
  }
  std::size_t level_words(const HalftoneJob& job) const {
    return static_cast<std::size_t>(strips(job)) * chunks * lanes * level_bits;
  }
  std::size_t all_line_vectors(const HalftoneJob& job) const {
    constexpr std::size_t kBeyond = 8;  // read ahead by the last strip
    return static_cast<std::size_t>(ring ? ring * job.fields : strips(job) + job.fields) * line_vectors() + kBeyond;
  }
};

Wavefront floyd_steinberg_wavefront(const HalftoneJob& job);
Wavefront tone_dependent_wavefront(const HalftoneJob& job, const halftone::ToneTable& table);

/// Fills terms, lines and ticket: 16 * tone + 8 without a pattern; with one, in device memory, tone + 8 and in bit
/// 12 the pattern's dot. One launch. Throws Error.
void launch_arrange(const HalftoneJob& job, const Wavefront& wave, const std::uint32_t* pattern, cudaStream_t stream);
/// From terms to levels. One launch each. Throw Error.
void launch_floyd_steinberg(const HalftoneJob& job, const Wavefront& wave, cudaStream_t stream);
void launch_tone_dependent(const HalftoneJob& job, const Wavefront& wave, const halftone::ToneTable& table,
                           cudaStream_t stream);
/// Writes the levels to the target. One launch. Throws Error.
void launch_deliver(const HalftoneJob& job, const Wavefront& wave, cudaStream_t stream);

}  // namespace framequality::cuda
