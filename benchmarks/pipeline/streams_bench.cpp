// SPDX-License-Identifier: LGPL-2.1-or-later
// Many pipelines at once: what they reach together, and how many live ones of 60 frames a second hold.
#include "benchmarks/pipeline/element.h"
#include "benchmarks/sharpness/bare_loop.h"
#include "benchmarks/support/picture.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

using namespace framequality;
using namespace framequality::bench;
using Clock = std::chrono::steady_clock;

namespace {

constexpr GstClockTime kFrameTime = GST_SECOND / kSourceRate;
constexpr std::size_t kLoopBytes = std::size_t{512} << 20;  // as much as many streams have, more than any cache holds

/// Throws std::runtime_error if there is none of this name.
const Size& size_of(const std::string& name) {
  for (const Size& size : kVideoSizes)
    if (size.name == name) return size;
  throw std::runtime_error("--size: no '" + name + "'");
}

/// Frames of one live stream that came to the meter or left it too late. Streaming thread; read when that is over.
struct Punctuality {
  GstElement* pipeline = nullptr;
  std::atomic<bool> counting{false};  ///< not while pipelines start or stop, which disturbs the others
  GstClockTime allowed = 0;           ///< of a frame that leaves, after its running time
  std::uint64_t frames = 0, late = 0, came_late = 0;
  GstClockTimeDiff worst = 0;  ///< of those that left, ns after their running time

  GstClockTimeDiff behind(GstPadProbeInfo* info) const {
    return GST_CLOCK_DIFF(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)),
                          gst_element_get_current_running_time(pipeline));
  }
  static GstPadProbeReturn arrive(GstPad*, GstPadProbeInfo* info, gpointer self) {
    auto* p = static_cast<Punctuality*>(self);
    if (p->counting && p->behind(info) > static_cast<GstClockTimeDiff>(kFrameTime)) ++p->came_late;
    return GST_PAD_PROBE_OK;
  }
  static GstPadProbeReturn leave(GstPad*, GstPadProbeInfo* info, gpointer self) {
    auto* p = static_cast<Punctuality*>(self);
    if (!p->counting) return GST_PAD_PROBE_OK;
    const GstClockTimeDiff behind = p->behind(info);
    ++p->frames;
    p->late += behind > static_cast<GstClockTimeDiff>(p->allowed);
    p->worst = std::max(p->worst, behind);
    return GST_PAD_PROBE_OK;
  }
};

class Bench {
 public:
  Bench(const Options& options, const Device& device)
      : options_(options),
        id_(device.id),
        device_(options.text("device") == "auto" ? (device.id >= 0 ? "cuda" : "cpu") : options.text("device")),
        results_(options.text("out"), machine_context("streams_bench", device.name, options)) {
    spec_.source.format = options.text("format");
    const Size& size = size_of(options.text("size"));
    spec_.source.width = size.width;
    spec_.source.height = size.height;
    spec_.source.luma = std::make_shared<const std::vector<std::uint8_t>>(make_picture(size.width, size.height));
    spec_.source.buffers = static_cast<int>(options.number("buffers"));
    const std::string memory = device_ == "cpu" ? "recycled" : options.text("memory");
    spec_.source.memory = memory == "pinned" ? SourceMemory::kOffered : SourceMemory::kRecycled;
    spec_.source.cuda_device = std::max(id_, 0);
    spec_.device = device_;
    memory_ = memory;
    if (options.text("watch") != "yes") return;
    spec_.downstream = "camerawatch";
    spec_.properties = {"metric=mean-square-frequency",
                        "prefilter=binomial5",
                        "noise-correction=true",
                        "statistics=true",
                        "zone-columns=16",
                        "zone-rows=9",
                        "post-messages=false"};
    if (!options.text("interval").empty()) spec_.properties.push_back("interval=" + options.text("interval"));
  }

