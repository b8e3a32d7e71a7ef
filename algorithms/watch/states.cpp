// SPDX-License-Identifier: LGPL-2.1-or-later
// The states of a watch: faults counted until they are reported, and until they are over.
#include "algorithms/watch/camera_watch.h"

#include <algorithm>
#include <cmath>

namespace framequality {

namespace {

// The fault that explains the others comes first.
constexpr CameraState kOrder[] = {CameraState::kDark,       CameraState::kOverexposed, CameraState::kCovered,
                                  CameraState::kFrozen,     CameraState::kMoved,       CameraState::kDefocused,
                                  CameraState::kFlickering, CameraState::kNoisy};
constexpr double kSlow = 2;  ///< times learn_time; learning that takes longer is reported
constexpr double kDown = 2;  ///< a count falls this many times as fast as it rises

int rank(CameraState fault) {
  int i = 0;
  while (kOrder[i] != fault) ++i;
  return i;
}

}  // namespace

std::optional<CameraNews> CameraWatch::judge(const Reading& r, const CameraWatchSettings& s) {
  pattern_.set(r.frame);
  level_ = baseline_.level_of(r.frame.mean, level_);
  const LevelBaseline* const b = baseline_.nearest(level_);
  const Likeness likeness = compare(r, b, s);
  const bool is_new_view = compare_view(r);
  bool calm = true;
  std::optional<CameraState> disturbance;
  for (const CameraState fault : kOrder) {
    Count& c = count(fault);
    c.sign = s.faults & fault_bit(fault) ? sign_of(fault, r, b, s) : kClear;
    // Between the two thresholds a fault persists but does not begin.
    if (c.sign == kBetween && c.held == 0 && state_ != fault) c.sign = kClear;
    if (c.held > 0 || c.sign == kBad) c.lasted += r.seconds;
    const double most = static_cast<double>(s.hold_time) * 1e-9;
    if (c.sign == kBad) c.held = std::min(most, c.held + r.seconds);
    if (c.sign == kClear) c.held = std::max(0.0, c.held - kDown * r.seconds);
    if (c.held == 0 && c.sign != kBad) c.lasted = 0;
    // A standstill counts its own time: frames that codecs repeat must not add up.
    if (fault == CameraState::kFrozen) c.held = c.sign == kBad ? most : 0, c.lasted = still_;
    if (c.held == 0 && c.sign == kClear) continue;
    calm = false;
    if (!disturbance) disturbance = fault;
  }
  seconds_ += r.seconds;
  if (calm && !is_fault(state_))
    baseline_.learn(level_, r, pattern_, likeness, static_cast<double>(s.learn_time) * 1e-9);
  if (calm && !is_fault(state_) && is_new_view) baseline_.learn(level_, window_.view());
  if (disturbance && !b) hindered_[index_of(*disturbance)] += r.seconds;
  remember();
  return change(r, s);
}

std::optional<CameraNews> CameraWatch::change(const Reading& r, const CameraWatchSettings& s) {
  const double hold = static_cast<double>(s.hold_time) * 1e-9;
  const auto is_held = [&](CameraState fault) { return count(fault).sign == kBad && count(fault).held >= hold; };
  std::optional<CameraState> held;
  for (const CameraState fault : kOrder)
    if (is_held(fault)) {
      held = fault;
      break;
    }
  // Prefer a fault that explains it and began a moment later.
  if (held)
    for (const CameraState fault : kOrder) {
      if (fault == *held) break;
      if (count(fault).sign == kBad && count(fault).held >= hold / 2) {
        held = fault;
        break;
      }
    }
  const CameraState before = state_;
  if (!is_fault(state_)) {
    if (held) return become(*held, count(*held).lasted);
    if (state_ != CameraState::kLearning) return std::nullopt;
    return baseline_.empty() ? keep_learning(r, s) : become(CameraState::kGood, 0);
  }
  if (!(s.faults & fault_bit(state_))) count(state_) = {};  // no longer watched for
  const bool explains = held && *held != state_ && rank(*held) < rank(state_);
  if (explains) return become(*held, count(*held).lasted);
  cleared_ = count(state_).sign == kClear ? cleared_ + r.seconds : std::max(0.0, cleared_ - kDown * r.seconds);
  if (cleared_ >= static_cast<double>(s.recovery_time) * 1e-9) {
    if (held && *held != before) return become(*held, count(*held).lasted);
    return become(baseline_.empty() ? CameraState::kLearning : CameraState::kGood, 0);
  }
  return repeat(r, s);
}

std::optional<CameraNews> CameraWatch::keep_learning(const Reading& r, const CameraWatchSettings& s) {
  if (seconds_ < kSlow * static_cast<double>(s.learn_time) * 1e-9) return std::nullopt;
  if (is_slow_told_) return repeat(r, s);
  is_slow_told_ = true;
  return CameraNews{state_, state_, true, seconds_};
}

LearningProgress CameraWatch::progress() const {
  const auto most = std::ranges::max_element(hindered_);
  LearningProgress progress{seconds_, baseline_.progress(), std::nullopt, *most};
  if (*most > 0) progress.hindrance = static_cast<CameraState>(kFirstFault + (most - hindered_.begin()));
  return progress;
}

std::optional<CameraNews> CameraWatch::repeat(const Reading& r, const CameraWatchSettings& s) {
  told_ += r.seconds;
  if (s.repeat_interval > 0 && told_ >= static_cast<double>(s.repeat_interval) * 1e-9) {
    told_ -= static_cast<double>(s.repeat_interval) * 1e-9;
    return CameraNews{state_, state_, true, seconds_};
  }
  return std::nullopt;
}

CameraNews CameraWatch::become(CameraState state, double lasted) {
  const CameraNews news{state, state_, false, is_fault(state) ? lasted : seconds_};
  state_ = state;
  seconds_ = lasted;
  cleared_ = told_ = 0;
  is_slow_told_ = false;
  hindered_ = {};
  return news;
}

}  // namespace framequality
