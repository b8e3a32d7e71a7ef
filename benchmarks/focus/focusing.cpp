// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of single searches: how many frames they take and how well they end, by positions, contrast and noise.
#include "benchmarks/focus/tables.h"

#include <span>

namespace framequality::bench {
namespace {

struct Source {
  std::string name, sweep;  ///< sweep: empty for photographs
  std::span<Subject> subjects;
  std::vector<int> positions;  ///< 0: 16 to 36
};
/// Photographs at these numbers of positions, and each sweep at its own: every position is a real image.
std::vector<Source> sources(Bench& bench, const std::vector<int>& positions) {
  std::vector<Source> all{{"photographs", "", bench.photographs, positions}};
  for (Subject& sweep : bench.sweeps) all.push_back({"sweeps", sweep.name(), {&sweep, 1}, {sweep.nodes()}});
  return all;
}
std::string title_of(const Source& source) { return source.sweep.empty() ? source.name : "sweep " + source.sweep; }

/// The fields that say which searches a row is about.
Fields row_of(const char* table, const std::string& algorithm, const Source& source, int positions) {
  Fields row;
  row.add("table", table).add("algorithm", algorithm).add("source", source.name);
  if (!source.sweep.empty()) row.add("sweep", source.sweep);
  row.add("positions", column_name(positions));
  return row;
}

/// Searches from random starts; the same views and starts for every algorithm.
Tally searches(const Bench& bench, const Algorithm& algorithm, std::span<Subject> subjects, int positions,
               double contrast, Light light) {
  Tally tally;
  for (std::size_t i = 0; i < bench.runs; ++i) {
    SplitMix random(i * 1000003 + static_cast<std::size_t>(positions));
    const int n = positions_for(positions, random);
    const View view = random_view(subjects[i % subjects.size()], n, contrast, random);
    Rig rig(algorithm, view, light, {.seed = random.next()});
    tally.search(rig);
  }
  return tally;
}

const std::vector<std::string> kHeader = {"algorithm",    "N",         "frames", "p90",    "moves",
                                          "90% of swing", "within 1%", "1 step", "failed", "no end"};
void show(TextTable& table, const std::string& name, const std::string& column, const Tally& t) {
  table.add({name, column, whole(t.median_frames()), whole(t.p90_frames()), whole(t.median_moves()),
             percent(t.reached()), percent(t.near()), percent(t.within_step()), percent(t.failed()),
             percent(t.unfinished())});
}

}  // namespace

void focusing(Bench& bench) {
  for (const Source& source : sources(bench, {0, 101, 256, 337})) {
    for (const double sigma : {0.0, 1.0, 3.0, 5.0}) {
      TextTable table("focusing: " + title_of(source) + ", noise " + whole(sigma) + (sigma > 0 ? ", flicker 10%" : "") +
                          "; frames: median, 90th percentile; shares in %",
                      kHeader);
      for (const Algorithm& a : bench.algorithms) {
        for (const int positions : source.positions) {
          const Light light{.sigma = sigma, .flicker = sigma > 0 ? 0.1 : 0};
          const Tally t = searches(bench, a, source.subjects, positions, 1, light);
          show(table, a.label, column_name(positions), t);
          Fields row = row_of("focusing", a.label, source, positions);
          row.add("sigma", sigma);
          t.write(row);
          bench.results.add(std::move(row));
        }
      }
    }
  }
}

void low_contrast(Bench& bench) {
  for (const Source& source : sources(bench, {101, 256})) {
    for (const double contrast : {0.5, 0.08, 0.03}) {
      for (const double sigma : {0.0, 1.0, 3.0, 5.0}) {
        TextTable table("contrast: " + title_of(source) + ", contrast " + percent(contrast) + "%, noise " +
                            whole(sigma) + "; shares in %",
                        kHeader);
        for (const Algorithm& a : bench.algorithms) {
          for (const int positions : source.positions) {
            const Tally t = searches(bench, a, source.subjects, positions, contrast, {.sigma = sigma});
            show(table, a.label, column_name(positions), t);
            Fields row = row_of("contrast", a.label, source, positions);
            row.add("contrast", contrast).add("sigma", sigma);
            t.write(row);
            bench.results.add(std::move(row));
          }
        }
      }
    }
  }
}

void flat_scenes(Bench& bench) {
  std::vector<Subject> wall;
  wall.push_back(Subject::blurred("wall", Pixels(std::size_t{kWidth} * kHeight, 128)));
  TextTable table("flat: a gray wall, 101 positions; there is nothing to find; shares in %",
                  {"algorithm", "noise", "flicker", "frames", "p90", "moves", "failed", "no end"});
  for (const Algorithm& a : bench.algorithms) {
    for (const Light& light : {Light{.sigma = 0.5}, Light{.sigma = 1}, Light{.sigma = 3}, Light{.sigma = 5},
                               Light{.sigma = 3, .flicker = 0.1}}) {
      const Tally t = searches(bench, a, wall, 101, 1, light);
      table.add({a.label, decimal(light.sigma), percent(light.flicker), whole(t.median_frames()), whole(t.p90_frames()),
                 whole(t.median_moves()), percent(t.failed()), percent(t.unfinished())});
      Fields row;
      row.add("table", "flat").add("algorithm", a.label).add("sigma", light.sigma).add("flicker", light.flicker);
      t.write(row);
      bench.results.add(std::move(row));
    }
  }
}

}  // namespace framequality::bench
