// SPDX-License-Identifier: LGPL-2.1-or-later
// Blue noise: pixels that do not depend on each other.
#include "algorithms/halftone/blue_noise.h"
#include "cuda/halftone_source.cuh"
#include "cuda/runtime.h"

namespace framequality::cuda {
namespace {

using namespace halftone;

constexpr int kThreads = 256, kEach = 4;

/// A warp has 32 columns of a row at a time.
template <bool kBytes>
__global__ void __launch_bounds__(kThreads)
    blue_noise(const __grid_constant__ HalftoneJob job, const std::uint16_t* mask) {
  const Levels levels{job.levels};
  const int x0 = static_cast<int>(blockIdx.x) * kThreads * kEach + static_cast<int>(threadIdx.x);
  for (int y = static_cast<int>(blockIdx.y); y < job.height; y += static_cast<int>(gridDim.y)) {
    const int row = y / job.fields;  // each field has the mask from its own row 0 on
    std::uint8_t* const out = job.out + y * job.out_stride;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int x = x0 + i * kThreads;
      int level = 0;
      if (x < job.width) {
        const int threshold = threshold_of(__ldg(mask + (row % kMaskSide) * kMaskSide + x % kMaskSide), job.strength);
        level = masked_level(tone_at<kBytes>(job, y, x), threshold, levels);
      }
      if (job.packed) {
        const unsigned bits = __brev(__ballot_sync(0xffffffff, level != 0));
        if (x % 8 == 0 && x < job.width) out[x / 8] = static_cast<std::uint8_t>(bits >> (24 - x % 32));
      } else if (x < job.width) {
        out[x] = static_cast<std::uint8_t>(levels.code(level));
      }
    }
  }
}

}  // namespace

void launch_blue_noise(const HalftoneJob& job, const std::uint16_t* mask, cudaStream_t stream) {
  const dim3 grid = blocks_of(job.width, job.height, kEach * kThreads);
  (has_bytes(job) ? blue_noise<true> : blue_noise<false>)<<<grid, kThreads, 0, stream>>>(job, mask);
  check(cudaGetLastError(), "blue_noise");
}

}  // namespace framequality::cuda
