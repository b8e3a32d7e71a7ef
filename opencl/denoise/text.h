// SPDX-License-Identifier: LGPL-2.1-or-later
// The text shared by the denoisers' kernels.
#pragma once

#include "algorithms/text/recorder.h"
#include "opencl/denoise/source.h"
#include "opencl/words.h"

#include <string>

namespace framequality::opencl {

inline constexpr int kSegment = 8;  ///< adjacent pixels of a work item that shares sums

inline int rounded_up(int n, int each) { return (n + each - 1) / each * each; }

/// Whether floats hold all distances exactly, and the type that does.
bool has_exact_floats(const DenoiseText& text);
std::string distance_type(const DenoiseText& text);

/// The tile of a group that shares sums.
struct SumsTile {
  int width, height;  ///< pixels
  int columns, rows;  ///< samples that their patches reach at all offsets
  int pitch, sum_pitch;

  SumsTile(const DenoiseShape& s, const DenoiseText& t)
      : width(denoise_columns(s, t.patch)),
        height(denoise_rows(s)),
        columns(width + 2 * (t.patch + t.search)),
        rows(height + 2 * (t.patch + t.search)) {
    // Adjacent items read rows below each other without conflicts in banks of 4 bytes: rows are an odd number of reads
    // apart, of 4 and of 16 bytes.
    const int each = s.holds_floats && has_exact_floats(t) ? 1 : 2;
    pitch = each * (rounded_up(columns, each) / each | 1);
    sum_pitch = 4 * (rounded_up(width + kSegment + 2 * t.patch, 4) / 4 | 1);
  }
};

/// Types, weight_of(), mean_of(), code_of() and put_sample().
std::string head_text(const DenoiseShape& shape, const DenoiseText& text);
/// The kernel's name and parameters, and the beginning of its body.
std::string signature_text();
/// The frame of `turn`.
std::string frame_text();

// Kernels, by Together.
std::string lone_text(const DenoiseShape& shape, const DenoiseText& text);
std::string sums_text(const DenoiseShape& shape, const DenoiseText& text);

}  // namespace framequality::opencl
