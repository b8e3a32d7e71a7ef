// SPDX-License-Identifier: LGPL-2.1-or-later
// Histograms of blocks' values: filled while they are measured, read when they are pooled.
#pragma once

#include "cuda/bliinds/job.h"

namespace framequality::cuda {

inline constexpr unsigned kAll = ~0u;  ///< lanes of a warp
inline constexpr int kWarp = 32;

/// Bin of a value in a histogram.
__device__ __forceinline__ int value_bin(double value) {
  const long long bin = (__double_as_longlong(value) >> (52 - kValueBits)) - ((1023ll - 44) << kValueBits);
  return static_cast<int>(bin < 0 ? 0 : bin < kValueBins ? bin : kValueBins - 1);
}

/// Counts a bin for each lane of `active`, all of which call it. Flat images put whole warps in one bin: then one
/// lane counts for all.
__device__ __forceinline__ void count(unsigned* bins, int bin, unsigned active) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, first = __ffs(static_cast<int>(active)) - 1;
  const int same = __shfl_sync(active, bin, first);
  if (__all_sync(active, bin == same)) {
    if (lane == first) atomicAdd(bins + bin, static_cast<unsigned>(__popc(active)));
  } else {
    atomicAdd(bins + bin, 1u);
  }
}

}  // namespace framequality::cuda
