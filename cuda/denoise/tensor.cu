// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of the jobs that the tensor cores denoise, and of the kernel for each.
#include "cuda/check.h"
#include "cuda/denoise/family.h"
#include "cuda/device.h"

#include <algorithm>

namespace framequality::cuda {
namespace {

using namespace tile;

unsigned features_of(const DenoiseJob& job) {
  return (job.weights.floor > 0 ? kFloor : 0) | (job.weights.spatial > 0 ? kSpatial : 0) |
         (job.center_weight == denoise::CenterWeight::kMax ? kMaxCenter : 0);
}

/// Largest shared memory of a block, bytes.
constexpr int shared_bytes(int capability) {
  const int kilobytes = capability < 80                         ? 64
                        : capability == 80 || capability == 87  ? 163
                        : capability >= 90 && capability <= 110 ? 227
                                                                : 99;
  return 1024 * kilobytes;
}

template <class... F>
constexpr bool fit(int capability) {
  return ((F::layout(denoise::Settings{}.search_radius).bytes() <= shared_bytes(capability)) && ...);
}
static_assert(fit<Gray, Chroma, Rgb, DeepGray, DeepChroma, DeepRgb>(86) && fit<DeepGray>(75), "the usual radius");

/// Calls take(Family) for the family that supports the job; otherwise false.
template <class F>
bool with_family(const DenoiseJob& job, int architecture, F take) {
  const PictureLayout& l = job.layout;
  if (l.depth == 8 && l.word_bytes == 1 && l.shift == 0 && architecture >= Bytes::kArchitecture)
    return job.count == 1 ? take(Gray{}) : job.count == 2 ? take(Chroma{}) : take(Rgb{});
  if (l.depth <= Halves::kMostBits)
    return job.count == 1 ? take(DeepGray{}) : job.count == 2 ? take(DeepChroma{}) : take(DeepRgb{});
  return false;
}

template <class Cut>
void launch(Kernel kernel, Layout layout, DenoiseJob job, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(layout.bytes());
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "cudaFuncSetAttribute");
  const auto count = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  const dim3 grid(count(job.width, Cut::kWidth), count(job.field_height(0), Cut::kHeight),
                  static_cast<unsigned>(job.fields));
  void* arguments[] = {&job, &layout};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, dim3(Cut::kThreads), arguments, bytes, stream),
        "cudaLaunchKernel");
}

}  // namespace

bool suits_tensor_denoise(const DenoiseJob& job, int capability) {
  // The kernel checks keeps() itself only if weights are estimated.
  if (!job.estimated && denoise::keeps(job.weights)) return false;
  const int architecture = architecture_on(capability);
  return with_family(job, architecture, [&](auto family) {
    using F = decltype(family);
    // Below the least radius, more than 1.6 exponentials would be computed for each that counts.
    return architecture >= F::kArchitecture && job.patch_radius <= kMaxPatch &&
           job.search_radius >= F::Cut::kLeastRadius && job.search_radius <= denoise::kMaxSearchRadius &&
           F::layout(job.search_radius).bytes() <= shared_bytes(capability);
  });
}

void launch_tensor_denoise(const DenoiseJob& given, int capability, cudaStream_t stream) {
  with_family(given, architecture_on(capability), [&](auto family) {
    using F = decltype(family);
    const Choice choice = F::choose(given.search_radius, features_of(given));
    DenoiseJob job = given;
    // Not exact: factors stay far below 2^127, and patches that differ at all weigh next to nothing anyway.
    job.weights.scale = 2 * (is_exact(choice.features) ? job.weights.scale : std::min(job.weights.scale, 32.0f));
    launch<typename F::Cut>(choice.kernel, F::layout(job.search_radius), job, stream);
    return true;
  });
}

}  // namespace framequality::cuda
