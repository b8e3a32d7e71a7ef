// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of a watch: faults found, time until they are, and false alarms, on photographs and clips seen by a
// camera that goes bad in known ways, or does not.
#include "benchmarks/support/results.h"
#include "benchmarks/watch/camera.h"
#include "benchmarks/watch/life.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <numbers>
#include <set>

namespace framequality::bench {
namespace {

const char* const kNames[kCameraStates] = {"learning",    "good",   "defocused", "covered",    "dark",
                                           "overexposed", "frozen", "moved",     "flickering", "noisy"};

/// Where cameras look that see one clip: its middle and its corners.
constexpr std::size_t kViews = 5;
constexpr double kSlow = 100;        ///< s: what shows only in what lasts
constexpr double kSlowEnd = 15;      ///< s beyond the recovery time in which its end must be reported
constexpr double kLongestTry = 600;  ///< s in which a camera must have learned
constexpr double kPlaces[kViews][2] = {{0, 0}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};

/// Applies a fault that began `seconds` ago.
using Effect = std::function<void(Condition&, double seconds)>;
struct Fault {
  const char* name;
  CameraState state;
  std::function<Effect(SplitMix&)> draw;
  double within = 0;     ///< s after which it must be reported; 0: the hold time and a second
  bool is_busy = false;  ///< on a road with traffic
};

Effect turn(SplitMix& r) {
  const double x = r.uniform() < 0.5 ? -1 : 1, y = between(r, -1, 1);
  return [=](Condition& c, double) { c.turned_x = x, c.turned_y = y; };
}
Effect roll(SplitMix& r) {
  return [angle = r.uniform() < 0.5 ? -8.0 : 8.0](Condition& c, double) { c.rolled = angle; };
}
Effect smear(SplitMix& r) {
  return [share = r.uniform() < 0.5 ? -0.5 : 0.5](Condition& c, double) { c.smeared = share; };
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"defocused at once, disks of 2.5 to 8 px", CameraState::kDefocused,
       [](SplitMix& r) -> Effect { return [radius = between(r, 2.5, 8)](Condition& c, double) { c.blur = radius; }; }},
      {"covered, luma 15 to 120, noise 0.5 to 20", CameraState::kCovered,
       [](SplitMix& r) -> Effect {
         const double luma = between(r, 15, 120), noise = between(r, 0.5, 20), slope = between(r, 0, 1);
         return [=](Condition& c, double) {
           c.covered = true;
           c.cover_luma = luma, c.cover_slope = slope, c.noise = noise, c.gain = 1;
         };
       }},
      {"dark, 0.1 to 2% of the light, noise 0.5 to 3", CameraState::kDark,
       [](SplitMix& r) -> Effect {
         return [gain = between(r, 0.001, 0.02), noise = between(r, 0.5, 3)](Condition& c, double) {
           c.gain = gain, c.noise = noise;
         };
       }},
      {"overexposed, all but the darkest 5 to 30% white", CameraState::kOverexposed,
       [](SplitMix& r) -> Effect {
         return [share = between(r, 0.05, 0.3)](Condition& c, double) { c.gain = -share; };
       }},
      {"frozen, frames repeated exactly", CameraState::kFrozen,
       [](SplitMix&) -> Effect { return [](Condition& c, double seconds) { c.frozen = seconds > 0.25; }; }},
      {"turned by a fifth of the view or more", CameraState::kMoved, turn},
      {"rolled by 8 degrees, within 100 s", CameraState::kMoved, roll, kSlow},
      {"half of the lens smeared, a disk of 8 px", CameraState::kDefocused, smear},
      {"busy road: turned, within 100 s", CameraState::kMoved, turn, kSlow, true},
      {"busy road: rolled by 8 degrees, within 100 s", CameraState::kMoved, roll, kSlow, true},
      {"busy road: half of the lens smeared, within 100 s", CameraState::kDefocused, smear, kSlow, true},
      {"noise 4 to 8 times as large, at least 8", CameraState::kNoisy,
       [](SplitMix& r) -> Effect {
         return [times = between(r, 4, 8)](Condition& c, double) { c.noise = std::max(8.0, c.noise * times); };
       }},
      {"flickering by 10 to 30% twice a second", CameraState::kFlickering,
       [](SplitMix& r) -> Effect {
         return [depth = between(r, 0.1, 0.3), phase = r.uniform()](Condition& c, double seconds) {
           c.gain *= std::fmod(2 * seconds + phase, 1.0) < 0.5 ? 1 + depth / 2 : 1 - depth / 2;
         };
       }},
  };
  return all;
}

