// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of scenes that move out of focus, at once or slowly: what becomes of the focus, and how much of that one sees.
#include "benchmarks/focus/tables.h"

#include <cmath>
#include <optional>

namespace framequality::bench {
namespace {

constexpr int kPositions = 101;
constexpr int kQuiet = 60;                     ///< frames between the first focus and the change
constexpr int kWatched = 600;                  ///< frames after a jump
constexpr int kDrift = 1500;                   ///< frames of a drift,
constexpr double kDriftSpeed = 0.02;           ///< steps per frame
constexpr double kMoreBlur = 1, kVisible = 2;  ///< pixels, radius
constexpr double kBlurs[] = {0.1, 0.3, 0.6};   ///< pixels for a step

struct Range {
  const char* name;
  double least, most;
};
constexpr Range kJumps[] = {{"2-5", 2, 5}, {"10-30", 10, 30}};  ///< steps

Light light() { return {.sigma = 1}; }

struct Jump {
  std::optional<int> noticed, done, settled;  ///< frames since the jump
  int more_blur = 0, visible = 0;             ///< frames since the first move
  double off = 0;                             ///< steps, at the end
};

Jump jump(Rig& rig, double steps) {
  rig.view.best += steps;
  const double blur_before = rig.view.blur(rig.lens());
  Jump j;
  int last_off = 0;
  for (int i = 1; i <= kWatched; ++i) {
    const int moves = rig.moves();
    rig.frame();
    if (!j.noticed && rig.moves() > moves) j.noticed = i;
    if (j.noticed && !j.done && rig.autofocus().done()) j.done = i;
    const double blur = rig.view.blur(rig.lens());
    if (j.noticed) j.more_blur += blur > blur_before + kMoreBlur, j.visible += blur > kVisible;
    if (std::abs(rig.lens() - rig.view.best) > 1) last_off = i;
  }
  j.off = std::abs(rig.lens() - rig.view.best);
  if (last_off < kWatched) j.settled = last_off + 1;
  return j;
}

/// A lens that has found its focus and kept it for a while; its best position is off the ends.
Rig focused(Bench& bench, const Algorithm& algorithm, std::size_t i, double blur, SplitMix& random) {
  constexpr double kMargin = 32;
  View view = random_view(bench.photographs[i % bench.photographs.size()], kPositions, 1, random);
  view.best = kMargin + (kPositions - 1 - 2 * kMargin) * random.uniform();
  view.per_position = blur;
  Rig rig(algorithm, view, light(), {.continuous = true, .seed = random.next()});
  rig.run(kMostFrames);
  for (int k = 0; k < kQuiet; ++k) rig.frame();
  return rig;
}

double sign(SplitMix& random) { return random.next() % 2 ? 1 : -1; }

/// What became of all jumps.
struct Jumps {
  std::size_t runs = 0;
  std::vector<double> noticed, search, settled, more, visible;

