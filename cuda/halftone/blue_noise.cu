// SPDX-License-Identifier: LGPL-2.1-or-later
// Blue noise: pixels that do not depend on each other.
#include "algorithms/halftone/blue_noise.h"
#include "cuda/check.h"
#include "cuda/halftone/source.cuh"
#include "cuda/loop_bound.cuh"

namespace framequality::cuda {
namespace {

using namespace halftone;

constexpr int kThreads = 256, kEach = 8;  // pixels of a thread
constexpr int kByteCodes = 256;
static_assert(kMaskSide % kEach == 0);

template <Codes kCodes, int kLevels>
__global__ void __launch_bounds__(kThreads)
    blue_noise(const __grid_constant__ HalftoneJob job, const std::uint16_t* mask, bool is_aligned) {
  constexpr Levels kOf{kLevels};
  __shared__ std::int16_t copy[kByteCodes];
  const std::int16_t* tones = job.tones;
  if constexpr (kCodes != Codes::kAny) {
    for (int i = static_cast<int>(threadIdx.x); i < kByteCodes; i += kThreads) copy[i] = job.tones[i];
    tones = copy;
    __syncthreads();
  }
  const int x0 = (static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x)) * kEach;
  if (x0 >= job.width) return;
  const int count = loop_bound(min(kEach, job.width - x0));
  for (int y = static_cast<int>(blockIdx.y); y < job.height; y += static_cast<int>(gridDim.y)) {
    const int row = y / job.fields;  // each field has the mask from its own row 0 on
    int tone[kEach] = {};
    if (kCodes == Codes::kWords && count == kEach) {
#pragma unroll
      for (int i = 0; i < kEach; i += 4) {
        const unsigned four = four_codes_at(job, y, x0 + i);
#pragma unroll
        for (int j = 0; j < 4; ++j) tone[i + j] = tones[four >> 8 * j & 255];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (i < count) tone[i] = tone_at<kCodes>(job, tones, y, x0 + i);
    }
    const uint4 ranks = __ldg(reinterpret_cast<const uint4*>(mask + (row % kMaskSide) * kMaskSide + x0 % kMaskSide));
    const unsigned pairs[] = {ranks.x, ranks.y, ranks.z, ranks.w};
    unsigned codes[2] = {}, bits = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const auto rank = static_cast<int>(pairs[i / 2] >> 16 * (i % 2) & 0xffff);
      const int level = masked_level(tone[i], threshold_of(rank, job.strength), kOf);
      codes[i / 4] |= static_cast<unsigned>(kOf.code(level)) << 8 * (i % 4);
      if (i < count) bits |= (level ? 1u : 0u) << (7 - i);
    }
    std::uint8_t* const out = job.out + y * job.out_stride;
    if (job.packed)
      out[x0 / 8] = static_cast<std::uint8_t>(bits);
    else if (is_aligned && count == kEach)
      *reinterpret_cast<uint2*>(out + x0) = {codes[0], codes[1]};
    else
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (i < count) out[x0 + i] = static_cast<std::uint8_t>(codes[i / 4] >> 8 * (i % 4));
  }
}

template <int kLevels>
auto kernel_for(Codes codes) {
  switch (codes) {
    case Codes::kWords:
      return blue_noise<Codes::kWords, kLevels>;
    case Codes::kBytes:
      return blue_noise<Codes::kBytes, kLevels>;
    case Codes::kAny:
      break;
  }
  return blue_noise<Codes::kAny, kLevels>;
}

}  // namespace

void launch_blue_noise(const HalftoneJob& job, const std::uint16_t* mask, cudaStream_t stream) {
  const Codes codes = codes_of(job);
  const auto kernel = job.levels == 2   ? kernel_for<2>(codes)
                      : job.levels == 4 ? kernel_for<4>(codes)
                                        : kernel_for<16>(codes);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(job.out) % sizeof(uint2) == 0 &&
                          job.out_stride % static_cast<std::ptrdiff_t>(sizeof(uint2)) == 0;
  kernel<<<blocks_of(job.width, job.height, kEach * kThreads), kThreads, 0, stream>>>(job, mask, is_aligned);
  check(cudaGetLastError(), "blue_noise");
}

}  // namespace framequality::cuda
