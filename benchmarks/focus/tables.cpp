// SPDX-License-Identifier: LGPL-2.1-or-later
// Parts that the tables of focus_bench share.
#include "benchmarks/focus/tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace framequality::bench {
namespace {

std::string text(const char* format, double value) {
  char out[64];
  std::snprintf(out, sizeof out, format, value);
  return out;
}

}  // namespace

std::string whole(double value) { return text("%.0f", value); }
std::string decimal(double value) { return text("%.2f", value); }
std::string percent(double share) { return text("%.1f", 100 * share); }
std::string pair(double median, double p90) { return whole(median) + " / " + whole(p90); }

TextTable::~TextTable() {
  std::vector<std::size_t> width;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::printf("\n%s\n", title_.c_str());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      std::printf(i ? "  %*s" : "%-*s", static_cast<int>(width[i]), row[i].c_str());
    std::printf("\n");
  }
  std::fflush(stdout);
}

void Tally::search(Rig& rig) {
  const int frames = rig.run(kMostFrames);
  const int moves = rig.moves();
  const bool is_done = rig.autofocus().done(), failed = rig.autofocus().failed();
  const double off = std::abs(rig.settled() - rig.view.best);
  frames_.push_back(frames);
  moves_.push_back(moves);
  unfinished_ += !is_done;
  failed_ += is_done && failed;
  if (is_done && failed) failed_frames_.push_back(frames);
  reached_ += rig.view.reached(rig.lens()) >= 0.9;
  near_ += off <= std::max(1.0, (rig.view.positions - 1) / 100.0);
  within_ += off <= 1;
  wrong_ += is_done && !failed && off > 2;
}

void Tally::write(Fields& row) const {
  row.add("runs", runs()).add("frames_median", median_frames()).add("frames_p90", p90_frames());
  row.add("moves_median", median_moves()).add("reached_90", reached()).add("within_1_percent", near());
  row.add("within_step", within_step()).add("failed", failed()).add("unfinished", unfinished());
  row.add("wrong", wrong()).add("frames_if_failed", frames_if_failed());
}

int positions_for(int positions, SplitMix& random) {
  return positions > 0 ? positions : 16 + static_cast<int>(random.next() % 21);
}
std::string column_name(int positions) { return positions > 0 ? std::to_string(positions) : "16-36"; }

}  // namespace framequality::bench