  void add(const Jump& j) {
    ++runs;
    if (j.settled) settled.push_back(*j.settled);
    if (!j.noticed) return;
    noticed.push_back(*j.noticed);
    if (j.done) search.push_back(*j.done - *j.noticed);
    more.push_back(j.more_blur);
    visible.push_back(j.visible);
  }
  double share(const std::vector<double>& of) const {
    return static_cast<double>(of.size()) / static_cast<double>(runs);
  }
  std::vector<std::string> cells() const {
    return {percent(share(noticed)),
            whole(median(noticed)),
            whole(median(search)),
            percent(share(settled)),
            whole(median(settled)),
            pair(median(more), quantile(more, 0.9)),
            pair(median(visible), quantile(visible, 0.9))};
  }
  void write(Fields& row) const {
    row.add("runs", runs).add("noticed", share(noticed)).add("settled", share(settled));
    const auto both = [&](const std::string& name, const std::vector<double>& values) {
      row.add(name, median(values)).add(name + "_p90", quantile(values, 0.9));
    };
    both("frames_until_noticed", noticed);
    both("frames_of_search", search);
    both("frames_until_settled", settled);
    both("frames_of_more_blur", more);
    both("frames_of_visible_blur", visible);
  }
};

void jumps(Bench& bench) {
  for (const Range& range : kJumps) {
    TextTable table(
        std::string("refocus: the best position jumps by ") + range.name +
            " steps (101 positions, noise 1); medians of frames, since the jump but for 'search': first move to done; "
            "then medians / 90th percentiles of frames since the first move",
        {"algorithm", "px per step", "noticed %", "noticed after", "search", "in focus for good %", "after",
         "1 px more blur", "blur > 2 px"});
    for (const Algorithm& a : bench.algorithms) {
      if (!a.watches) continue;
      for (const double blur : kBlurs) {
        Jumps all;
        for (std::size_t i = 0; i < bench.runs; ++i) {
          SplitMix random(i * 1000003 + 3);
          const double steps = (range.least + (range.most - range.least) * random.uniform()) * sign(random);
          Rig rig = focused(bench, a, i, blur, random);
          all.add(jump(rig, steps));
        }
        std::vector<std::string> cells = all.cells();
        cells.insert(cells.begin(), {a.label, decimal(blur)});
        table.add(std::move(cells));
        Fields row;
        row.add("table", "refocus").add("algorithm", a.label).add("steps", range.name).add("blur_per_step", blur);
        all.write(row);
        bench.results.add(std::move(row));
      }
    }
  }
}

void drifts(Bench& bench) {
  TextTable table(
      "drift: the best position moves by 0.02 steps a frame for 1500 frames; steps between it and the lens, also where "
      "no "
      "search is under way; means of all runs, medians of the worst",
      {"algorithm", "px per step", "rms", "worst", "rms at rest", "worst at rest", "p90", "blur > 2 px %", "moves",
       "searches", "failed"});
  for (const Algorithm& a : bench.algorithms) {
    if (!a.watches) continue;
    for (const double blur : kBlurs) {
      std::vector<double> worst, worst_at_rest;
      double squares = 0, squares_at_rest = 0, at_rest = 0, visible = 0, moves = 0, searches = 0, failed = 0;
      for (std::size_t i = 0; i < bench.runs; ++i) {
        SplitMix random(i * 1000003 + 33);
        const double speed = kDriftSpeed * sign(random);
        Rig rig = focused(bench, a, i, blur, random);
        const int moves_before = rig.moves(), searches_before = rig.searches(), failed_before = rig.failed_searches();
        double most = 0, most_at_rest = 0;
        for (int k = 0; k < kDrift; ++k) {
          rig.view.best += speed;
          rig.frame();
          const double off = std::abs(rig.lens() - rig.view.best);
          squares += off * off;
          most = std::max(most, off);
          if (rig.autofocus().done()) {
            at_rest += 1;
            squares_at_rest += off * off;
            most_at_rest = std::max(most_at_rest, off);
          }
          visible += rig.view.blur(rig.lens()) > kVisible;
        }
        worst.push_back(most);
        worst_at_rest.push_back(most_at_rest);
        moves += rig.moves() - moves_before;
        searches += rig.searches() - searches_before;
        failed += rig.failed_searches() - failed_before;
      }
      const auto runs = static_cast<double>(bench.runs);
      const double rms = std::sqrt(squares / (runs * kDrift));
      const double rms_at_rest = std::sqrt(squares_at_rest / std::max(1.0, at_rest));
      table.add({a.label, decimal(blur), decimal(rms), decimal(median(worst)), decimal(rms_at_rest),
                 decimal(median(worst_at_rest)), decimal(quantile(worst_at_rest, 0.9)),
                 percent(visible / (runs * kDrift)), decimal(moves / runs), decimal(searches / runs),
                 decimal(failed / runs)});
      Fields row;
      row.add("table", "drift").add("algorithm", a.label).add("blur_per_step", blur).add("runs", bench.runs);
      row.add("rms_steps", rms).add("worst_steps", median(worst)).add("worst_steps_p90", quantile(worst, 0.9));
      row.add("rms_steps_at_rest", rms_at_rest).add("worst_steps_at_rest", median(worst_at_rest));
      row.add("worst_steps_at_rest_p90", quantile(worst_at_rest, 0.9)).add("visible_blur", visible / (runs * kDrift));
      row.add("moves", moves / runs);
      row.add("searches", searches / runs).add("failed_searches", failed / runs);
      bench.results.add(std::move(row));
    }
  }
}

}  // namespace

void refocusing(Bench& bench) {
  jumps(bench);
  drifts(bench);
}

}  // namespace framequality::bench
