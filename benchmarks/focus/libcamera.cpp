// SPDX-License-Identifier: LGPL-2.1-or-later
// Contrast autofocus as libcamera does it on a Raspberry Pi: a coarse scan until the contrast has dropped, a fine scan
// back of three points, the top of their parabola; then it waits for another contrast that has become steady.
// Source: libcamera, src/ipa/rpi/controller/rpi/af.cpp, Raspberry Pi Ltd 2022-2025 (BSD 2-clause), the version that has
// retrigger_ratio and scans both ways. Written from its rules; no code was taken. Defaults are those of that file, for
// a range of 12 dioptres. Taken out is what needs phase detection, so that the scan begins at once and the watch begins
// with the scan's end. Where it compares the averages of R, G and B, luma stands for all three.
#include "benchmarks/focus/autofocus.h"

#include <algorithm>
#include <cmath>

namespace framequality::bench {
namespace {

struct Tuning {
  double range = 12;  ///< dioptres from one end of the lens to the other; all lengths below are in dioptres
  double step_coarse = 1, step_fine = 0.25, max_slew = 2;
  double contrast_ratio = 0.75, retrigger_ratio = 0.75;
  int retrigger_delay = 10, step_frames = 4, skip_frames = 5;
};

class LibcameraContrast : public Autofocus {
 public:
  LibcameraContrast(const LensRange& range, const Tuning& tuning)
      : range_(range), tuning_(tuning), position_(range.position), skip_(tuning.skip_frames) {
    // The position is unknown at first: it goes to the near end and waits longer.
    known_ = false;
    start();
  }

  std::optional<double> frame(const Sight& sight) override {
    // A frame's contrast is known when the lens has been told where to go for it: it counts one frame later.
    if (skip_ > 0)
      --skip_;
    else if (is_seen_)
      act();
    is_seen_ = true;
    contrast_ = sight.score * kScale;
    average_ = sight.mean * 256;
    return move();
  }
  bool done() const override { return state_ == State::kIdle; }
  bool failed() const override { return failed_; }
  double position() const override { return position_; }

 private:
  enum class State { kIdle, kCoarse1, kCoarse2, kFine, kSettle };
  struct Sample {
    double at, contrast;
  };
  /// The Pi's contrast is an integer in the thousands, and a few constants (kAbsolute, kFlat) count on that.
  static constexpr double kScale = 1e5;
  static constexpr double kAbsolute = 1;
  static constexpr double kFlat = 1.0 / 64;
  static constexpr std::size_t kFinePoints = 3;

  /// Away from the near end if the lens is there or anywhere unknown, from the far end if it is there; else towards the
  /// near end first.
  void start() {
    const double margin = 2 * tuning_.step_coarse;
    if (!known_ || !range_.continuous || smooth_ <= margin) {
      target_ = 0;
      step_ = tuning_.step_coarse;
      state_ = State::kCoarse2;
    } else if (smooth_ >= tuning_.range - margin) {
      target_ = tuning_.range;
      step_ = -tuning_.step_coarse;
      state_ = State::kCoarse2;
    } else {
      step_ = -tuning_.step_coarse;
      state_ = State::kCoarse1;
    }
    most_ = 0;
    least_ = 1e9;
    at_most_ = 0;
    samples_.clear();
    steps_ = tuning_.step_frames;
  }

  void act() {
    if (state_ == State::kIdle) {
      if (range_.continuous) watch();
    } else if (smooth_ != target_) {
      return;
    } else if (steps_ > 0) {
      --steps_;
    } else if (state_ == State::kSettle) {
      failed_ = !(contrast_ >= tuning_.contrast_ratio * most_ && least_ <= tuning_.contrast_ratio * most_);
      state_ = State::kIdle;
      changed_ = 0;
      scene_contrast_ = std::max(most_, contrast_);
      samples_.clear();
    } else {
      scan();
    }
  }

