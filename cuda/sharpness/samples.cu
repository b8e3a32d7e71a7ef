// SPDX-License-Identifier: LGPL-2.1-or-later
// Working samples as a plane of 16-bit words, for the kernels that stream rows: box sums, prefilter and the one
// rounding. The plane is written once and, for all but the largest frames, read back from the L2 cache.
#include "cuda/loop_bound.cuh"
#include "cuda/sharpness/job.h"
#include "cuda/sharpness/overlap.cuh"

#include <cstdint>

namespace framequality::cuda {

using namespace sharpness;

namespace {

// Each thread computes 8 adjacent samples, the widest store there is, and moves down SamplesJob::tile_rows rows. The
// warps of a block process strips one below the other.
constexpr int kRun = 8, kWarps = 4, kThreads = 32 * kWarps;
// 4 blocks on an SM leave a thread 128 registers, which the widest filter of rows on their way needs.
constexpr int kBlocksPerSm = 4;
constexpr int kLoad = 8;  ///< bytes: what every thread's pixels begin at a multiple of
// Rows ahead of the one computed whose loads are on their way; without box sums, which load several rows at once.
template <int kScale>
constexpr int kAhead = kScale == 1 ? 3 : 0;

/// Pixels of kBytes bytes for box sums of kScale x kScale around a thread's samples, as the words that hold them.
template <int kBytes, int kScale, int kRadius>
struct Window {
  static constexpr int kColumns = kRun + 2 * kRadius;
  static constexpr int kBefore = (kRadius * kScale * kBytes + kLoad - 1) / kLoad * kLoad;  ///< bytes
  static constexpr int kSize = 2 * kBefore + kRun * kScale * kBytes;
  static constexpr int kSkip = kBefore / kBytes - kRadius * kScale;  ///< pixels before those needed
  unsigned word[kSize / 4];

  Window() = default;
  __device__ explicit Window(const std::uint8_t* from) {
#pragma unroll
    for (int i = 0; i < kSize / kLoad; ++i) {
      const uint2 v = __ldg(reinterpret_cast<const uint2*>(from) + i);
      word[2 * i] = v.x, word[2 * i + 1] = v.y;
    }
  }

  /// sum + the values of a row's pixels that belong to a column.
  __device__ unsigned add(int column, unsigned shift, unsigned bits, unsigned sum) const {
    const int first = kSkip + column * kScale;
    if constexpr (kBytes == 1 && kScale == 4) return __dp4a(word[first / 4], 0x01010101u, sum);
    if constexpr (kBytes == 1 && kScale == 2)
      return __dp4a(word[first / 4], first % 4 == 0 ? 0x0101u : 0x01010000u, sum);
    constexpr int kPerWord = 4 / kBytes;
#pragma unroll
    for (int i = first; i < first + kScale; ++i)
      sum += word[i / kPerWord] >> (shift + 8 * kBytes * (i % kPerWord)) & bits;
    return sum;
  }
};

template <int kBytes>
__device__ unsigned pixel(const std::uint8_t* row, int x) {
  if constexpr (kBytes == 1) return __ldg(row + x);
  return __ldg(reinterpret_cast<const std::uint16_t*>(row) + x);
}

template <int kBytes, int kScale, int kRadius>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) make_samples(const __grid_constant__ SamplesJob job) {
  using Pixels = Window<kBytes, kScale, kRadius>;
  let_next_begin();
  wait_for_earlier();
  const int field = static_cast<int>(blockIdx.z);
  const SampleArea area = job.area[field];
  const int x = area.x0 / kRun * kRun + (static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x) % 32) * kRun;
  const int y0 = area.y0 + (static_cast<int>(blockIdx.y) * kWarps + static_cast<int>(threadIdx.x) / 32) * job.tile_rows;
  const int y1 = loop_bound(min(y0 + job.tile_rows, area.y1));
  if (x >= area.x1 || y0 >= y1) return;

