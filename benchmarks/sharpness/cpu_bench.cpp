// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU twin on one core beside the textbook loops, OpenCV's best recipe and the core's read bandwidth.
#include "algorithms/sharpness/score.h"
#include "benchmarks/sharpness/textbook.h"
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/dispatch.h"
#include "cpu/sharpness/meter.h"

#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#if FQ_HAVE_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

using namespace framequality;
using namespace framequality::sharpness;

namespace {

struct Size {
  const char* name;
  int width, height;
};
constexpr const char* kPrefilters[] = {"none", "binomial3", "binomial5"};
constexpr Size kSizes[] = {{"1080p", 1920, 1080}, {"2160p", 3840, 2160}};

const std::vector<std::uint8_t>& picture(const Size& size) {
  static std::map<std::string, std::vector<std::uint8_t>> pictures;
  auto& p = pictures[size.name];
  if (p.empty()) p = make_picture(size.width, size.height);
  return p;
}

void count_bytes(benchmark::State& state, const Size& size) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * size.width * size.height);
}

struct Run {
  Size size;
  int metric;
  std::string isa;
  Prefilter prefilter = Prefilter::kNone;
  int depth = 8;
  bool statistics = false;
  bool mosaic = false;  ///< the bytes are a Bayer mosaic's
};

/// The same bytes as cells of 2x2 samples, rggb.
void make_mosaic(Geometry& geometry, Frame& frame) {
  PixelLayout& l = geometry.layout;
  l.kind = PixelLayout::Kind::kBayer;
  l.pixel_stride = static_cast<std::uint8_t>(2 * l.word_bytes);
  l.plane[2] = 1;
  l.offset[1] = l.offset[2] = l.word_bytes;
  geometry.width /= 2;
  geometry.height /= 2;
  frame.plane[1] = frame.plane[0] + frame.stride[0];
  frame.stride[0] = frame.stride[1] = 2 * frame.stride[0];
}

double measure(Meter& meter, const Frame& frame, const std::shared_ptr<const Plan>& plan) {
  meter.submit({frame, plan});
  return finish(*plan, meter.collect()).score;
}

void ours(benchmark::State& state, const Run& run) {
  const auto& bytes = picture(run.size);
  std::vector<std::uint16_t> words;
  Geometry geometry{run.size.width, run.size.height, {}};
  Frame frame;
  frame.plane[0] = bytes.data();
  frame.stride[0] = run.size.width;
  if (run.depth > 8) {
    for (const std::uint8_t b : bytes) words.push_back(static_cast<std::uint16_t>(b << (run.depth - 8)));
    geometry.layout.depth = static_cast<std::uint8_t>(run.depth);
    geometry.layout.word_bytes = geometry.layout.pixel_stride = 2;
    frame.plane[0] = reinterpret_cast<const std::uint8_t*>(words.data());
    frame.stride[0] = 2 * run.size.width;
  }
  if (run.mosaic) make_mosaic(geometry, frame);
  Request request;
  request.metric = run.metric;
  request.prefilter = run.prefilter;
  request.statistics = run.statistics;
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
  const auto meter = cpu::make_meter(geometry, run.isa);
  for (auto _ : state) benchmark::DoNotOptimize(measure(*meter, frame, plan));
  count_bytes(state, run.size);
  if (run.depth > 8)
    state.SetBytesProcessed(2 * static_cast<std::int64_t>(state.iterations()) * run.size.width * run.size.height);
}

/// Formats of cameras and of cv2, and pixel values in words that have bits to spare.
struct Format {
  const char* name;
  PixelLayout layout;
};
const Format kFormats[] = {
    {"GRAY8", {}},
    {"YUY2", {.pixel_stride = 2}},
    {"UYVY", {.pixel_stride = 2, .offset = {1}}},
    {"BGRx", {.kind = PixelLayout::Kind::kRgb, .pixel_stride = 4, .offset = {2, 1, 0}}},
    {"BGR", {.kind = PixelLayout::Kind::kRgb, .pixel_stride = 3, .offset = {2, 1, 0}}},
    {"channel-of-BGR", {.pixel_stride = 3, .offset = {1}}},
    {"12bit", {.depth = 12, .word_bytes = 2, .pixel_stride = 2}},
    {"P010", {.depth = 10, .word_bytes = 2, .shift = 6, .pixel_stride = 2}},
};

