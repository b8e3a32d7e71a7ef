// SPDX-License-Identifier: LGPL-2.1-or-later
// Mean squared Sobel gradient by NVIDIA's Performance Primitives: two filters to 16-bit planes, two L2 norms. Built and
// run by npp.py. usage: npp WIDTH HEIGHT PASSES; prints microseconds a frame (median of the passes over frames of more
// bytes together than the L2 cache holds), its score and the definition's.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>
#include <vector>

namespace {

void check(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "npp: %s failed\n", what);
  std::exit(1);
}

NppStreamContext context_on(cudaStream_t stream) {
  NppStreamContext c = {};
  cudaDeviceProp p;
  check(cudaGetDevice(&c.nCudaDeviceId) == cudaSuccess && cudaGetDeviceProperties(&p, c.nCudaDeviceId) == cudaSuccess,
        "cudaGetDeviceProperties");
  c.hStream = stream;
  c.nMultiProcessorCount = p.multiProcessorCount;
  c.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  c.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
  c.nSharedMemPerBlock = p.sharedMemPerBlock;
  c.nCudaDevAttrComputeCapabilityMajor = p.major;
  c.nCudaDevAttrComputeCapabilityMinor = p.minor;
  return c;
}

/// The definition on the CPU, over the interior.
double expected(const std::vector<std::uint8_t>& g, int w, int h) {
  double sum = 0;
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      const auto at = [&](int dx, int dy) {
        return static_cast<int>(
            g[static_cast<std::size_t>(y + dy) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x + dx)]);
      };
      const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
      const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
      sum += gx * gx + gy * gy;
    }
  return sum / w / h;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int w = std::atoi(argv[1]), h = std::atoi(argv[2]), passes = std::atoi(argv[3]);
  const std::size_t bytes = static_cast<std::size_t>(w) * static_cast<std::size_t>(h);
  const std::size_t frames = std::max<std::size_t>(2, (std::size_t{128} << 20) / bytes);
  std::vector<std::uint8_t> picture(bytes);
  std::uint32_t random = 1;
  for (std::uint8_t& v : picture) random = random * 1664525u + 1013904223u, v = static_cast<std::uint8_t>(random >> 24);
  std::vector<Npp8u*> in(frames);
  for (Npp8u*& p : in)
    check(cudaMalloc(&p, bytes) == cudaSuccess &&
              cudaMemcpy(p, picture.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess,
          "cudaMalloc");
  cudaStream_t stream;
  check(cudaStreamCreate(&stream) == cudaSuccess, "cudaStreamCreate");
  const NppStreamContext ctx = context_on(stream);
  const NppiSize whole{w, h}, inner{w - 2, h - 2};
  Npp16s* gradient[2];
  Npp64f* norms;
  std::size_t scratch_bytes = 0;
  check(nppiNormL2GetBufferHostSize_16s_C1R_Ctx(inner, &scratch_bytes, ctx) == NPP_SUCCESS, "buffer size");
  Npp8u* scratch;
  check(cudaMalloc(&gradient[0], 2 * bytes) == cudaSuccess && cudaMalloc(&gradient[1], 2 * bytes) == cudaSuccess &&
            cudaMalloc(&norms, 2 * sizeof *norms) == cudaSuccess && cudaMalloc(&scratch, scratch_bytes) == cudaSuccess,
        "cudaMalloc");
  const auto measure = [&](const Npp8u* frame) {
    const Npp8u* from = frame + w + 1;
    check(nppiFilterSobelHorizBorder_8u16s_C1R_Ctx(from, w, whole, {1, 1}, gradient[0], 2 * w, inner,
                                                   NPP_MASK_SIZE_3_X_3, NPP_BORDER_REPLICATE, ctx) == NPP_SUCCESS &&
              nppiFilterSobelVertBorder_8u16s_C1R_Ctx(from, w, whole, {1, 1}, gradient[1], 2 * w, inner,
                                                      NPP_MASK_SIZE_3_X_3, NPP_BORDER_REPLICATE, ctx) == NPP_SUCCESS,
          "Sobel");
    for (int i = 0; i < 2; ++i)
      check(nppiNorm_L2_16s_C1R_Ctx(gradient[i], 2 * w, inner, norms + i, scratch, ctx) == NPP_SUCCESS, "norm");
  };
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess, "cudaEventCreate");
  std::vector<float> times;
  for (int pass = 0; pass <= passes; ++pass) {
    cudaEventRecord(begin, stream);
    for (const Npp8u* frame : in) measure(frame);
    cudaEventRecord(end, stream);
    check(cudaEventSynchronize(end) == cudaSuccess, "kernels");
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (pass > 0) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  double norm[2];
  check(cudaMemcpy(norm, norms, sizeof norm, cudaMemcpyDeviceToHost) == cudaSuccess, "cudaMemcpy");
  std::printf("%.3f %.12g %.12g\n", 1e3 * times[times.size() / 2] / static_cast<double>(frames),
              (norm[0] * norm[0] + norm[1] * norm[1]) / w / h, expected(picture, w, h));
}
