// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames per second of whole pipelines with a denoiser, beside the bare filter over the same frames, by turns.
#include "benchmarks/pipeline/arrivals.h"
#include "benchmarks/pipeline/denoise_loop.h"
#include "benchmarks/pipeline/element.h"
#include "benchmarks/support/picture.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace framequality;
using namespace framequality::bench;

namespace {

constexpr double kWarmUp = 0.15;  // seconds
constexpr double kPatience = 120;
constexpr std::uint64_t kLeastFrames = 5;

/// An element, the strength that makes its time independent of what it sees, and all as settings.
struct Element {
  const char* name;
  const char* strength;  ///< name=value
  denoise::Settings settings;
};
std::vector<Element> elements() {
  denoise::Settings bilateral;
  bilateral.patch_radius = 1;
  bilateral.search_radius = 3;
  bilateral.range = bilateral.range_chroma = 2 * 20 * 20;
  bilateral.spatial = 1.0 / (2 * 10 * 10);
  return {{"nlmeans", "strength=10", {}}, {"patchbilateral", "sigma-range=20", bilateral}};
}

/// What a row calls the source's memory, and where the frames of the loop beside it lie.
struct FrameMemory {
  const char* name;
  SourceMemory source;
  Lie loop;
};
constexpr FrameMemory kMemories[] = {{"cuda", SourceMemory::kCuda, Lie::kDevice},
                                     {"pinned", SourceMemory::kOffered, Lie::kPinned},
                                     {"recycled", SourceMemory::kRecycled, Lie::kPageable}};

/// A benchmark of wrong numbers is worth nothing. What lies elsewhere in memory may take another kernel, so this is
/// what any two kernels come to.
void require_same(const std::vector<std::uint8_t>& pixels, const std::vector<std::uint8_t>& expected) {
  std::size_t differing = 0, far = pixels.size() == expected.size() ? 0 : pixels.size();
  for (std::size_t i = 0; far == 0 && i < pixels.size(); ++i) {
    differing += pixels[i] != expected[i];
    far += std::abs(pixels[i] - expected[i]) > 1;
  }
  if (far > 0 || differing > 1 + pixels.size() / 10000)
    throw std::runtime_error("the pipeline's pixels are not the loop's");
}

/// Frames a second of a pipeline that makes frames without end. expected: of its first frame; empty: anything.
double endless_rate(const PipelineOptions& spec, double seconds, const std::vector<std::uint8_t>& expected) {
  Arrivals arrivals;
  {
    ElementPipeline pipeline(spec);
    arrivals.watch(pipeline.sink());
    pipeline.play();
    // Until the first frame has left, kernels are loaded and memory is found.
    while (pipeline.frames() < static_cast<std::uint64_t>(spec.in_flight) + 2) pipeline.wait(0.001);
    pipeline.wait(kWarmUp + seconds);
    while (pipeline.frames() < kLeastFrames) pipeline.wait(seconds);
  }
  if (!expected.empty()) require_same(arrivals.first().bytes, expected);
  return arrivals.rate(kWarmUp);
}

/// A pipeline over a file: frames a second in all of it but the first tenth, and the size of a frame.
struct FileRun {
  double rate;
  int width, height;
};
FileRun run_file(const PipelineOptions& spec) {
  Arrivals arrivals;
  {
    ElementPipeline pipeline(spec);
    arrivals.watch(pipeline.sink());
    pipeline.play();
    if (!pipeline.ends_within(kPatience)) throw std::runtime_error("the file does not end");
  }
  const Arrivals::Picture first = arrivals.first();
  return {arrivals.rate(arrivals.seconds() / 10), first.width, first.height};
}

/// One row of a table: how it is measured, and what came of it.
struct Row {
  std::string kind;
  int in_flight;  ///< of a pipeline; of a loop, frames pending but for the one that arrives
  std::function<double()> measure;
  std::vector<double> rates = {};
  std::string error = {};
  double rate() const { return error.empty() ? median(rates) : 0; }  ///< 0: none
};

void measure_by_turns(std::vector<Row>& rows, int runs) {
  for (int i = 0; i < runs; ++i)
    for (Row& row : rows) {
      if (!row.error.empty()) continue;
      try {
        row.rates.push_back(row.measure());
      } catch (const std::exception& e) {
        row.error = e.what();
      }
    }
}

double rate_of(const std::vector<Row>& rows, const std::string& kind, int in_flight) {
  for (const Row& row : rows)
    if (row.kind == kind && row.in_flight == in_flight) return row.rate();
  return 0;
}
double best_of(const std::vector<Row>& rows, const std::string& kind) {
  double best = 0;
  for (const Row& row : rows)
    if (row.kind == kind) best = std::max(best, row.rate());
  return best;
}

class Bench {
 public:
  Bench(const Options& options, const Device& device)
      : options_(options),
        id_(device.id),
        runs_(static_cast<int>(options.number("runs"))),
        seconds_(options.number("seconds")),
        results_(options.text("out"), machine_context("denoise_pipeline_bench", device.name, options)) {}

