// SPDX-License-Identifier: LGPL-2.1-or-later
// A search on a lens with lag, play and limited speed, in front of a peak whose top is known.
#pragma once

#include "algorithms/focus/lens_drive.h"
#include "algorithms/focus/search.h"
#include "algorithms/split_mix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <numbers>
#include <vector>

namespace framequality::test::lens_bench {

using Scene = std::function<double(double)>;

inline double gaussian(SplitMix& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

/// A lens in front of a scene whose score is a function of the position of the lens.
class Bench {
 public:
  Bench(const FocusSettings& settings, double start, const DriveSettings& drive, Scene curve)
      : scene(std::move(curve)), search(settings, start), drive_(drive), target_(start) {}

  /// One frame; true if the lens was told to move.
  bool frame() {
    ++frames;
    double score = 0;
    const auto positions = drive_.frame(target_);
    for (const double at : positions) score += scene(at) / static_cast<double>(positions.size());
    FocusFrame f;
    f.score = score * (1 + noise * gaussian(random)) * std::pow(light, f.light_power = light_power);
    if (light_power > 0) f.mean = 60 * light;
    if (sigma >= 0) f.noise = sigma, *f.score += gain * sigma * sigma;
    if (queue > 0) f.known = told.size();
    waiting_.push_back(f);
    if (static_cast<int>(waiting_.size()) <= queue) return false;
    const std::optional<double> to = search.frame(waiting_.front());
    waiting_.pop_front();
    was_coarse |= search.state() == FocusState::kCoarse;
    if (!to) return false;
    target_ = *to;
    told.push_back({frames, *to});
    return true;
  }
  bool has_ended() const { return search.state() == FocusState::kFocused || search.state() == FocusState::kFailed; }
  /// Frames until it is in focus or has failed.
  int run(int most = 3000) {
    const int before = frames;
    do frame();
    while (!has_ended() && frames - before < most);
    EXPECT_TRUE(has_ended()) << "the search does not end";
    return frames - before;
  }
  int moves_in(int count) {
    int moves = 0;
    while (count-- > 0) moves += frame();
    return moves;
  }
  double lens() const { return drive_.position(); }
  bool is_focused() const { return search.state() == FocusState::kFocused; }

  struct Command {
    int frame;
    double to;
  };
  Scene scene;
  focus::Search search;
  std::vector<Command> told;
  int frames = 0, queue = 0, light_power = 0;
  double noise = 0, sigma = -1, gain = 0, light = 1;
  bool was_coarse = false;
  SplitMix random{1};

 private:
  LensDrive drive_;
  double target_;
  std::deque<FocusFrame> waiting_;
};

enum class Shape { kRound, kTent, kLeaning };

/// width: half of that at half height.
inline Scene peak(Shape shape, double top, double width) {
  return [=](double x) {
    const double d = x - top;
    if (shape == Shape::kTent) return 50 + 1000 * std::exp2(-std::abs(d) / width);
    const double w = shape == Shape::kLeaning && d > 0 ? 1.3 * width : width;
    return 50 + 1000 / (1 + d * d / (w * w));
  };
}

/// A lens and a scene of any shape and width, 3...20 of 101 steps.
struct Case {
  Case(std::uint64_t seed, int positions, int settle = 3) {
    SplitMix random(1000 + seed);
    last = positions - 1;
    shape = static_cast<Shape>(random.next() % 3);
    width = (3 + 17 * random.uniform()) * last / 100;
    top = last * random.uniform();
    start = std::floor(positions * random.uniform());
    settings.max = last;
    settings.settle_frames = settle;
    drive.lag = 2;
  }
  Bench bench(double noise = 0.003) const {
    Bench b(settings, start, drive, peak(shape, top, width));
    b.noise = noise;
    b.random = SplitMix(static_cast<std::uint64_t>(top * 1e6));
    return b;
  }

  /// Within one step, or a hundredth of the range, or where a wide peak has lost less than 1% of its height.
  bool is_near(double at) const { return std::abs(at - top) <= std::max({1.0, last / 100, width / 12}); }
  bool is_at_top(const Bench& b) const { return b.is_focused() && is_near(b.lens()); }

  double last, width, top, start;
  Shape shape;
  FocusSettings settings;
  DriveSettings drive;
};

/// Until it is in focus; how many commands were those of the sweep.
inline std::size_t run_telling_sweep(Bench& b) {
  std::size_t sweep = 0;
  do {
    b.frame();
    if (b.search.state() == FocusState::kCoarse) sweep = b.told.size();
  } while (!b.has_ended() && b.frames < 3000);
  return sweep;
}

inline int median(std::vector<int> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace framequality::test::lens_bench
