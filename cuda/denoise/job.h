// SPDX-License-Identifier: LGPL-2.1-or-later
// Parameters of a denoising launch, and the functions that launch.
#pragma once

#include "algorithms/denoise/weight.h"
#include "algorithms/picture.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace framequality::cuda {

inline constexpr int kMaxWindow = 2 * denoise::kMaxTemporalRadius + 1;

/// One pass over one frame. All pointers are to device memory. Plane k is the pass's component k.
struct DenoiseJob {
  struct Plane {
    std::uint8_t* data = nullptr;  ///< of sample (0, 0) of field 0
    std::ptrdiff_t stride = 0;     ///< bytes from row to row of the frame; may be negative
  };
  Plane source[kMaxWindow][3];  ///< only read
  Plane out[3];
  float* unrounded[3] = {};    ///< see Canvas
  int pixel_stride[3] = {};    ///< bytes; the same in sources and out
  PictureLayout layout;        ///< for the words: depth, word_bytes, big_endian, shift
  int frames = 1, center = 0;  ///< of the window
  int count = 1;               ///< planes, 1...3
  int width = 0, height = 0;   ///< of a plane, all fields
  int fields = 1;              ///< field f: rows y with y mod fields = f
  int patch_radius = 0, search_radius = 0;
  denoise::Border border = denoise::Border::kSymmetric;
  denoise::CenterWeight center_weight = denoise::CenterWeight::kOne;
  denoise::Weights weights;
  /// Per field, in device memory; null: `weights` apply to all. Otherwise only the zeros of `weights` matter.
  const denoise::Weights* estimated = nullptr;

  FQ_HD int field_height(int field) const { return (height - field + fields - 1) / fields; }
};

/// Number of blocks that launch_noise() needs.
inline std::size_t noise_blocks(const DenoiseJob& job) {
  return static_cast<std::size_t>(job.fields) * static_cast<std::size_t>(job.count) *
         static_cast<std::size_t>(denoise::NoiseGrid(job.width, job.field_height(0)).count());
}
/// Estimates the noise of each field of the frame and computes its weights. blocks: noise_blocks(), in an order
/// private to the kernels. Two launches. Throws Error.
void launch_noise(const DenoiseJob& job, const denoise::WeightRule& rule, denoise::NoiseBlock* blocks,
                  denoise::Weights* weights, cudaStream_t stream);

/// Filters any job. One launch. Throws Error.
void launch_denoise(const DenoiseJob& job, cudaStream_t stream);

/// Whether the device (compute capability 10 * major + minor) and the tensor cores' kernel support this job.
bool suits_tensor_denoise(const DenoiseJob& job, int capability);
/// Filters a supported job: samples of up to 10 bits, distances by matrix products. One launch. Throws Error.
void launch_tensor_denoise(const DenoiseJob& job, int capability, cudaStream_t stream);

}  // namespace framequality::cuda
