// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames per second and latency of whole pipelines, beside a bare loop over the same frames in the same process.
#include "benchmarks/pipeline/element.h"
#include "benchmarks/sharpness/bare_loop.h"
#include "benchmarks/support/picture.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using namespace framequality;
using namespace framequality::bench;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double kWarmUp = 0.15;  // seconds
constexpr int kCpuPlace = -1;     // device of a loop over the CPU twin

/// What a row calls the source's memory, and how the loop beside it is fed.
struct Memory {
  const char* name;
  SourceMemory source;
  Feed loop;
};
constexpr Memory kMemories[] = {{"pinned", SourceMemory::kOffered, Feed::kCopy},
                                {"recycled", SourceMemory::kRecycled, Feed::kStaged},
                                {"fresh", SourceMemory::kFresh, Feed::kStaged},
                                {"cuda", SourceMemory::kCuda, Feed::kDevice}};

/// Loops over as many frames as a source has buffers, so that caches treat both alike.
class Loops {
 public:
  Loops(const Options& options, const Size& size, std::span<const std::uint8_t> luma, int id)
      : options_(options), size_(size), luma_(luma), id_(id) {}

  /// Frames a second of a loop; measured when first asked for.
  double rate(Feed feed, int slots, bool on_cpu = false) {
    double& rate = rates_[{feed, slots, on_cpu}];
    if (rate > 0) return rate;
    BareLoop loop(geometry(), blocks(feed == Feed::kCopy), feed, slots, on_cpu ? kCpuPlace : id_);
    std::vector<double> rates;
    for (int i = 0; i < static_cast<int>(options_.number("runs")); ++i)
      rates.push_back(loop.frames_per_second(options_.number("seconds")));
    return rate = median(rates);
  }
  std::vector<double> latencies(Feed feed, bool on_cpu = false) {
    BareLoop loop(geometry(), blocks(feed == Feed::kCopy), feed, 1, on_cpu ? kCpuPlace : id_);
    return loop.latencies(options_.number("seconds"));
  }
  double copy_rate() { return copy_bandwidth(blocks(true), id_); }

 private:
  Geometry geometry() const { return {size_.width, size_.height, {}}; }
  const Blocks& blocks(bool pinned) {
    auto& b = blocks_[pinned];
    if (!b) b.emplace(luma_, static_cast<int>(options_.number("buffers")), pinned);
    return *b;
  }
  const Options& options_;
  const Size& size_;
  std::span<const std::uint8_t> luma_;
  int id_;
  std::optional<Blocks> blocks_[2];
  std::map<std::tuple<Feed, int, bool>, double> rates_;
};

/// The parts of a text; of an empty one none.
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// Median frames a second of several runs, each a pipeline of its own. Throws std::runtime_error.
double pipeline_rate(const PipelineOptions& spec, const Options& options) {
  std::vector<double> rates;
  for (int i = 0; i < static_cast<int>(options.number("runs")); ++i) {
    ElementPipeline pipeline(spec);
    pipeline.play();
    pipeline.wait(kWarmUp);
    const std::uint64_t first = pipeline.frames();
    const auto begin = Clock::now();
    pipeline.wait(options.number("seconds"));
    const std::uint64_t frames = pipeline.frames() - first;
    rates.push_back(static_cast<double>(frames) / std::chrono::duration<double>(Clock::now() - begin).count());
    if (pipeline.element() && spec.properties.empty() && pipeline.last_score() != expected_score(spec.source))
      throw std::runtime_error("score " + std::to_string(pipeline.last_score()) + ", not " +
                               std::to_string(expected_score(spec.source)));
  }
  return median(rates);
}

/// Times from a frame's arrival at the meter to its departure. Unit: seconds. Streaming thread only.
struct Passage {
  Clock::time_point in;
  std::vector<double> all;
  static GstPadProbeReturn arrive(GstPad*, GstPadProbeInfo*, gpointer self) {
    static_cast<Passage*>(self)->in = Clock::now();
    return GST_PAD_PROBE_OK;
  }
  static GstPadProbeReturn leave(GstPad*, GstPadProbeInfo*, gpointer self) {
    auto* p = static_cast<Passage*>(self);
    p->all.push_back(std::chrono::duration<double>(Clock::now() - p->in).count());
    return GST_PAD_PROBE_OK;
  }
};

