// SPDX-License-Identifier: LGPL-2.1-or-later
// Life in front of a camera that has no fault: day and night, clouds, lamps, what passes by or parks, and traffic.
#pragma once

#include "algorithms/split_mix.h"
#include "benchmarks/watch/camera.h"

#include <array>
#include <cstdint>
#include <vector>

namespace framequality::bench {

double between(SplitMix& random, double low, double high);

/// Day and night, clouds, lamps that exposure takes a while to follow, and what passes by or parks.
class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed) {}
  void at(double t, Condition& c);

 private:
  void pass(double t, Condition& c);

  SplitMix random_;
  double cloud_ = 0, lamp_ = 0;
  double comes_ = 0, leaves_ = 0, width_ = 0, place_ = 0;
  bool parks_ = false;
};

/// Two lanes of cars and lorries across the lower half of the view, which flow and at times crawl or stand. Exposure
/// follows the light of what passes.
class Traffic {
 public:
  explicit Traffic(std::uint64_t seed);
  /// Times must rise.
  void at(double t, Condition& c);

 private:
  struct Lane {
    double top, bottom;  ///< of cars, shares of the view's height
    double direction;    ///< 1: to the right
    double speed = 0;    ///< widths of the view per second
    double until = 0;    ///< s: end of this speed
    double gap = 0;      ///< widths of the view behind the last car
    std::vector<Vehicle> cars;
  };
  void move(Lane& lane, double t, double seconds);
  void enter(Lane& lane);

  SplitMix random_;
  double before_ = 0, exposure_ = 1;
  std::array<Lane, 2> lanes_;
};

}  // namespace framequality::bench