  const std::int64_t stride = job.frame.stride[job.plane] * job.fields;
  const std::uint8_t* base = job.frame.plane[job.plane] + field * job.frame.stride[job.plane];
  const int first = x - kRadius, at = x * kScale * kBytes - Pixels::kBefore;
  const bool whole =
      first >= 0 && first + Pixels::kColumns <= area.width && at >= 0 && at + Pixels::kSize <= job.readable;
  struct Rows {
    Pixels part[kScale];
  };
  // The rows of sample row y; outside the picture its edge is repeated.
  const auto row_of = [&](int y) {
    return base + static_cast<std::int64_t>(min(max(y, 0), area.height - 1)) * kScale * stride;
  };
  const auto fetch = [&](int y) {
    Rows rows;
#pragma unroll
    for (int j = 0; j < kScale; ++j) rows.part[j] = Pixels(row_of(y) + j * stride + at);
    return rows;
  };
  constexpr int kLoaded = kAhead<kScale>, kRing = kLoaded != 0 ? kLoaded : 1;
  const int begin = y0 - kRadius, end = y1 + kRadius;
  Rows ring[kRing];
  if (whole && kLoaded != 0)
#pragma unroll
    for (int j = 0; j < kRing; ++j) ring[j] = fetch(begin + j);
  // Box sums of sample row y and what is beside it.
  const auto boxes = [&](int y, Rows& next, unsigned(&sum)[Pixels::kColumns]) {
#pragma unroll
    for (unsigned& s : sum) s = 0;
    if (whole) {
      if constexpr (kLoaded == 0) next = fetch(y);
#pragma unroll
      for (int j = 0; j < kScale; ++j)
#pragma unroll
        for (int c = 0; c < Pixels::kColumns; ++c) sum[c] = next.part[j].add(c, job.shift, job.bits, sum[c]);
      if constexpr (kLoaded != 0) next = fetch(y + kRing);
    } else {
      const std::uint8_t* row = row_of(y);
#pragma unroll
      for (int j = 0; j < kScale; ++j, row += stride)
#pragma unroll
        for (int c = 0; c < Pixels::kColumns; ++c) {
          const int from = min(max(first + c, 0), area.width - 1) * kScale;
#pragma unroll
          for (int i = 0; i < kScale; ++i) sum[c] += pixel<kBytes>(row, from + i) >> job.shift & job.bits;
        }
    }
  };

  // Along columns a binomial is a cascade of sums of two rows: `before` has the previous row's inputs of each.
  unsigned before[kRun][2 * kRadius + 1] = {};
#pragma unroll 1
  for (int above = begin; above < end; above += kRing)
#pragma unroll
    for (int j = 0; j < kRing; ++j) {
      const int y = above + j;
      if (y >= end) break;
      unsigned box[Pixels::kColumns], made[kRun];
      boxes(y, ring[j], box);
#pragma unroll
      for (int i = 0; i < kRun; ++i) {
        unsigned sum = 0;
#pragma unroll
        for (int d = -kRadius; d <= kRadius; ++d) sum += binomial_tap(kRadius, d) * box[i + kRadius + d];
#pragma unroll
        for (int k = 0; k < 2 * kRadius; ++k) {
          const unsigned last = before[i][k];
          before[i][k] = sum;
          sum += last;
        }
        made[i] = job.samples.round(sum);
      }
      if (y < y0 + kRadius) continue;
      std::uint8_t* to = job.out + (static_cast<std::int64_t>(y - kRadius) * job.fields + field) * job.pitch;
      *reinterpret_cast<uint4*>(to + 2 * x) = {made[0] | made[1] << 16, made[2] | made[3] << 16,
                                               made[4] | made[5] << 16, made[6] | made[7] << 16};
    }
}

template <int kBytes, int kScale>
const void* kernel_of(int radius) {
  if (radius == 2) return reinterpret_cast<const void*>(&make_samples<kBytes, kScale, 2>);
  if (radius == 1) return reinterpret_cast<const void*>(&make_samples<kBytes, kScale, 1>);
  if constexpr (kScale > 1) return reinterpret_cast<const void*>(&make_samples<kBytes, kScale, 0>);
  return nullptr;
}

template <int kBytes>
const void* kernel_of(const SampleFormat& samples) {
  if (samples.downscale == 4) return kernel_of<kBytes, 4>(samples.radius);
  if (samples.downscale == 2) return kernel_of<kBytes, 2>(samples.radius);
  return kernel_of<kBytes, 1>(samples.radius);
}

}  // namespace

Kernel samples_kernel(const SampleFormat& samples, int word_bytes) {
  Kernel k;
  k.function = word_bytes == 2 ? kernel_of<2>(samples) : kernel_of<1>(samples);
  k.threads = kThreads;
  k.tile_width = 32 * kRun;
  k.strips = kWarps;
  k.x_align = kRun;
  return k;
}

}  // namespace framequality::cuda