std::vector<double> pipeline_latencies(const PipelineOptions& spec, double seconds) {
  Passage passage;
  passage.all.reserve(1 << 20);
  {
    ElementPipeline pipeline(spec);
    for (const auto& [name, probe] : {std::pair{"sink", &Passage::arrive}, {"src", &Passage::leave}}) {
      GstPad* pad = gst_element_get_static_pad(pipeline.element(), name);
      gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, probe, &passage, nullptr);
      gst_object_unref(pad);
    }
    pipeline.play();
    pipeline.wait(seconds);
  }
  passage.all.erase(passage.all.begin(), passage.all.begin() + static_cast<std::ptrdiff_t>(passage.all.size() / 10));
  return passage.all;
}

class Bench {
 public:
  Bench(const Options& options, const Device& device)
      : options_(options),
        id_(device.id),
        results_(options.text("out"), machine_context("pipeline_bench", device.name, options)) {}

  void run(const Size& size) {
    const auto luma = std::make_shared<const std::vector<std::uint8_t>>(make_picture(size.width, size.height));
    Loops loops(options_, size, *luma, id_);
    std::printf("\n%s\n%-11s %-9s %-6s %9s %11s %10s %8s %9s %10s\n", size.name, "", "memory", "format", "in flight",
                "frames/s", "us/frame", "GB/s Y", "of loop", "of pinned");
    if (id_ >= 0) {
      const double copies = loops.copy_rate() / static_cast<double>(luma->size());
      add(row("pinned-copy", size, "cuda", "pinned", "GRAY8", 0), size, copies);
      for (const int n : options_.numbers("in-flight"))
        for (const Feed feed : {Feed::kCopy, Feed::kStaged, Feed::kDevice}) {
          if (feed == Feed::kDevice && !has_cuda_memory()) continue;
          const char* memory = feed == Feed::kCopy ? "pinned" : feed == Feed::kStaged ? "recycled" : "cuda";
          add(row("loop", size, "cuda", memory, "GRAY8", n), size, loops.rate(feed, n + 1));
        }
    }
    add(row("loop", size, "cpu", "recycled", "GRAY8", 0), size, loops.rate(Feed::kMeter, 1, true));
    for (const Memory& memory : kMemories) {
      if (!has(options_.list("memory"), memory.name)) continue;
      if (memory.source == SourceMemory::kCuda && !has_cuda_memory()) continue;
      for (const std::string& format : options_.list("formats")) {
        if (memory.source == SourceMemory::kCuda && format != "NV12") continue;
        PipelineOptions spec;
        spec.source = {format, size.width, size.height,     memory.source, static_cast<int>(options_.number("buffers")),
                       false,  luma,       std::max(id_, 0)};
        throughput(size, memory, spec, loops);
        if (format != "NV12" || size.width > k1080p.width || !options_.text("set").empty()) continue;
        if (memory.source == SourceMemory::kRecycled) latency(size, "cpu", memory, spec, loops);
        if (memory.source != SourceMemory::kFresh && id_ >= 0) latency(size, "cuda", memory, spec, loops);
      }
    }
  }

 private:
  static bool has(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }

  Fields row(const std::string& kind, const Size& size, const std::string& device, const char* memory,
             const std::string& format, int in_flight) {
    std::printf("%-11s %-9s %-6s %9d ", (kind == "pipeline" ? device : kind).c_str(), memory, format.c_str(),
                in_flight);
    Fields fields;
    fields.add("kind", kind).add("size", size.name).add("device", device).add("memory", memory);
    return fields.add("format", format).add("in_flight", in_flight);
  }

  void add(Fields fields, const Size& size, double rate, double of_loop = 0, double of_pinned = 0) {
    const double bytes = static_cast<double>(size.width) * size.height * rate;
    fields.add("frames_per_second", rate).add("bytes_per_second", bytes);
    std::printf("%11.1f %10.1f %8.2f", rate, 1e6 / rate, bytes / 1e9);
    if (of_loop > 0) {
      fields.add("of_loop", of_loop);
      std::printf(" %8.1f%%", 100 * of_loop);
    }
    if (of_pinned > 0) {
      fields.add("of_pinned_loop", of_pinned);
      std::printf(" %9.1f%%", 100 * of_pinned);
    }
    std::printf("\n");
    std::fflush(stdout);
    results_.add(std::move(fields));
  }

  void fail(Fields fields, const std::exception& e) {
    std::printf("%s\n", e.what());
    results_.add(std::move(fields.add("error", e.what())));
  }

