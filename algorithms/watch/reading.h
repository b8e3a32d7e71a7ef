// SPDX-License-Identifier: LGPL-2.1-or-later
// Averages of a camera's frames over a quarter of a second, the input of the watch.
#pragma once

#include "algorithms/watch/view_template.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace framequality {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Measurements of one frame. NaN and empty: not known.
struct WatchedFrame {
  std::int64_t time = 0;            ///< running time, ns
  double score = 0;                 ///< finite; 0: nothing but noise
  double noise = kUnknown;          ///< its standard deviation, 8-bit grey levels
  double mean = kUnknown;           ///< luma above black, 8-bit grey levels
  double clipped_white = kUnknown;  ///< share of the pixels
  double clipped_black = kUnknown;  ///< the same
  double energy = kUnknown;         ///< of the gradient, level^2
  double energy_noise = kUnknown;   ///< energy of the noise, already subtracted from it
  std::span<const double> zones;    ///< the same by zone; scores by zone where energies are not known
  double range = 255;               ///< of luma, from black to white, 8-bit grey levels
  ZoneGrid grid = {};               ///< of the zones
};

/// The mean of the frames of a quarter of a second, or a single frame where they come more slowly.
struct Reading {
  WatchedFrame frame;  ///< the means, of zones too; its time is that of the first frame
  double seconds = 0;  ///< duration
  int frames = 0;      ///< number of frames averaged
  double swing = 0;    ///< of `mean`: turns up and down by more than a little, each second
};

/// Averages frames into readings. Memory grows to the largest number of zones and is kept.
class Averager {
 public:
  /// Adds a frame; true if the frames before it make a complete reading.
  bool add(const WatchedFrame& f) {
    const double since = first_ ? 0 : seconds_between(last_, f.time);
    const bool starts = first_ || since < 0 || f.zones.size() != sums_.zones_sum.size();
    if (starts && !first_) {
      // Another stream, or time that runs backwards: discard the reading in progress.
      forget();
    }
    bool complete = false;
    if (!starts) {
      // A single gap must not become the distance of frames.
      distance_ = distance_ > 0 ? distance_ + (std::min(since, 4 * distance_) - distance_) / 8 : since;
      if (sums_.frames > 0 && seconds_between(sums_.begin, f.time) >= kSpan - distance_ / 2) {
        finish(f.time);
        complete = true;
      }
    }
    if (sums_.frames == 0) begin(f);
    accumulate(f);
    first_ = false;
    last_ = f.time;
    return complete;
  }

  /// The last complete reading; valid until the next call.
  const Reading& reading() const { return reading_; }

  void forget() {
    sums_.frames = 0;
    sums_.zones_sum.clear();
    first_ = true;
    distance_ = 0;
    turns_ = 0;
    direction_ = 0;
    extreme_ = kUnknown;
  }

 private:
  static constexpr double kSpan = 0.25;   ///< s
  static constexpr double kLongest = 3;   ///< distances of frames that it lasts beyond them at most: else it is a gap
  static constexpr double kTurn = 0.025;  ///< of the mean luma, and
  static constexpr double kTurnCodes = 0.75;  ///< grey levels: smaller swings do not count
  static constexpr double kForget = 0.5;      ///< s: turns are counted over about as long

  struct Sums {
    std::int64_t begin = 0;
    int frames = 0;
    double score = 0, noise = 0, mean = 0, white = 0, black = 0, energy = 0, energy_noise = 0;
    std::vector<double> zones_sum;
    double range = 255;
    ZoneGrid grid;
  };

  static double seconds_between(std::int64_t from, std::int64_t to) { return static_cast<double>(to - from) * 1e-9; }

  void begin(const WatchedFrame& f) {
    sums_.begin = f.time;
    sums_.score = sums_.noise = sums_.mean = sums_.white = sums_.black = sums_.energy = sums_.energy_noise = 0;
    sums_.zones_sum.assign(f.zones.size(), 0);
    sums_.range = f.range;
    sums_.grid = f.grid;
  }

  void accumulate(const WatchedFrame& f) {
    ++sums_.frames;
    sums_.score += f.score;
    sums_.noise += f.noise;
    sums_.mean += f.mean;
    sums_.white += f.clipped_white;
    sums_.black += f.clipped_black;
    sums_.energy += f.energy;
    sums_.energy_noise += f.energy_noise;
    for (std::size_t i = 0; i < f.zones.size(); ++i) sums_.zones_sum[i] += f.zones[i];
    turn(f.mean);
  }

  /// Counts turns of the mean luma: it has gone up and comes down, or the other way.
  void turn(double mean) {
    if (!(mean >= 0)) return;
    if (!(extreme_ >= 0)) {
      extreme_ = mean;
      return;
    }
    const double least = kTurnCodes + kTurn * mean, change = mean - extreme_;
    const int direction = change > 0 ? 1 : -1;
    if (direction == direction_) {
      extreme_ = mean;
    } else if (std::abs(change) > least) {
      if (direction_ != 0) turns_ += 1;
      direction_ = direction;
      extreme_ = mean;
    }
  }

  void finish(std::int64_t now) {
    const double n = sums_.frames;
    const double span = seconds_between(sums_.begin, now);
    zones_.resize(sums_.zones_sum.size());
    for (std::size_t i = 0; i < zones_.size(); ++i) zones_[i] = sums_.zones_sum[i] / n;
    const double stands_for = std::min(span, std::max(kSpan, (n + kLongest) * distance_));
    turns_per_second_ +=
        (turns_ / std::max(stands_for, 1e-3) - turns_per_second_) * std::min(1.0, stands_for / kForget);
    turns_ = 0;
    reading_ = {{sums_.begin, sums_.score / n, sums_.noise / n, sums_.mean / n, sums_.white / n, sums_.black / n,
                 sums_.energy / n, sums_.energy_noise / n, zones_, sums_.range, sums_.grid},
                stands_for,
                sums_.frames,
                turns_per_second_};
    sums_.frames = 0;
  }

  bool first_ = true;
  std::int64_t last_ = 0;
  double distance_ = 0;  ///< of frames, s
  Sums sums_;
  double turns_ = 0, turns_per_second_ = 0;
  int direction_ = 0;
  double extreme_ = kUnknown;
  std::vector<double> zones_;
  Reading reading_;
};

}  // namespace framequality