  /// The bus and the bare loop, to compare with.
  void measure_limits() {
    if (device_ != "cuda" || id_ < 0) return;
    const Blocks pinned(*spec_.source.luma, static_cast<int>(kLoopBytes / spec_.source.luma->size()), true);
    bus_ = copy_bandwidth(pinned, id_);
    BareLoop loop({spec_.source.width, spec_.source.height, {}}, pinned, Feed::kCopy, 4, id_);
    const double rate = loop.frames_per_second(options_.number("seconds"));
    std::printf("pinned copies of a frame: %.2f GB/s; bare loop with 4 in flight: %.1f frames/s, %.2f GB/s\n",
                bus_ / 1e9, rate, rate * bytes() / 1e9);
    results_.add(Fields().add("kind", "pinned-copy").add("bytes_per_second", bus_));
    results_.add(Fields().add("kind", "loop").add("in_flight", 4).add("frames_per_second", rate));
  }

  /// Streams as fast as they go, together.
  void unthrottled(int streams, int in_flight) {
    Fields row = start_row("unthrottled", streams, in_flight);
    try {
      spec_.source.live = false;
      spec_.in_flight = in_flight;
      auto all = start(streams, nullptr);
      wait(all, 0.3);
      const std::uint64_t first = frames_of(all);
      const auto begin = Clock::now();
      const double cpu = processor_seconds();
      wait(all, options_.number("seconds"));
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      const double rate = static_cast<double>(frames_of(all) - first) / seconds;
      const double cores = (processor_seconds() - cpu) / seconds;
      row.add("frames_per_second", rate).add("bytes_per_second", rate * bytes()).add("cores_used", cores);
      std::printf("%11.1f frames/s %8.2f GB/s Y %6.1f cores busy", rate, rate * bytes() / 1e9, cores);
      if (bus_ > 0) {
        row.add("of_bus", rate * bytes() / bus_);
        std::printf(" %6.1f%% of the bus", 100 * rate * bytes() / bus_);
      }
      std::printf("\n");
      results_.add(std::move(row));
    } catch (const std::exception& e) {
      fail(std::move(row), e);
    }
  }

  /// True if so many live streams held for so long without a late frame.
  bool live(int streams, double seconds) {
    const int in_flight = static_cast<int>(options_.number("live-in-flight"));
    Fields row = start_row("live", streams, in_flight);
    bool holds = false;
    try {
      spec_.source.live = true;
      spec_.in_flight = in_flight;
      std::vector<Punctuality> watch(static_cast<std::size_t>(streams));
      Punctuality sum;
      double cores;
      {
        auto all = start(streams, watch.data());
        wait(all, 1);
        const double cpu = processor_seconds();
        for (Punctuality& p : watch) p.counting = true;
        wait(all, seconds);
        for (Punctuality& p : watch) p.counting = false;
        cores = (processor_seconds() - cpu) / seconds;
      }
      for (const Punctuality& p : watch) {
        sum.frames += p.frames;
        sum.late += p.late;
        sum.came_late += p.came_late;
        sum.worst = std::max(sum.worst, p.worst);
      }
      // Streams that hang have no late frames, but few.
      const double expected = streams * seconds * kSourceRate;
      holds = sum.late == 0 && static_cast<double>(sum.frames) > 0.98 * expected;
      const double worst = static_cast<double>(sum.worst) / 1e6;
      row.add("seconds", seconds).add("frames", static_cast<std::size_t>(sum.frames));
      row.add("late", static_cast<std::size_t>(sum.late)).add("came_late", static_cast<std::size_t>(sum.came_late));
      row.add("worst_ms", worst).add("cores_used", cores).add("holds", holds);
      std::printf("%5.0f s, %8llu frames, %6llu late (%llu came late), worst %7.2f ms, %5.1f cores busy: %s\n", seconds,
                  static_cast<unsigned long long>(sum.frames), static_cast<unsigned long long>(sum.late),
                  static_cast<unsigned long long>(sum.came_late), worst, cores, holds ? "holds" : "does not hold");
      std::fflush(stdout);
      results_.add(std::move(row));
    } catch (const std::exception& e) {
      fail(std::move(row), e);
    }
    return holds;
  }

 private:
  using Pipelines = std::vector<std::unique_ptr<ElementPipeline>>;

  /// Of a frame's luma.
  double bytes() const { return static_cast<double>(spec_.source.luma->size()); }

