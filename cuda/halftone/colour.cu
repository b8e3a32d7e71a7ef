// SPDX-License-Identifier: LGPL-2.1-or-later
// Blue noise for palettes: pixels that do not depend on each other, and look up the mixture of their colour.
#include "algorithms/halftone/blue_noise.h"
#include "cuda/check.h"
#include "cuda/halftone/colour_job.h"
#include "cuda/halftone/source.cuh"
#include "cuda/loop_bound.cuh"

namespace framequality::cuda {
namespace {

using namespace halftone;

constexpr int kThreads = 256, kEach = 8;  // pixels of a thread
constexpr int kByteCodes = 256;
static_assert(kMaskSide / 2 % kEach == 0);

/// How a picture's codes lie.
enum class Pixels {
  kAny,
  kThrees,  ///< R, G and B are bytes of three in plane 0, in rows that begin at multiples of eight bytes
  kFours    ///< the same of four bytes, and of sixteen
};

Pixels pixels_of(const ColourJob& job) {
  const PictureLayout& l = job.layout;
  const int bytes = l.component[0].pixel_stride;
  if (!l.is_rgb || l.components != 3 || l.word_bytes != 1 || l.depth != 8 || l.shift != 0 || (bytes != 3 && bytes != 4))
    return Pixels::kAny;
  for (const PictureLayout::Component& c : l.component)
    if (c.plane != 0 || c.offset >= bytes || c.pixel_stride != bytes || c.x_shift != 0 || c.y_shift != 0)
      return Pixels::kAny;
  const int align = bytes == 3 ? 8 : 16;
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(job.frame.plane[0]) % align == 0 && job.frame.stride[0] % align == 0;
  return !is_aligned ? Pixels::kAny : bytes == 3 ? Pixels::kThrees : Pixels::kFours;
}

/// The pixels of a block, each in the lowest bytes of a word.
template <Pixels kPixels>
__device__ __forceinline__ void read_block(const std::uint8_t* row, int x0, unsigned (&pixel)[kEach]) {
  if constexpr (kPixels == Pixels::kFours) {
    const auto* const from = reinterpret_cast<const uint4*>(row + std::ptrdiff_t{4} * x0);
    const uint4 first = __ldg(from), second = __ldg(from + 1);
    const unsigned words[] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
    for (int i = 0; i < kEach; ++i) pixel[i] = words[i];
  } else {
    const auto* const from = reinterpret_cast<const uint2*>(row + std::ptrdiff_t{3} * x0);
    const uint2 pairs[] = {__ldg(from), __ldg(from + 1), __ldg(from + 2)};
    const unsigned words[] = {pairs[0].x, pairs[0].y, pairs[1].x, pairs[1].y, pairs[2].x, pairs[2].y, 0};
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      pixel[i] = __funnelshift_r(words[3 * i / 4], words[3 * i / 4 + 1], static_cast<unsigned>(3 * i % 4 * 8));
  }
}

struct Tones {
  int red, green, blue;
};

/// Of any layout. codes: the table without its output words.
__device__ __forceinline__ Tones tones_at(const ColourJob& job, const std::int32_t* codes, int y, int x) {
  const PictureLayout& l = job.layout;
  unsigned code[3] = {};
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    if (c >= l.components) continue;
    const PictureLayout::Component& at = l.component[c];
    const int row = component_row(y, job.height, job.fields, at.y_shift);
    code[c] = colour_code(l, job.frame.plane[at.plane] + row * job.frame.stride[at.plane] + at.offset +
                                 std::ptrdiff_t{x >> at.x_shift} * at.pixel_stride);
  }
  if (l.components == 1) {
    const int tone = codes[code[0]];
    return {tone, tone, tone};
  }
  if (!is_yuv(l)) return {codes[code[0]], codes[code[1]], codes[code[2]]};
  const int count = 1 << code_depth(l), luma = codes[code[0]];
  const std::int32_t *u = codes + count + 2 * code[1], *v = codes + 3 * count + 2 * code[2], *light = codes + 5 * count;
  return {light[tone_of_parts(luma + v[1])], light[tone_of_parts(luma + u[0] + v[0])],
          light[tone_of_parts(luma + u[1])]};
}

/// Writes a block of kEach words, kBits of each: as many bytes as a pixel has bits.
template <int kBits>
__device__ __forceinline__ void write_block(std::uint8_t* to, const unsigned (&word)[kEach], int count,
                                            bool is_aligned) {
  constexpr int kWords = (kBits + 3) / 4;
  unsigned all[kWords] = {};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if constexpr (kBits == 32) {
      all[i] = word[i];
    } else if constexpr (kBits == 24) {
      all[3 * i / 4] |= (word[i] & 0xffffff) << 3 * i % 4 * 8;
      if (i % 4 == 1 || i % 4 == 2) all[3 * i / 4 + 1] |= (word[i] & 0xffffff) >> (4 - 3 * i % 4) * 8;
    } else {
      constexpr int kPixels = 8 / kBits;  // of a byte, the first one highest
      all[0] |= word[i] << (i / kPixels * 8 + (kPixels - 1 - i % kPixels) * kBits);
    }
  }
  if (!is_aligned || count < kEach) {
    const int bytes = loop_bound(count * kBits + 7) / 8;
#pragma unroll
    for (int i = 0; i < kBits; ++i)
      if (i < bytes) to[i] = static_cast<std::uint8_t>(all[i / 4] >> i % 4 * 8);
  } else if constexpr (kBits == 1) {
    *to = static_cast<std::uint8_t>(all[0]);
  } else if constexpr (kBits == 2) {
    *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(all[0]);
  } else if constexpr (kBits == 4) {
    *reinterpret_cast<unsigned*>(to) = all[0];
  } else if constexpr (kBits == 24) {
#pragma unroll
    for (int i = 0; i < 3; ++i) reinterpret_cast<uint2*>(to)[i] = {all[2 * i], all[2 * i + 1]};
  } else {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      reinterpret_cast<uint4*>(to)[i] = {all[4 * i], all[4 * i + 1], all[4 * i + 2], all[4 * i + 3]};
  }
}

