// SPDX-License-Identifier: LGPL-2.1-or-later
// What becomes of the focus when the scene moves away from it, at once or slowly, and how much of that one sees.
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

void jumps(Bench& bench) {
  TextTable table(
      "refocus: the best position jumps by 2 to 5 steps (101 positions, noise 1); medians of frames, since the jump "
      "but "
      "for 'search': first move to done; then medians / 90th percentiles of frames since the first move",
      {"algorithm", "px per step", "noticed %", "noticed after", "search", "in focus for good %", "after",
       "1 px more blur", "blur > 2 px"});
  for (const Algorithm& a : bench.algorithms) {
    if (!a.watches) continue;
    for (const double blur : kBlurs) {
      std::vector<double> noticed, search, settled, more, visible;
      for (std::size_t i = 0; i < bench.runs; ++i) {
        SplitMix random(i * 1000003 + 3);
        const double steps = (2 + 3 * random.uniform()) * sign(random);
        Rig rig = focused(bench, a, i, blur, random);
        const Jump j = jump(rig, steps);
        if (j.settled) settled.push_back(*j.settled);
        if (!j.noticed) continue;
        noticed.push_back(*j.noticed);
        if (j.done) search.push_back(*j.done - *j.noticed);
        more.push_back(j.more_blur);
        visible.push_back(j.visible);
      }
      const auto runs = static_cast<double>(bench.runs);
      const double noticed_share = static_cast<double>(noticed.size()) / runs;
      const double settled_share = static_cast<double>(settled.size()) / runs;
      table.add({a.label, decimal(blur), percent(noticed_share), whole(median(noticed)), whole(median(search)),
                 percent(settled_share), whole(median(settled)), pair(median(more), quantile(more, 0.9)),
                 pair(median(visible), quantile(visible, 0.9))});
      Fields row;
      row.add("table", "refocus").add("algorithm", a.label).add("blur_per_step", blur).add("runs", bench.runs);
      row.add("noticed", noticed_share).add("frames_until_noticed", median(noticed));
      row.add("frames_until_noticed_p90", quantile(noticed, 0.9)).add("frames_of_search", median(search));
      row.add("frames_of_search_p90", quantile(search, 0.9)).add("settled", settled_share);
      row.add("frames_until_settled", median(settled)).add("frames_until_settled_p90", quantile(settled, 0.9));
      row.add("frames_of_more_blur", median(more)).add("frames_of_more_blur_p90", quantile(more, 0.9));
      row.add("frames_of_visible_blur", median(visible)).add("frames_of_visible_blur_p90", quantile(visible, 0.9));
      bench.results.add(std::move(row));
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
