// SPDX-License-Identifier: LGPL-2.1-or-later
// What a halftoning kernel is launched with, and the kernels there are.
#pragma once

#include "algorithms/halftone/filter.h"
#include "algorithms/layout.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace framequality::cuda {

/// One frame. Everything that is pointed to is device memory.
struct HalftoneJob {
  Frame frame;
  PixelLayout layout;
  const std::int16_t* tones = nullptr;  ///< of all codes
  std::uint8_t* out = nullptr;          ///< grey codes, row 0
  std::ptrdiff_t out_stride = 0;        ///< bytes, may be negative
  int width = 0, height = 0;            ///< of all fields; not empty
  int fields = 1;                       ///< field f: rows y with y mod fields = f
  int levels = 2, strength = halftone::kFullStrength;

  FQ_HD int field_height(int field) const { return (height - field + fields - 1) / fields; }
};

/// What the strips of a Floyd-Steinberg frame hand each other. A word carries its frame's tag beside the errors of four
/// columns, so that whoever has read it knows whether it has been written: there is no counter to be kept in order with
/// it, and nothing to be cleared between frames.
struct Strips {
  unsigned long long* words = nullptr;  ///< floyd_steinberg_words() of them
  unsigned tag = 0;                     ///< 1...0xffff, that no word has from an earlier frame
  unsigned* ticket = nullptr;           ///< strips begun since it was zero; a launch adds floyd_steinberg_strips()
  unsigned first_ticket = 0;            ///< what it is before the launch, modulo 2^32
};
int floyd_steinberg_strips(const HalftoneJob& job);
std::size_t floyd_steinberg_words(const HalftoneJob& job);
/// One launch. Throws Error.
void launch_floyd_steinberg(const HalftoneJob& job, const Strips& strips, cudaStream_t stream);

/// What rows hand on when they are not in one warp: of each field two rows of sums.
struct Swaths {
  halftone::ToneTable table;
  std::uint32_t pattern[halftone::kPatternSide * halftone::kPatternSide / 32];
  std::int32_t* sums = nullptr;  ///< swath_words() of them
};
inline std::size_t swath_words(const HalftoneJob& job) {
  return std::size_t{2} * static_cast<std::size_t>(job.width) * static_cast<std::size_t>(job.fields);
}
/// The tone-dependent method. One launch. Throws Error.
void launch_tone_dependent(const HalftoneJob& job, const Swaths& swaths, cudaStream_t stream);

/// Blue noise. mask: ranks, on the device. One launch. Throws Error.
void launch_blue_noise(const HalftoneJob& job, const std::uint16_t* mask, cudaStream_t stream);

/// Packs rows of codes 0 and 255, which begin at multiples of 8 bytes and have whole 8 columns of room, into bits,
/// highest first. One launch. Throws Error.
void launch_pack(const std::uint8_t* codes, std::ptrdiff_t codes_stride, int width, int height, std::uint8_t* out,
                 std::ptrdiff_t out_stride, cudaStream_t stream);

}  // namespace framequality::cuda
