// SPDX-License-Identifier: LGPL-2.1-or-later
// Entry points of the focus search, its start and end, and the watch at rest.
#include "algorithms/focus/search.h"

#include <algorithm>
#include <cmath>

namespace framequality::focus {

const char* name_of(Phase phase) {
  constexpr const char* kNames[] = {"idle", "start", "to-leg", "leg",  "leg-end",
                                    "back", "pass",  "stop",   "look", "watch"};
  return kNames[static_cast<int>(phase)];
}

Loss loss_of(FocusWatch::Sign sign, const FocusPeak* shape, double reference, double level) {
  const Loss whole{Kind::kSweep, "the score changed and stayed changed"};
  if (!shape) return whole;
  // Use the scene's height at rest rather than the one that the search found.
  FocusPeak now = *shape;
  now.height = std::max(reference - now.floor, kTuning.least_height * now.height);
  const double share = (level - now.floor) / now.height;
  if (sign == FocusWatch::Sign::kSlipped)
    return {Kind::kTracking, "a small loss of focus lasts", now.distance(level, kTuning.tracking_search), share};
  if (!(share > kTuning.near_peak)) return whole;
  const double distance = share < 1 ? now.distance(level, kTuning.local_search) : kTuning.higher_step * now.width;
  return {Kind::kLocal, "the score changed, and the last peak is near", distance, share};
}

Search::Search(const FocusSettings& settings, double position) : settings_(settings), lens_(settings, position) {
  if (settings_.mode != FocusMode::kManual) trigger("it is the first search");
}

FocusFrame Search::in_one_light(FocusFrame f) {
  if (!f.score || f.light_power <= 0 || !(f.mean > 0)) return f;
  const double light = std::max(f.mean, kTuning.least_light);
  if (!(light_ > 0)) light_ = light;
  *f.score *= std::pow(light_ / light, f.light_power);
  f.light_power = 0;
  return f;
}

std::optional<double> Search::frame(const FocusFrame& seen) {
  if (seen.score) score_ = *seen.score;
  const FocusFrame f = in_one_light(seen);
  lens_.frame(f);
  stack_image_ = {};
  if (phase_ == Phase::kIdle) return {};
  if (phase_ == Phase::kStart) return start_sweep(f.score.has_value(), false);
  if (!f.score) return {};
  if (phase_ == Phase::kWatch) return watch(f);
  if (kind_ == Kind::kSweep && f.noise >= 0) {
    noise_.noise_least = std::min(noise_.noise_least, f.noise);
    noise_.noise_most = std::max(noise_.noise_most, f.noise);
  }
  lens_.follow();
  switch (phase_) {
    case Phase::kToLeg:
      return to_leg();
    case Phase::kLeg:
      return leg();
    case Phase::kLegEnd:
      return leg_end();
    case Phase::kBack:
      return back();
    case Phase::kPass:
      return pass();
    case Phase::kLook:
      return look();
    default:
      return stop();
  }
}

void Search::configure(const FocusSettings& settings) {
  const FocusSettings old = std::exchange(settings_, settings);
  FocusSettings same = settings;  // equals `old` if no search depends on the changes
  same.mode = old.mode;
  same.loss = old.loss;
  same.loss_frames = old.loss_frames;
  same.tracking = old.tracking;
  same.min_certainty = old.min_certainty;
  same.goal = old.goal;
  same.stack = old.stack;
  same.stack_step = old.stack_step;
  const bool other = !(same == old);
  if (other) {
    lens_.configure(settings);
    shape_.reset();
    blur_shape_.reset();
  }
  const char* cause = "the settings changed";
  if (settings.mode == FocusMode::kContinuous && phase_ == Phase::kIdle && old.mode != settings.mode) {
    if (state_ == FocusState::kFocused)
      watch_from_here();
    else
      trigger(cause);
  }
  if (settings.mode != FocusMode::kContinuous && phase_ == Phase::kWatch) phase_ = Phase::kIdle;
  if (phase_ != Phase::kIdle && (other || settings.goal != old.goal)) trigger(cause);
}

// --- Begin and end ---------------------------------------------------------------------------------------------------

void Search::trigger(const char* cause) {
  watch_.was_useless(false);
  ended_at_.reset();
  measured_ = retries_ = times_slower_ = 0;
  begin(cause);
}

void Search::begin(const char* cause) {
  state_ = FocusState::kCoarse;
  phase_ = Phase::kStart;
  cause_ = reason_ = cause;
  commands_before_ = lens_.commands();
  began_at_ = lens_.position();
}

void Search::stand_by(FocusState state, const char* reason) {
  state_ = state;
  phase_ = Phase::kIdle;
  reason_ = reason;
}

void Search::give_up() {
  lens_.lose();
  stand_by(FocusState::kFailed, "the search was given up");
}

void Search::clear() {
  lens_.begin();
  sweep_.clear();
  stops_.clear();
  changes_ = {};
  mean_ = {};
  looks_again_ = is_far_ = false;
  way_back_.clear();
  is_back_ = true;
}

std::optional<double> Search::fail(const char* reason) {
  reason_ = reason;
  make_curve(nullptr);
  end(FocusState::kFailed);
  if (std::isnan(began_at_) || began_at_ == lens_.position()) return {};
  return lens_.send_to(began_at_);
}

std::optional<double> Search::finish(bool focused) {
  if (focused && is_less_than_swept()) {
    reason_ = "the sweep saw a higher score";
    if (times_slower_ < kTuning.retries) return sweep_slower();
    focused = false;
  }
  if (focused && !looks_again_ && !wants_all() && is_below_sweep()) {
    reason_ = "the sweep saw a higher score: the stops are made again";
    return look_again();
  }
  const FocusPeak peak = peak_found();
  evidence_ = evidence_of(peak);
  const double certainty = focused ? certainty_of(evidence_) : 0;
  make_curve(focused ? &peak : nullptr);
  curve_.certainty = certainty;
  if (focused && kind_ != Kind::kTracking && certainty < settings_.min_certainty) {
    if (!looks_again_) {
      reason_ = "the position is not certain enough: the stops are made again";
      return look_again();
    }
    reason_ = "the position is less certain than wanted";
    focused = false;
  }
  if (focused) {
    if (ended_at_ && lens_.at() != *ended_at_) drift_ = lens_.at() < *ended_at_ ? -1 : 1;
    // Stops that were made again may have become ones beside a peak.
    if ((kind_ == Kind::kSweep || looks_again_) && noise_.noise_least <= noise_.noise_most)
      noise_.noise_gain = kTuning.noise_gain * std::max(0.0, expected_.peak.floor) /
                          std::max(noise_.noise_least * noise_.noise_least, 0.01);
    if (kind_ == Kind::kSweep) {
      blur_shape_ = sweep_.row().empty() ? std::nullopt : sweep_.blur_peak(stops_.all());
      if (blur_shape_ && !(blur_shape_->off < kTuning.known_shape)) blur_shape_.reset();
    }
    shape_ = peak;
    shape_->top = lens_.at();
    if (settings_.stack > 0 && kind_ != Kind::kTracking) return begin_stack();
  }
  end(focused ? FocusState::kFocused : FocusState::kFailed);
  return {};
}

bool Search::is_less_than_swept() const {
  if (kind_ != Kind::kSweep || stops_.empty() || lens_.last() == 0) return false;
  const double allowed = std::max(kTuning.less * expected_.peak.height, kTuning.less_noise * expected_.noise);
  // With a prompt lens without play, lower scores mean that the scene has changed.
  return stops_.best().score < sweep_.highest() - allowed &&
         (lens_.is_slow() || lens_.suspects_play() || !lens_.motion().lag_is_known());
}

Evidence Search::evidence_of(const FocusPeak& found) const {
  if (lens_.last() == 0) return {.trusts_sweep = true};
  const double tolerance = tolerance_of(lens_.last());
  const Fit& fit = stops_.fit();
  const FocusSample* here = stops_.at(lens_.at());
  double best = stops_.empty() ? 0 : stops_.best().score;
  if (kind_ == Kind::kSweep && fit.trusts_sweep) best = std::max(best, sweep_.best().score);
  return {.error = (fit.peak ? found.error : found.width) / tolerance,
          .blind = found.width * std::sqrt(expected_.noise / found.height) / tolerance,
          .short_of_best = here ? (best - here->score) / found.height : 0,
          .trusts_sweep = fit.trusts_sweep};
}

bool Search::is_below_sweep() const {
  const FocusSample* here = kind_ == Kind::kSweep ? stops_.at(lens_.at()) : nullptr;
  // Of a prompt lens without play, it is more likely that the scene has changed, or noise.
  const bool may_be_beside =
      lens_.is_slow() || lens_.most_way() > 0 || lens_.suspects_play() || !lens_.motion().lag_is_known();
  const double factor = may_be_beside ? 1 : kTuning.below_prompt;
  const double allowed = std::max(kTuning.below * expected_.peak.height, kTuning.below_noise * expected_.noise);
  return here && here->score < sweep_.highest() - factor * allowed;
}

std::optional<double> Search::look_again() {
  looks_again_ = true;
  state_ = FocusState::kFine;
  const FocusSample here{static_cast<double>(lens_.at()), lens_.score(), 1};
  expected_.peak.top = here.at;
  stops_.begin_again(here, lens_.direction() * expected_.peak.width);
  stops_.make_anew(lens_.motion().now());
  return refine();
}

FocusPeak Search::peak_found() const {
  FocusPeak peak = expected_.peak;
  const double width = peak.width;
  if (stops_.fit().peak) {
    peak = *stops_.fit().peak;
    const bool is_fit_width = kind_ == Kind::kSweep || stops_.all().size() >= 3;
    peak.width = is_fit_width ? std::clamp(peak.width, kTuning.width_least * width, kTuning.width_most * width) : width;
  }
  peak.top = std::clamp(peak.top, lens_.at() - peak.width, lens_.at() + peak.width);
  return peak;
}

void Search::end(FocusState state) {
  if (kind_ == Kind::kTracking)
    watch_.probe_was_useless(ended_at_ == lens_.at());
  else
    watch_.was_useless(ended_at_ && std::abs(lens_.at() - *ended_at_) <= 1);
  ended_at_ = lens_.at();
  state_ = state;
  watch_from_here();
}

void Search::watch_from_here() {
  phase_ = settings_.mode == FocusMode::kContinuous ? Phase::kWatch : Phase::kIdle;
  watch_.begin();
}

void Search::make_curve(const FocusPeak* peak) {
  curve_ = {};
  if (kind_ == Kind::kSweep && sweep_.row().empty()) sweep_.credit(lens_.motion());
  std::vector<FocusSample> all = sweep_.seen();
  all.insert(all.end(), stops_.all().begin(), stops_.all().end());
  std::sort(all.begin(), all.end(), [](const FocusSample& a, const FocusSample& b) { return a.at < b.at; });
  for (const FocusSample& s : all) {
    curve_.positions.push_back(lens_.position_of(static_cast<int>(s.at)));
    curve_.scores.push_back(s.score);
  }
  if (!peak) return;
  constexpr double kHalf = 1.1774;  // sqrt(2 ln 2)
  curve_.top = settings_.min + peak->top * settings_.step;
  curve_.width = kHalf * peak->width * settings_.step;
  curve_.error = peak->error * settings_.step;
}

// --- Focused ---------------------------------------------------------------------------------------------------------

std::optional<double> Search::watch(const FocusFrame& f) {
  if (!lens_.motion().at_rest()) return {};
  const bool is_beside = shape_ && state_ == FocusState::kFocused;
  WatchSettings s = noise_;
  s.loss = settings_.loss;
  s.loss_frames = settings_.loss_frames;
  s.tracking = settings_.tracking && is_beside;
  if (state_ != FocusState::kFocused) s.noise_gain = 0;
  const FocusWatch::Sign sign = watch_.frame(f, s);
  if (sign == FocusWatch::Sign::kNone) return {};
  // The object that is wanted now may be far from the last peak.
  const bool looks_near = is_beside && (!wants_all() || sign == FocusWatch::Sign::kSlipped);
  const Loss loss = loss_of(sign, looks_near ? &*shape_ : nullptr, watch_.reference(), watch_.level().score);
  const bool is_far =
      loss.kind == Kind::kSweep || (loss.kind == Kind::kLocal && loss.distance > kTuning.far_away * shape_->width);
  if (looks_near && is_far)
    if (const std::optional<double> command = begin_far(loss)) return command;
  if (loss.kind != Kind::kSweep) return begin_beside(loss);
  measured_ = retries_ = times_slower_ = 0;
  begin(loss.cause);
  return start_sweep(true, is_beside);
}

void Search::begin_near(const Loss& loss) {
  clear();
  commands_before_ = lens_.commands();
  began_at_ = lens_.position();
  cause_ = reason_ = loss.cause;
  kind_ = loss.kind == Kind::kTracking ? Kind::kTracking : Kind::kLocal;
  state_ = kind_ == Kind::kTracking ? FocusState::kTracking : FocusState::kFine;
  FocusSample level = watch_.level();
  level.at = lens_.stand();
  expected_ = {*shape_, std::max(watch_.noise(), watch_.unrest()), blur_shape_};
  expected_.peak.top = level.at;
  if (expected_.shape) expected_.shape->height = watch_.reference();
  stops_.add(level);
  measured_ = 0;
  retries_ = kTuning.retries - 1;
}

std::optional<double> Search::begin_beside(const Loss& loss) {
  begin_near(loss);
  const double most = kind_ == Kind::kTracking ? kTuning.tracking_step : kTuning.local_step;
  const double step = drift_ * std::clamp(loss.distance, 1.0, std::max(1.0, most * expected_.peak.width));
  stops_.begin_beside(lens_.motion().now(), step, loss.share);
  return may_look() ? look_beside(lens_.at(), step) : refine();
}

std::optional<double> Search::begin_far(const Loss& loss) {
  begin_near(loss);
  const FocusSample level = stops_.best();
  if (!may_look() || !(level.score > 0)) return {};
  const double distance = expected_.shape->distance(level.score);
  const int here = lens_.at();
  std::vector<int> looks = {here};
  for (const int side : {-drift_, drift_}) {
    const double at = here + side * distance, beyond = std::max(-at, at - lens_.last());
    if (distance >= 1 && beyond < kTuning.beyond_end * distance) looks.push_back(lens_.clamped(at));
  }
  if (looks.size() < 2) return {};
  stops_.begin_beside(lens_.motion().now(), drift_ * expected_.side(), loss.share);
  is_far_ = true;
  return look_at(std::move(looks));
}

std::optional<double> Search::nothing_here() {
  if (kind_ == Kind::kTracking) {
    const int back = *ended_at_;
    if (lens_.at() == back) return finish(true);
    stops_.forget();
    const Command command = lens_.send(back);
    finish(true);
    return command;
  }
  begin("no peak near the last one");
  return start_sweep(true, true);
}

}  // namespace framequality::focus
