// SPDX-License-Identifier: LGPL-2.1-or-later
// Searches in front of scenes that are hard: under lamps that flicker, almost black, or through a lens that breathes.
#include "benchmarks/focus/tables.h"

#include <cmath>

namespace framequality::bench {
namespace {

constexpr int kPositions = 101;

struct Scene {
  std::string name;
  Light light{.sigma = 1};
  double lit = 1;       ///< times the photographs' own light
  double breathes = 0;  ///< growth of the image over the range, in half of the runs the other way
};

std::vector<Scene> scenes() {
  std::vector<Scene> all{{.name = "still"}};
  for (const bool normalized : {true, false})
    for (const auto& [mains, rate] : {std::pair{50, 24}, {50, 30}, {60, 25}})
      all.push_back({.name = std::to_string(mains) + " Hz lamp, " + std::to_string(rate) + " frames/s" +
                             (normalized ? "" : ", not normalized"),
                     .light = lamp_light(mains, rate, normalized)});
  all.push_back({.name = "a tenth of the light", .lit = 0.1});
  all.push_back({.name = "almost black", .lit = 0.04});
  all.push_back({.name = "breathing 5%", .breathes = 0.05});
  all.push_back({.name = "breathing 10%", .breathes = 0.1});
  return all;
}

/// Searches of every so many-th run, those of one photograph.
void search(const Scene& scene, const Algorithm& algorithm, Subject& photograph, std::size_t first, const Bench& bench,
            Tally& tally) {
  SplitMix fixed(first * 1000003 + 8);
  const double best = std::floor(fixed.uniform() * kPositions);
  const double blur = 5 * std::pow(6, fixed.uniform()) / (kPositions - 1);  // as random_view() has it
  const double growth = first % 2 ? scene.breathes : -scene.breathes;
  Subject seen = scene.breathes != 0 ? photograph.breathing(kPositions, best, blur, growth) : photograph.lit(scene.lit);
  for (std::size_t i = first; i < bench.runs; i += bench.photographs.size()) {
    SplitMix random(i * 1000003 + 8);
    View view = random_view(seen, kPositions, 1, random);
    if (view.is_sweep) view.best = best;
    Rig rig(algorithm, view, scene.light, {.seed = random.next()});
    tally.search(rig);
  }
}

}  // namespace

Light lamp_light(int mains, int rate, bool normalized) {
  // A lamp is bright twice in a period of the mains.
  return {.sigma = 1, .lamp = 0.2, .lamp_periods = 2.0 * mains / rate, .normalized = normalized};
}

void hard_scenes(Bench& bench) {
  TextTable table("scenes: 101 positions, noise 1; lamps: exposure +-20%; wrong: done, but over 2 steps off; in %",
                  {"algorithm", "scene", "frames", "p90", "1 step", "90% of swing", "wrong", "failed", "no end"});
  for (const Algorithm& a : bench.algorithms) {
    for (const Scene& scene : scenes()) {
      Tally t;
      for (std::size_t i = 0; i < bench.photographs.size(); ++i) search(scene, a, bench.photographs[i], i, bench, t);
      table.add({a.label, scene.name, whole(t.median_frames()), whole(t.p90_frames()), percent(t.within_step()),
                 percent(t.reached()), percent(t.wrong()), percent(t.failed()), percent(t.unfinished())});
      Fields row;
      row.add("table", "scenes").add("algorithm", a.label).add("scene", scene.name);
      t.write(row);
      bench.results.add(std::move(row));
    }
  }
}

}  // namespace framequality::bench