/// Gain that makes all but a share of the view white.
double gain_for_white(const Scene& scene, double share) {
  cv::Mat sorted = scene.view(0, 0, 0).clone().reshape(1, 1);
  cv::sort(sorted, sorted, cv::SORT_ASCENDING);
  return 255.0 / std::max<int>(1, sorted.at<std::uint8_t>(static_cast<int>(share * sorted.cols)));
}

std::string text_of(const CameraWatch& watch) {
  const CameraFigures& f = watch.figures();
  char text[400];
  std::snprintf(
      text, sizeof text,
      " {%s score %.3f ratio %.2f<%.2f mean %.0f noise %.1f contrast %.3f difference %.2f changed %.2f white "
      "%.2f swing %.1f spread %.2f unrest %.2f calm %d misfit %.2f stays %.2f softer %.2f sharper %.2f found %.2f}",
      kNames[static_cast<int>(watch.state())], f.score, f.ratio, f.least_ratio, f.mean, f.noise, f.contrast,
      f.difference, f.changed, f.clipped_white, f.swing, f.spread, f.unrest, f.lasting.calm, f.lasting.misfit,
      f.lasting.stays, f.lasting.softer, f.lasting.sharper, f.found.gain);
  return text;
}

struct Bench {
  std::vector<Scene> scenes;
  std::vector<int> zones{16, 9};
  std::set<std::string> faults;  ///< to be tried; empty: all
  double rate = 5;               ///< measured frames/s
  int runs = 100;
  double hours = 1;
  CameraWatchSettings settings;
  Results results;
};

/// One camera that goes bad and recovers.
struct Run {
  double told = -1, over = -1;  ///< s after the fault began and ended; negative: never
  std::string other, figures;   ///< what was told instead, and the numbers at the end of the fault
};

Run run_of(const Bench& bench, const Fault& fault, const Scene& scene, std::uint64_t seed, double within) {
  SplitMix random(seed);
  WatchedCamera camera(scene, seed, bench.settings, bench.zones[0], bench.zones[1]);
  Traffic traffic(seed);
  Condition good;
  good.noise = between(random, 1, 4);
  good.gain = between(random, 0.7, 1);
  // Coded noise is not seen any more.
  if (random.uniform() < 0.3 && fault.state != CameraState::kNoisy)
    good.jpeg = static_cast<int>(between(random, 75, 95));
  const Effect effect = fault.draw(random);
  const double after = between(random, 5, 30), recovery = static_cast<double>(bench.settings.recovery_time) * 1e-9;
  double begin = kLongestTry, end = begin, stop = begin;
  Run run;
  for (int i = 0; i / bench.rate < stop; ++i) {
    const double t = i / bench.rate;
    Condition now = good;
    if (fault.is_busy) traffic.at(t, now);
    if (t >= begin && t < end) {
      effect(now, t - begin);
      if (now.gain < 0) now.gain = gain_for_white(scene, -now.gain);
    }
    const auto news = camera.frame(t, now);
    if (begin == kLongestTry && camera.watch().state() == CameraState::kGood)
      begin = t + after, end = begin + within + 4, stop = end + recovery + (fault.within > 0 ? kSlowEnd : 5);
    if (t < end) run.figures = text_of(camera.watch());
    if (!news || news->repeated) continue;
    if (news->state == fault.state && t >= begin && run.told < 0)
      run.told = t - begin;
    else if (is_fault(news->state) && news->state != fault.state)
      run.other = kNames[static_cast<int>(news->state)];
    if (news->state == CameraState::kGood && t >= end && run.over < 0) run.over = t - end;
  }
  return run;
}