  /// Recycled frames on the GPU.
  void frames_on_gpu(const Element& element, const FrameMemory& memory) {
    const DenoiseWork work = work_of(element, k1080p);
    std::deque<DenoiseLoop> loops;  // where they are, they stay
    std::vector<Row> rows;
    std::vector<std::uint8_t> expected;
    loops_beside(work, memory.loop, loops, rows);
    PipelineOptions spec = frames_of(element, memory.source, work, "cuda");
    for (const int n : options_.numbers("in-flight")) {
      spec.in_flight = n;
      rows.push_back({"pipeline", n, [this, spec, &loops, &expected] {
                        if (expected.empty()) expected = loops.front().result();
                        return endless_rate(spec, seconds_, expected);
                      }});
    }
    measure_by_turns(rows, runs_);
    report(element, memory.name, "cuda", work, rows);
  }

  void frames_on_cpu(const Element& element) {
    const DenoiseWork work = work_of(element, k1080p);
    DenoiseLoop loop(work, Lie::kHost, 1, id_);
    const PipelineOptions spec = frames_of(element, SourceMemory::kRecycled, work, "cpu");
    std::vector<Row> rows;
    rows.push_back({"loop", 0, [&] { return loop.frames_per_second(seconds_); }});
    rows.push_back({"pipeline", 0, [&] { return endless_rate(spec, seconds_, loop.result()); }});
    measure_by_turns(rows, runs_);
    report(element, "recycled", "cpu", work, rows);
  }

  /// A file through a decoder: alone, and with the filter downstream, and frames from a pool through the filter.
  void file(const Element& element) {
    const bool on_gpu = id_ >= 0 && has_cuda_memory();
    PipelineOptions spec;
    spec.upstream = "filesrc location=\"" + options_.text("decode") + "\" ! " + options_.text("decoder");
    FileRun first;
    try {
      first = run_file(spec);
    } catch (const std::exception& e) {
      std::printf("%s: %s\n", spec.upstream.c_str(), e.what());
      return results_.add(Fields().add("element", element.name).add("kind", "decode").add("error", e.what()));
    }
    const DenoiseWork work = work_of(element, {"", first.width, first.height});
    const PipelineOptions pool =
        frames_of(element, on_gpu ? SourceMemory::kCuda : SourceMemory::kRecycled, work, on_gpu ? "cuda" : "cpu");
    std::vector<Row> rows;
    rows.push_back({"decode", 0, [spec] { return run_file(spec).rate; }});
    spec.element = pool.element;
    spec.device = pool.device;
    for (const int n : on_gpu ? options_.numbers("in-flight") : std::vector{0}) {
      PipelineOptions from_pool = pool;
      from_pool.in_flight = spec.in_flight = n;
      rows.push_back({"pool", n, [this, from_pool] { return endless_rate(from_pool, seconds_, {}); }});
      rows.push_back({"pipeline", n, [spec] { return run_file(spec).rate; }});
    }
    measure_by_turns(rows, runs_);
    report(element, "decoder", spec.device, work, rows);
  }

 private:
  DenoiseWork work_of(const Element& element, const Size& size) const {
    DenoiseWork work;
    work.width = size.width;
    work.height = size.height;
    work.luma = std::make_shared<const std::vector<std::uint8_t>>(make_picture(size.width, size.height));
    work.settings = element.settings;
    work.frames = static_cast<int>(options_.number("buffers"));
    return work;
  }

  PipelineOptions frames_of(const Element& element, SourceMemory memory, const DenoiseWork& work,
                            const char* device) const {
    PipelineOptions spec;
    spec.source.width = work.width;
    spec.source.height = work.height;
    spec.source.memory = memory;
    spec.source.buffers = work.frames;
    spec.source.luma = work.luma;
    spec.source.cuda_device = std::max(id_, 0);
    spec.element = element.name;
    spec.device = device;
    spec.properties = {element.strength};
    return spec;
  }

