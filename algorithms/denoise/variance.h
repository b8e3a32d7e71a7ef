// SPDX-License-Identifier: LGPL-2.1-or-later
// Variance of a plane's noise from its blocks, on the host.
#pragma once

#include "algorithms/denoise/noise.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace framequality::denoise {

/// Noise variance of a plane from its blocks of `pixels` pixels each; 0 if there are none. scratch: reallocated only
/// to grow. Unit: squared 8-bit grey levels.
inline double variance_of(std::span<const NoiseBlock> blocks, int pixels, int depth,
                          std::vector<std::uint32_t>& scratch) {
  if (blocks.empty()) return 0;
  const auto voters = std::count_if(blocks.begin(), blocks.end(), [](const NoiseBlock& b) { return b.votes(); });
  const bool all = all_vote(static_cast<int>(voters), static_cast<int>(blocks.size()));
  const auto ranked = [&](auto sum) {
    scratch.clear();
    for (const NoiseBlock& b : blocks)
      if (all || b.votes()) scratch.push_back(sum(b));
    const auto at = scratch.begin() + noise_rank(static_cast<int>(scratch.size()));
    std::nth_element(scratch.begin(), at, scratch.end());
    return *at;
  };
  const std::uint32_t fine = ranked([](const NoiseBlock& b) { return b.fine_sum(); });
  const std::uint32_t coarse = ranked([](const NoiseBlock& b) { return b.coarse; });
  return noise_variance(fine, coarse, pixels, depth);
}

}  // namespace framequality::denoise
