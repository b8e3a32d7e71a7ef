// SPDX-License-Identifier: LGPL-2.1-or-later
// Which jobs the tensor cores denoise, and with which kernel.
#include "cuda/denoise/tensor.cuh"

namespace framequality::cuda {
namespace {

using namespace tile;

// 128 registers a thread: enough that one step's products run while the step before becomes weights.
using Usual = Cut<4, 2, 2, 2>;

/// Compiled for by itself.
constexpr int kUsualRadius = denoise::Settings{}.search_radius;

template <unsigned kFeatures>
constexpr Kernel kKernel = filter<Usual, 0, kFeatures>;
constexpr Kernel kKernels[] = {kKernel<0>, kKernel<1>, kKernel<2>, kKernel<3>,
                               kKernel<4>, kKernel<5>, kKernel<6>, kKernel<7>};

/// Whether a device runs code that was compiled for an architecture with such matrix products: it takes the newest
/// that it can.
constexpr bool has_products(int capability) {
  int newest = 0;
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture <= 10 * capability && architecture > newest) newest = architecture;
  return newest >= 800;
}

}  // namespace

bool suits_tensor_denoise(const DenoiseJob& job, int capability) {
  // Below the least radius more than 1.6 exponentials would be made for each that counts.
  return has_products(capability) && job.count == 1 && job.layout.depth == 8 && job.layout.word_bytes == 1 &&
         job.layout.shift == 0 && job.patch_radius <= kMaxPatch && job.search_radius >= Usual::kLeastRadius &&
         job.search_radius <= denoise::kMaxSearchRadius;
}

void launch_tensor_denoise(const DenoiseJob& job, cudaStream_t stream) {
  const unsigned features = features_of(job);
  Kernel kernel = kKernels[features];
  if (job.search_radius == kUsualRadius) {
    if (features == 0) kernel = filter<Usual, kUsualRadius, 0>;
    if (features == kFloor) kernel = filter<Usual, kUsualRadius, kFloor>;
  }
  launch<Usual>(kernel, job, stream);
}

}  // namespace framequality::cuda
