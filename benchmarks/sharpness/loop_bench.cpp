// SPDX-License-Identifier: LGPL-2.1-or-later
// What a plain CUDA program reaches from host memory, as a share of what pinned copies of the same size reach; and the
// project's meters and the CPU twin on the same frames.
#include "benchmarks/sharpness/bare_loop.h"
#include "benchmarks/support/picture.h"
#include "benchmarks/support/results.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

using namespace framequality;
using namespace framequality::bench;

namespace {

constexpr std::size_t kRotation = std::size_t{512} << 20;  // bytes of frames, more than any cache holds
constexpr std::size_t kLeastBlocks = 4;

struct Job {
  std::string name, format;
  int width, height;
  Geometry geometry() const {
    Geometry g{width, height, {}};
    if (format == "BGR") {
      g.layout.kind = PixelLayout::Kind::kRgb;
      g.layout.pixel_stride = 3;
      g.layout.offset[0] = 2;
      g.layout.offset[1] = 1;
    }
    return g;
  }
  std::vector<std::uint8_t> picture() const {
    return format == "BGR" ? make_color_picture(width, height) : make_picture(width, height);
  }
};
const Job kJobs[] = {{"480p", "GRAY8", 640, 480},
                     {"720p", "GRAY8", 1280, 720},
                     {"1080p", "GRAY8", 1920, 1080},
                     {"2160p", "GRAY8", 3840, 2160},
                     {"8192x8192", "BGR", 8192, 8192}};

class Bench {
 public:
  Bench(const Options& options, const cuda::Device& device)
      : options_(options),
        id_(device.id),
        results_(options.text("out"), machine_context("loop_bench", device.name, options)) {}

  void run(const Job& job) {
    const auto picture = job.picture();
    const int count = static_cast<int>(std::max(kLeastBlocks, kRotation / picture.size()));
    const Blocks pageable(picture, count, false);
    std::printf("\n%s %s, %.1f MB a frame, %d frames rotating\n", job.name.c_str(), job.format.c_str(),
                static_cast<double>(picture.size()) / 1e6, count);
    std::printf("%-16s %9s %12s %10s %9s %9s\n", "", "in flight", "frames/s", "us/frame", "GB/s", "of copies");
    copy_rate_ = 0;
    if (id_ >= 0) {
      const Blocks pinned(picture, count, true);
      copy_rate_ = copy_bandwidth(pinned, id_);
      const auto frames = [&](double rate) { return rate / static_cast<double>(picture.size()); };
      report(job, picture.size(), "pinned-copy", 0, frames(copy_rate_));
      report(job, picture.size(), "memcpy", 0, frames(memcpy_bandwidth(pageable)));
      for (const int slots : options_.numbers("in-flight")) loop(job, pinned, "bare", Feed::kCopy, slots);
      for (const int slots : options_.numbers("in-flight")) loop(job, pageable, "staged", Feed::kStaged, slots);
      for (const int slots : options_.numbers("in-flight")) loop(job, pinned, "meter-pinned", Feed::kMeter, slots);
      for (const int slots : options_.numbers("in-flight")) loop(job, pageable, "meter-pageable", Feed::kMeter, slots);
      for (const int slots : options_.numbers("in-flight")) loop(job, pageable, "meter-device", Feed::kDevice, slots);
      // Again, so that a bus whose rate drifts is seen.
      report(job, picture.size(), "pinned-copy-again", 0, frames(copy_bandwidth(pinned, id_)));
    }
    const int device = std::exchange(id_, -1);
    loop(job, pageable, "cpu", Feed::kMeter, 1);
    id_ = device;
  }

 private:
  void loop(const Job& job, const Blocks& blocks, const char* kind, Feed feed, int slots) {
    BareLoop loop(job.geometry(), blocks, feed, slots, id_);
    std::vector<double> rates;
    for (int i = 0; i < static_cast<int>(options_.number("runs")); ++i)
      rates.push_back(loop.frames_per_second(options_.number("seconds")));
    report(job, blocks.bytes(), kind, slots, median(rates));
  }

  void report(const Job& job, std::size_t bytes, const std::string& kind, int slots, double frames) {
    const double rate = frames * static_cast<double>(bytes);
    Fields row;
    row.add("kind", kind).add("size", job.name).add("format", job.format).add("bytes", bytes);
    row.add("in_flight", slots).add("frames_per_second", frames).add("bytes_per_second", rate);
    std::printf("%-16s %9d %12.1f %10.1f %9.2f", kind.c_str(), slots, frames, 1e6 / frames, rate / 1e9);
    if (copy_rate_ > 0 && kind != "meter-device") {
      row.add("of_copy", rate / copy_rate_);
      std::printf(" %8.1f%%", 100 * rate / copy_rate_);
    }
    std::printf("\n");
    std::fflush(stdout);
    results_.add(std::move(row));
  }

  const Options& options_;
  int id_;
  Results results_;
  double copy_rate_ = 0;  ///< bytes per second; 0: no device
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options(argc, argv,
                        {{"sizes", "1080p,2160p,8192x8192", "which frames; also 480p, 720p"},
                         {"in-flight", "1,2,3,4", "frames in flight"},
                         {"seconds", "0.3", "time for each run"},
                         {"runs", "3", "runs of each row; the median counts"}});
  const cuda::Device device = cuda::find_device();
  if (device.id < 0) std::fprintf(stderr, "no GPU, CPU only: %s\n", device.reason.c_str());
  if (device.id >= 0) cuda::check(cudaSetDevice(device.id), "cudaSetDevice");
  Bench bench(options, device);
  for (const Job& job : kJobs) {
    const auto wanted = options.list("sizes");
    if (std::find(wanted.begin(), wanted.end(), job.name) != wanted.end()) bench.run(job);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