/// The picture in each sample of a format.
void of_format(benchmark::State& state, const Size& size, const Format& format, const Request& request,
               const std::string& isa) {
  const PixelLayout& l = format.layout;
  std::vector<std::uint8_t> bytes;
  for (const std::uint8_t b : picture(size)) {
    const int word = l.word_bytes == 2 ? b << (l.depth - 8 + l.shift) : b * 0x101;
    for (int i = 0; i < l.pixel_stride; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> 8 * (i % 2)));
  }
  Frame frame;
  frame.plane[0] = bytes.data();
  frame.stride[0] = std::ptrdiff_t{l.pixel_stride} * size.width;
  const Geometry geometry{size.width, size.height, l};
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
  const auto meter = cpu::make_meter(geometry, isa);
  for (auto _ : state) benchmark::DoNotOptimize(measure(*meter, frame, plan));
  count_bytes(state, size);
}

using Textbook = double (*)(const char*, const std::uint8_t*, int, int);

void textbook_loop(benchmark::State& state, const Size& size, int metric, Textbook score) {
  const auto& bytes = picture(size);
  for (auto _ : state) benchmark::DoNotOptimize(score(metric_info(metric).name, bytes.data(), size.width, size.height));
  count_bytes(state, size);
}

void read_loop(benchmark::State& state, const Size& size) {
  const auto& bytes = picture(size);
  for (auto _ : state) benchmark::DoNotOptimize(textbook::vectorised::read(bytes.data(), bytes.size()));
  count_bytes(state, size);
}

#if FQ_HAVE_OPENCV
/// Two Sobel gradients to 16 bits, to float, squared and summed; every buffer reused.
double opencv_tenengrad_float(const cv::Mat& g, cv::Mat (&buffer)[4]) {
  auto& [dx, dy, fx, fy] = buffer;
  cv::Sobel(g, dx, CV_16S, 1, 0);
  cv::Sobel(g, dy, CV_16S, 0, 1);
  dx.convertTo(fx, CV_32F);
  dy.convertTo(fy, CV_32F);
  return (fx.dot(fx) + fy.dot(fy)) / static_cast<double>(g.total());
}

/// The same with OpenCV's own norm of 16-bit values.
double opencv_tenengrad_norm(const cv::Mat& g, cv::Mat (&buffer)[4]) {
  cv::Sobel(g, buffer[0], CV_16S, 1, 0);
  cv::Sobel(g, buffer[1], CV_16S, 0, 1);
  return (cv::norm(buffer[0], cv::NORM_L2SQR) + cv::norm(buffer[1], cv::NORM_L2SQR)) / static_cast<double>(g.total());
}

double opencv_laplacian_variance(const cv::Mat& g, cv::Mat (&buffer)[4]) {
  cv::Laplacian(g, buffer[0], CV_64F);
  cv::Scalar mean, deviation;
  cv::meanStdDev(buffer[0], mean, deviation);
  return deviation[0] * deviation[0];
}

void opencv(benchmark::State& state, const Size& size, double (*score)(const cv::Mat&, cv::Mat (&)[4])) {
  cv::setNumThreads(1);
  const auto& bytes = picture(size);
  const cv::Mat g(size.height, size.width, CV_8U, const_cast<std::uint8_t*>(bytes.data()));
  cv::Mat buffer[4];
  for (auto _ : state) benchmark::DoNotOptimize(score(g, buffer));
  count_bytes(state, size);
}
#endif

/// A benchmark of wrong numbers is worth nothing: every textbook score must be ours.
void check_scores() {
  const Size& size = kSizes[0];
  const Geometry geometry{size.width, size.height, {}};
  Frame frame;
  frame.plane[0] = picture(size).data();
  frame.stride[0] = size.width;
  for (int m = 0; m < kMetricCount; ++m) {
    Request request;
    request.metric = m;
    const auto meter = cpu::make_meter(geometry);
    const double a = measure(*meter, frame, std::make_shared<const Plan>(make_plan(geometry, request)));
    const double b = textbook::plain::score(metric_info(m).name, frame.plane[0], size.width, size.height);
    if (!(std::abs(a - b) <= 1e-9 * std::abs(b))) {
      std::fprintf(stderr, "%s: %.17g here, %.17g in the textbook\n", metric_info(m).name, a, b);
      std::exit(1);
    }
  }
}

