// SPDX-License-Identifier: LGPL-2.1-or-later
// A plan's regions cut into the tiles of one kernel. No CUDA headers.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "cuda/sharpness/job.h"

#include <vector>

namespace framequality::cuda {

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

struct Tiling {
  std::vector<TiledGrid> grids;
  int blocks = 0;  ///< of the kernel's launch
};

/// Cuts all grids of a plan. capacity: blocks of the kernel that the device runs at once. Strips are as high as takes
/// least time: whole waves of blocks, each lasting a strip's rows and Kernel::lead_rows more (halo and start). One wave
/// of high strips or several of low ones, whichever wastes less.
Tiling make_tiling(const sharpness::Plan& plan, const Kernel& kernel, int capacity);

}  // namespace framequality::cuda
