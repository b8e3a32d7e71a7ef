// SPDX-License-Identifier: LGPL-2.1-or-later
// BLIINDS-II on the GPU: where its time goes, and whole frames compared with the CPU twin.
#include "algorithms/bliinds/model.h"
#include "benchmarks/support/gpu_main.h"
#include "benchmarks/support/picture.h"
#include "cpu/bliinds/meter.h"
#include "cuda/bliinds/device_meter.h"
#include "cuda/bliinds/meter.h"
#include "cuda/device.h"
#include "tests/support/device.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace framequality;
using namespace framequality::bench;
using bliinds::Channel;
using bliinds::Features;

namespace {

constexpr int kRepeats = 200;  // of a kernel, back to back
constexpr int kFrames = 8;     // used round-robin: the GPU's caches hold them all, as a decoder's last frames are

class Bench : FilterBench {
 public:
  Bench(const Options& options, const Device& device) : FilterBench("bliinds_cuda_bench", options, device) {}

  void run(int width, int height) {
    geometry_ = {width, height, {}};
    size_ = std::to_string(width) + "x" + std::to_string(height);
    bytes_ = make_picture(width, height);
    const auto host = cpu::make_bliinds_meter(geometry_);
    host->submit({frame_of(bytes_.data(), false), Channel::kLuma});
    expected_ = host->collect();
    stages();
    frames();
    report("frame", "CPU twin", latency(*host, [&] { return frame_of(bytes_.data(), false); }), "one core, median");
  }

 private:
  Frame frame_of(const std::uint8_t* bytes, bool on_device) const {
    Frame frame;
    frame.plane[0] = bytes;
    frame.stride[0] = geometry_.width;
    frame.memory = on_device ? Memory::kCuda : Memory::kHost;
    return frame;
  }

  /// A row of the results: a step or a way to measure frames.
  void report(const std::string& group, const std::string& name, double seconds, const char* note = "") {
    std::printf("%-10s %-12s %-36s %10.1f us %12.0f /s  %s\n", size_.c_str(), group.c_str(), name.c_str(),
                seconds * 1e6, 1 / seconds, note);
    std::fflush(stdout);
    results_.add(
        Fields().add("size", size_).add("group", group).add("name", name).add("us", seconds * 1e6).add("note", note));
  }

  /// A benchmark of wrong numbers is worth nothing.
  void check(const Features& features, const char* what, double tolerance) const {
    for (std::size_t i = 0; i < features.size(); ++i)
      if (!(std::abs(features[i] - expected_[i]) <= tolerance * std::abs(expected_[i])))
        throw std::runtime_error(std::string(what) + ", " + size_ + ": feature " + std::to_string(i + 1) +
                                 " differs from the CPU's");
  }

  /// Kernels back to back, as they are queued.
  void stages() {
    const cuda::DeviceBytes memory(bytes_, device_.id);
    const Frame frame = frame_of(memory.data(), true);
    cuda::BliindsMeter meter(geometry_, device_.id, 1);
    using Job = cuda::BliindsJob;
    const auto nothing = [](const Job&, CUstream_st*) {};
    const auto blocks = [](const Job& job, CUstream_st* stream) {
      for (int s = 0; s < bliinds::kScales; ++s) queue_blocks(job, s, stream);
    };
    const auto timed = [&](auto before, auto queue) {
      meter.time(frame, kRepeats / 10, before, queue);
      return meter.time(frame, kRepeats, before, queue);
    };
    const char* const halved[] = {" and half-size pixels", " and quarter-size pixels", ""};
    for (int s = 0; s < bliinds::kScales; ++s) {
      const std::string name = "statistics of scale " + std::to_string(s + 1);
      report("stage", name + halved[s],
             timed(nothing, [&](const Job& job, CUstream_st* stream) { queue_blocks(job, s, stream); }));
      if (s < bliinds::kScales - 1)
        report("stage", name + " alone", timed(nothing, [&](Job job, CUstream_st* stream) {
                 job.half[s] = nullptr;
                 queue_blocks(job, s, stream);
               }));
    }
    report("stage", "sums, place of the tenth", timed(blocks, cuda::queue_chunks));
    report("stage", "selection, features", timed(nothing, cuda::queue_features));
    report("stage", "all", timed(nothing, [&](const Job& job, CUstream_st* stream) {
             blocks(job, stream);
             queue_chunks(job, stream);
             queue_features(job, stream);
           }));
  }

  /// Whole frames: from where they lie to the score on the host.
  void frames() {
    std::vector<cuda::DeviceBytes> on_device;
    for (int i = 0; i < kFrames; ++i) on_device.emplace_back(bytes_, device_.id);
    cuda::PinnedMemory<std::uint8_t> pinned;
    pinned.reserve(bytes_.size());
    std::memcpy(pinned.get(), bytes_.data(), bytes_.size());
    std::size_t turn = 0;
    const std::pair<const char*, std::function<Frame()>> kinds[] = {
        {"device memory", [&] { return frame_of(on_device[turn++ % kFrames].data(), true); }},
        {"pinned memory", [&] { return frame_of(pinned.get(), false); }},
        {"pageable memory", [&] { return frame_of(bytes_.data(), false); }}};
    for (const auto& [name, next] : kinds) {
      const auto meter = cuda::make_bliinds_meter(geometry_, device_.id);
      report("frame", name, latency(*meter, next), "median, one at a time");
    }
    for (const auto& [name, next] : kinds)
      for (const int depth : depths_) {
        const auto meter = cuda::make_bliinds_meter(geometry_, device_.id, depth);
        report("in-flight", std::string(name) + ", " + std::to_string(depth), mean(*meter, next, depth));
      }
  }

  double latency(bliinds::Meter& meter, const std::function<Frame()>& next) {
    std::vector<double> times;
    const auto measure = [&] {
      const Frame frame = next();
      const auto start = Clock::now();
      meter.submit({frame, Channel::kLuma});
      const Features features = meter.collect();
      score_ += score_of(model_, features).score;
      times.push_back(since(start));
      check(features, "a frame", 1e-12);
    };
    for (int i = 0; i < 20; ++i) measure();
    times.clear();
    for (const auto start = Clock::now(); since(start) < seconds_;) measure();
    return median(times);
  }

  double mean(bliinds::Meter& meter, const std::function<Frame()>& next, int depth) {
    for (int i = 0; i < depth; ++i) meter.submit({next(), Channel::kLuma});
    const auto measure = [&] {
      const Features features = meter.collect();
      meter.submit({next(), Channel::kLuma});
      score_ += score_of(model_, features).score;
      return features;
    };
    for (int i = 0; i < 20 * depth; ++i) check(measure(), "a frame in flight", 1e-12);
    int count = 0;
    double taken = 0;
    for (const auto start = Clock::now(); taken < seconds_; taken = since(start), ++count) measure();
    while (depth-- > 0) check(meter.collect(), "a frame in flight", 1e-12);
    return taken / count;
  }

  bliinds::Model model_ = bliinds::published_model();
  Geometry geometry_;
  std::string size_;
  std::vector<std::uint8_t> bytes_;
  Features expected_{};
  double score_ = 0;  ///< so that scores are not optimised away
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        {{"sizes", "512x512,1920x1080", "of the pictures"},
                         {"in-flight", "1,2,4,8", "frames pending at a time"},
                         {"seconds", "0.3", "for each row of whole frames"}});
  return run_on_gpu<Bench>(options);
}