  /// The kernels, and a loop for each in-flight: while n frames are in flight the next one arrives, so it has n + 1.
  void loops_beside(const DenoiseWork& work, Lie lie, std::deque<DenoiseLoop>& loops, std::vector<Row>& rows) const {
    for (const int n : options_.numbers("in-flight")) {
      DenoiseLoop& loop = loops.emplace_back(work, lie, n + 1, id_);
      if (lie == Lie::kDevice && rows.empty())
        rows.push_back({"kernel", 0, [&loop] { return loop.kernels_per_second(); }});
      rows.push_back({"loop", n, [this, &loop] { return loop.frames_per_second(seconds_); }});
    }
  }

  void report(const Element& element, const char* memory, const std::string& device, const DenoiseWork& work,
              const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      std::printf("%-14s %4dx%-4d %-4s %-8s %-8s %9d ", element.name, work.width, work.height, device.c_str(), memory,
                  row.kind.c_str(), row.in_flight);
      Fields fields;
      fields.add("element", element.name).add("width", work.width).add("height", work.height).add("device", device);
      fields.add("memory", memory).add("kind", row.kind).add("in_flight", row.in_flight);
      if (row.error.empty()) {
        const double rate = row.rate();
        fields.add("frames_per_second", rate);
        std::printf("%10.1f %9.4f", rate, 1e3 / rate);
        if (row.kind == "pipeline") ratios(fields, rows, row);
      } else {
        fields.add("error", row.error);
        std::printf("%s", row.error.c_str());
      }
      std::printf("\n");
      std::fflush(stdout);
      results_.add(std::move(fields));
    }
  }

  /// Of a pipeline to the loop that does as much at a time, to the best of the loops, to the kernels; of one after a
  /// decoder to the slower of that decoder and the pipeline over a pool.
  static void ratios(Fields& fields, const std::vector<Row>& rows, const Row& row) {
    const auto ratio = [&](const char* name, double to) {
      if (to <= 0) return (void)std::printf(" %10s", "");
      fields.add(name, row.rate() / to);
      std::printf(" %9.1f%%", 100 * row.rate() / to);
    };
    ratio("of_loop", rate_of(rows, "loop", row.in_flight));
    ratio("of_best_loop", best_of(rows, "loop"));
    ratio("of_kernel", best_of(rows, "kernel"));
    ratio("of_slower", std::min(best_of(rows, "decode"), rate_of(rows, "pool", row.in_flight)));
  }

  const Options& options_;
  int id_, runs_;
  double seconds_;
  Results results_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options(
      argc, argv,
      {{"elements", "nlmeans,patchbilateral", "at fixed strengths, else with their defaults"},
       {"devices", "cuda,cpu", "of the elements"},
       {"memory", "cuda,pinned,recycled", "where the source's frames lie"},
       {"in-flight", "0,1,2,4", "the element's in-flight, with cuda"},
       {"buffers", "8", "least number in a source's pool"},
       {"seconds", "0.3", "time for each run"},
       {"runs", "3", "runs of each row, by turns; the median counts"},
       {"decode", "", "file to be filtered as it is decoded: H.264 in MP4, if the decoder is not given"},
       {"decoder", "qtdemux ! h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory),format=NV12",
        "what makes frames of the file"}});
  const Device device = cuda::find_device();
  if (device.id < 0) std::fprintf(stderr, "no GPU, CPU only: %s\n", device.reason.c_str());
  if (device.id >= 0) cuda::check(cudaSetDevice(device.id), "cudaSetDevice");
  start_gstreamer();
  Bench bench(options, device);
  const auto wants = [&](const char* option, const std::string& name) {
    const auto list = options.list(option);
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::printf("%-14s %-9s %-4s %-8s %-8s %9s %10s %9s %10s %10s %10s %10s\n", "element", "NV12", "on", "memory", "what",
              "in flight", "frames/s", "ms/frame", "of loop", "of best", "of kernel", "of slower");
  for (const Element& element : elements()) {
    if (!wants("elements", element.name)) continue;
    for (const FrameMemory& memory : kMemories)
      if (device.id >= 0 && wants("devices", "cuda") && wants("memory", memory.name) &&
          (memory.source != SourceMemory::kCuda || has_cuda_memory()))
        bench.frames_on_gpu(element, memory);
    if (wants("devices", "cpu")) bench.frames_on_cpu(element);
    if (!options.text("decode").empty()) bench.file(element);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
