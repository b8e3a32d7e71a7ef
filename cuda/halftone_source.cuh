// SPDX-License-Identifier: LGPL-2.1-or-later
// How halftoning kernels read the tone of a pixel.
#pragma once

#include "cuda/halftone_job.h"

namespace framequality::cuda {

/// kBytes: codes are the bytes of plane 0 as they stand.
template <bool kBytes>
__device__ __forceinline__ int tone_at(const HalftoneJob& job, int y, int x) {
  unsigned code;
  if constexpr (kBytes) {
    code = job.frame.plane[0][y * job.frame.stride[0] + x];
  } else {
    const std::uint8_t* rows[3];
#pragma unroll
    for (int p = 0; p < 3; ++p) rows[p] = job.frame.plane[p] + y * job.frame.stride[p];
    code = luma_code(job.layout, rows[0], rows[1], rows[2], x);
  }
  return __ldg(job.tones + code);
}

inline bool has_bytes(const HalftoneJob& job) { return job.layout.is_plain() && job.layout.depth == 8; }

/// Blocks of which each has `each` columns of a row, and of a tall picture more than one row.
inline dim3 blocks_of(int width, int rows, int each) {
  constexpr int kMost = 65535;  // down a grid
  return dim3(static_cast<unsigned>((width + each - 1) / each), static_cast<unsigned>(rows < kMost ? rows : kMost));
}

}  // namespace framequality::cuda
