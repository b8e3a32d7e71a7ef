// SPDX-License-Identifier: LGPL-2.1-or-later
// Other cuts and tunings of the tensor cores' denoising kernel.
#include "benchmarks/denoise/variants.h"
#include "cuda/denoise/tensor.cuh"

namespace framequality::variants {
namespace {

using namespace cuda::tile;
using cuda::check;
using cuda::DenoiseJob;

constexpr int kSearch = 10;

template <class Cut, class Tuning>
constexpr Kernel kKernel = filter<Cut, Tuning, 0>;

template <class Cut, class Tuning>
TensorDenoise variant(const char* name, bool right = true) {
  return {name,
          [](const DenoiseJob& job, cudaStream_t stream) { launch<Cut>(kKernel<Cut, Tuning>, job, stream); },
          reinterpret_cast<const void*>(kKernel<Cut, Tuning>),
          Cut::kThreads,
          Layout(Cut::kWidth, Cut::kHeight, kSearch).bytes(),
          right};
}

using Usual = Cut<4, 2, 2, 2>;
using Known = Tuning<kSearch>;

// What is left without one part or another; pictures are wrong.
struct NoFill : Known {
  static constexpr bool kFill = false;
};
struct NoExponentials : Known {
  static __device__ __forceinline__ float exponential(float x) { return x; }
};
struct NoProducts : Known {
  static __device__ __forceinline__ void product(int (&d)[4], const std::uint32_t (&a)[4], uint2 b, const int (&c)[4]) {
    d[0] = c[0] ^ static_cast<int>(b.x ^ a[0]);
    d[1] = c[1];
    d[2] = c[2];
    d[3] = c[3] ^ static_cast<int>(b.y ^ a[3]);
  }
};
struct NoLoads : Known {
  static __device__ __forceinline__ uint2 load(const uint2* from) {
    const auto at = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from));
    return make_uint2(at, at);
  }
  static __device__ __forceinline__ int4 load(const int4* from) {
    const auto at = static_cast<int>(reinterpret_cast<std::uintptr_t>(from));
    return make_int4(at, at, at, at);
  }
  static __device__ __forceinline__ float4 load(const float4* from) {
    const auto at = __int_as_float(static_cast<int>(reinterpret_cast<std::uintptr_t>(from)));
    return make_float4(at, at, at, at);
  }
};
struct NoProductsOrExponentials : NoProducts {
  static __device__ __forceinline__ float exponential(float x) { return x; }
};

// Chains enough for their latency; ended by a store that never happens.
__global__ void __launch_bounds__(256) exponentials(float* out, int repeats) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = -1e-3f * static_cast<float>(threadIdx.x + i);
  for (int r = 0; r < repeats; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = exp2_of(x[i]);
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum < 0) *out = sum;
}

}  // namespace

std::span<const TensorDenoise> tensor_denoise() {
  static const TensorDenoise all[] = {
      variant<Usual, Known>("16x16 pixels, 2 blocks a warp (in use)"),
      variant<Usual, Tuning<>>("  radius not known"),
      variant<Cut<8, 1, 2, 3>, Known>("  80 registers"),
      variant<Cut<6, 1, 2, 3>, Known>("24x8, 112 registers"),
      variant<Cut<10, 1, 2, 2>, Known>("40x8, 96 registers"),
      variant<Cut<8, 1, 2, 2>, Known>("32x8"),
      variant<Cut<5, 2, 2, 2>, Known>("20x16, 96 registers"),
      variant<Cut<8, 2, 2, 1>, Known>("32x16, 512 threads"),
      variant<Cut<4, 1, 2, 4>, Known>("16x8, 128 threads"),
      variant<Cut<4, 1, 2, 5>, Known>("16x8, 96 registers"),
      variant<Cut<8, 1, 4, 1>, Known>("32x16, 4 blocks a warp"),
      variant<Usual, NoFill>("in use, no fill (wrong)", false),
      variant<Usual, NoLoads>("in use, no loads (wrong)", false),
      variant<Usual, NoProducts>("in use, no products (wrong)", false),
      variant<Usual, NoExponentials>("in use, no exponentials (wrong)", false),
      variant<Usual, NoProductsOrExponentials>("in use, neither (wrong)", false),
  };
  return all;
}

double exponential_rate() {
  constexpr int kRepeats = 20000, kBlocks = 132 * 8;
  cuda::DeviceMemory<float> out;
  out.reserve(1);
  const cuda::Event start = cuda::make_event(cudaEventDefault), stop = cuda::make_event(cudaEventDefault);
  exponentials<<<kBlocks, 256>>>(out.get(), kRepeats);
  check(cudaEventRecord(start.get()), "cudaEventRecord");
  exponentials<<<kBlocks, 256>>>(out.get(), kRepeats);
  check(cudaGetLastError(), "a kernel's launch");
  check(cudaEventRecord(stop.get()), "cudaEventRecord");
  check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float ms;
  check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
  return 8.0 * kRepeats * kBlocks * 256 / (ms * 1e-3);
}

}  // namespace framequality::variants