  void throughput(const Size& size, const Memory& memory, PipelineOptions spec, Loops& loops) {
    const std::string& format = spec.source.format;
    const bool ordinary = memory.source == SourceMemory::kRecycled || memory.source == SourceMemory::kFresh;
    const auto measure = [&](const char* kind, const std::string& device, int n, double loop, double pinned,
                             const std::string& set) {
      Fields fields = row(kind, size, device, memory.name, format, n);
      if (!set.empty()) {
        fields.add("set", set);
        std::printf("%-34s ", set.c_str());
      }
      spec.properties = set == "none" ? std::vector<std::string>{} : split(set, ',');
      try {
        spec.device = device == "none" ? "" : device;
        spec.in_flight = n;
        const double rate = pipeline_rate(spec, options_);
        add(std::move(fields), size, rate, loop > 0 ? rate / loop : 0, pinned > 0 ? rate / pinned : 0);
      } catch (const std::exception& e) {
        fail(std::move(fields), e);
      }
    };
    std::vector<std::string> sets = split(options_.text("set"), '/');
    if (sets.empty()) sets.emplace_back();
    if (ordinary) measure("source", "none", 0, 0, 0, "");
    if (ordinary && has(options_.list("devices"), "cpu"))
      for (const std::string& set : sets) measure("pipeline", "cpu", 0, loops.rate(Feed::kMeter, 1, true), 0, set);
    if (id_ < 0 || !has(options_.list("devices"), "cuda")) return;
    // While n frames are in flight the next one arrives: a loop of n + 1 slots does as much at a time.
    for (const int n : options_.numbers("in-flight"))
      for (const std::string& set : sets)
        measure("pipeline", "cuda", n, loops.rate(memory.loop, n + 1), loops.rate(Feed::kCopy, n + 1), set);
  }

  /// One frame at a time.
  void latency(const Size& size, const char* device, const Memory& memory, PipelineOptions spec, Loops& loops) {
    const bool on_cpu = std::string(device) == "cpu";
    spec.device = device;
    Fields fields;
    fields.add("kind", "latency").add("size", size.name).add("device", device).add("memory", memory.name);
    std::printf("latency of one frame, %s, %s: ", device, memory.name);
    try {
      const auto bare = loops.latencies(on_cpu ? Feed::kMeter : memory.loop, on_cpu);
      const auto all = pipeline_latencies(spec, options_.number("seconds") * options_.number("runs"));
      const double us[] = {1e6 * median(all), 1e6 * quantile(all, 0.99), 1e6 * median(bare),
                           1e6 * quantile(bare, 0.99)};
      fields.add("frames", all.size()).add("median_us", us[0]).add("p99_us", us[1]);
      fields.add("bare_median_us", us[2]).add("bare_p99_us", us[3]);
      std::printf("median %.1f us, 99%% within %.1f us; bare: median %.1f us, 99%% within %.1f us\n", us[0], us[1],
                  us[2], us[3]);
      results_.add(std::move(fields));
    } catch (const std::exception& e) {
      fail(std::move(fields), e);
    }
  }

  const Options& options_;
  int id_;
  Results results_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options(argc, argv,
                        {{"sizes", "1080p,2160p", "which frames: 480p, 720p, 1080p, 2160p"},
                         {"memory", "pinned,recycled,fresh,cuda", "where the source's frames lie"},
                         {"formats", "GRAY8,NV12", "of the frames; cuda memory is NV12 only"},
                         {"devices", "cpu,cuda", "of the meter"},
                         {"in-flight", "0,1,2,3,4", "the meter's in-flight, with cuda"},
                         {"buffers", "8", "least number in a source's pool"},
                         {"seconds", "0.4", "time for each run"},
                         {"runs", "3", "runs of each row; the median counts"},
                         {"set", "", "more properties of the meter: name=value,... or none; several such lists: /"}});
  const Device device = cuda::find_device();
  if (device.id < 0) std::fprintf(stderr, "no GPU, CPU only: %s\n", device.reason.c_str());
  if (device.id >= 0) cuda::check(cudaSetDevice(device.id), "cudaSetDevice");
  start_gstreamer();
  Bench bench(options, device);
  for (const Size& size : kVideoSizes) {
    const auto wanted = options.list("sizes");
    if (std::find(wanted.begin(), wanted.end(), size.name) != wanted.end()) bench.run(size);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
