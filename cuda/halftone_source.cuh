// SPDX-License-Identifier: LGPL-2.1-or-later
// How halftoning kernels read the tone of a pixel, and write rows of levels.
#pragma once

#include "cuda/halftone_job.h"

namespace framequality::cuda {

/// kBytes: codes are the bytes of plane 0 as they stand.
template <bool kBytes>
__device__ __forceinline__ unsigned code_at(const HalftoneJob& job, int y, int x) {
  if constexpr (kBytes) {
    return job.frame.plane[0][y * job.frame.stride[0] + x];
  } else {
    const std::uint8_t* rows[3];
#pragma unroll
    for (int p = 0; p < 3; ++p) rows[p] = job.frame.plane[p] + y * job.frame.stride[p];
    return luma_code(job.layout, rows[0], rows[1], rows[2], x);
  }
}

/// Bits in which a level is kept until it is written, eight levels of more than one bit to a word.
__host__ __device__ constexpr int level_bits(int levels) { return levels == 2 ? 1 : 4; }

/// Level of step j of kSteps, from words of `pitch` words' distance that hold it, the first step highest.
template <int kBits, int kSteps>
__device__ __forceinline__ unsigned level_at(const unsigned* words, int pitch, int j) {
  if constexpr (kBits == 1)
    return words[0] >> (kSteps - 1 - j) & 1;
  else
    return words[j / 8 * pitch] >> (28 - j % 8 * 4) & 15;
}

/// Asks for the bytes that will be read some steps later, whose way from device memory takes longer than a few steps.
template <bool kBytes>
__device__ __forceinline__ void announce(const HalftoneJob& job, int y, int x) {
  if constexpr (kBytes)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(job.frame.plane[0] + y * job.frame.stride[0] + x));
}

}  // namespace framequality::cuda
