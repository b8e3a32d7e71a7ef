// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA twin's kernels over formats, options and metrics, as multiples of the least time: an empty kernel's, and
// reading what the kernel has to read. Totals are those of the CPU twin, or it stops.
#include "benchmarks/sharpness/empty.h"
#include "benchmarks/support/gpu_main.h"
#include "benchmarks/support/picture.h"
#include "cpu/sharpness/meter.h"
#include "tests/support/device.h"
#include "tests/support/device_twins.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace framequality;
using namespace framequality::sharpness;
using namespace framequality::bench;

namespace {

using Kind = PixelLayout::Kind;

/// What is read of one video format: planes in their order in the frame.
struct Format {
  const char* name;
  PixelLayout layout;
};

constexpr PixelLayout rgb(int depth, int pixel_stride, std::array<std::uint8_t, 3> offset) {
  const std::uint8_t word_bytes = depth > 8 ? 2 : 1;
  return {.kind = Kind::kRgb,
          .depth = static_cast<std::uint8_t>(depth),
          .word_bytes = word_bytes,
          .pixel_stride = static_cast<std::uint8_t>(pixel_stride),
          .offset = {offset[0], offset[1], offset[2]}};
}

constexpr PixelLayout planar_rgb(int depth) {  // G, B, R
  const std::uint8_t word_bytes = depth > 8 ? 2 : 1;
  return {.kind = Kind::kRgb,
          .depth = static_cast<std::uint8_t>(depth),
          .word_bytes = word_bytes,
          .pixel_stride = word_bytes,
          .plane = {2, 0, 1}};
}

constexpr PixelLayout luma(int depth, int pixel_stride, int offset = 0, int shift = 0, bool big_endian = false) {
  const std::uint8_t word_bytes = depth > 8 ? 2 : 1;
  return {.depth = static_cast<std::uint8_t>(depth),
          .word_bytes = word_bytes,
          .big_endian = big_endian,
          .shift = static_cast<std::uint8_t>(shift),
          .pixel_stride = static_cast<std::uint8_t>(pixel_stride),
          .offset = {static_cast<std::uint8_t>(offset), 0, 0}};
}

/// One of each kind of layout among the formats that the meter takes (FQ_LUMA_FORMATS, gst/buffer/frame.h); v210 is
/// none of them. The first is measured with every metric.
constexpr Format kFormats[] = {
    {"GRAY8, NV12, I420", luma(8, 1)},
    {"YUY2", luma(8, 2)},
    {"UYVY", luma(8, 2, 1)},
    {"AYUV", luma(8, 4, 1)},
    {"BGR", rgb(8, 3, {2, 1, 0})},
    {"BGRA, BGRx", rgb(8, 4, {2, 1, 0})},
    {"RGBA, RGBx", rgb(8, 4, {0, 1, 2})},
    {"GBR", planar_rgb(8)},
    {"GRAY10_LE32", {.kind = Kind::kGray10x3, .depth = 10, .word_bytes = 2, .pixel_stride = 2}},
    {"I420_10LE", luma(10, 2)},
    {"P010_10LE", luma(10, 2, 0, 6)},
    {"GRAY16_LE", luma(16, 2)},
    {"GRAY16_BE", luma(16, 2, 0, 0, true)},
    {"Y212_LE", luma(12, 4, 0, 4)},
    {"AYUV64", luma(16, 8, 2)},
    {"GBR_10LE", planar_rgb(10)},
    {"ARGB64_LE", rgb(16, 8, {2, 4, 6})},
};

/// One setting that the kernel has to do more, or less, for.
struct Choice {
  const char* name;
  Request request;
  bool is_half = false;  ///< roi: half of the frame's columns
};
const Choice kOptions[] = {
    {"none", {}},
    {"prefilter=binomial3", {.prefilter = Prefilter::kBinomial3}},
    {"prefilter=binomial5", {.prefilter = Prefilter::kBinomial5}},
    {"downscale=2", {.downscale = 2}},
    {"downscale=4", {.downscale = 4}},
    {"8x6 zones", {.zone_columns = 8, .zone_rows = 6}},
    {"roi", {}, true},
    {"statistics", {.statistics = true}},
    {"noise-correction", {.noise_correction = true}},
};

/// Frames of one format and size, more bytes than any L2 cache holds, filled with a picture's bytes.
class Frames {
 public:
  Frames(const Format& format, int width, int height, int id) : geometry_{width, height, format.layout} {
    constexpr std::size_t kRotation = std::size_t{256} << 20;
    constexpr int kEdge = 1024;
    const PixelLayout& layout = format.layout;
    std::size_t size = 0;
    for (int p = 0; p < layout.planes(); ++p) size += plane_bytes(p);
    static const auto picture = make_picture(kEdge, kEdge);
    bytes_.resize(size);
    for (std::size_t i = 0; i < size; i += picture.size())
      std::copy_n(picture.begin(), std::min(picture.size(), size - i), bytes_.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t held = 0; held < kRotation || memory_.size() < 2; held += size) {
      memory_.emplace_back(bytes_, id);
      on_device_.push_back(frame(memory_.back().data(), true));
    }
  }
  const Geometry& geometry() const { return geometry_; }
  const std::vector<Frame>& on_device() const { return on_device_; }
  Frame on_host() const { return frame(bytes_.data(), false); }
  /// Bytes that hold what is read of so many pixels.
  std::size_t read_bytes(int width, int height) const {
    std::size_t sum = 0;
    for (int p = 0; p < geometry_.layout.planes(); ++p)
      sum += geometry_.layout.row_bytes(p, width) * static_cast<std::size_t>(height);
    return sum;
  }

