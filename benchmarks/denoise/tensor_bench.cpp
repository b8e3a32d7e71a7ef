// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel alone: other cuts and tunings beside the one in use, then other settings.
#include "algorithms/denoise/weight.h"
#include "benchmarks/denoise/limits.h"
#include "benchmarks/denoise/variants.h"
#include "benchmarks/support/picture.h"
#include "benchmarks/support/results.h"
#include "cuda/runtime.h"
#include "cuda/sharpness/meter.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace framequality;
using namespace framequality::bench;
using cuda::check;
using cuda::DenoiseJob;
using denoise::Settings;

namespace {

constexpr int kBuffers = 8;  // that take turns
using Launch = std::function<void(const DenoiseJob&, cudaStream_t)>;

class Bench {
 public:
  Bench(const Options& options, const cuda::Device& device)
      : seconds_(options.number("seconds")),
        results_(options.text("out"), machine_context("denoise_tensor_bench", device.name, options)) {
    rate_ = variants::exponential_rate();
    std::printf("%s: %.0f G exponentials/s\n", device.name.c_str(), rate_ * 1e-9);
  }

  void limits() {
    for (const variants::Limit& l : variants::instruction_limits()) {
      std::printf("cycles  %-50s %7.2f %7.2f with 2, 4 warps a scheduler\n", l.name, l.with_2, l.with_4);
      results_.add(Fields().add("group", "limits").add("name", l.name).add("with_2", l.with_2).add("with_4", l.with_4));
    }
    std::printf("clock %.3f GHz\n", variants::clock_rate());
  }

