// SPDX-License-Identifier: LGPL-2.1-or-later
// Times an OpenCL device: kernels alone, and whole frames from host memory. On an NVIDIA GPU, also times CUDA in the
// same run.
#include "benchmarks/support/picture.h"
#include "benchmarks/support/results.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "device/backend.h"
#include "device/error.h"
#include "device/pinned.h"
#include "opencl/denoise/device_filter.h"
#include "opencl/halftone/device_filter.h"
#include "opencl/sharpness/device_meter.h"
#include "tests/support/device.h"
#include "tests/support/device_twins.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace framequality;
using namespace framequality::sharpness;
using namespace framequality::bench;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRuns = 7;
constexpr Size kLarge = {"8192x8192", 8192, 8192};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Bench {
 public:
  Bench(const Options& options, const Device& device)
      : context_(opencl::Context::of(device.id)),
        results_(options.text("out"), machine_context("opencl_bench", device.name, options)),
        seconds_(options.number("seconds")) {
    if (!context_->device().is_software) cuda_ = cuda::find_device().id;
  }

  void run() {
    for (const char* const metric : {"tenengrad", "laplacian-variance", "directional-frequency", "entropy"})
      for (const Size& size : {k1080p, kLarge})
        for (const Prefilter prefilter : {Prefilter::kNone, Prefilter::kBinomial5}) kernel(metric, size, prefilter);
    for (const bool is_pinned : {true, false})
      for (const int in_flight : {1, 2, 4}) frames(is_pinned, in_flight);
    // As in denoise/cuda_bench.cpp.
    filter("nlmeans 21x21/7x7", {});
    denoise::Settings bilateral;
    bilateral.patch_radius = 1;
    bilateral.search_radius = 3;
    bilateral.range = 2 * 20 * 20;
    bilateral.spatial = 1.0 / (2 * 10 * 10);
    filter("patchbilateral 7x7/3x3", bilateral);
    for (const halftone::Method method : {halftone::Method::kFloydSteinberg, halftone::Method::kBlueNoise})
      halftone(method);
  }

 private:
  /// Median of several means, each of as many repetitions as take some time.
  template <class F>
  double timed(F&& mean_of) const {
    double one = mean_of(1);
    one = mean_of(2);
    const int count = std::clamp(static_cast<int>(seconds_ / std::max(one, 1e-7)), 2, 2000);
    std::vector<double> means;
    for (int i = 0; i < kRuns; ++i) means.push_back(mean_of(count));
    return median(means);
  }
  void add(Fields row, double opencl, std::optional<double> cuda, double unit) {
    row.add("opencl", opencl * unit);
    if (cuda) row.add("cuda", *cuda * unit);
    std::string text;
    for (const auto& [name, value] : row.items())
      std::visit(
          [&](const auto& v) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, std::string>)
              text += v + "  ";
            else
              text += name + " " + std::to_string(v) + "  ";
          },
          value);
    std::puts(text.c_str());
    std::fflush(stdout);
    results_.add(std::move(row));
  }

  static Geometry gray(const Size& size) { return {size.width, size.height, {}}; }

  void kernel(const char* name, const Size& size, Prefilter prefilter) {
    const Geometry geometry = gray(size);
    const std::vector<std::uint8_t> pixels = make_picture(size.width, size.height);
    Request request;
    for (int i = 0; i < kMetricCount; ++i)
      if (metric_info(i).name == std::string(name)) request.metric = i;
    request.prefilter = prefilter;
    const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
    Frame frame;
    frame.plane[0] = pixels.data();
    frame.stride[0] = size.width;
    opencl::DeviceMeter meter(geometry, context_, 1, opencl::shape_for(context_->device()));
    const double opencl = timed([&](int count) { return meter.time_kernels({frame, plan}, count); });
    std::optional<double> cuda;
    if (cuda_ >= 0) {
      // Of more bytes together than a cache holds, as frames that come from elsewhere.
      std::vector<cuda::DeviceBytes> copies;
      std::vector<Frame> frames;
      const int count = size.width > 4096 ? 2 : 64;
      for (int i = 0; i < count; ++i) {
        copies.emplace_back(pixels, cuda_);
        frames.push_back(frame);
        frames.back().plane[0] = copies.back().data();
        frames.back().memory = Memory::kCuda;
      }
      const auto twin = cuda::make_meter(geometry, cuda_);
      cuda =
          timed([&](int repeats) { return cuda::kernel_seconds(*twin, frames, plan, std::max(repeats / count, 1)); });
    }
    add(Fields()
            .add("kind", "kernel")
            .add("what", name)
            .add("size", size.name)
            .add("prefilter", prefilter == Prefilter::kNone ? "none" : "binomial5"),
        opencl, cuda, 1e6);
  }

  /// Time from one result to the next, frames of 1080p from host memory.
  double frame_seconds(const Backend& backend, int id, bool is_pinned, int in_flight) const {
    constexpr int kFrames = 4;
    const Geometry geometry = gray(k1080p);
    const std::vector<std::uint8_t> pixels = make_picture(geometry.width, geometry.height);
    const Place place = is_pinned ? Place{&backend, id} : cpu_place();
    std::vector<std::unique_ptr<PinnedBytes>> memory;
    for (int i = 0; i < kFrames; ++i) {
      memory.push_back(std::make_unique<PinnedBytes>(pixels.size(), place));
      std::memcpy(memory.back()->data(), pixels.data(), pixels.size());
    }
    const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
    const auto meter = backend.sharpness(geometry, {id, in_flight, 0});
    return timed([&](int count) {
      const auto begin = Clock::now();
      for (int i = 0; i < count + in_flight; ++i) {
        if (i >= in_flight) meter->collect();
        if (i >= count) continue;
        Frame frame;
        frame.plane[0] = static_cast<const std::uint8_t*>(memory[static_cast<std::size_t>(i % kFrames)]->data());
        frame.stride[0] = geometry.width;
        meter->submit({frame, plan});
      }
      return seconds_since(begin) / count;
    });
  }
  void frames(bool is_pinned, int in_flight) {
    const double opencl = frame_seconds(opencl::kBackend, context_->id(), is_pinned, in_flight);
    std::optional<double> cuda;
    if (cuda_ >= 0) cuda = frame_seconds(cuda::kBackend, cuda_, is_pinned, in_flight);
    add(Fields()
            .add("kind", "frames")
            .add("what", "tenengrad")
            .add("size", k1080p.name)
            .add("memory", is_pinned ? "pinned" : "pageable")
            .add("in_flight", in_flight),
        opencl, cuda, 1e6);
  }

  void filter(const char* name, const denoise::Settings& settings) {
    PictureGeometry geometry;
    geometry.width = k1080p.width;
    geometry.height = k1080p.height;
    const std::vector<std::uint8_t> pixels = make_picture(geometry.width, geometry.height);
    std::vector<std::uint8_t> out(pixels.size());
    denoise::Source source;
    source.frame.plane[0] = pixels.data();
    source.frame.stride[0] = geometry.width;
    denoise::Task task{{&source, 1}, 0, {}, settings, 1};
    task.out.plane[0] = out.data();
    task.out.stride[0] = geometry.width;
    opencl::DeviceDenoiser denoiser(geometry, context_, 1, opencl::denoise_limits_of(context_->device()));
    add(Fields().add("kind", "denoise").add("what", name).add("size", k1080p.name),
        timed([&](int count) { return denoiser.time_kernels(task, count); }), std::nullopt, 1e3);
  }

  void halftone(halftone::Method method) {
    const Geometry geometry = gray(k1080p);
    const std::vector<std::uint8_t> pixels = make_picture(geometry.width, geometry.height);
    std::vector<std::uint8_t> out(pixels.size());
    halftone::Task task;
    task.frame.plane[0] = pixels.data();
    task.frame.stride[0] = geometry.width;
    task.out.row0 = out.data();
    task.out.stride = geometry.width;
    task.settings.method = method;
    opencl::DeviceHalftone filter(geometry, context_, 1, opencl::diffusion_items(context_->device()));
    add(Fields()
            .add("kind", "halftone")
            .add("what", method == halftone::Method::kBlueNoise ? "blue noise" : "Floyd-Steinberg")
            .add("size", k1080p.name),
        timed([&](int count) { return filter.time_kernels(task, count); }), std::nullopt, 1e3);
  }

  std::shared_ptr<opencl::Context> context_;
  Results results_;
  double seconds_;
  int cuda_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        {{"device", "", "part of \"platform: device\"; default: the best one"},
                         {"seconds", "0.05", "of each of 7 runs"},
                         {"out", "", "file for the results"},
                         {"commit", "", "that was built"}});
  const Device device = opencl::find_device({.name = options.text("device")});
  if (device.id < 0) {
    std::fprintf(stderr, "opencl_bench: %s\n", device.reason.c_str());
    return 77;
  }
  try {
    Bench(options, device).run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opencl_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
