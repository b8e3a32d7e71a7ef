// SPDX-License-Identifier: LGPL-2.1-or-later
// Other cuts and tunings of the tensor cores' denoising kernel.
#include "benchmarks/denoise_variants.h"
#include "cuda/denoise_tensor.cuh"

namespace framequality::variants {
namespace {

using namespace cuda::tile;
using cuda::check;
using cuda::DenoiseJob;

constexpr int kSearch = 10;

template <class Cut, class Tuning>
constexpr Kernel kKernel = filter<Cut, Tuning, 0>;

template <class Cut, class Tuning>
TensorDenoise variant(const char* name) {
  return {name, [](const DenoiseJob& job, cudaStream_t stream) { launch<Cut>(kKernel<Cut, Tuning>, job, stream); },
          reinterpret_cast<const void*>(kKernel<Cut, Tuning>), Cut::kThreads,
          Layout(Cut::kWidth, Cut::kHeight, kSearch).bytes()};
}

using Usual = Cut<8, 1, 2, 2>;

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
      variant<Usual, Tuning<>>("32x8 pixels, 2 blocks a warp (in use)"),
      variant<Usual, Tuning<0, 0, false>>("  first and last column apart"),
      variant<Usual, Tuning<kSearch>>("  radius known"),
      variant<Usual, Tuning<kSearch, 0, false>>("  radius known, columns apart"),
      variant<Usual, Tuning<0, 1>>("  1 exponential in 8 by polynomial"),
      variant<Usual, Tuning<0, 2>>("  2 in 8"),
      variant<Usual, Tuning<0, 1, false>>("  1 in 8, columns apart"),
      variant<Cut<8, 1, 2, 3>, Tuning<>>("  80 registers"),
      variant<Cut<10, 1, 2, 2>, Tuning<>>("40x8, 96 registers"),
      variant<Cut<4, 2, 2, 2>, Tuning<>>("16x16"),
      variant<Cut<8, 2, 2, 1>, Tuning<>>("32x16, 512 threads"),
      variant<Cut<4, 1, 2, 4>, Tuning<>>("16x8, 128 threads"),
      variant<Cut<8, 1, 1, 2>, Tuning<>>("32x4, 1 block a warp"),
      variant<Cut<8, 2, 1, 1>, Tuning<>>("32x8, 1 block a warp, 512 threads"),
      variant<Cut<8, 1, 4, 1>, Tuning<kSearch, 0, false>>("32x16, 4 blocks a warp, columns apart"),
      variant<Cut<8, 1, 4, 1>, Tuning<kSearch>>("32x16, 4 blocks a warp"),
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
