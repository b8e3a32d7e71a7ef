// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernels by sample type, number of planes and shape of a thread block.
#pragma once

#include "cuda/denoise/job.h"
#include "cuda/denoise/lanes.h"

namespace framequality::cuda::tile {

/// Features of a kernel besides weights from distances alone.
inline constexpr unsigned kFloor = 1, kSpatial = 2, kMaxCenter = 4;

/// Whether weights must be exact. Otherwise all weights of a pixel may be too large by one factor, which
/// cancels in its mean.
constexpr bool is_exact(unsigned features) { return (features & (kFloor | kMaxCenter)) != 0; }

/// Whether weights are limited to 1 by the multiplication by a factor for the rounding, not by their exponents.
constexpr bool saturates(unsigned features) { return features == kFloor; }

using Kernel = void (*)(DenoiseJob, Layout);

/// A kernel and its features. Unused features are allowed, except kMaxCenter.
struct Choice {
  Kernel kernel;
  unsigned features;
};

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

/// The kernels for one kind of samples and one number of planes.
template <class Samples, int kPlanes, class Cut_>
struct Family {
  using Cut = Cut_;
  /// The first supported one, as in __CUDA_ARCH__. Turing has no room for several planes' blocks at the usual radius.
  static constexpr int kArchitecture = kPlanes > 1 && Samples::kArchitecture < 800 ? 800 : Samples::kArchitecture;
  static constexpr Layout layout(int radius) { return Layout::of<Samples>(Cut::kWidth, Cut::kHeight, radius, kPlanes); }
  /// Defined in tensor.cuh, compiled in one file per family: they take nvcc long.
  static Choice choose(int radius, unsigned features);
};

// Enough registers for one step's products to run while the previous step becomes weights; of cuts with about
// equal speed, one that leaves a multiprocessor eight warps where it has 100 KB of shared memory.
using Gray = Family<Bytes, 1, Cut<4, 2, 2, 2>>;
using Chroma = Family<Bytes, 2, Cut<4, 2, 2, 2>>;
using Rgb = Family<Bytes, 3, Cut<4, 3, 2, 1>>;
using DeepGray = Family<Halves, 1, Cut<4, 2, 2, 2>>;
using DeepChroma = Family<Halves, 2, Cut<4, 2, 2, 1>>;
using DeepRgb = Family<Halves, 3, Cut<4, 2, 2, 1>>;

}  // namespace framequality::cuda::tile
