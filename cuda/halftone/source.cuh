// SPDX-License-Identifier: LGPL-2.1-or-later
// Reader of the tones of pixels in halftoning kernels.
#pragma once

#include "cuda/halftone/job.h"

namespace framequality::cuda {

/// Storage of an image's luma values.
enum class Codes {
  kAny,
  kBytes,  ///< the bytes of plane 0, unchanged
  kWords   ///< the same, in rows that begin at multiples of four bytes
};

inline Codes codes_of(const HalftoneJob& job) {
  if (!job.layout.is_plain() || job.layout.depth != 8) return Codes::kAny;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(job.frame.plane[0]) % sizeof(unsigned) == 0 &&
                          job.frame.stride[0] % static_cast<std::ptrdiff_t>(sizeof(unsigned)) == 0;
  return is_aligned ? Codes::kWords : Codes::kBytes;
}

/// tones: job.tones or a copy of it.
template <Codes kCodes>
__device__ __forceinline__ int tone_at(const HalftoneJob& job, const std::int16_t* tones, int y, int x) {
  if constexpr (kCodes != Codes::kAny) {
    return tones[job.frame.plane[0][y * job.frame.stride[0] + x]];
  } else {
    const std::uint8_t* rows[3];
#pragma unroll
    for (int p = 0; p < 3; ++p) rows[p] = job.frame.plane[p] + y * job.frame.stride[p];
    return tones[luma_code(job.layout, rows[0], rows[1], rows[2], x)];
  }
}

/// Whether four_codes_at() stays within the row, beyond which there may be no memory.
__device__ __forceinline__ bool has_four_codes(const HalftoneJob& job, int x) {
  return x >= 0 && (x + 7 < job.width || (x % 4 == 0 && x + 3 < job.width));
}
/// Luma of columns x...x+3, the first one lowest. kWords only.
__device__ __forceinline__ unsigned four_codes_at(const HalftoneJob& job, int y, int x) {
  const std::uint8_t* const row = job.frame.plane[0] + y * job.frame.stride[0];
  const int first = x & ~3;
  const unsigned low = __ldg(reinterpret_cast<const unsigned*>(row + first));
  const unsigned high = first == x ? 0 : __ldg(reinterpret_cast<const unsigned*>(row + first + 4));
  return __funnelshift_r(low, high, static_cast<unsigned>(x & 3) * 8);
}

/// Grid of blocks with `each` columns of a row each, and for tall images several rows.
inline dim3 blocks_of(int width, int rows, int each) {
  constexpr int kMost = 65535;  // largest vertical grid size
  return dim3(static_cast<unsigned>((width + each - 1) / each), static_cast<unsigned>(rows < kMost ? rows : kMost));
}

}  // namespace framequality::cuda
