// SPDX-License-Identifier: LGPL-2.1-or-later
// The noise estimate of noise.h in plain loops, block by block.
#pragma once

#include "algorithms/denoise/noise.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace framequality::test {

/// Variance of the noise of a plane of which code(x, y) are the codes; squared grey levels.
template <class F>
double plain_noise_variance(int width, int height, int depth, const F& code) {
  const int inner_width = width - 4, inner_height = height - 4;
  if (inner_width < 1 || inner_height < 1) return 0;
  const int across = std::min(16, inner_width), down = std::min(16, inner_height);
  struct Block {
    std::uint32_t sums[2] = {};
    int clipped = 0;
  };
  std::vector<Block> blocks;
  for (int top = 2; top + down <= height - 2; top += down)
    for (int left = 2; left + across <= width - 2; left += across) {
      Block b;
      for (int y = top; y < top + down; ++y)
        for (int x = left; x < left + across; ++x) {
          for (int step = 1; step <= 2; ++step) {
            constexpr int kWeights[] = {1, -2, 1};
            int residual = 0;
            for (int j = -1; j <= 1; ++j)
              for (int i = -1; i <= 1; ++i)
                residual += kWeights[j + 1] * kWeights[i + 1] * static_cast<int>(code(x + i * step, y + j * step));
            b.sums[step - 1] += static_cast<std::uint32_t>(std::abs(residual));
          }
          const int own = static_cast<int>(code(x, y));
          b.clipped += own == 0 || own == (1 << depth) - 1;
        }
      blocks.push_back(b);
    }
  std::vector<Block> voters;
  for (const Block& b : blocks)
    if (b.sums[0] > 0 && b.clipped * 4 <= across * down) voters.push_back(b);
  if (voters.size() * 8 < blocks.size()) voters = blocks;
  std::uint32_t chosen[2];
  for (int i = 0; i < 2; ++i) {
    std::sort(voters.begin(), voters.end(), [&](const Block& a, const Block& b) { return a.sums[i] < b.sums[i]; });
    chosen[i] = voters[(voters.size() - 1) / 4].sums[i];
  }
  return denoise::noise_variance(chosen[0], chosen[1], across * down, depth);
}

}  // namespace framequality::test