  Fields start_row(const char* kind, int streams, int in_flight) {
    std::printf("%-11s %4d streams, %s, %s, %s, in-flight %d: ", kind, streams, device_.c_str(), memory_.c_str(),
                spec_.source.format.c_str(), in_flight);
    std::fflush(stdout);
    Fields row;
    row.add("kind", kind)
        .add("size", options_.text("size"))
        .add("streams", streams)
        .add("device", device_)
        .add("memory", memory_);
    if (!spec_.downstream.empty()) row.add("downstream", spec_.downstream).add("interval", options_.text("interval"));
    return row.add("format", spec_.source.format).add("in_flight", in_flight);
  }

  void fail(Fields row, const std::exception& e) {
    std::printf("%s\n", e.what());
    results_.add(std::move(row.add("error", e.what())));
  }

  /// So many pipelines, playing. watch: null, or as many to fill in; they must outlive the pipelines.
  Pipelines start(int streams, Punctuality* watch) const {
    Pipelines all;
    for (int i = 0; i < streams; ++i) {
      all.push_back(std::make_unique<ElementPipeline>(spec_));
      if (!watch) continue;
      Punctuality& p = watch[i];
      p.pipeline = all.back()->pipeline();
      // A frame in flight leaves when a later one arrives: that is latency, not lateness.
      p.allowed = kFrameTime * static_cast<GstClockTime>(1 + spec_.in_flight);
      for (const auto& [name, probe] : {std::pair{"sink", &Punctuality::arrive}, {"src", &Punctuality::leave}}) {
        GstPad* pad = gst_element_get_static_pad(all.back()->element(), name);
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, probe, &p, nullptr);
        gst_object_unref(pad);
      }
    }
    for (auto& pipeline : all) pipeline->play();
    return all;
  }

  static void wait(const Pipelines& all, double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    for (const auto& pipeline : all) pipeline->wait(0);
  }

  static std::uint64_t frames_of(const Pipelines& all) {
    std::uint64_t sum = 0;
    for (const auto& pipeline : all) sum += pipeline->frames();
    return sum;
  }

  const Options& options_;
  int id_;
  std::string device_, memory_;
  PipelineOptions spec_;
  Results results_;
  double bus_ = 0;  ///< bytes per second; 0: not measured
};

/// The largest number of streams that holds, of those in the list: each for a short time, then, from the largest that
/// held down, for the whole time.
int most_streams(Bench& bench, std::vector<int> counts, const Options& options) {
  std::sort(counts.begin(), counts.end());
  std::vector<int> held;
  for (const int n : counts) {
    if (!bench.live(n, options.number("probe-seconds"))) break;
    held.push_back(n);
  }
  for (; !held.empty(); held.pop_back())
    if (bench.live(held.back(), options.number("live-seconds"))) return held.back();
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options(argc, argv,
                        {{"size", "1080p", "which frames: 480p, 720p, 1080p, 2160p"},
                         {"streams", "1,4,16,64", "numbers of pipelines as fast as they go"},
                         {"in-flight", "0,2", "their in-flight"},
                         {"seconds", "1", "time for each of these"},
                         {"live", "1,4,16,64", "numbers of live pipelines, 60 frames a second each"},
                         {"live-in-flight", "0", "their in-flight"},
                         {"probe-seconds", "5", "time for each of these"},
                         {"live-seconds", "60", "time that the largest number has to hold"},
                         {"device", "auto", "cuda or cpu"},
                         {"memory", "pinned", "pinned or recycled, with cuda"},
                         {"format", "NV12", "NV12 or GRAY8"},
                         {"watch", "no", "yes: camerawatch downstream, and the settings that it wants"},
                         {"interval", "", "with watch: time between measured frames, ns; none: every frame"},
                         {"buffers", "4", "least number in a source's pool"}});
  const Device device = cuda::find_device();
  if (device.id < 0) std::fprintf(stderr, "no GPU: %s\n", device.reason.c_str());
  if (device.id >= 0) cuda::check(cudaSetDevice(device.id), "cudaSetDevice");
  start_gstreamer();
  Bench bench(options, device);
  bench.measure_limits();
  for (const int in_flight : options.numbers("in-flight"))
    for (const int n : options.numbers("streams")) bench.unthrottled(n, in_flight);
  if (!options.numbers("live").empty())
    std::printf("%d live streams hold for %.0f s\n", most_streams(bench, options.numbers("live"), options),
                options.number("live-seconds"));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