  void run(int width, int height) {
    width_ = width;
    height_ = height;
    bytes_ = make_picture(width, height);
    source_.clear();
    out_.clear();
    for (int i = 0; i < kBuffers; ++i) {
      source_.emplace_back().reserve(bytes_.size());
      out_.emplace_back().reserve(bytes_.size());
      check(cudaMemcpy(source_.back().get(), bytes_.data(), bytes_.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    Settings s;
    for (const variants::TensorDenoise& v : variants::tensor_denoise()) {
      cudaFuncAttributes a;
      int resident = 0;
      check(cudaFuncGetAttributes(&a, v.kernel), "cudaFuncGetAttributes");
      check(cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, v.shared_bytes),
            "cudaFuncSetAttribute");
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, v.kernel, v.threads,
                                                          static_cast<std::size_t>(v.shared_bytes)),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
      char note[80];
      std::snprintf(note, sizeof note, "%d registers, %d threads, %.1f KB, %d/SM", a.numRegs, v.threads,
                    v.shared_bytes / 1024.0, resident);
      report("variant", v.name, s, v.launch, note, 1, v.right);
    }
    const Launch usual = cuda::launch_tensor_denoise;
    const auto with = [&](const char* name, auto change, int frames = 1) {
      Settings changed;
      change(changed);
      report("settings", name, changed, usual, "", frames);
    };
    with("spatial", [](Settings& c) { c.spatial = 0.01; });
    with("sigma", [](Settings& c) { c.sigma = 3; });
    with("center max", [](Settings& c) { c.center = denoise::CenterWeight::kMax; });
    with("spatial, sigma, center max",
         [](Settings& c) { c.spatial = 0.01, c.sigma = 3, c.center = denoise::CenterWeight::kMax; });
    with("patch 3x3", [](Settings& c) { c.patch_radius = 1; });
    for (const int r : {4, 5, 6, 7, 8, 9, 11, 13, 16})
      with(("search radius " + std::to_string(r)).c_str(), [r](Settings& c) { c.search_radius = r; });
    const auto as_it_is = [](Settings&) {};
    with("3 frames", as_it_is, 3);
  }

 private:
  DenoiseJob job_of(const Settings& s, int buffer, int frames) const {
    DenoiseJob job;
    for (int i = 0; i < frames; ++i)
      job.source[i][0] = {source_[static_cast<std::size_t>((buffer + i) % kBuffers)].get(), width_};
    job.out[0] = {out_[static_cast<std::size_t>(buffer)].get(), width_};
    job.pixel_stride[0] = 1;
    job.frames = frames;
    job.center = frames / 2;
    job.width = width_;
    job.height = height_;
    job.patch_radius = s.patch_radius;
    job.search_radius = s.search_radius;
    job.center_weight = s.center;
    job.weights = denoise::weights_of(s, {1, {0}, s.range}, 8, s.sigma);
    return job;
  }

  void report(const char* group, const char* name, const Settings& s, const Launch& launch, const char* note,
              int frames = 1, bool right = true) {
    std::vector<DenoiseJob> jobs;
    for (int i = 0; i < kBuffers; ++i) jobs.push_back(job_of(s, i, frames));
    if (right) check_against_usual(jobs[0], launch, name);
    const auto time = [&](int repeats) {
      check(cudaEventRecord(start_.get()), "cudaEventRecord");
      for (int i = 0; i < repeats; ++i) launch(jobs[static_cast<std::size_t>(i % kBuffers)], nullptr);
      check(cudaEventRecord(stop_.get()), "cudaEventRecord");
      check(cudaEventSynchronize(stop_.get()), "cudaEventSynchronize");
      float ms;
      check(cudaEventElapsedTime(&ms, start_.get(), stop_.get()), "cudaEventElapsedTime");
      return static_cast<double>(ms) / repeats;
    };
    const double once = time(10);
    std::vector<double> all;
    for (int i = 0; i < 5; ++i) all.push_back(time(std::max(4, static_cast<int>(seconds_ * 1e3 / 5 / once))));
    const double clock = variants::clock_rate();
    const double ms = median(all), best = *std::min_element(all.begin(), all.end());
    const double side = 2 * s.search_radius + 1, pairs = side * side * frames * width_ * height_;
    std::printf("%4dx%-4d %-9s %-40s %8.4f ms (best %.4f) %6.0f G pairs/s  %.2f GHz  %s\n", width_, height_, group,
                name, ms, best, pairs / ms * 1e-6, clock, note);
    std::fflush(stdout);
    results_.add(Fields()
                     .add("size", std::to_string(width_) + "x" + std::to_string(height_))
                     .add("group", group)
                     .add("name", name)
                     .add("ms", ms)
                     .add("best_ms", best)
                     .add("clock_ghz", clock)
                     .add("exponential_floor_ms", pairs / rate_ * 1e3)
                     .add("note", note));
  }

  std::vector<std::uint8_t> filtered(const DenoiseJob& job, const Launch& launch) const {
    check(cudaMemset(job.out[0].data, 0, bytes_.size()), "cudaMemset");
    launch(job, nullptr);
    std::vector<std::uint8_t> codes(bytes_.size());
    check(cudaMemcpy(codes.data(), job.out[0].data, codes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return codes;
  }

  /// A benchmark of wrong numbers is worth nothing.
  void check_against_usual(const DenoiseJob& job, const Launch& launch, const char* name) const {
    const std::vector<std::uint8_t> expected = filtered(job, cuda::launch_tensor_denoise), got = filtered(job, launch);
    std::size_t apart = 0;
    int most = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      apart += got[i] != expected[i];
      most = std::max(most, std::abs(got[i] - expected[i]));
    }
    if (most > 1 || apart > got.size() / 5000)
      throw std::runtime_error(std::string(name) + ": " + std::to_string(apart) + " codes differ, by up to " +
                               std::to_string(most));
  }

  double seconds_;
  Results results_;
  double rate_ = 0;
  int width_ = 0, height_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::vector<cuda::DeviceMemory<std::uint8_t>> source_, out_;
  cuda::Event start_ = cuda::make_event(cudaEventDefault), stop_ = cuda::make_event(cudaEventDefault);
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        {{"sizes", "1920x1080,496x472", "of the pictures"},
                         {"seconds", "0.2", "for each row"},
                         {"limits", "1", "0: not those of instructions"}});
  const cuda::Device device = cuda::find_device();
  if (device.id < 0) {
    std::fprintf(stderr, "no GPU: %s\n", device.reason.c_str());
    return 77;
  }
  try {
    check(cudaSetDevice(device.id), "cudaSetDevice");
    Bench bench(options, device);
    if (options.number("limits") != 0) bench.limits();
    for (const std::string& size : options.list("sizes")) {
      int width = 0, height = 0;
      if (std::sscanf(size.c_str(), "%dx%d", &width, &height) != 2 || width < 1 || height < 1)
        throw std::runtime_error("--sizes takes sizes like 1920x1080, not '" + size + "'");
      bench.run(width, height);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
