// SPDX-License-Identifier: LGPL-2.1-or-later
// Workaround for a miscompilation of loops whose bound is a minimum or maximum.
#pragma once

namespace framequality::cuda {

/// v, hidden from the compiler's analysis: for every loop bound computed by min() or max()
/// (enforced by tests/cuda/loop_bounds_test.py). The compiler counts such loops' iterations as max(a, max(b, -c)), and
/// ptxas 13.0 drops the minus sign when it makes one three-way maximum (VIMNMX3) of that for sm_90: the loop then runs
/// past its end. tests/cuda/loop_bound_test.cu has the loop and reports whether the current toolkit still does so.
__device__ __forceinline__ int loop_bound(int v) {
#ifdef __CUDA_ARCH__
  asm("" : "+r"(v));
#endif
  return v;
}

}  // namespace framequality::cuda
