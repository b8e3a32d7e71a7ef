// SPDX-License-Identifier: LGPL-2.1-or-later
// One frame's work for the kernels of BLIINDS-II, and the kernels. No CUDA headers.
#pragma once

#include "algorithms/bliinds/gamma.h"
#include "algorithms/bliinds/meter.h"

#include <cstdint>

struct CUstream_st;

namespace framequality::cuda {

/// Bins of a histogram for values >= 0, by their exponent and first five bits, from 2^-44 to 2^20; values beyond fall
/// into the first or the last.
inline constexpr int kValueBits = 5, kValueBins = 64 << kValueBits;
/// Bins of a histogram for shapes: one each, and one for kNoShape.
inline constexpr int kShapeBins = bliinds::kShapes + 1;
/// Values summed by one block of threads: always the same ones, so that every run adds in the same order.
inline constexpr int kChunk = 2048;
/// Statistics that are pooled as doubles: all but gamma.
inline constexpr int kRealStatistics = 3;

/// Sums of one statistic over kChunk blocks of pixels.
struct ChunkSums {
  double all;                      ///< of all of them
  double above;                    ///< of those in bins above the one where the highest tenth begins
  unsigned long long least, most;  ///< bits of the least and the highest value in that bin; least > most: there is none
  int inside;                      ///< number of values in that bin
  int wanted;                      ///< number of values of that bin, in all chunks, that belong to the tenth
};

/// One scale of one frame. Device pointers.
struct ScaleJob {
  bliinds::Scale scale;
  int blocks;  ///< number of blocks of pixels
  int first;   ///< index of its first value in arrays that hold all scales
  int first_chunk;
  int chunks;
  const double* pixels;  ///< width doubles a row; the first scale reads the frame instead
};

/// One frame's work; passed to kernels by value. Device pointers, histograms zero before and after.
struct BliindsJob {
  Frame frame;
  PixelLayout layout;       ///< with the measured channel as luma
  bliinds::RedOfYuv red;    ///< if it exists(), red is computed from that luma
  bool interlaced = false;  ///< as in Task
  double unit = 1;          ///< code_unit()
  int processors = 1;       ///< of the device
  ScaleJob scale[bliinds::kScales] = {};
  int blocks = 0;  ///< number of blocks of pixels, all scales together
  int chunks = 0;
  const bliinds::ShapeTable* table = nullptr;
  double* half[bliinds::kScales - 1] = {};  ///< pixels of the next scale
  double* values[kRealStatistics] = {};     ///< zeta, energy, orient: `blocks` each
  std::uint16_t* shapes = nullptr;          ///< `blocks`
  unsigned* value_bins = nullptr;           ///< [scale][statistic][kValueBins]
  unsigned* shape_bins = nullptr;           ///< [scale][kShapeBins]
  double* inside = nullptr;                 ///< [statistic][blocks]: each chunk's values in that bin, in order
  ChunkSums* sums = nullptr;                ///< [statistic][chunks]
  double* features = nullptr;               ///< pinned host memory, mapped
};

/// Unsigned words in value_bins, and in shape_bins after it.
inline constexpr int kValueBinWords = bliinds::kScales * kRealStatistics * kValueBins;
inline constexpr int kShapeBinWords = bliinds::kScales * kShapeBins;

/// The steps of a frame, to be queued in this order. Each throws Error.
/// Values of a scale's blocks, their histograms, and the pixels of the next scale, if job.half has one.
void queue_blocks(const BliindsJob& job, int scale, CUstream_st* stream);
/// Sums of all chunks; gathers the values of the bin in which the highest tenth begins.
void queue_chunks(const BliindsJob& job, CUstream_st* stream);
/// The features; leaves the histograms zero.
void queue_features(const BliindsJob& job, CUstream_st* stream);

}  // namespace framequality::cuda
