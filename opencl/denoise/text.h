// SPDX-License-Identifier: LGPL-2.1-or-later
// The text shared by the denoisers' kernels.
#pragma once

#include "algorithms/text/recorder.h"
#include "opencl/denoise/source.h"
#include "opencl/words.h"

#include <string>

namespace framequality::opencl {

inline constexpr int kSegment = 8;  ///< adjacent pixels of a work item that shares sums
inline constexpr int kQuad = 4;     ///< adjacent pixels of one that shares samples
inline constexpr int kBatch = 8;    ///< pixels that a group computes again at a time
inline constexpr int kRim = 4;      ///< adjacent pixels outside a tile whose weights a work item computes

inline int rounded_up(int n, int each) { return (n + each - 1) / each * each; }

/// Whether floats hold all distances exactly, and the type that does.
bool has_exact_floats(const DenoiseText& text);
std::string distance_type(const DenoiseText& text);

/// The tile of a group that shares sums, or sums and weights.
struct SumsTile {
  int width, height;  ///< pixels
  int columns, rows;  ///< samples that their patches reach at all offsets; kWeights: and rows to fill up the runs
  int pitch, sum_pitch;
  int sum_columns, runs, run;  ///< columns with sums; items for each, one below the other; rows of an item
  int weight_pitch = 0;        ///< kWeights

  SumsTile(const DenoiseShape& s, const DenoiseText& t)
      : width(denoise_columns(s, t.patch)),
        height(denoise_rows(s)),
        columns(width + 2 * (t.patch + t.search)),
        rows(height + 2 * (t.patch + t.search)),
        sum_columns(s.across),
        runs(s.down),
        run(s.run) {
    int summed = width + kSegment + 2 * t.patch;
    if (s.together == Together::kWeights) {
      // Weights are computed for all pixels of the tile, and of the tile moved by -t: up to `search` more rows and
      // columns.
      sum_columns = width + t.search + 2 * t.patch;
      runs = s.across * s.down / sum_columns;
      run = (height + t.search + runs - 1) / runs;
      rows = sum_rows() + t.search + 2 * t.patch;
      const int weighed = width + t.search / kRim * kRim + kRim;
      weight_pitch = weighed | 1;
      summed = weighed + 2 * t.patch;
    }
    // Adjacent items read rows below each other without conflicts in banks of 4 bytes: rows are an odd number of reads
    // apart, of 4 and of 16 bytes.
    const int each = s.holds_floats && has_exact_floats(t) ? 1 : 2;
    pitch = each * (rounded_up(columns, each) / each | 1);
    sum_pitch = 4 * (rounded_up(summed, 4) / 4 | 1);
  }
  int sum_rows() const { return runs * run; }
  int weight_cells(int search) const { return (height + search) * weight_pitch; }
};

/// Types, weight_of(), mean_of(), code_of() and put_sample().
std::string head_text(const DenoiseShape& shape, const DenoiseText& text);
/// The kernel's name and parameters, and the beginning of its body.
std::string signature_text();
/// The frame of `turn`.
std::string frame_text();

// Kernels, by Together.
std::string lone_text(const DenoiseShape& shape, const DenoiseText& text);
std::string samples_text(const DenoiseShape& shape, const DenoiseText& text);
std::string sums_text(const DenoiseShape& shape, const DenoiseText& text);

}  // namespace framequality::opencl
