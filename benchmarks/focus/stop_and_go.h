// SPDX-License-Identifier: LGPL-2.1-or-later
// An optimizer of a function as an autofocus: send the lens somewhere, wait until it is there, take one score, think.
#pragma once

#include "benchmarks/focus/autofocus.h"

namespace framequality::bench {

class StopAndGo : public Autofocus {
 public:
  explicit StopAndGo(const LensRange& range) : range_(range), position_(range.position) {}

  std::optional<double> frame(const Sight& sight) final {
    if (done_) return {};
    if (!asked_) {
      asked_ = true;
      return go(first());
    }
    if (waiting_ > 0) {
      --waiting_;
      return {};
    }
    if (const std::optional<double> to = next(position_, sight.score)) return go(*to);
    done_ = true;
    return go(best());
  }
  bool done() const final { return done_; }
  bool failed() const final { return false; }
  double position() const final { return position_; }

 protected:
  /// Where the function is to be evaluated first; anywhere, the lens takes the nearest position of its grid.
  virtual double first() = 0;
  /// Its value there, and the position that it was; where to evaluate it next, if anywhere.
  virtual std::optional<double> next(double position, double score) = 0;
  /// The result.
  virtual double best() const = 0;

  const LensRange range_;

 private:
  std::optional<double> go(double to) {
    to = range_.on_grid(to);
    if (to == position_) return {};
    waiting_ = range_.settle_frames;
    return position_ = to;
  }

  double position_;
  bool asked_ = false, done_ = false;
  int waiting_ = 0;
};

}  // namespace framequality::bench
