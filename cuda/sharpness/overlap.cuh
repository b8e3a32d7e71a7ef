// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels of one frame that run at the same time: those that do not read what the one before has written need not wait
// for its end, and those that do are in place when it comes. From Hopper on; elsewhere one follows the other.
#pragma once

namespace framequality::cuda {

/// Lets the next kernel of the frame begin as soon as all blocks of this one have. Called first by every kernel.
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits for the end of the frame's kernels before this one, with what they wrote to be seen. Called once by every
/// kernel: first if it reads that, else last, by one thread at least, so that no kernel ends before its predecessors.
__device__ __forceinline__ void wait_for_earlier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace framequality::cuda
