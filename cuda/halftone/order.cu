// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of pixels to the order of a Wavefront's lanes, and back.
#include "cuda/check.h"
#include "cuda/halftone/source.cuh"
#include "cuda/halftone/wavefront.cuh"
#include "cuda/loop_bound.cuh"

namespace framequality::cuda {
namespace {

using namespace halftone;

constexpr int kWarps = 4, kBlock = 32 * kWarps;
constexpr int kSteps = 128, kChunksEach = kSteps / Wavefront::kChunk;  // per block
constexpr int kPitch = kSteps + Wavefront::kGroup;  // terms of a row: vectors of different rows use different banks
constexpr int kByteCodes = 256;

/// A block has some chunks of a strip: reads along the rows, writes along the lanes. kPattern: as launch_arrange().
template <Codes kCodes, bool kPattern>
__global__ void __launch_bounds__(kBlock)
    arrange(const __grid_constant__ HalftoneJob job, const __grid_constant__ Wavefront wave, int blocks_each,
            const std::uint32_t* pattern) {
  __shared__ alignas(16) std::uint16_t terms[Wavefront::kMaxLanes * kPitch];
  __shared__ std::int16_t copy[kByteCodes];
  const int index = static_cast<int>(blockIdx.x) / blocks_each;
  const int chunk0 = (static_cast<int>(blockIdx.x) - index * blocks_each) * kChunksEach;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const Strip strip = strip_at(job, wave, index);
  const std::int16_t* tones = job.tones;
  if constexpr (kCodes != Codes::kAny) {
    for (int i = thread; i < kByteCodes; i += kBlock) copy[i] = job.tones[i];
    tones = copy;
    __syncthreads();
  }

#pragma unroll 4
  for (int r = thread / 32; r < wave.lanes; r += kWarps) {
    const int along = chunk0 * Wavefront::kChunk + 4 * lane - wave.lead - wave.skew * r, y = strip.y0 + r;
    const int frame_y = y * job.fields + strip.field;
    const auto column = [&](int i) { return strip.leftward ? job.width - 1 - along - i : along + i; };
    const int first = column(strip.leftward ? 3 : 0);
    unsigned term[4] = {};
    const auto put = [&](int i, int tone) {
      term[i] = static_cast<unsigned>(kPattern ? tone + 8 : 16 * tone + 8);
      if (kPattern && pattern_at(pattern, column(i), y)) term[i] |= 1u << 12;
    };
    if (r >= strip.rows) {
    } else if (kCodes == Codes::kWords && has_four_codes(job, first)) {
      unsigned four = four_codes_at(job, frame_y, first);
      if (strip.leftward) four = __byte_perm(four, 0, 0x0123);
#pragma unroll
      for (int i = 0; i < 4; ++i) put(i, tones[four >> 8 * i & 255]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (along + i >= 0 && along + i < job.width) put(i, tone_at<kCodes>(job, tones, frame_y, column(i)));
    }
    *reinterpret_cast<uint2*>(terms + r * kPitch + 4 * lane) = {term[0] | term[1] << 16, term[2] | term[3] << 16};
  }

  const int chunks = loop_bound(min(kChunksEach, wave.chunks - chunk0));
  const auto fill = [&](int n, unsigned word) {
    const int each = Wavefront::kChunk * wave.column_bytes / 16;
    uint4* const line = wave.line(job, strip.field, n) + chunk0 * each;
    if (thread < chunks * each) line[thread] = make_uint4(word, word, word, word);
  };
  if (strip.n == 0) fill(0, wave.outside);
  if (!wave.ring || strip.n + 1 < wave.ring) fill(strip.n + 1, wave.empty);
  if (blockIdx.x == 0 && thread == 0) *wave.ticket = 0;

  __syncthreads();
  constexpr int kGroups = Wavefront::kChunk / Wavefront::kGroup;
  uint4* const out = wave.terms + (static_cast<std::size_t>(index) * wave.chunks + chunk0) * wave.lanes * kGroups;
  for (int i = thread; i < chunks * kGroups * wave.lanes; i += kBlock) {
    const int group = i / wave.lanes, r = i - group * wave.lanes;
    out[i] = *reinterpret_cast<const uint4*>(terms + r * kPitch + group * Wavefront::kGroup);
  }
}

constexpr int kEach = 16;  // pixels per thread
constexpr int kColumns = 32, kRows = 8;

/// Levels of the steps t...t+15 of a lane, a bit each, the first one highest; t may be before the strip's first step.
__device__ __forceinline__ unsigned bits_from(const Wavefront& wave, const unsigned* words, int t) {
  const int chunk = t >> 5;
  const unsigned high = chunk >= 0 ? words[chunk * wave.lanes] : 0;
  const unsigned low = chunk + 1 < wave.chunks ? words[(chunk + 1) * wave.lanes] : 0;
  return __funnelshift_l(low, high, static_cast<unsigned>(t)) >> 16;
}
/// Four bits, the lowest first, as four bytes of 0 or 255.
__device__ __forceinline__ unsigned bytes_of(unsigned bits) { return (bits * 0x00204081u & 0x01010101u) * 255; }

/// The first `count` of sixteen bits, the lowest leftmost.
__device__ __forceinline__ void write_packed(std::uint8_t* out, unsigned bits, int count) {
  const unsigned in_order = __brev(bits & ((1u << count) - 1));
  out[0] = static_cast<std::uint8_t>(in_order >> 24);
  if (count > 8) out[1] = static_cast<std::uint8_t>(in_order >> 16);
}

template <int kBits>
__global__ void __launch_bounds__(kColumns* kRows)
    deliver(const __grid_constant__ HalftoneJob job, const __grid_constant__ Wavefront wave, bool is_aligned) {
  const int x0 = static_cast<int>(blockIdx.x * kColumns + threadIdx.x) * kEach;
  if (x0 >= job.width) return;
  const int count = loop_bound(min(kEach, job.width - x0));
  for (int y = static_cast<int>(blockIdx.y * kRows + threadIdx.y); y < job.height;
       y += static_cast<int>(gridDim.y) * kRows) {
    const int field = y % job.fields, row = y / job.fields, n = row / wave.lanes, lane = row - n * wave.lanes;
    const int index = n + (field ? wave.strips_of(job, 0) : 0);
    const unsigned* const words =
        wave.words + static_cast<std::size_t>(index) * wave.chunks * kBits * wave.lanes + lane;
    const bool leftward = wave.swath_rows && runs_leftward(row, wave.swath_rows);
    const int along = leftward ? job.width - kEach - x0 : x0, t0 = along + wave.lead + wave.skew * lane;
    std::uint8_t* const out = job.out + y * job.out_stride;
    if constexpr (kBits == 1) {
      const unsigned forward = bits_from(wave, words, t0);  // column x0 highest if rightward
      const unsigned bits = leftward ? forward : __brev(forward) >> 16;
      const uint4 codes = {bytes_of(bits & 15), bytes_of(bits >> 4 & 15), bytes_of(bits >> 8 & 15),
                           bytes_of(bits >> 12)};
      if (job.packed)
        write_packed(out + x0 / 8, bits, count);
      else if (is_aligned && count == kEach)
        *reinterpret_cast<uint4*>(out + x0) = codes;
      else
        for (int i = 0; i < count; ++i) out[x0 + i] = bits >> i & 1 ? 255 : 0;
    } else {
      const Levels levels{job.levels};
      unsigned bits = 0;
      for (int i = 0; i < count; ++i) {
        const int t = leftward ? t0 + kEach - 1 - i : t0 + i;
        const unsigned level = words[(t >> 3) * wave.lanes] >> (28 - 4 * (t & 7)) & 15;
        bits |= level << i;
        if (!job.packed) out[x0 + i] = static_cast<std::uint8_t>(levels.code(static_cast<int>(level)));
      }
      if (job.packed) write_packed(out + x0 / 8, bits, count);
    }
  }
}

template <bool kPattern>
auto arrange_for(Codes codes) {
  switch (codes) {
    case Codes::kWords:
      return arrange<Codes::kWords, kPattern>;
    case Codes::kBytes:
      return arrange<Codes::kBytes, kPattern>;
    case Codes::kAny:
      break;
  }
  return arrange<Codes::kAny, kPattern>;
}

}  // namespace

void launch_arrange(const HalftoneJob& job, const Wavefront& wave, const std::uint32_t* pattern, cudaStream_t stream) {
  const auto kernel = pattern ? arrange_for<true>(codes_of(job)) : arrange_for<false>(codes_of(job));
  const int each = (wave.chunks + kChunksEach - 1) / kChunksEach;
  kernel<<<static_cast<unsigned>(wave.strips(job)) * static_cast<unsigned>(each), kBlock, 0, stream>>>(job, wave, each,
                                                                                                       pattern);
  check(cudaGetLastError(), "arrange");
}

void launch_deliver(const HalftoneJob& job, const Wavefront& wave, cudaStream_t stream) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(job.out) % sizeof(uint4) == 0 &&
                          job.out_stride % static_cast<std::ptrdiff_t>(sizeof(uint4)) == 0;
  const dim3 grid = blocks_of(job.width, (job.height + kRows - 1) / kRows, kColumns * kEach), block(kColumns, kRows);
  (wave.level_bits == 1 ? deliver<1> : deliver<4>)<<<grid, block, 0, stream>>>(job, wave, is_aligned);
  check(cudaGetLastError(), "deliver");
}

}  // namespace framequality::cuda