void notice(Bench& bench) {
  std::printf("%-50s %9s %9s %9s %9s %9s  %s\n", "fault", "in time", "median s", "p99 s", "recovered", "runs",
              "instead");
  const double hold = static_cast<double>(bench.settings.hold_time) * 1e-9,
               recovery = static_cast<double>(bench.settings.recovery_time) * 1e-9;
  std::uint64_t seed = 1;
  for (const Fault& fault : faults()) {
    if (!bench.faults.empty() && !bench.faults.contains(kNames[static_cast<int>(fault.state)])) continue;
    const double within = fault.within > 0 ? fault.within : hold + 1, end = fault.within > 0 ? kSlowEnd : 1;
    std::vector<double> delays;
    int in_time = 0, recovered = 0;
    std::map<std::string, int> instead;
    for (int i = 0; i < bench.runs; ++i, ++seed) {
      const Scene& scene = bench.scenes[static_cast<std::size_t>(i) % bench.scenes.size()];
      const Run run = run_of(bench, fault, scene, seed, within);
      if (run.told >= 0) delays.push_back(run.told);
      const bool good_time = run.told >= 0 && run.told <= within;
      in_time += good_time;
      if (!good_time || !run.other.empty())
        ++instead[scene.name + (run.told >= 0 ? " late" : ": nothing") + (run.other.empty() ? "" : ", " + run.other) +
                  run.figures];
      recovered += run.over >= 0 && run.over <= recovery + end;
    }
    const double runs = bench.runs;
    std::printf("%-50s %8.1f%% %9.2f %9.2f %8.1f%% %9d ", fault.name, 100.0 * in_time / runs, median(delays),
                quantile(delays, 0.99), 100.0 * recovered / runs, bench.runs);
    for (const auto& [what, count] : instead) std::printf(" %s (%d)", what.c_str(), count);
    std::printf("\n");
    std::fflush(stdout);
    bench.results.add(Fields()
                          .add("table", "noticed")
                          .add("fault", fault.name)
                          .add("state", kNames[static_cast<int>(fault.state)])
                          .add("runs", bench.runs)
                          .add("in_time", in_time / runs)
                          .add("median_s", median(delays))
                          .add("p99_s", quantile(delays, 0.99))
                          .add("recovered", recovered / runs));
  }
}

/// Focus that is lost within two minutes: when its score without noise falls below the least ratio, and when it is
/// told.
void drift(Bench& bench) {
  std::vector<double> delays;
  int runs = 0, in_time = 0;
  const double hold = static_cast<double>(bench.settings.hold_time) * 1e-9;
  for (int run = 0; run < bench.runs; ++run) {
    const Scene& scene = bench.scenes[static_cast<std::size_t>(run) % bench.scenes.size()];
    const auto seed = static_cast<std::uint64_t>(1000 + run);
    SplitMix random(seed);
    WatchedCamera camera(scene, seed, bench.settings, bench.zones[0], bench.zones[1]);
    Condition now;
    now.noise = between(random, 1, 4);
    const double most = between(random, 3, 6), begin = 70, whole = 120;
    double below = -1, told = -1;
    for (int i = 0; i / bench.rate < begin + whole + 60 && told < 0; ++i) {
      const double t = i / bench.rate;
      now.blur = most * std::clamp((t - begin) / whole, 0.0, 1.0);
      const auto news = camera.frame(t, now);
      if (below < 0 && camera.watch().figures().ratio < camera.watch().figures().least_ratio) below = t;
      if (news && news->state == CameraState::kDefocused) told = t;
    }
    ++runs;
    if (told >= 0) delays.push_back(told - below);
    in_time += told >= 0 && told <= below + hold + 1;
  }
  std::printf("%-50s %8.1f%% %9.2f %9.2f %9s %9d\n", "focus lost within two minutes, disks of 3 to 6 px",
              100.0 * in_time / runs, median(delays), quantile(delays, 0.99), "", runs);
  bench.results.add(Fields()
                        .add("table", "noticed")
                        .add("fault", "focus lost within two minutes, disks of 3 to 6 px; since the score fell below")
                        .add("state", "defocused")
                        .add("runs", runs)
                        .add("in_time", static_cast<double>(in_time) / runs)
                        .add("median_s", median(delays))
                        .add("p99_s", quantile(delays, 0.99)));
}

