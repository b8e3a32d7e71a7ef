// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel: distances of 8-bit patches by products of integer matrices.
//
// |a - b|^2 = |a|^2 + |b|^2 - 2 ab. A product is begun with -|b|^2 / 2, rounded down, in the low bits of a float: all
// exact, and no conversion. |a|^2 is a factor of all of a pixel's weights, and the rounded half one of the candidate's.
// What is left for each pair of pixels is four instructions: exponent, exponential, two sums. A lane holds its share of
// 4x4 pixels' windows in registers; no array of patches is ever made, as what the lanes want for a product lies in
// shared memory eight bytes at a time and serves the next step too.
#pragma once

#include "cuda/denoise/job.h"
#include "cuda/denoise/search.cuh"
#include "cuda/runtime.h"

#include <algorithm>

namespace framequality::cuda::tile {

/// A thread block: kAcross x kDown warps, each of which filters kStack blocks of 4x4 pixels, one below the other. At
/// least kResident of them on a multiprocessor.
template <int kAcross_, int kDown_, int kStack_, int kResident_>
struct Cut {
  static constexpr int kAcross = kAcross_, kDown = kDown_, kStack = kStack_, kResident = kResident_;
  static constexpr int kThreads = kWarp * kAcross * kDown, kHalves = 2 * kStack;
  static constexpr int kWidth = kBlock * kAcross, kHeight = kBlock * kStack * kDown;
  static constexpr int kLeastRadius = kHalves;
  static_assert(kHalves % 4 == 0, "a quad's lanes alternate");
};

/// Of a quad's lanes, what all of them have in v[lane % 4], put together.
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

/// Grid: thread blocks across, down, fields. kRadius: as of Search. job.weights.scale, given: as launch() makes them.
/// Estimated weights: with kFloor only.
template <class Cut, int kRadius, unsigned kFeatures>
__global__ void __launch_bounds__(Cut::kThreads, Cut::kResident)
    filter(const __grid_constant__ DenoiseJob job, const __grid_constant__ Layout given) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ uint4 shared[];
  constexpr int kHalves = Cut::kHalves;
  const int field = static_cast<int>(blockIdx.z), fields = job.fields;
  const int height = (job.height - field + fields - 1) / fields;
  const int left = static_cast<int>(blockIdx.x) * Cut::kWidth, top = static_cast<int>(blockIdx.y) * Cut::kHeight;
  if (top >= height) return;
  const int radius = kRadius ? kRadius : job.search_radius, patch = job.patch_radius;
  constexpr Layout kKnown(Cut::kWidth, Cut::kHeight, kRadius);
  const Layout& l = kRadius ? kKnown : given;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(shared);
  const int begins = l.pair_bytes(), values = begins + l.begin_bytes();
  const Shared s{reinterpret_cast<uint2*>(bytes), reinterpret_cast<int4*>(bytes + begins),
                 reinterpret_cast<float2*>(bytes + values), bytes + values + l.value_bytes()};
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  // The lane's pixel of the first half, from the thread block's first one on.
  const int warp_x = warp % Cut::kAcross * kBlock, warp_y = warp / Cut::kAcross * kBlock * Cut::kStack;
  const int x = warp_x + pixel_x(lane), y = warp_y + pixel_y(lane);

  Patches<Cut::kStack, kFeatures> patches;
  Sums<kHalves> sums;
  float floor = 0, scale = job.weights.scale;
  if constexpr (kFeatures & kFloor) {
    floor = job.weights.floor;
    if (job.estimated) {
      const denoise::Weights& weights = job.estimated[field];
      floor = weights.floor;
      scale = 2 * weights.scale;
    }
  }
  const float unrounding = is_exact(kFeatures) ? 0 : exp2_of(-scale / 2);
  const auto value_of = [&](bool odd, float code) {
    if constexpr (is_exact(kFeatures)) return make_float2(odd ? -scale / 2 : 0.0f, code);
    return odd ? make_float2(unrounding, code * unrounding) : make_float2(1, code);
  };
  for (int i = 0; i < job.frames; ++i) {
    const int frame = i == 0 ? job.center : i <= job.center ? i - 1 : i;
    if (i > 0) __syncthreads();
    const DenoiseJob::Plane& plane = job.source[frame][0];
    fill<Cut::kThreads>(
        l, s,
        {plane.data + field * plane.stride, fields * plane.stride, job.pixel_stride[0], job.width, height, job.border},
        left - radius, top - radius, patch, value_of);
    if (left + warp_x >= job.width || top + warp_y >= height) continue;
    if (i == 0) patches.load(l, s, x + radius, y + radius, lane, patch, scale, floor);
    Search<Cut::kStack, kRadius, kFeatures> search{patches, sums, scale, job.weights.spatial, i == 0, lane, radius};
    const int candidate = (warp_y + candidate_y(lane)) * l.value_pitch + warp_x + candidate_x(lane);
    search.run(l, s.pairs + (y + word_y(lane)) * l.pair_pitch + x + word_x(lane), s.begins + candidate / 2,
               s.values + candidate);
  }
  if (left + warp_x >= job.width || top + warp_y >= height) return;

  const auto sum = [](float a, float b) { return __fadd_rn(a, b); };
#pragma unroll
  for (int half = 0; half < kHalves; half += 4) {
    float weights = quad_share(sums.weights + half, lane, sum), values = quad_share(sums.values + half, lane, sum);
    if constexpr (kFeatures & kMaxCenter) {
      const auto larger = [](float a, float b) { return fmaxf(a, b); };
      const float own = fmaxf(quad_share(sums.largest + half, lane, larger), denoise::kLeastCenter);
      weights = __fadd_rn(weights, own);
      values = __fmaf_rn(own, pick(patches.own + half, lane), values);
    }
    const int column = left + x, row = top + y + (half + lane % 4) * kRowsPerHalf;
    if (column >= job.width || row >= height) continue;
    const float mean = denoise::mean_of(values, weights, 8);
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(row) * fields + field;
    if (job.unrounded[0]) job.unrounded[0][line * job.width + column] = mean;
    job.out[0].data[line * job.out[0].stride + static_cast<std::ptrdiff_t>(column) * job.pixel_stride[0]] =
        static_cast<std::uint8_t>(min(max(__float2int_rn(mean), 0), 255));
  }
#endif
}

using Kernel = void (*)(DenoiseJob, Layout);

inline unsigned features_of(const DenoiseJob& job) {
  return (job.weights.floor > 0 ? kFloor : 0) | (job.weights.spatial > 0 ? kSpatial : 0) |
         (job.center_weight == denoise::CenterWeight::kMax ? kMaxCenter : 0);
}

/// Starts a filter<Cut> with the job's features. Throws Error.
template <class Cut>
void launch(Kernel kernel, DenoiseJob job, cudaStream_t stream) {
  // Not exact: factors stay far below 2^127, and patches that differ at all weigh next to nothing anyhow.
  job.weights.scale = 2 * (is_exact(features_of(job)) ? job.weights.scale : std::min(job.weights.scale, 32.0f));
  Layout layout(Cut::kWidth, Cut::kHeight, job.search_radius);
  const auto bytes = static_cast<std::size_t>(layout.bytes());
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "cudaFuncSetAttribute");
  const auto count = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  const dim3 grid(count(job.width, Cut::kWidth), count(count(job.height, job.fields), Cut::kHeight),
                  static_cast<unsigned>(job.fields));
  void* arguments[] = {&job, &layout};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, dim3(Cut::kThreads), arguments, bytes, stream),
        "cudaLaunchKernel");
}

}  // namespace framequality::cuda::tile
