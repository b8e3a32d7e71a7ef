// SPDX-License-Identifier: LGPL-2.1-or-later
// Which jobs the tensor cores denoise, and with which kernel.
#include "cuda/denoise/tensor.cuh"

#include <type_traits>

namespace framequality::cuda {
namespace {

using namespace tile;

/// Compiled for by itself.
constexpr int kUsualRadius = denoise::Settings{}.search_radius;

/// A kernel, and what it can do. A job that does without a feature may have it, but for kMaxCenter.
struct Choice {
  Kernel kernel;
  unsigned features;
};

/// The kernels for one kind of samples and one number of planes.
template <class Samples_, int kPlanes_, class Cut_>
struct Family {
  using Samples = Samples_;
  using Cut = Cut_;
  static constexpr int kPlanes = kPlanes_;
  static constexpr Layout layout(int radius) { return layout_of<Samples, kPlanes, Cut>(radius); }
  template <int kRadius, unsigned kFeatures>
  static constexpr Choice kChoice{filter<Samples, kPlanes, Cut, kRadius, kFeatures>, kFeatures};
  static Choice choose(int radius, unsigned features) {
    if (radius == kUsualRadius && features == 0) return kChoice<kUsualRadius, 0>;
    if (radius == kUsualRadius && features == kFloor) return kChoice<kUsualRadius, kFloor>;
    if (features & kMaxCenter) return kChoice<0, kFloor | kSpatial | kMaxCenter>;
    if constexpr (std::is_same_v<Samples, Bytes> && kPlanes == 1) {
      if (features == 0) return kChoice<0, 0>;
      if (features == kFloor) return kChoice<0, kFloor>;
      if (features == kSpatial) return kChoice<0, kSpatial>;
    }
    return kChoice<0, kFloor | kSpatial>;
  }
};

// Registers enough that one step's products run while the step before becomes weights.
using Gray = Family<Bytes, 1, Cut<4, 2, 2, 2>>;
using BytesOfTwo = Family<Bytes, 2, Cut<3, 2, 2, 2>>;
using BytesOfThree = Family<Bytes, 3, Cut<4, 2, 2, 1>>;
using DeepGray = Family<Halves, 1, Cut<3, 2, 2, 2>>;
using HalvesOfTwo = Family<Halves, 2, Cut<4, 2, 2, 1>>;
using HalvesOfThree = Family<Halves, 3, Cut<4, 2, 2, 1>>;

/// The newest architecture, as in __CUDA_ARCH__, that was compiled for and that a device runs: it takes that one.
constexpr int architecture_on(int capability) {
  int newest = 0;
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture <= 10 * capability && architecture > newest) newest = architecture;
  return newest;
}

/// Bytes of shared memory that a block may have.
constexpr int shared_bytes(int capability) {
  const int kilobytes = capability < 80                         ? 64
                        : capability == 80 || capability == 87  ? 163
                        : capability >= 90 && capability <= 110 ? 227
                                                                : 99;
  return 1024 * kilobytes;
}

/// Calls take(Family) for the one whose job it is; otherwise false.
template <class F>
bool with_family(const DenoiseJob& job, int architecture, F take) {
  const PictureLayout& l = job.layout;
  if (l.depth == 8 && l.word_bytes == 1 && l.shift == 0 && architecture >= Bytes::kArchitecture)
    return job.count == 1 ? take(Gray{}) : job.count == 2 ? take(BytesOfTwo{}) : take(BytesOfThree{});
  if (l.depth <= Halves::kMostBits && architecture >= Halves::kArchitecture)
    return job.count == 1 ? take(DeepGray{}) : job.count == 2 ? take(HalvesOfTwo{}) : take(HalvesOfThree{});
  return false;
}

}  // namespace

bool suits_tensor_denoise(const DenoiseJob& job, int capability) {
  return with_family(job, architecture_on(capability), [&](auto family) {
    using F = decltype(family);
    // Below the least radius more than 1.6 exponentials would be made for each that counts.
    return job.patch_radius <= kMaxPatch && job.search_radius >= F::Cut::kLeastRadius &&
           job.search_radius <= denoise::kMaxSearchRadius &&
           F::layout(job.search_radius).bytes() <= shared_bytes(capability);
  });
}

void launch_tensor_denoise(const DenoiseJob& job, int capability, cudaStream_t stream) {
  with_family(job, architecture_on(capability), [&](auto family) {
    using F = decltype(family);
    const Choice choice = F::choose(job.search_radius, features_of(job));
    launch<typename F::Cut>(choice.kernel, F::layout(job.search_radius), is_exact(choice.features), job, stream);
    return true;
  });
}

}  // namespace framequality::cuda