void false_alarms(Bench& bench, bool is_busy) {
  double hours = 0;
  int alarms = 0;
  for (std::size_t s = 0; s < bench.scenes.size(); ++s) {
    const Scene& scene = bench.scenes[s];
    // Of a clip, its corners and its middle: five cameras.
    const std::size_t view = scene.is_clip ? s % kViews : 0;
    WatchedCamera camera(scene, 77 + s, bench.settings, bench.zones[0], bench.zones[1]);
    Life life(5 + s);
    Traffic traffic(900 + s);
    std::map<std::string, int> told;
    for (std::int64_t i = 0; static_cast<double>(i) / bench.rate < bench.hours * 3600; ++i) {
      const double t = static_cast<double>(i) / bench.rate;
      Condition now;
      now.turned_x = kPlaces[view][0], now.turned_y = kPlaces[view][1];
      life.at(t, now);
      if (is_busy) traffic.at(t, now);
      const auto news = camera.frame(t, now);
      if (news && is_fault(news->state) && !news->repeated) {
        if (told[kNames[static_cast<int>(news->state)]]++ < 3)
          std::printf("  %s %.0f s: %s%s\n", scene.name.c_str(), t, kNames[static_cast<int>(news->state)],
                      text_of(camera.watch()).c_str());
      }
    }
    int all = 0;
    for (const auto& [state, count] : told) all += count;
    hours += bench.hours;
    alarms += all;
    std::printf("%-24s %6.1f h %4d alarms\n", scene.name.c_str(), bench.hours, all);
    std::fflush(stdout);
    bench.results.add(Fields()
                          .add("table", is_busy ? "busy false alarms" : "false alarms")
                          .add("scene", scene.name)
                          .add("clip", scene.is_clip)
                          .add("hours", bench.hours)
                          .add("alarms", all));
  }
  std::printf("%.1f hours, %d alarms: %.2f in 100 hours\n", hours, alarms, 100 * alarms / std::max(hours, 1e-9));
}

int run(const Options& options) {
  Bench bench{.scenes = {},
              .faults = {},
              .settings = {},
              .results = Results(options.text("out"), machine_context("watch_bench", "", options))};
  for (const std::string& clip : options.list("clips")) {
    const Scene scene = clip_scene(clip);
    for (std::size_t i = 0; i < kViews; ++i) bench.scenes.push_back(scene);
  }
  if (!options.text("photos").empty())
    for (Scene& scene :
         photograph_scenes(options.text("photos"), static_cast<std::size_t>(options.number("photos-most"))))
      bench.scenes.push_back(std::move(scene));
  if (bench.scenes.empty()) throw std::invalid_argument("give it --photos or --clips");
  bench.zones = options.numbers("zones");
  if (bench.zones.size() != 2) throw std::invalid_argument("--zones takes COLUMNS,ROWS");
  for (const std::string& fault : options.list("faults")) bench.faults.insert(fault);
  bench.rate = options.number("rate");
  bench.runs = static_cast<int>(options.number("runs"));
  bench.hours = options.number("hours");
  std::printf("%zu scenes\n", bench.scenes.size());
  for (const std::string& table : options.list("only")) {
    if (table == "noticed") notice(bench);
    if (table == "drift") drift(bench);
    if (table == "false-alarms") false_alarms(bench, false);
    if (table == "busy-false-alarms") false_alarms(bench, true);
  }
  return 0;
}

}  // namespace
}  // namespace framequality::bench

int main(int argc, char** argv) {
  using namespace framequality::bench;
  const Options options(argc, argv,
                        {{"only", "noticed,drift,false-alarms,busy-false-alarms", "tables to make"},
                         {"photos", "", "folder of photographs (JPEG, PNG)"},
                         {"photos-most", "16", "how many of these to use, chosen evenly"},
                         {"clips", "", "video files of a camera that stands still, separated by commas"},
                         {"runs", "100", "of each fault"},
                         {"faults", "", "to be tried; none: all"},
                         {"zones", "16,9", "columns and rows"},
                         {"rate", "5", "measured frames per second"},
                         {"hours", "1", "with nothing wrong, of each scene"}});
  try {
    return run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
