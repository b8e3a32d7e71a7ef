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
#include <functional>
#include <memory>
#include <sched.h>
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

/// The last core that this process may use; -1: unknown.
int last_core() {
  cpu_set_t set;
  int core = -1;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return core;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) core = i;
  return core;
}

std::string active_device(GstElement* meter) {
  gchar* device = nullptr;
  g_object_get(meter, "active-device", &device, nullptr);
  std::string text = device ? device : "";
  g_free(device);
  return text;
}

/// A pipeline's frames between hold() and hold().
struct Turn {
  guint64 frames;
  double busy, wall;  ///< us
  bool has_moved;     ///< to another device or back

  double us() const { return busy / static_cast<double>(frames); }  ///< of the streaming thread's time, per frame
};

/// A pipeline on one device, and its turns.
struct Runner {
  std::string device;  ///< "cpu", "gpu" or "auto"
  std::unique_ptr<ElementPipeline> pipeline;
  std::vector<Turn> turns{};

  double us() const { return median_of(&Turn::us); }
  double per_second() const {
    return 1e6 / median_of([](const Turn& t) { return t.wall / static_cast<double>(t.frames); });
  }
  /// What trials of the other device cost, of all the time: they are in few turns, a median of all does not show them.
  double trials() const {
    double all = 0;
    std::vector<double> extra;
    for (const Turn& t : turns) {
      all += t.busy;
      if (t.has_moved) extra.push_back(t.busy - us() * static_cast<double>(t.frames));
    }
    const auto count = static_cast<double>(extra.size());
    return std::max(count * median(std::move(extra)), 0.0) / all;
  }
  template <class F>
  double median_of(F of) const {
    std::vector<double> values;
    for (const Turn& t : turns) values.push_back(std::invoke(of, t));
    return median(std::move(values));
  }
};

