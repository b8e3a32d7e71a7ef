// SPDX-License-Identifier: LGPL-2.1-or-later
// What instructions of the tensor cores' denoising kernel cost, alone and together.
#pragma once

#include <vector>

namespace framequality::variants {

/// Cycles that a scheduler takes for one round of a mix of instructions, for one of its 2 or 4 warps.
struct Limit {
  const char* name;
  double with_2, with_4;
};
/// Of the current device. Throws cuda::Error.
std::vector<Limit> instruction_limits();

/// The multiprocessors' clock in GHz, now. Throws cuda::Error.
double clock_rate();

}  // namespace framequality::variants
