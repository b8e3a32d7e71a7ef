// SPDX-License-Identifier: LGPL-2.1-or-later
// Times a frame on the CPU, on the GPU and with device=auto, side by side: shows when a GPU pays, and how far
// device=auto is from the faster device in steady state.
#include "benchmarks/pipeline/element.h"
#include "benchmarks/support/picture.h"
#include "engine/choose.h"
#include "engine/weighing.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace framequality;
using namespace framequality::bench;
using Clock = std::chrono::steady_clock;

namespace {

constexpr Size kSizes[] = {{"160x120", 160, 120},     {"320x240", 320, 240},     {"640x480", 640, 480},
                           {"1280x720", 1280, 720},   {"1920x1080", 1920, 1080}, {"2560x1440", 2560, 1440},
                           {"3840x2160", 3840, 2160}, {"8192x8192", 8192, 8192}};

struct Memory {
  const char* name;
  SourceMemory source;
};
constexpr Memory kMemories[] = {{"pinned", SourceMemory::kWilling},
                                {"recycled", SourceMemory::kRecycled},
                                {"fresh", SourceMemory::kFresh},
                                {"cuda", SourceMemory::kCuda}};

/// Format and options of the meter.
struct Setting {
  const char *name, *format;
  std::vector<std::string> properties;
};
const std::vector<Setting> kSettings = {
    {"plain", "NV12", {}},
    {"binomial5", "NV12", {"prefilter=binomial5"}},
    {"10 bits", "P010_10LE", {}},
    {"BGRx", "BGRx", {}},
    {"entropy", "NV12", {"metric=entropy"}},
    {"watch", "NV12", {"metric=mean-square-frequency", "statistics=true", "zone-columns=4", "zone-rows=4"}},
};

struct Case {
  Size size;
  Memory memory;
  Setting setting;
  bool paced;  ///< 60 frames a second, else back to back
};

/// All sizes plain, three of them at 60 a second too, where caches and clocks are cold, and two with each setting.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Size& size : kSizes)
    for (const Memory& memory : kMemories) cases.push_back({size, memory, kSettings[0], false});
  for (const Size& size : {kSizes[2], kSizes[4], kSizes[6]})
    for (const Memory& memory : kMemories) cases.push_back({size, memory, kSettings[0], true});
  for (const Size& size : {kSizes[2], kSizes[4]})
    for (const Memory& memory : {kMemories[1], kMemories[2]})
      for (std::size_t i = 1; i < kSettings.size(); ++i) cases.push_back({size, memory, kSettings[i], false});
  return cases;
}

/// A meter's statistics since its start.
struct Stats {
  guint64 measured = 0, busy_ns = 0, moves = 0;
};
Stats stats_of(GstElement* meter) {
  GstStructure* s = nullptr;
  g_object_get(meter, "stats", &s, nullptr);
  Stats stats;
  gst_structure_get_uint64(s, "measured", &stats.measured);
  gst_structure_get_uint64(s, "busy-ns", &stats.busy_ns);
  gst_structure_get_uint64(s, "moves", &stats.moves);
  gst_structure_free(s);
  return stats;
}

std::string active_device(GstElement* meter) {
  gchar* device = nullptr;
  g_object_get(meter, "active-device", &device, nullptr);
  std::string text = device ? device : "";
  g_free(device);
  return text;
}

/// Result of one device in one case.
struct Cost {
  double us = 0;    ///< median of the slices' time that the streaming thread spends on a frame
  double rate = 0;  ///< frames a second
  double score = 0;
  std::string device;  ///< at the end
  guint64 moves = 0;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        best_(choose({.makes = [](const Backend& b) { return b.sharpness != nullptr; }})),
        results_(options.text("out"), machine_context("devices_bench", best_.name, options)) {
    if (!has_gpu()) std::fprintf(stderr, "no GPU, cpu and auto only: %s\n", best_.reason.c_str());
  }

  void run() {
    const auto end = Clock::now() + std::chrono::duration<double>(60 * options_.number("minutes"));
    std::printf("busy us/frame\n%-10s %-9s %-10s %-5s %10s %10s %10s %-6s %5s %7s\n", "size", "memory", "setting",
                "pace", "cpu", "gpu", "auto", "is on", "moves", "ratio");
    for (const Case& c : all_cases()) {
      if (!is_wanted(c)) continue;
      if (Clock::now() > end) {
        std::printf("the time is up: the rest is left out\n");
        break;
      }
      run(c);
    }
    std::printf("worst ratio of auto to the better one: %.3f, %s\n", worst_, worst_case_.c_str());
  }

 private:
  bool has_gpu() const { return best_.place && !is_cpu(*best_.place->backend); }

  bool is_wanted(const Case& c) const {
    const auto in = [&](const char* option, const std::string& name) {
      const std::vector<std::string> list = options_.list(option);
      return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
    };
    const bool on_device = c.memory.source == SourceMemory::kCuda;
    // Formats that GstCuda has no memory for would end in an error.
    return in("sizes", c.size.name) && in("memory", c.memory.name) && in("settings", c.setting.name) &&
           in("pace", c.paced ? "60" : "max") && (!on_device || (has_gpu() && has_cuda_memory()));
  }