template <class... Args>
void add(const std::string& name, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), args...)->Unit(benchmark::kMillisecond)->MinTime(0.1);
}

/// Every format with the default metric, with entropy, and as cameras are watched (framequality-watch).
void add_formats(const Size& size) {
  Request plain, entropy, watch;
  const auto place = [](std::string_view name) {
    int m = 0;
    while (metric_info(m).name != name) ++m;
    return m;
  };
  entropy.metric = place("entropy");
  watch.metric = place("mean-square-frequency");
  watch.prefilter = Prefilter::kBinomial5;
  watch.statistics = true;
  watch.zone_columns = 16;
  watch.zone_rows = 9;
  for (const auto isa : cpu::instruction_sets())
    for (const Format& format : kFormats)
      for (const auto& [name, request] : {std::pair("plain", plain), {"entropy", entropy}, {"watch", watch}})
        add("format-" + std::string(isa) + "-" + format.name + "/" + name + "/" + size.name, of_format, size, format,
            request, std::string(isa));
}

}  // namespace

int main(int argc, char** argv) {
  bench::initialize_google("cpu_bench", "", argc, argv);
  check_scores();
  add_formats(kSizes[0]);
  for (const Size& size : kSizes) {
    const std::string suffix = std::string("/") + size.name;
    add("read" + suffix, read_loop, size);
#if FQ_HAVE_OPENCV
    add("opencv-float/tenengrad" + suffix, opencv, size, opencv_tenengrad_float);
    add("opencv-norm/tenengrad" + suffix, opencv, size, opencv_tenengrad_norm);
    add("opencv/laplacian-variance" + suffix, opencv, size, opencv_laplacian_variance);
#endif
    for (int m = 0; m < kMetricCount; ++m) {
      const std::string name = metric_info(m).name + suffix;
      add("textbook/" + name, textbook_loop, size, m, textbook::plain::score);
      add("textbook-vectorised/" + name, textbook_loop, size, m, textbook::vectorised::score);
      add("cpu/" + name, ours, Run{size, m, ""});
      for (const auto isa : cpu::instruction_sets())
        add("cpu-" + std::string(isa) + "/" + name, ours, Run{size, m, std::string(isa)});
      add("cpu-statistics/" + name, ours, Run{size, m, "", Prefilter::kNone, 8, true});
      for (const auto isa : cpu::instruction_sets())
        add("cpu-statistics-" + std::string(isa) + "/" + name, ours,
            Run{size, m, std::string(isa), Prefilter::kNone, 8, true});
      add("cpu-statistics-binomial5/" + name, ours, Run{size, m, "", Prefilter::kBinomial5, 8, true});
      add("cpu-statistics-16bit/" + name, ours, Run{size, m, "", Prefilter::kNone, 16, true});
      add("cpu-binomial3/" + name, ours, Run{size, m, "", Prefilter::kBinomial3});
      add("cpu-binomial5/" + name, ours, Run{size, m, "", Prefilter::kBinomial5});
      for (const auto isa : cpu::instruction_sets())
        for (const int depth : {8, 16}) {
          const std::string kind = std::string(isa) + "-" + std::to_string(depth) + "bit";
          add("cpu-gray-" + kind + "/" + name, ours, Run{size, m, std::string(isa), Prefilter::kNone, depth});
          add("cpu-bayer-" + kind + "/" + name, ours,
              Run{size, m, std::string(isa), Prefilter::kNone, depth, false, true});
        }
      add("cpu-10bit/" + name, ours, Run{size, m, "", Prefilter::kNone, 10});
      add("cpu-16bit/" + name, ours, Run{size, m, "", Prefilter::kNone, 16});
      if (m != kDefaultMetric) continue;
      for (const auto isa : cpu::instruction_sets())
        for (const int depth : {8, 10})
          for (int p = 0; p < 3; ++p) {
            const std::string kind = std::string(isa) + "-" + std::to_string(depth) + "bit-" + kPrefilters[p];
            add("cpu-" + kind + "/" + name, ours, Run{size, m, std::string(isa), static_cast<Prefilter>(p), depth});
          }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}
