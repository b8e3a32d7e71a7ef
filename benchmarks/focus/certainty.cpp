// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the certainty that focus::Search reports is a probability: the share of searches in focus by certainty.
#include "algorithms/focus/settings.h"
#include "benchmarks/focus/tables.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace framequality::bench {
namespace {

struct Situation {
  int positions = 101;  ///< 0: 16 to 36
  double sigma = 1, contrast = 1, flicker = 0;
  bool knows_play = false;
  DriveSettings drive{.lag = 2};
};

/// All that the other tables of single searches have.
std::vector<Situation> situations() {
  std::vector<Situation> all;
  for (const int positions : {0, 101, 256, 337})
    for (const double sigma : {0.0, 1.0, 3.0, 5.0})
      for (const bool known : {false, true})
        all.push_back({.positions = positions, .sigma = sigma, .flicker = sigma > 0 ? 0.1 : 0, .knows_play = known});
  for (const int positions : {101, 256})
    for (const double contrast : {0.5, 0.08, 0.03})
      for (const double sigma : {1.0, 3.0})
        all.push_back({.positions = positions, .sigma = sigma, .contrast = contrast});
  for (const double play : {1.0, 2.0, 5.0, 10.0, 20.0})
    for (const double sigma : {1.0, 3.0}) all.push_back({.sigma = sigma, .drive = {.lag = 2, .backlash = play}});
  for (const double slew : {8.0, 4.0, 2.0, 1.0}) all.push_back({.drive = {.lag = 2, .slew = slew}});
  all.push_back({.drive = {.lag = 2, .slew = 8, .exposure = 1}});
  all.push_back({.drive = {.lag = 2, .slew = 8, .backlash = 5, .exposure = 1}});
  for (int lag = 0; lag <= 6; ++lag) all.push_back({.drive = {.lag = lag}});
  return all;
}

/// Where a search belongs: the constants were fitted to half of the pairs of a lens and a photograph.
enum class Half { kFit, kCheck, kSweeps };
constexpr const char* kHalves[] = {"fit", "check", "sweeps"};

struct Ended {
  Half half;
  std::size_t subject;
  double certainty, off;  ///< off: tolerances
  bool failed;
  std::vector<double> evidence;
};

/// number: of the subject. run: seeds view, start and noise.
Ended search(const Algorithm& algorithm, Subject& subject, std::size_t number, Half half, const Situation& s,
             std::uint64_t run) {
  SplitMix random(run);
  View view = random_view(subject, positions_for(s.positions, random), s.contrast, random);
  const double last = view.positions - 1, play = s.drive.backlash;
  // A lens with play does not come below where its motor can pull it.
  if (!view.is_sweep) view.best = play + view.best * (last - play) / last;
  Rig rig(algorithm, view, {.sigma = s.sigma, .flicker = s.flicker}, {.drive = s.drive, .seed = random.next()});
  rig.run(kMostFrames);
  const double off = std::abs(rig.settled() - view.best) / std::max(1.0, last / 100);
  return {half, number, rig.autofocus().certainty(), off, rig.autofocus().failed(), rig.autofocus().evidence()};
}

std::vector<Ended> searches(Bench& bench, double least) {
  Settings settings{{"min_certainty", least}};
  const Algorithm unknown = find_algorithm("focus", settings);
  settings["backlash"] = 0;
  const Algorithm known = find_algorithm("focus", settings);
  std::vector<Ended> all;
  std::uint64_t run = 5;
  std::size_t lens = 0;
  for (const Situation& s : situations()) {
    ++lens;
    const Algorithm& algorithm = s.knows_play ? known : unknown;
    for (std::size_t i = 0; i < bench.runs / 2; ++i) {
      const std::size_t photo = i % bench.photographs.size();
      const Half half = (lens + photo / 2) % 2 ? Half::kCheck : Half::kFit;
      all.push_back(search(algorithm, bench.photographs[photo], photo, half, s, ++run));
    }
    // The sweeps have as few positions as some lenses have play.
    const std::size_t sweeps = bench.sweeps.empty() || s.drive.backlash > 0 ? 0 : bench.runs / 20;
    for (std::size_t i = 0; i < sweeps; ++i) {
      const std::size_t sweep = i % bench.sweeps.size();
      all.push_back(search(algorithm, bench.sweeps[sweep], sweep, Half::kSweeps, s, ++run));
    }
  }
  return all;
}

/// Of searches with a certainty in a range: how many, their mean certainty, and shares of them.
struct Share {
  std::size_t count = 0;
  double certainty = 0, in_focus = 0, wrong = 0;
};
Share share_of(const std::vector<Ended>& all, Half half, double from, double to) {
  Share s;
  for (const Ended& e : all) {
    if (e.half != half || e.certainty < from || e.certainty >= to) continue;
    ++s.count;
    s.certainty += e.certainty;
    s.in_focus += e.off <= 1;
    s.wrong += e.off > 2;
  }
  const double n = std::max<double>(1, static_cast<double>(s.count));
  s.certainty /= n, s.in_focus /= n, s.wrong /= n;
  return s;
}

void write_samples(const std::string& file, const std::vector<Ended>& all) {
  std::ofstream out(file);
  for (const Ended& e : all) {
    if (!(e.certainty > 0)) continue;
    out << kHalves[static_cast<int>(e.half)] << ',' << e.subject << ',' << e.off;
    for (const double v : e.evidence) out << ',' << v;
    out << '\n';
  }
  if (!out) throw std::runtime_error("cannot write " + file);
}

void reliability(Bench& bench, const std::vector<Ended>& all) {
  constexpr double kEdges[] = {1e-9, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.01};
  TextTable table("certainty: of searches with that certainty, in %: its mean, within a step or 1%, over twice as far",
                  {"half", "from", "to", "searches", "certainty", "in focus", "wrong"});
  for (const Half half : {Half::kFit, Half::kCheck, Half::kSweeps}) {
    for (std::size_t i = 0; i + 1 < std::size(kEdges); ++i) {
      const double to = std::min(1.0, kEdges[i + 1]);
      const Share s = share_of(all, half, kEdges[i], kEdges[i + 1]);
      const char* name = kHalves[static_cast<int>(half)];
      table.add({name, percent(kEdges[i]), percent(to), std::to_string(s.count), percent(s.certainty),
                 percent(s.in_focus), percent(s.wrong)});
      Fields row;
      row.add("table", "certainty").add("half", name).add("from", std::round(kEdges[i] * 100) / 100).add("to", to);
      row.add("searches", s.count).add("certainty", s.certainty).add("in_focus", s.in_focus).add("wrong", s.wrong);
      bench.results.add(std::move(row));
    }
  }
}

void limit_row(Bench& bench, TextTable& table, double least, const std::vector<Ended>& all) {
  std::size_t n = 0, good = 0, off = 0, wrong = 0, failed = 0, lost = 0;
  for (const Ended& e : all) {
    if (e.half != Half::kCheck) continue;
    ++n;
    (e.failed ? failed : e.off <= 1 ? good : off)++;
    wrong += !e.failed && e.off > 2;
    lost += e.failed && e.off <= 1;
  }
  const auto share = [&](std::size_t count) {
    return static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(1, n));
  };
  table.add({decimal(least), percent(share(good)), percent(share(off)), percent(share(wrong)), percent(share(failed)),
             percent(share(lost))});
  Fields row;
  row.add("table", "min-certainty").add("min_certainty", least).add("in_focus", share(good)).add("beside", share(off));
  row.add("wrong", share(wrong)).add("failed", share(failed)).add("failed_in_focus", share(lost));
  bench.results.add(std::move(row));
}

}  // namespace

void certainties(Bench& bench) {
  TextTable table("min-certainty: shares of the searches to check with, in %",
                  {"limit", "in focus", "beside", "wrong", "failed", "failed in focus"});
  for (const double least : {0.0, 0.3, 0.5, 0.7, 0.9}) {
    const std::vector<Ended> all = searches(bench, least);
    limit_row(bench, table, least, all);
    if (least != FocusSettings{}.min_certainty) continue;
    reliability(bench, all);
    if (!bench.samples.empty()) write_samples(bench.samples, all);
  }
}

}  // namespace framequality::bench
