// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel: distances of patches by products of matrices, of bytes or of half floats.
//
// |a - b|^2 = |a|^2 + |b|^2 - 2 ab. A product starts at -|b|^2 / 2, rounded down: an integer, exact in any
// accumulator; that of bytes lies in the low bits of a float, so nothing is converted. Products of several planes add
// up. |a|^2 is a factor of all of a pixel's weights, and the rounded half one of the candidate's. What is left for each
// pair of pixels is four instructions: exponent, exponential, two sums, and one more for each further plane. A lane
// holds its share of 4x4 pixels' windows in registers; no array of patches is ever made, because a lane's operands of
// a product are eight bytes in shared memory, which the next steps use too.
#pragma once

#include "cuda/denoise/family.h"
#include "cuda/denoise/search.cuh"
#include "cuda/denoise/tile.cuh"

#include <type_traits>

namespace framequality::cuda::tile {

/// Combines the values that all lanes of a quad have in v[lane % 4].
template <class F>
__device__ __forceinline__ float quad_share(const float* v, int lane, F together) {
  const bool odd = lane % 2, upper = lane % 4 / 2;
  const float a = together(odd ? v[1] : v[0], __shfl_xor_sync(~0u, odd ? v[0] : v[1], 1));
  const float b = together(odd ? v[3] : v[2], __shfl_xor_sync(~0u, odd ? v[2] : v[3], 1));
  return together(upper ? b : a, __shfl_xor_sync(~0u, upper ? a : b, 2));
}
__device__ __forceinline__ float pick(const float* v, int lane) {
  const bool odd = lane % 2, upper = lane % 4 / 2;
  return upper ? odd ? v[3] : v[2] : odd ? v[1] : v[0];
}

/// Whether the family is compiled for the current architecture.
template <class Family>
__device__ constexpr bool is_compiled() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ >= Family::kArchitecture;
#else
  return true;
#endif
}

