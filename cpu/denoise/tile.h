// SPDX-License-Identifier: LGPL-2.1-or-later
// Filter for one rectangle of a plane: the unit of work of a thread, small enough for its core's cache.
#pragma once

#include "algorithms/picture.h"
#include "cpu/denoise/plane.h"
#include "cpu/line_vector.h"

#include <span>
#include <vector>

namespace framequality::cpu {

/// Planes of one pass in one frame, as large as each other.
struct DenoisePlanes {
  const DenoisePlane* plane[3] = {};
};

/// One pass over one field.
struct DenoiseJob {
  int planes = 0;
  DenoisePlanes own;
  std::span<const DenoisePlanes> others;  ///< of the other frames of the window, oldest first
  denoise::Weights weights;
  denoise::CenterWeight center = denoise::CenterWeight::kOne;
  Distances distances = Distances::kInt;
  const PictureLayout* layout = nullptr;
  struct Output {
    std::uint8_t* data = nullptr;  ///< of the field's first sample
    std::ptrdiff_t stride = 0, step = 0;
    float* means = nullptr;  ///< null: not wanted
    std::ptrdiff_t means_stride = 0;
  } out[3];
};

struct Tile {
  int x0, x1, y0, y1;
};

/// The tiles of a plane, row by row, for this many threads that take them one after the other: lower ones come last.
struct Tiling {
  int width, height, columns, threads, rows = 0;
  Tiling(int plane_width, int plane_height, int threads);
  int count() const { return columns * rows; }
  Tile tile(int i) const;
  /// First row below the tiles that begin with row y.
  int below(int y) const;
};

/// Buffers of one thread that filters tiles. Thread-safety: one thread at a time.
class TileFilter {
 public:
  /// Makes room for the tiles of a job; allocates only to grow.
  void reserve(const DenoiseKernels& kernels, const DenoiseJob& job, const Tiling& tiling);
  void filter(const DenoiseKernels& kernels, const DenoiseJob& job, const Tile& tile);

 private:
  struct Walk;
  /// Interleaved rows of a plane, around a tile.
  struct Rows {
    LineVector<float> values;
    LineVector<std::uint32_t> pairs;  ///< of the row whose value enters
  };
  Rows own_[3], other_[3];
  static constexpr int kLargest = 4;
  LineVector<float> collected_[kLargest + 1];  // weights, values, largest
  LineVector<std::uint32_t> columns_;
  LineVector<float> weights_;
  std::vector<Term> terms_;
  LineVector<float> means_;
  LineVector<std::uint16_t> codes_;
  std::vector<std::uint16_t> code_row_;
};

}  // namespace framequality::cpu
