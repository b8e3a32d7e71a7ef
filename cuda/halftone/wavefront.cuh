// SPDX-License-Identifier: LGPL-2.1-or-later
// A strip's place in a Wavefront, and the transfer of numbers from strip to strip.
#pragma once

#include "algorithms/halftone/tone_dependent.h"
#include "cuda/halftone/job.h"

namespace framequality::cuda {

inline constexpr unsigned kAllLanes = 0xffffffff;

struct Strip {
  int field, n;  ///< strip n of its field
  int y0, rows;  ///< of the field
  bool leftward;
};

__device__ __forceinline__ Strip strip_at(const HalftoneJob& job, const Wavefront& wave, int index) {
  const int first = wave.strips_of(job, 0);
  Strip s;
  s.field = index >= first ? 1 : 0;
  s.n = index - s.field * first;
  s.y0 = s.n * wave.lanes;
  s.rows = min(wave.lanes, job.field_height(s.field) - s.y0);
  s.leftward = wave.swath_rows && halftone::runs_leftward(s.y0, wave.swath_rows);
  return s;
}

/// Current numbers of a line, each of them consistent. Relaxed: a number carries all transferred data.
/// Lanes that read the same address may see it at different times, so they must decide together.
__device__ __forceinline__ uint4 look(const uint4* from) {
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}
/// Terms, which are read once. Kept after earlier reads: a warp that waits for one register waits for all
/// that share its counter, of which there are six.
__device__ __forceinline__ uint4 load_terms(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}
/// Stores if `hands`, without a branch.
__device__ __forceinline__ void hand(bool hands, uint4* to, const uint4& v) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"l"(to),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(static_cast<unsigned>(hands)));
}
__device__ __forceinline__ void hand(bool hands, unsigned* to, unsigned v) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.relaxed.gpu.global.u32 [%0], %1; }" ::"l"(to), "r"(v),
               "r"(static_cast<unsigned>(hands)));
}

/// For the wait before a strip's first step, which may last for most of an image.
__device__ __forceinline__ void nap() { __nanosleep(40); }

}  // namespace framequality::cuda