  void run(const Case& c) {
    const std::string name = std::string(c.size.name) + " " + c.memory.name + " " + c.setting.name;
    std::printf("%-10s %-9s %-10s %-5s ", c.size.name, c.memory.name, c.setting.name, c.paced ? "60/s" : "max");
    std::fflush(stdout);
    Fields fields;
    fields.add("size", c.size.name).add("memory", c.memory.name).add("setting", c.setting.name);
    fields.add("pace", c.paced ? "60" : "max");
    try {
      std::map<std::string, Cost> costs;
      double best = 0;
      std::optional<double> score;
      for (const char* device : {"cpu", "gpu", "auto"}) {
        const bool is_gpu = std::string(device) == "gpu";
        if (is_gpu ? !has_gpu() : device[0] == 'c' && c.memory.source == SourceMemory::kCuda) {
          std::printf("%10s ", "");
          continue;
        }
        const Cost cost = costs[device] = measure(c, is_gpu ? best_.place->backend->name : device);
        std::printf("%10.1f ", cost.us);
        std::fflush(stdout);
        fields.add(std::string(device) + "_us", cost.us).add(std::string(device) + "_per_second", cost.rate);
        if (std::exchange(score, cost.score).value_or(cost.score) != cost.score)
          throw std::runtime_error("the scores differ");
        if (std::string(device) != "auto") best = best > 0 ? std::min(best, cost.us) : cost.us;
      }
      const Cost& automatic = costs["auto"];
      const double ratio = automatic.us / best;
      fields.add("auto_on", automatic.device).add("moves", static_cast<std::int64_t>(automatic.moves));
      fields.add("ratio", ratio);
      std::printf("%-6s %5d %7.3f\n", automatic.device.c_str(), static_cast<int>(automatic.moves), ratio);
      if (ratio > worst_) {
        worst_ = ratio;
        worst_case_ = name + (c.paced ? " 60/s" : "");
      }
    } catch (const std::exception& e) {
      std::printf("%s\n", e.what());
      fields.add("error", e.what());
    }
    std::fflush(stdout);
    results_.add(std::move(fields));
  }

  Cost measure(const Case& c, const std::string& device) {
    if (luma_size_ != c.size.name)
      luma_ = std::make_shared<const std::vector<std::uint8_t>>(make_picture(c.size.width, c.size.height));
    luma_size_ = c.size.name;
    PipelineOptions spec;
    spec.source = {c.setting.format,
                   c.size.width,
                   c.size.height,
                   c.memory.source,
                   8,
                   false,
                   luma_,
                   has_gpu() ? std::max(best_.place->id, 0) : 0};
    spec.device = device;
    spec.properties = c.setting.properties;
    ElementPipeline pipeline(spec);
    pipeline.source().paced = c.paced && device != "auto";
    pipeline.play();
    if (device == "auto" && c.memory.source != SourceMemory::kCuda) settle(pipeline, c);
    pipeline.wait(c.paced ? 0.5 : 0.15);
    return watch(pipeline, c);
  }

  /// Waits until auto has opened the device, if there is one, and tried it. Frames come back to back until shortly
  /// before it is opened, which a camera would need a minute for.
  void settle(ElementPipeline& pipeline, const Case& c) const {
    const auto end = Clock::now() + std::chrono::seconds(30);
    const auto so_far = [&] { return stats_of(pipeline.element()); };
    const double opening = 1e-9 * static_cast<double>(std::chrono::nanoseconds(Weighing::kOpening).count());
    while (c.paced && !pipeline.source().paced && so_far().moves == 0) {
      const Stats s = so_far();
      const double busy = 1e-9 * static_cast<double>(s.busy_ns);
      const double frame = busy / static_cast<double>(std::max<guint64>(s.measured, 1));
      pipeline.source().paced = opening - busy < std::max(30 * frame, 0.004);
      pipeline.wait(0.0005);
    }
    while (so_far().moves == 0 && Clock::now() < end && (has_gpu() || so_far().busy_ns < 1e9 * opening + 1e7))
      pipeline.wait(0.001);
    if (!has_gpu()) return;
    const guint64 begin = so_far().measured;
    constexpr guint64 kTrial = (Weighing::kWarmUp + 1) * Weighing::kWindow + 4;
    while (so_far().measured < begin + kTrial && Clock::now() < end) pipeline.wait(0.001);
  }

  /// Slices, of which the median counts: another program's work in one of them is none of ours.
  Cost watch(ElementPipeline& pipeline, const Case& c) const {
    std::vector<double> us, rates;
    const double seconds = options_.number("seconds") * (c.paced ? 3 : 1);
    constexpr int kSlices = 5;
    for (int i = 0; i < kSlices; ++i) {
      const Stats before = stats_of(pipeline.element());
      const auto begin = Clock::now();
      Stats after;
      do {
        pipeline.wait(seconds / kSlices);
        after = stats_of(pipeline.element());
      } while (after.measured == before.measured);
      const auto frames = static_cast<double>(after.measured - before.measured);
      us.push_back(1e-3 * static_cast<double>(after.busy_ns - before.busy_ns) / frames);
      rates.push_back(frames / std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return {median(us), median(rates), pipeline.last_score(), active_device(pipeline.element()),
            stats_of(pipeline.element()).moves};
  }

  const Options& options_;
  Choice best_;
  Results results_;
  std::string luma_size_;
  std::shared_ptr<const std::vector<std::uint8_t>> luma_;
  double worst_ = 0;
  std::string worst_case_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options(argc, argv,
                        {{"sizes", "", "of these only, such as 640x480,1920x1080"},
                         {"memory", "", "of these only: pinned, recycled, fresh, cuda"},
                         {"settings", "", "of these only: plain, binomial5, 10 bits, BGRx, entropy, watch"},
                         {"pace", "", "of these only: max, 60"},
                         {"seconds", "0.4", "time for each row and device; three times that at 60/s"},
                         {"minutes", "6", "begin with no row after this time"}});
  start_gstreamer();
  Bench(options).run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