/// How many times as long a frame takes `a` as `b`, turn by turn, with `a`'s trials.
double ratio(const Runner& a, const Runner& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.turns.size(); ++i) ratios.push_back(a.turns[i].us() / b.turns[i].us());
  return median(std::move(ratios)) * (1 + a.trials());
}

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
    std::printf("busy us/frame\n%-10s %-9s %-10s %-5s %10s %10s %10s %-6s %5s %7s %7s\n", "size", "memory", "setting",
                "pace", "cpu", "gpu", "auto", "is on", "moves", "trials", "ratio");
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
      std::vector<Runner> runners;
      for (const char* device : {"cpu", "gpu", "auto"})
        if (is_possible(device, c)) runners.push_back(start(device, c));
      take_turns(runners, c);
      report(runners, c, name, fields);
    } catch (const std::exception& e) {
      std::printf("%s\n", e.what());
      fields.add("error", e.what());
    }
    std::fflush(stdout);
    results_.add(std::move(fields));
  }

  bool is_possible(const std::string& device, const Case& c) const {
    return device == "gpu" ? has_gpu() : device == "auto" || c.memory.source != SourceMemory::kCuda;
  }

  /// A pipeline that has come to its steady state, and is held there.
  Runner start(const std::string& device, const Case& c) {
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
    spec.device = device == "gpu" ? best_.place->backend->name : device;
    spec.properties = c.setting.properties;
    Runner runner{device, std::make_unique<ElementPipeline>(spec)};
    ElementPipeline& pipeline = *runner.pipeline;
    const bool settles = device == "auto" && c.memory.source != SourceMemory::kCuda;
    pipeline.source().paced = c.paced && !settles;
    pipeline.play();
    if (settles) settle(pipeline, c);
    pipeline.wait(c.paced ? 0.5 : 0.15);
    constexpr guint64 kAllPinned = 40;  // each of the pool's buffers has come often enough
    pipeline.wait_until([&] { return stats_of(pipeline.element()).measured >= kAllPinned; }, "frames no longer come");
    pipeline.source().core = core_;
    pipeline.hold();
    return runner;
  }

  /// Cores of a host that others use too change their speed by a factor of 1.5 from one second to the next: only what
  /// runs on the same core, in short turns, can be compared. A turn begins with frames that do not count.
  void take_turns(std::vector<Runner>& runners, const Case& c) const {
    const double turn = c.paced ? 0.2 : 0.03;
    const auto rounds = static_cast<std::size_t>(std::max(1.0, options_.number("seconds") * (c.paced ? 6 : 1) / turn));
    constexpr guint64 kWarmUp = 4;
    const guint64 least = c.size.width > 4096 ? 4 : 8;  // frames of a turn
    const auto watch = [](ElementPipeline& pipeline, double seconds, guint64 frames) {
      const Stats begin = stats_of(pipeline.element());
      const auto end = Clock::now() + std::chrono::duration<double>(seconds);
      const auto is_over = [&] {
        return Clock::now() >= end && stats_of(pipeline.element()).measured >= begin.measured + frames;
      };
      pipeline.wait_until(is_over, "frames no longer come");
      return begin;
    };
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < runners.size(); ++i) {
        Runner& runner = runners[(round + i) % runners.size()];  // each first as often
        ElementPipeline& pipeline = *runner.pipeline;
        pipeline.resume();
        watch(pipeline, 0.001, kWarmUp);
        const auto start = Clock::now();
        const Stats before = watch(pipeline, turn, least), after = stats_of(pipeline.element());
        runner.turns.push_back(
            {after.measured - before.measured, 1e-3 * static_cast<double>(after.busy_ns - before.busy_ns),
             std::chrono::duration<double, std::micro>(Clock::now() - start).count(), after.moves != before.moves});
        pipeline.hold();
      }
    }
  }

  void report(const std::vector<Runner>& runners, const Case& c, const std::string& name, Fields& fields) {
    const Runner* best = nullptr;
    for (const char* device : {"cpu", "gpu", "auto"}) {
      const auto runner =
          std::find_if(runners.begin(), runners.end(), [&](const Runner& r) { return r.device == device; });
      if (runner == runners.end()) {
        std::printf("%10s ", "");
        continue;
      }
      std::printf("%10.1f ", runner->us());
      fields.add(runner->device + "_us", runner->us()).add(runner->device + "_per_second", runner->per_second());
      if (runner->pipeline->last_score() != runners.front().pipeline->last_score())
        throw std::runtime_error("the scores differ");
      if (runner->device != "auto" && (!best || runner->us() < best->us())) best = &*runner;
    }
    const Runner& chosen = runners.back();
    GstElement* meter = chosen.pipeline->element();
    const double slower = ratio(chosen, *best);
    const std::string device = active_device(meter);
    const Stats stats = stats_of(meter);
    fields.add("auto_on", device).add("moves", static_cast<std::int64_t>(stats.moves));
    fields.add("trials", chosen.trials()).add("ratio", slower);
    std::printf("%-6s %5d %6.1f%% %7.3f\n", device.c_str(), static_cast<int>(stats.moves), 100 * chosen.trials(),
                slower);
    if (slower <= worst_) return;
    worst_ = slower;
    worst_case_ = name + (c.paced ? " 60/s" : "");
  }

  /// Waits until auto has opened the device, if there is one, and tried it twice, once if frames are paced. Frames come
  /// back to back until shortly before it is opened, which a camera would need a minute for.
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
    // `auto` counts less than the frames' whole time, so some of it is left: short bursts pass it.
    const auto is_waiting = [&] {
      return so_far().moves == 0 && Clock::now() < end && (has_gpu() || so_far().busy_ns < 1e9 * opening + 1e7);
    };
    const auto wait_for = [&](double seconds) {
      const auto until = Clock::now() + std::chrono::duration<double>(seconds);
      while (is_waiting() && Clock::now() < until) pipeline.wait(0.001);
    };
    while (is_waiting()) {
      wait_for(0.2);
      if (c.paced && is_waiting()) pipeline.source().paced = false;
      wait_for(0.02);
      pipeline.source().paced = c.paced;
    }
    if (!has_gpu()) return;
    const Stats begin = so_far();
    constexpr guint64 kTrial = (Weighing::kWarmUp + 1) * Weighing::kWindow + 4;
    while (so_far().measured < begin.measured + kTrial && Clock::now() < end) pipeline.wait(0.001);
    if (c.paced) return;
    // Until the loser has been tried again, on the core that counts: the device's threads, which would inherit it,
    // exist.
    pipeline.source().core = core_;
    const guint64 tried = so_far().busy_ns;
    const guint64 enough = tried + (Weighing::kPatience + 2) * (tried - begin.busy_ns);
    const auto last = std::min(end, Clock::now() + std::chrono::seconds(8));
    while (so_far().busy_ns < enough && Clock::now() < last) pipeline.wait(0.001);
  }

  const Options& options_;
  Choice best_;
  int core_ = last_core();  ///< that all streams run on while they are timed
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
                         {"seconds", "0.4", "time for each row and device; six times that at 60/s"},
                         {"minutes", "8", "begin with no row after this time"}});
  start_gstreamer();
  Bench(options).run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
