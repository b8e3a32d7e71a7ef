// SPDX-License-Identifier: LGPL-2.1-or-later
// Searches with lenses as they are: with play, slow, exposed while they move, later than they report.
#include "benchmarks/focus/tables.h"

namespace framequality::bench {
namespace {

struct Lens {
  std::string name;
  DriveSettings drive;
  bool is_near_end = false;  ///< the best position is within the play of an end of what the lens can reach
  bool is_parked = false;    ///< it stands at the lower end of its range when the search begins
};

std::vector<Lens> lenses() {
  std::vector<Lens> all;
  for (const int play : {0, 1, 2, 5, 10, 20})
    all.push_back({"play " + std::to_string(play), {.lag = 2, .backlash = static_cast<double>(play)}});
  for (const int play : {5, 10, 20})
    all.push_back({.name = "play " + std::to_string(play) + ", best near an end",
                   .drive = {.lag = 2, .backlash = static_cast<double>(play)},
                   .is_near_end = true});
  for (const int speed : {32, 16, 8, 4, 2, 1})
    all.push_back({"slew " + std::to_string(speed), {.lag = 2, .slew = static_cast<double>(speed)}});
  all.push_back({"slew 8, exposure 1", {.lag = 2, .slew = 8, .exposure = 1}});
  all.push_back({"slew 8, exposure 1, play 5", {.lag = 2, .slew = 8, .backlash = 5, .exposure = 1}});
  for (int lag = 0; lag <= 6; ++lag) all.push_back({"lag " + std::to_string(lag), {.lag = lag}});
  for (const int lag : {0, 2})
    all.push_back({.name = "parked, lag " + std::to_string(lag), .drive = {.lag = lag}, .is_parked = true});
  return all;
}

Tally searches(Bench& bench, const Algorithm& algorithm, const Lens& lens) {
  Tally tally;
  const DriveSettings& drive = lens.drive;
  for (std::size_t i = 0; i < bench.runs; ++i) {
    SplitMix random(i * 1000003 + 4);
    View view = random_view(bench.photographs[i % bench.photographs.size()], 101, 1, random);
    // A lens with play does not come below where its motor can pull it.
    const double u = view.best / 100, play = drive.backlash;
    view.best = !lens.is_near_end ? play + u * (100 - play) : u < 0.5 ? (1 + 2 * u) * play : 100 - (2 * u - 1) * play;
    Rig rig(algorithm, view, {.sigma = 1}, {.drive = drive, .seed = random.next(), .is_parked = lens.is_parked});
    tally.search(rig);
  }
  return tally;
}

}  // namespace

void real_lenses(Bench& bench) {
  TextTable table(
      "lenses: 101 positions, noise 1, settle frames 3; wrong: done, but more than 2 steps off; shares in %",
      {"algorithm", "lens", "frames", "p90", "moves", "1 step", "90% of swing", "wrong", "failed", "no end"});
  for (const Algorithm& a : bench.algorithms) {
    for (const Lens& lens : lenses()) {
      const Tally t = searches(bench, a, lens);
      table.add({a.label, lens.name, whole(t.median_frames()), whole(t.p90_frames()), whole(t.median_moves()),
                 percent(t.within_step()), percent(t.reached()), percent(t.wrong()), percent(t.failed()),
                 percent(t.unfinished())});
      Fields row;
      row.add("table", "lenses").add("algorithm", a.label).add("lens", lens.name).add("lag", lens.drive.lag);
      row.add("slew", lens.drive.slew).add("backlash", lens.drive.backlash).add("exposure", lens.drive.exposure);
      t.write(row);
      bench.results.add(std::move(row));
    }
  }
}

}  // namespace framequality::bench
