// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of focus_bench: what they share, and one function for each.
#pragma once

#include "benchmarks/focus/rig.h"
#include "benchmarks/support/results.h"

#include <string>
#include <vector>

namespace framequality::bench {

struct Bench {
  std::vector<Algorithm> algorithms;
  std::vector<Subject> photographs, sweeps;
  std::vector<std::string> clips;
  std::size_t runs = 400;  ///< searches for each cell of a table
  Results results;
  std::string samples;  ///< file for what the table of certainties is made from; empty: none
};

/// A text table on stdout, printed when it ends.
class TextTable {
 public:
  TextTable(std::string title, std::vector<std::string> header) : title_(std::move(title)), rows_{std::move(header)} {}
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;
  ~TextTable();
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

 private:
  std::string title_;
  std::vector<std::vector<std::string>> rows_;
};

std::string whole(double value);              ///< "123"
std::string decimal(double value);            ///< "1.23"
std::string percent(double share);            ///< of 0...1, "12.3"
std::string pair(double median, double p90);  ///< "123 / 234"

/// How a number of searches ended.
class Tally {
 public:
  /// Runs it until its search is over, and looks where it ended.
  void search(Rig& rig);
  std::size_t runs() const { return frames_.size(); }
  double share(std::size_t count) const {
    return runs() ? static_cast<double>(count) / static_cast<double>(runs()) : 0;
  }

  double median_frames() const { return median(frames_); }
  double p90_frames() const { return quantile(frames_, 0.9); }
  double median_moves() const { return median(moves_); }
  double reached() const { return share(reached_); }     ///< 90% of the swing
  double near() const { return share(near_); }           ///< within 1% of the range, or one step if that is more
  double within_step() const { return share(within_); }  ///< within one step
  double failed() const { return share(failed_); }       ///< says so
  double unfinished() const { return share(unfinished_); }
  double wrong() const { return share(wrong_); }  ///< does not say so, but is more than two steps off
  double frames_if_failed() const { return median(failed_frames_); }
  void write(Fields& row) const;

 private:
  std::vector<double> frames_, moves_, failed_frames_;
  std::size_t reached_ = 0, near_ = 0, within_ = 0, failed_ = 0, unfinished_ = 0, wrong_ = 0;
};

inline constexpr int kMostFrames = 10000;  ///< of one search

/// `positions`: of the lens, 0: random in 16...36.
int positions_for(int positions, SplitMix& random);
std::string column_name(int positions);

/// Of a lamp on mains of so many Hz, seen at so many frames per second.
Light lamp_light(int mains, int rate, bool normalized);

void focusing(Bench& bench);      ///< frames to focus and how well, by positions of the lens
void low_contrast(Bench& bench);  ///< the same with little contrast and much noise
void flat_scenes(Bench& bench);   ///< nothing to focus on
void real_lenses(Bench& bench);   ///< backlash, slew, exposure, lag
void hard_scenes(Bench& bench);   ///< lamps, almost black, zoom breathing
void certainties(Bench& bench);   ///< whether the certainty of a search is a probability
void refocusing(Bench& bench);    ///< the best position jumps or drifts
void moving_scenes(Bench& bench);
void disturbances(Bench& bench);

}  // namespace framequality::bench