 private:
  static constexpr std::size_t kAlign = 256;  // of rows, as pools of video frames in GPU memory have it
  std::size_t stride(int p) const {
    const std::size_t bytes = geometry_.layout.row_bytes(p, geometry_.width);
    return (bytes + kAlign - 1) / kAlign * kAlign;
  }
  std::size_t plane_bytes(int p) const { return stride(p) * static_cast<std::size_t>(geometry_.height); }
  Frame frame(const std::uint8_t* at, bool on_device) const {
    Frame f;
    f.memory = on_device ? Memory::kCuda : Memory::kHost;
    for (int p = 0; p < geometry_.layout.planes(); at += plane_bytes(p), ++p) {
      f.plane[p] = at;
      f.stride[p] = static_cast<std::ptrdiff_t>(stride(p));
    }
    return f;
  }

  Geometry geometry_;
  std::vector<std::uint8_t> bytes_;
  std::vector<cuda::DeviceBytes> memory_;
  std::vector<Frame> on_device_;
};

class Bench {
 public:
  Bench(const Options& options, const Device& device)
      : id_(device.id),
        runs_(static_cast<int>(options.number("runs"))),
        bandwidth_(cuda::read_bandwidth(id_)),
        empty_(empty_kernel_seconds(id_)),
        results_(options.text("out"), machine_context("layouts_bench", device.name, options)) {
    results_.add(Fields().add("kind", "limits").add("bytes_per_second", bandwidth_).add("empty_us", empty_ * 1e6));
    std::printf("reading: %.2f TB/s; an empty kernel: %.2f us\n", bandwidth_ / 1e12, empty_ * 1e6);
  }

  void run(int width, int height) {
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    for (const Format& format : kFormats) {
      const Frames frames(format, width, height, id_);
      const bool first = &format == kFormats;
      for (int m = 0; m < kMetricCount; ++m)
        for (const Choice& option : kOptions)
          if (first || m == kDefaultMetric) measure(size, format, frames, m, option);
    }
  }

 private:
  void measure(const std::string& size, const Format& format, const Frames& frames, int metric, const Choice& option) {
    const Geometry& g = frames.geometry();
    Request request = option.request;
    request.metric = metric;
    const int columns = option.is_half ? g.width / 2 : g.width;
    if (option.is_half) request.roi = Rect{(g.width - columns) / 2, 0, columns, g.height};
    const auto plan = std::make_shared<const Plan>(make_plan(g, request));
    Fields row;
    row.add("kind", "kernel")
        .add("size", size)
        .add("format", format.name)
        .add("metric", metric_info(metric).name)
        .add("option", option.name);
    if (!plan->refusal.empty()) {
      results_.add(row.add("error", plan->refusal));
      return;
    }
    const auto meter = cuda::make_meter(g, id_);
    check(*meter, frames, plan, std::string(format.name) + ", " + metric_info(metric).name + ", " + option.name);
    std::vector<double> seconds;
    for (int i = 0; i < runs_; ++i) seconds.push_back(cuda::kernel_seconds(*meter, frames.on_device(), plan, 1));
    const double taken = median(seconds);
    const std::size_t bytes = frames.read_bytes(columns, g.height);
    const double least = empty_ + static_cast<double>(bytes) / bandwidth_;
    std::printf("%-12s %-18s %-24s %-20s %9.1f us %6.1f times the least\n", size.c_str(), format.name,
                metric_info(metric).name, option.name, taken * 1e6, taken / least);
    results_.add(row.add("us", taken * 1e6).add("bytes", bytes).add("of_least", taken / least));
  }

  /// A benchmark of wrong numbers is worth nothing. Large frames take the CPU too long, and no other kernels.
  void check(Meter& meter, const Frames& frames, const std::shared_ptr<const Plan>& plan, const std::string& what) {
    constexpr std::int64_t kMostPixels = 4 << 20;
    const Geometry& g = frames.geometry();
    if (std::int64_t{g.width} * g.height > kMostPixels) return;
    meter.submit({frames.on_device().front(), plan});
    const auto ours = meter.collect();
    const auto cpu = cpu::make_meter(g);
    cpu->submit({frames.on_host(), plan});
    const auto expected = cpu->collect();
    if (!std::equal(ours.begin(), ours.end(), expected.begin(), expected.end()))
      throw std::runtime_error(what + ": other totals than on the CPU");
  }

  int id_, runs_;
  double bandwidth_, empty_;  ///< bytes per second; seconds
  Results results_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        {{"sizes", "1920x1080,3840x2160,8192x8192", "of the frames"},
                         {"runs", "5", "of each row, through all frames; the median counts"}});
  return run_on_gpu<Bench>(options);
}