  void scan() {
    if (samples_.empty() || contrast_ > most_) {
      most_ = contrast_;
      at_most_ = samples_.size();
      if (state_ != State::kFine) scene_average_ = average_;
    }
    least_ = std::min(least_, contrast_);
    samples_.push_back({target_, contrast_});
    const bool is_over = (step_ >= 0 && target_ >= tuning_.range) || (step_ <= 0 && target_ <= 0) ||
                         (state_ == State::kFine && samples_.size() >= kFinePoints) ||
                         contrast_ < tuning_.contrast_ratio * most_;
    if (is_over)
      turn();
    else
      target_ += step_;
    target_ = std::clamp(target_, 0.0, tuning_.range);
    steps_ = target_ == smooth_ ? 0 : tuning_.step_frames;
  }

  /// The end of a scan: the other way if it began on the peak, else finer the other way, else done.
  void turn() {
    const double top = peak();
    if (state_ == State::kCoarse1 && samples_.front().contrast >= tuning_.contrast_ratio * most_) {
      step_ = -step_;
      state_ = State::kCoarse2;
    } else if (state_ == State::kFine) {
      target_ = top;
      state_ = State::kSettle;
    } else {
      const double fine = std::copysign(tuning_.step_fine, step_);
      target_ = top + fine;
      step_ = -fine;
      state_ = State::kFine;
    }
    samples_.clear();
  }

  /// Top of the parabola through the sample of most contrast and its neighbours, or the two next to it at an end.
  double peak() const {
    const double at = samples_[at_most_].at;
    if (samples_.size() < 3) return at;
    const std::size_t i = std::clamp<std::size_t>(at_most_, 1, samples_.size() - 2);
    const Sample &a = samples_[i - 1], &b = samples_[i], &c = samples_[i + 1];
    const double ax = a.at - b.at, ay = a.contrast - b.contrast, cx = c.at - b.at, cy = c.contrast - b.contrast;
    const double bend = 2 * (ay * cx - cy * ax);
    if (std::abs(bend) < kFlat || bend * ax <= 0) return at;
    const double top = (ay * cx * cx - cy * ax * ax) / bend;
    return b.at + std::clamp(top, std::min(ax, cx), std::max(ax, cx));
  }

  bool differs(double a, double b) const {
    return a + kAbsolute < tuning_.retrigger_ratio * b || b + kAbsolute < tuning_.retrigger_ratio * a;
  }
  /// Another scene, and steady since.
  void watch() {
    if (differs(contrast_, scene_contrast_) || differs(average_, scene_average_)) {
      scene_contrast_ = contrast_;
      scene_average_ = average_;
      changed_ = 1;
    } else if (changed_ > 0) {
      ++changed_;
    }
    if (changed_ >= tuning_.retrigger_delay) start();
  }

  /// Towards the target, no faster than the lens should.
  std::optional<double> move() {
    const double before = position_;
    smooth_ = known_ ? std::clamp(target_, smooth_ - tuning_.max_slew, smooth_ + tuning_.max_slew) : target_;
    if (!known_) skip_ = tuning_.skip_frames;
    known_ = true;
    position_ = range_.on_grid(range_.min + smooth_ / tuning_.range * (range_.max - range_.min));
    return position_ == before ? std::nullopt : std::optional(position_);
  }

  const LensRange range_;
  const Tuning tuning_;
  double position_;
  State state_ = State::kIdle;
  bool known_ = false;    ///< where the lens is
  bool is_seen_ = false;  ///< a frame
  double target_ = 0, smooth_ = 0, step_ = 0;
  int skip_ = 0, steps_ = 0;
  double contrast_ = 0, average_ = 0;  ///< of the frame before
  double scene_contrast_ = 0, scene_average_ = 0;
  int changed_ = 0;
  bool failed_ = false;
  double most_ = 0, least_ = 0;
  std::size_t at_most_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace

std::unique_ptr<Autofocus> make_libcamera(const LensRange& range, const Settings& settings) {
  Tuning t;
  SettingsReader(settings)
      .take("range", t.range)
      .take("step_coarse", t.step_coarse)
      .take("step_fine", t.step_fine)
      .take("max_slew", t.max_slew)
      .take("contrast_ratio", t.contrast_ratio)
      .take("retrigger_ratio", t.retrigger_ratio)
      .take("retrigger_delay", t.retrigger_delay)
      .take("step_frames", t.step_frames)
      .take("skip_frames", t.skip_frames)
      .finish("libcamera");
  return std::make_unique<LibcameraContrast>(range, t);
}

}  // namespace framequality::bench
