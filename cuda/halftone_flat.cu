// SPDX-License-Identifier: LGPL-2.1-or-later
// The halftoning kernels whose pixels do not depend on each other: blue noise and packing.
#include "algorithms/halftone/blue_noise.h"
#include "cuda/halftone_source.cuh"
#include "cuda/runtime.h"

namespace framequality::cuda {
namespace {

using namespace halftone;

constexpr int kFlatThreads = 256;

template <bool kBytes>
__global__ void __launch_bounds__(kFlatThreads)
    blue_noise(const __grid_constant__ HalftoneJob job, const std::uint16_t* mask) {
  const Levels levels{job.levels};
  const int x0 = static_cast<int>(blockIdx.x) * kFlatThreads * 4 + static_cast<int>(threadIdx.x);
  for (int y = static_cast<int>(blockIdx.y); y < job.height; y += static_cast<int>(gridDim.y)) {
    const int row = y / job.fields;  // each field has the mask from its own row 0 on
    std::uint8_t* const out = job.out + y * job.out_stride;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int x = x0 + i * kFlatThreads;
      if (x >= job.width) break;
      const int tone = __ldg(job.tones + code_at<kBytes>(job, y, x));
      const int threshold = threshold_of(__ldg(mask + (row % kMaskSide) * kMaskSide + x % kMaskSide), job.strength);
      out[x] = static_cast<std::uint8_t>(levels.code(masked_level(tone, threshold, levels)));
    }
  }
}

__global__ void __launch_bounds__(kFlatThreads) pack(const std::uint8_t* codes, std::ptrdiff_t codes_stride, int width,
                                                     int height, std::uint8_t* out, std::ptrdiff_t out_stride) {
  const int i = static_cast<int>(blockIdx.x) * kFlatThreads + static_cast<int>(threadIdx.x);
  if (8 * i >= width) return;
  for (int y = static_cast<int>(blockIdx.y); y < height; y += static_cast<int>(gridDim.y)) {
    const uint2 v = *reinterpret_cast<const uint2*>(codes + y * codes_stride + 8 * i);
    unsigned bits = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const unsigned code = (j < 4 ? v.x : v.y) >> (8 * (j % 4)) & 255;
      bits |= (8 * i + j < width && code ? 1u : 0u) << (7 - j);
    }
    out[y * out_stride + i] = static_cast<std::uint8_t>(bits);
  }
}

/// Blocks of which each has `each` columns of a row, and of a tall picture more than one row.
dim3 blocks_of(int width, int height, int each) {
  constexpr int kMost = 65535;  // down a grid
  return dim3(static_cast<unsigned>((width + each - 1) / each), static_cast<unsigned>(height < kMost ? height : kMost));
}

}  // namespace

void launch_blue_noise(const HalftoneJob& job, const std::uint16_t* mask, cudaStream_t stream) {
  const dim3 grid = blocks_of(job.width, job.height, 4 * kFlatThreads);
  if (job.layout.is_plain() && job.layout.depth == 8)
    blue_noise<true><<<grid, kFlatThreads, 0, stream>>>(job, mask);
  else
    blue_noise<false><<<grid, kFlatThreads, 0, stream>>>(job, mask);
  check(cudaGetLastError(), "blue_noise");
}

void launch_pack(const std::uint8_t* codes, std::ptrdiff_t codes_stride, int width, int height, std::uint8_t* out,
                 std::ptrdiff_t out_stride, cudaStream_t stream) {
  const dim3 grid = blocks_of(width, height, 8 * kFlatThreads);
  pack<<<grid, kFlatThreads, 0, stream>>>(codes, codes_stride, width, height, out, out_stride);
  check(cudaGetLastError(), "pack");
}

}  // namespace framequality::cuda
