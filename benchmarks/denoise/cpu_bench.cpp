// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers on one core and on all, compared with OpenCV's and FFmpeg's non-local means on one.
#include "benchmarks/support/google.h"
#include "benchmarks/support/picture.h"
#include "cpu/denoise/filter.h"
#include "cpu/dispatch.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#if FQ_HAVE_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/photo.hpp>
#endif
#if FQ_HAVE_FFMPEG
extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/frame.h>
}
#endif

using namespace framequality;

namespace {

constexpr int kWidth = 1920, kHeight = 1080;
constexpr double kNoise = 15, kStrength = 15;

/// A picture with Gaussian noise, of kNoise at 8 bits.
std::vector<std::uint8_t> noisy(int depth) {
  const auto clean = make_picture(kWidth, kHeight);
  const int largest = (1 << depth) - 1, bytes = depth > 8 ? 2 : 1;
  std::mt19937 random(2);
  std::normal_distribution<double> noise(0, kNoise);
  std::vector<std::uint8_t> out;
  for (const std::uint8_t c : clean) {
    const int code = static_cast<int>(std::clamp(std::round((c + noise(random)) * largest / 255), 0.0, 1.0 * largest));
    for (int b = 0; b < bytes; ++b) out.push_back(static_cast<std::uint8_t>(code >> (8 * b)));
  }
  return out;
}

struct Run {
  const char* name;
  denoise::Settings settings;
  int depth = 8;
};

denoise::Settings nlmeans(int search, int patch) {
  denoise::Settings s;
  s.search_radius = search;
  s.patch_radius = patch;
  s.range = kStrength * kStrength;
  return s;
}

denoise::Settings bilateral() {
  denoise::Settings s = nlmeans(3, 1);
  s.range = 2 * 20 * 20;
  s.spatial = 1 / (2.0 * 10 * 10);
  return s;
}

/// At strengths that follow the noise, as the elements' defaults are.
denoise::Settings following(denoise::Settings s) {
  s.follows = true;
  s.range = s.spatial > 0 ? 2 * 0.85 * 0.85 : 0.49;
  return s;
}

const Run kRuns[] = {
    {"nlmeans-21x21-7x7/1080p", nlmeans(10, 3)},           {"nlmeans-21x21-7x7/1080p-10bit", nlmeans(10, 3), 10},
    {"nlmeans-21x21-7x7/1080p-16bit", nlmeans(10, 3), 16}, {"patchbilateral-7x7-3x3/1080p", bilateral()},
    {"nlmeans-follows/1080p", following(nlmeans(10, 3))},  {"patchbilateral-follows/1080p", following(bilateral())}};

void ours(benchmark::State& state, const Run& run, const std::string& isa, int threads) {
  PictureGeometry geometry{kWidth, kHeight, {}};
  const int bytes = run.depth > 8 ? 2 : 1;
  geometry.layout.depth = static_cast<std::uint8_t>(run.depth);
  geometry.layout.word_bytes = geometry.layout.component[0].pixel_stride = static_cast<std::uint8_t>(bytes);
  const auto in = noisy(run.depth);
  std::vector<std::uint8_t> out(in.size());
  denoise::Source source;
  source.frame.plane[0] = in.data();
  Canvas canvas;
  canvas.plane[0] = out.data();
  source.frame.stride[0] = canvas.stride[0] = kWidth * bytes;
  const auto filter = cpu::make_denoiser(geometry, threads, isa);
  for (auto _ : state) {
    ++source.serial;
    filter->submit({{&source, 1}, 0, canvas, run.settings, 1});
    filter->collect();
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}

#if FQ_HAVE_OPENCV
void opencv(benchmark::State& state) {
  cv::setNumThreads(1);
  auto pixels = noisy(8);
  const cv::Mat in(kHeight, kWidth, CV_8UC1, pixels.data());
  cv::Mat out;
  for (auto _ : state) cv::fastNlMeansDenoising(in, out, static_cast<float>(kStrength), 7, 21);
  state.SetItemsProcessed(state.iterations());
}
#endif

#if FQ_HAVE_FFMPEG
void fail(const char* what) {
  std::fprintf(stderr, "libavfilter: %s\n", what);
  std::exit(1);
}

void ffmpeg(benchmark::State& state) {
  auto pixels = noisy(8);
  AVFilterGraph* graph = avfilter_graph_alloc();
  graph->nb_threads = 1;
  AVFilterContext *source = nullptr, *filter = nullptr, *sink = nullptr;
  const auto create = [&](AVFilterContext** to, const char* name, const char* arguments) {
    if (avfilter_graph_create_filter(to, avfilter_get_by_name(name), name, arguments, nullptr, graph) < 0) fail(name);
  };
  create(&source, "buffer", "video_size=1920x1080:pix_fmt=gray:time_base=1/25");
  // Its weights are exp(-D / (10 s)^2), of sums D over 49 pixels: kStrength is 10 s / 7.
  create(&filter, "nlmeans", "s=10.5:p=7:r=21");
  create(&sink, "buffersink", nullptr);
  if (avfilter_link(source, 0, filter, 0) < 0 || avfilter_link(filter, 0, sink, 0) < 0 ||
      avfilter_graph_config(graph, nullptr) < 0)
    fail("graph");
  AVFrame *in = av_frame_alloc(), *out = av_frame_alloc();
  in->format = AV_PIX_FMT_GRAY8;
  in->width = kWidth;
  in->height = kHeight;
  if (av_frame_get_buffer(in, 0) < 0) fail("frame");
  for (int y = 0; y < kHeight; ++y)
    std::copy_n(pixels.data() + std::ptrdiff_t{y} * kWidth, kWidth, in->data[0] + std::ptrdiff_t{y} * in->linesize[0]);
  for (auto _ : state) {
    ++in->pts;
    if (av_buffersrc_write_frame(source, in) < 0 || av_buffersink_get_frame(sink, out) < 0) fail("filtering");
    av_frame_unref(out);
  }
  state.SetItemsProcessed(state.iterations());
  av_frame_free(&in);
  av_frame_free(&out);
  avfilter_graph_free(&graph);
}
#endif

/// CPU time is that of all threads.
template <class... Args>
void add(const std::string& name, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), args...)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}

}  // namespace

int main(int argc, char** argv) {
  bench::initialize_google("denoise_bench", "", argc, argv);
  for (const Run& run : kRuns) {
    for (const auto isa : cpu::instruction_sets())
      add(std::string(isa) + "/" + run.name, ours, run, std::string(isa), 1);
    add(std::string("all-cores/") + run.name, ours, run, std::string(), 0);
  }
#if FQ_HAVE_OPENCV
  add(std::string("opencv/") + kRuns[0].name, opencv);
#endif
#if FQ_HAVE_FFMPEG
  add(std::string("ffmpeg/") + kRuns[0].name, ffmpeg);
#endif
  benchmark::RunSpecifiedBenchmarks();
}