/// The mask's ranks of a block.
__device__ __forceinline__ uint4 ranks_at(const std::uint16_t* mask, int y, int x0) {
  return __ldg(reinterpret_cast<const uint4*>(mask + y % kMaskSide * kMaskSide + x0 % kMaskSide));
}

template <Pixels kPixels, int kBits>
__global__ void __launch_bounds__(kThreads) colour_noise(const __grid_constant__ ColourJob job, bool is_aligned) {
  // Output words, and tones where codes are bytes.
  constexpr int kShared = kMostColours + (kPixels == Pixels::kAny ? 0 : kByteCodes);
  __shared__ std::int32_t copy[kShared];
  for (int i = static_cast<int>(threadIdx.x); i < kShared; i += kThreads) copy[i] = job.table[i];
  __syncthreads();
  const int x0 = (static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x)) * kEach;
  if (x0 >= job.width) return;
  const int count = loop_bound(min(kEach, job.width - x0));
  for (int y = static_cast<int>(blockIdx.y); y < job.height; y += static_cast<int>(gridDim.y)) {
    const int masked = y / job.fields;  // each field has the mask from its own row 0 on
    const uint4 ranks = ranks_at(job.mask, masked, x0),
                away = ranks_at(job.mask, masked + kMaskSide / 2, x0 + kMaskSide / 2);
    const unsigned rank[] = {ranks.x, ranks.y, ranks.z, ranks.w}, other[] = {away.x, away.y, away.z, away.w};
    Tones tones[kEach] = {};
    if (kPixels != Pixels::kAny && count == kEach) {
      unsigned pixel[kEach];
      read_block<kPixels>(job.frame.plane[0] + y * job.frame.stride[0], x0, pixel);
      const auto tone = [&](unsigned p, int c) {
        return copy[kMostColours + (p >> 8 * job.layout.component[c].offset & 255)];
      };
#pragma unroll
      for (int i = 0; i < kEach; ++i) tones[i] = {tone(pixel[i], 0), tone(pixel[i], 1), tone(pixel[i], 2)};
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (i < count) tones[i] = tones_at(job, job.table + kMostColours, y, x0 + i);
    }
    uint2 mixture[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int rounding = rounding_of(static_cast<int>(other[i / 2] >> 16 * (i % 2) & 0xffff), job.strength);
      mixture[i] = __ldg(reinterpret_cast<const uint2*>(job.mixed) +
                         node_of(tones[i].red + rounding, tones[i].green + rounding, tones[i].blue + rounding));
    }
    unsigned word[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const auto threshold =
          static_cast<unsigned>(threshold_of(static_cast<int>(rank[i / 2] >> 16 * (i % 2) & 0xffff), job.strength));
      word[i] = i < count ? copy[mixed_colour(mixture[i].x, mixture[i].y, threshold)] : 0;
    }
    write_block<kBits>(job.out + y * job.out_stride + x0 / 8 * kBits, word, count, is_aligned);
  }
}

template <int kBits>
auto kernel_for(Pixels pixels) {
  switch (pixels) {
    case Pixels::kThrees:
      return colour_noise<Pixels::kThrees, kBits>;
    case Pixels::kFours:
      return colour_noise<Pixels::kFours, kBits>;
    case Pixels::kAny:
      break;
  }
  return colour_noise<Pixels::kAny, kBits>;
}

}  // namespace

void launch_colour_noise(const ColourJob& job, cudaStream_t stream) {
  const Pixels pixels = pixels_of(job);
  const auto kernel = job.pixel_bits == 1    ? kernel_for<1>(pixels)
                      : job.pixel_bits == 2  ? kernel_for<2>(pixels)
                      : job.pixel_bits == 4  ? kernel_for<4>(pixels)
                      : job.pixel_bits == 24 ? kernel_for<24>(pixels)
                                             : kernel_for<32>(pixels);
  constexpr int kAlign = 16;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(job.out) % kAlign == 0 && job.out_stride % kAlign == 0;
  kernel<<<blocks_of(job.width, job.height, kEach * kThreads), kThreads, 0, stream>>>(job, is_aligned);
  check(cudaGetLastError(), "colour_noise");
}

}  // namespace framequality::cuda
