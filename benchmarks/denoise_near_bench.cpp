// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels for small windows and patches against each other and the one for any window: results, then times.
#include "benchmarks/picture.h"
#include "benchmarks/results.h"
#include "cuda/backend.h"
#include "cuda/bench.h"
#include "cuda/denoise_near.h"
#include "cuda/device_denoiser.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

using namespace framequality;
using namespace framequality::bench;
using denoise::Settings;

namespace {

using Clock = std::chrono::steady_clock;

struct Case {
  const char* name;
  int planes, reach;
  double sigma;
};

/// Codes and unrounded values of one pass.
struct Result {
  std::vector<std::uint8_t> codes;
  std::vector<float> values;
};

class Bench {
 public:
  Bench(int id, double seconds) : id_(id), seconds_(seconds) {}

  void run(int width, int height, const Case& c, bool is_timed) {
    PictureGeometry g{width, height, {}};
    if (c.planes == 3) {
      g.layout.components = 3;
      g.layout.is_rgb = true;
      for (std::uint8_t i = 0; i < 3; ++i) g.layout.component[i] = {0, i, 3, 0, 0};
    }
    Settings s;
    s.patch_radius = 1;
    s.search_radius = c.reach;
    s.range = s.range_chroma = 2 * 20 * 20;
    s.spatial = 1.0 / (2 * 10 * 10);
    s.sigma = c.sigma;
    const std::vector<std::uint8_t> gray = make_picture(width, height);
    std::vector<std::uint8_t> bytes(gray.size() * static_cast<std::size_t>(c.planes));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::uint8_t v = gray[i / static_cast<std::size_t>(c.planes)];
      bytes[i] = i % static_cast<std::size_t>(c.planes) == 2 ? static_cast<std::uint8_t>(255 - v) : v;
    }
    cuda::near_choice = -2;
    const Result expected = filter(g, s, bytes);
    std::printf("%dx%d %s\n", width, height, c.name);
    if (is_timed) std::printf("  %-34s %9.4f ms\n", "kernel for any window", time(g, s, bytes));
    const auto kernels = cuda::near_kernels();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const cuda::NearKernel& k = kernels[i];
      if (k.planes != c.planes || k.reach != c.reach || k.has_floor != (c.sigma > 0)) continue;
      cuda::near_choice = static_cast<int>(i);
      compare(k.name, expected, filter(g, s, bytes));
      if (!is_timed) continue;
      cudaFuncAttributes a{};
      int blocks = 0;
      (void)cudaFuncGetAttributes(&a, k.function);
      (void)cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k.function, 128, 0);
      const int grid = (width + 119) / 120 * ((height + 4 * k.rows - 1) / (4 * k.rows));
      std::printf("  %-34s %9.4f ms  %3d registers, %3zu bytes local, %d blocks on an SM, %.2f waves\n", k.name,
                  time(g, s, bytes), a.numRegs, a.localSizeBytes, blocks, grid / (132.0 * blocks));
    }
    cuda::near_choice = -1;
    compare("as chosen", expected, filter(g, s, bytes));
    if (is_timed) std::printf("  %-34s %9.4f ms\n", "as chosen", time(g, s, bytes));
    std::fflush(stdout);
  }

  int failures() const { return failures_; }

 private:
  Frame frame(const PictureGeometry& g, const std::uint8_t* data) const {
    Frame f;
    f.on_device = true;
    f.plane[0] = data;
    f.stride[0] = static_cast<std::ptrdiff_t>(g.row_bytes(0));
    return f;
  }
  Canvas canvas(const PictureGeometry& g, std::uint8_t* data) const {
    Canvas c;
    c.on_device = true;
    c.plane[0] = data;
    c.stride[0] = static_cast<std::ptrdiff_t>(g.row_bytes(0));
    return c;
  }

  Result filter(const PictureGeometry& g, const Settings& s, const std::vector<std::uint8_t>& bytes) {
    const cuda::DeviceBytes in(bytes, id_);
    cuda::DeviceBytes out(std::vector<std::uint8_t>(bytes.size()), id_);
    cuda::DeviceBytes floats(std::vector<std::uint8_t>(bytes.size() * sizeof(float)), id_);
    cuda::DeviceDenoiser denoiser(g, id_, 1, false);
    Canvas c = canvas(g, out.data());
    const std::size_t plane = static_cast<std::size_t>(g.width) * static_cast<std::size_t>(g.height);
    for (int k = 0; k < g.layout.components; ++k)
      c.unrounded[k] = reinterpret_cast<float*>(floats.data()) + plane * static_cast<std::size_t>(k);
    const denoise::Source source{frame(g, in.data()), 0};
    denoiser.submit({&source, 1}, 0, c, s, 1);
    denoiser.collect();
    Result r{std::vector<std::uint8_t>(bytes.size()), std::vector<float>(bytes.size())};
    out.read(r.codes);
    std::vector<std::uint8_t> raw(bytes.size() * sizeof(float));
    floats.read(raw);
    std::copy_n(reinterpret_cast<const float*>(raw.data()), r.values.size(), r.values.begin());
    return r;
  }

  void compare(const char* name, const Result& expected, const Result& got) {
    double largest = 0;
    std::size_t codes = 0, far = 0;
    for (std::size_t i = 0; i < got.codes.size(); ++i) {
      const double d = std::abs(static_cast<double>(got.values[i]) - static_cast<double>(expected.values[i]));
      largest = std::isnan(d) ? 1e9 : std::max(largest, d);
      const int difference = std::abs(got.codes[i] - expected.codes[i]);
      codes += difference != 0;
      far += difference > 1;
    }
    const bool is_wrong = largest > denoise::kTolerance || far > 0 || codes > 1 + got.codes.size() / 10000;
    failures_ += is_wrong;
    if (is_wrong)
      std::printf("  WRONG %s: values differ by up to %g, %zu of %zu codes differ, %zu by more than 1\n", name, largest,
                  codes, got.codes.size(), far);
  }

  double time(const PictureGeometry& g, const Settings& s, const std::vector<std::uint8_t>& bytes) {
    const cuda::DeviceBytes in(bytes, id_);
    cuda::DeviceBytes out(bytes, id_);
    cuda::DeviceDenoiser denoiser(g, id_, 1, false);
    const denoise::Source source{frame(g, in.data()), 0};
    const Canvas c = canvas(g, out.data());
    denoiser.time_kernels({&source, 1}, 0, c, s, 20);
    std::vector<double> times;
    const auto start = Clock::now();
    while (times.size() < 5 || std::chrono::duration<double>(Clock::now() - start).count() < seconds_)
      times.push_back(denoiser.time_kernels({&source, 1}, 0, c, s, 20));
    return median(times) * 1e3;
  }

  int id_;
  double seconds_;
  int failures_ = 0;
};

}  // namespace

int main() {
  const cuda::Device device = cuda::find_device();
  if (device.id < 0) {
    std::fprintf(stderr, "no GPU: %s\n", device.reason.c_str());
    return 77;
  }
  try {
    Bench bench(device.id, 0.1);
    const Case cases[] = {{"gray, window 7x7", 1, 3, 0},
                          {"gray, window 7x7, sigma 10", 1, 3, 10},
                          {"gray, window 5x5", 1, 2, 0},
                          {"RGB, window 7x7", 3, 3, 0}};
    for (const Case& c : cases)
      for (const auto& [width, height] : {std::pair{131, 35}, {1, 1}, {3, 50}, {260, 1}, {121, 64}})
        bench.run(width, height, c, false);
    if (bench.failures() > 0) std::printf("%d comparisons failed\n", bench.failures());
    for (const auto& [width, height] : {std::pair{1920, 1080}, {496, 472}, {1280, 720}, {3840, 2160}, {64, 16}})
      for (const Case& c : cases) bench.run(width, height, c, true);
    std::printf("%d comparisons failed\n", bench.failures());
    return bench.failures() > 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