/// Grid: thread blocks across, down, fields. kRadius: as in Search. job.weights.scale, given: as made by launch().
/// Estimated weights: with kFloor only.
template <class Samples, int kPlanes, class Cut, int kRadius, unsigned kFeatures>
__global__ void __launch_bounds__(Cut::kThreads, Cut::kResident)
    filter(const __grid_constant__ DenoiseJob job, const __grid_constant__ Layout given) {
  if constexpr (is_compiled<Family<Samples, kPlanes, Cut>>()) {
    extern __shared__ uint4 shared[];
    constexpr int kHalves = Cut::kHalves;
    const int field = static_cast<int>(blockIdx.z), fields = job.fields, height = job.field_height(field);
    const int left = static_cast<int>(blockIdx.x) * Cut::kWidth, top = static_cast<int>(blockIdx.y) * Cut::kHeight;
    if (top >= height) return;
    const int radius = kRadius ? kRadius : job.search_radius, patch = job.patch_radius;
    constexpr Layout kKnown = Family<Samples, kPlanes, Cut>::layout(kRadius);
    const Layout& l = kRadius ? kKnown : given;
    const Shared<Samples, kPlanes> s(l, shared);
    const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
    // The lane's pixel of the first half, relative to the thread block's first one.
    const int warp_x = warp % Cut::kAcross * kBlock, warp_y = warp / Cut::kAcross * kBlock * Cut::kStack;
    const int x = warp_x + pixel_x(lane), y = warp_y + pixel_y(lane);

    Patches<Samples, kPlanes, Cut::kStack, kFeatures> patches;
    Sums<kHalves, kPlanes> sums;
    float floor = 0, scale = job.weights.scale;
    if constexpr (kFeatures & kFloor) {
      floor = job.weights.floor;
      if (job.estimated) {
        const denoise::Weights& weights = job.estimated[field];
        if (denoise::keeps(weights)) {
          keep_pixels(job, field, left, top, Cut::kWidth, Cut::kHeight, static_cast<int>(threadIdx.x), Cut::kThreads);
          return;
        }
        floor = weights.floor;
        scale = 2 * weights.scale;
      }
    }
    if constexpr (saturates(kFeatures)) {
      // No factor vanishes, so that infinite weights become 1. Patches that differ by 1 more than the floor weigh
      // next to nothing anyway.
      const float share = fminf(2 * 100 / scale, 1);
      scale *= share;
      floor *= share;
    }
    const float unrounding = exp2_of(-scale / 2);
    const auto value_of = [&](bool odd) {
      if constexpr (saturates(kFeatures)) return make_float2(odd ? unrounding : 1, 1);
      if constexpr (is_exact(kFeatures)) return make_float2(odd ? -scale / 2 : 0.0f, 1);
      return odd ? make_float2(unrounding, unrounding) : make_float2(1, 1);
    };
    for (int i = 0; i < job.frames; ++i) {
      if (i > 0) __syncthreads();
      Picture pictures[kPlanes];
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) {
        const DenoiseJob::Plane& plane = job.source[frame_of(job, i)][k];
        pictures[k] = {plane.data + field * plane.stride,
                       fields * plane.stride,
                       job.pixel_stride[k],
                       job.width,
                       height,
                       job.border};
      }
      fill<Cut::kThreads>(l, s, job.layout, pictures, left - radius, top - radius, patch, value_of);
      if (left + warp_x >= job.width || top + warp_y >= height) continue;
      if (i == 0) patches.load(l, s, x + radius, y + radius, lane, patch, scale, floor);
      using Windows = Search<Samples, kPlanes, Cut::kStack, kRadius, kFeatures>;
      Windows search{patches, sums, scale, job.weights.spatial, i == 0, lane, radius};
      const int candidate = (warp_y + candidate_y(lane)) * l.value_pitch + warp_x + candidate_x(lane);
      search.run(l,
                 {s.pairs + (y + word_y(lane)) * l.pair_pitch + x + word_x(lane),
                  reinterpret_cast<const typename Windows::Begins*>(s.begins) + candidate / 2, s.values + candidate});
    }
    if (left + warp_x >= job.width || top + warp_y >= height) return;

    const auto sum = [](float a, float b) { return __fadd_rn(a, b); };
#pragma unroll
    for (int half = 0; half < kHalves; half += 4) {
      float weights = quad_share(sums.weights + half, lane, sum), own = 0;
      if constexpr (kFeatures & kMaxCenter) {
        const auto larger = [](float a, float b) { return fmaxf(a, b); };
        own = fmaxf(quad_share(sums.largest + half, lane, larger), denoise::kLeastCenter);
        weights = __fadd_rn(weights, own);
      }
      const int column = left + x, row = top + y + (half + lane % 4) * kRowsPerHalf;
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) {
        float values = quad_share(sums.values[k] + half, lane, sum);
        if constexpr (kFeatures & kMaxCenter) values = __fmaf_rn(own, pick(patches.own[k] + half, lane), values);
        if (column < job.width && row < height)
          put_mean(job, k, field, column, row, denoise::mean_of(values, weights, job.layout.depth));
      }
    }
  }
}

template <class Samples, int kPlanes, class Cut, int kRadius, unsigned kFeatures>
constexpr Choice kChoice{filter<Samples, kPlanes, Cut, kRadius, kFeatures>, kFeatures};

template <class Samples, int kPlanes, class Cut>
Choice Family<Samples, kPlanes, Cut>::choose(int radius, unsigned features) {
  constexpr int kUsual = denoise::Settings{}.search_radius;
  if (radius == kUsual && features == 0) return kChoice<Samples, kPlanes, Cut, kUsual, 0>;
  if (radius == kUsual && features == kFloor) return kChoice<Samples, kPlanes, Cut, kUsual, kFloor>;
  if (features & kMaxCenter) return kChoice<Samples, kPlanes, Cut, 0, kFloor | kSpatial | kMaxCenter>;
  if constexpr (std::is_same_v<Samples, Bytes> && kPlanes == 1) {
    if (features == 0) return kChoice<Samples, kPlanes, Cut, 0, 0>;
    if (features == kFloor) return kChoice<Samples, kPlanes, Cut, 0, kFloor>;
    if (features == kSpatial) return kChoice<Samples, kPlanes, Cut, 0, kSpatial>;
  }
  return kChoice<Samples, kPlanes, Cut, 0, kFloor | kSpatial>;
}

}  // namespace framequality::cuda::tile
