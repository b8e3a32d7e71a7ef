// SPDX-License-Identifier: LGPL-2.1-or-later
// Table of disturbances in front of a still scene that is in focus: every move and every search is one too many.
#include "benchmarks/focus/tables.h"

#include <algorithm>
#include <cmath>

namespace framequality::bench {
namespace {

constexpr int kFrames = 3000;
constexpr int kQuiet = 60;

/// What there is to see in frame i of kFrames.
struct Disturbance {
  std::string name;
  std::function<Light(int)> light;
};

/// 1, then `to` for the second third, then 1 again; on the way for so many frames.
double there_and_back(int i, double to, int ramp) {
  const double up = std::clamp((i - kFrames / 3) / static_cast<double>(ramp), 0.0, 1.0);
  const double down = std::clamp((i - 2 * kFrames / 3) / static_cast<double>(ramp), 0.0, 1.0);
  return std::pow(to, up - down);
}

std::vector<Disturbance> all_disturbances() {
  std::vector<Disturbance> all;
  all.push_back({"nothing, noise 1", [](int) { return Light{.sigma = 1}; }});
  all.push_back({"nothing, noise 5", [](int) { return Light{.sigma = 5}; }});
  all.push_back({"noise 1, 4, 10, 1", [](int i) {
                   static constexpr double kSigma[] = {1, 4, 10, 1};
                   return Light{.sigma = kSigma[std::min(3, 4 * i / kFrames)]};
                 }});
  for (const bool normalized : {true, false}) {
    const std::string end = normalized ? "" : ", not normalized";
    for (const double to : {0.5, 2.0}) {
      for (const int ramp : {1, 300}) {
        const std::string name =
            std::string("exposure x ") + (to < 1 ? "0.5" : "2") + (ramp > 1 ? ", slow" : ", at once");
        all.push_back({name + end, [=](int i) {
                         return Light{.sigma = 1, .exposure = there_and_back(i, to, ramp), .normalized = normalized};
                       }});
      }
    }
    all.push_back(
        {"flicker 10%" + end, [=](int) { return Light{.sigma = 1, .flicker = 0.1, .normalized = normalized}; }});
  }
  for (const auto& [mains, rate] : {std::pair{50, 24}, {50, 30}, {60, 25}})
    for (const bool normalized : {true, false})
      all.push_back({std::to_string(mains) + " Hz lamp, " + std::to_string(rate) + " frames/s" +
                         (normalized ? "" : ", not normalized"),
                     [=](int) { return lamp_light(mains, rate, normalized); }});
  // Someone of another sharpness is in the picture for a second, every 20 seconds. Photographs that cover 30 to 90% of
  // others change their brightness by 19% in the median, 6% of them by less than a hundredth.
  for (const double brightness : {1.2, 1.0})
    for (const double veil : {0.3, 0.7, 1.5})
      all.push_back({std::string("passer-by") + (brightness == 1 ? ", as bright" : "") + ", score x " + decimal(veil),
                     [=](int i) {
                       const bool is_there = i % 600 >= 300 && i % 600 < 330;
                       return Light{.sigma = 1, .exposure = is_there ? brightness : 1, .veil = is_there ? veil : 1};
                     }});
  return all;
}

}  // namespace

void disturbances(Bench& bench) {
  const std::size_t runs = std::max<std::size_t>(1, bench.runs / 4);
  TextTable table("disturbances: 3000 frames of a still scene in focus (101 positions), means of all runs",
                  {"algorithm", "disturbance", "searches", "failed", "moves", "runs with moves %", "1 step at end %"});
  for (const Algorithm& a : bench.algorithms) {
    if (!a.watches) continue;
    for (const Disturbance& d : all_disturbances()) {
      double searches = 0, failed = 0, moves = 0, disturbed = 0, sharp = 0;
      for (std::size_t i = 0; i < runs; ++i) {
        SplitMix random(i * 1000003 + 6);
        const View view = random_view(bench.photographs[i % bench.photographs.size()], 101, 1, random);
        Rig rig(a, view, d.light(0), {.continuous = true, .seed = random.next()});
        rig.run(kMostFrames);
        for (int k = 0; k < kQuiet; ++k) rig.frame();
        const int moves_before = rig.moves(), searches_before = rig.searches(), failed_before = rig.failed_searches();
        for (int k = 0; k < kFrames; ++k) {
          rig.light = d.light(k);
          rig.frame();
        }
        searches += rig.searches() - searches_before;
        failed += rig.failed_searches() - failed_before;
        moves += rig.moves() - moves_before;
        disturbed += rig.moves() > moves_before;
        sharp += std::abs(rig.lens() - rig.view.best) <= 1;
      }
      const auto n = static_cast<double>(runs);
      table.add({a.label, d.name, decimal(searches / n), decimal(failed / n), decimal(moves / n),
                 percent(disturbed / n), percent(sharp / n)});
      Fields row;
      row.add("table", "disturbances").add("algorithm", a.label).add("disturbance", d.name).add("runs", runs);
      row.add("searches", searches / n).add("failed_searches", failed / n).add("moves", moves / n);
      row.add("runs_with_moves", disturbed / n).add("within_step", sharp / n);
      bench.results.add(std::move(row));
    }
  }
}

}  // namespace framequality::bench
