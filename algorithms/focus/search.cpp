// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search: its frames, settings, beginning and end.
#include "algorithms/focus/search.h"

#include <limits>

namespace framequality {

namespace {

constexpr std::size_t kMostTrail = 256;
constexpr double kLess = 0.2;     // share of the height that the end may be below the sweep's best
constexpr double kNoiseGain = 2;  // for the texture that the estimate of noise has in it

}  // namespace

FocusSearch::FocusSearch(const FocusSettings& settings, double position) : settings_(settings), position_(position) {
  take_settings();
  if (settings_.mode != FocusMode::kManual) trigger();
}

std::optional<double> FocusSearch::frame(const FocusFrame& f) {
  if (f.score) score_before_ = std::exchange(score_, *f.score);
  motion_.frame(f.known);
  if (!active_) return {};
  if (phase_ == Phase::kStart) return start_sweep(f.score);
  if (!f.score) return {};
  if (phase_ == Phase::kWatch) return watch(f);
  if (kind_ == Kind::kSweep && f.noise >= 0) {
    noise_least_ = std::min(noise_least_, f.noise);
    noise_most_ = std::max(noise_most_, f.noise);
  }
  if (trail_.size() < kMostTrail) trail_.push_back({motion_.now(), *f.score});
  switch (phase_) {
    case Phase::kToLeg:
      return to_leg(*f.score);
    case Phase::kLeg:
      return leg(*f.score);
    case Phase::kLegEnd:
      return leg_end(*f.score);
    case Phase::kPass:
      return pass();
    default:
      return stop(*f.score);
  }
}

std::optional<double> FocusSearch::frame(std::optional<double> score) {
  FocusFrame f;
  f.score = score;
  return frame(f);
}

void FocusSearch::trigger() {
  watch_.was_useless(false);
  ended_at_.reset();
  begin_anew();
}

void FocusSearch::give_up() {
  position_is_certain_ = false;
  stand_by(FocusState::kFailed);
}

void FocusSearch::configure(const FocusSettings& settings) {
  const FocusSettings old = std::exchange(settings_, settings);
  FocusSettings same = settings;  // as far as a search depends on it
  same.mode = old.mode;
  same.loss = old.loss;
  same.loss_frames = old.loss_frames;
  same.tracking = old.tracking;
  const bool other = !(same == old);
  if (other) take_settings();
  if (settings.mode == FocusMode::kContinuous && !active_ && old.mode != settings.mode) {
    if (state_ == FocusState::kFocused)
      watch_from_here();
    else
      trigger();
  }
  if (settings.mode != FocusMode::kContinuous && active_ && phase_ == Phase::kWatch) active_ = false;
  if (active_ && other) trigger();
}

int FocusSearch::last_step() const {
  return std::max(0, static_cast<int>(std::floor((settings_.max - settings_.min) / settings_.step + 1e-6)));
}

void FocusSearch::take_settings() {
  motion_.configure({settings_.lag_frames, settings_.settle_frames});
  play_.reset();
  slew_ = 0;
  if (settings_.backlash >= 0) play_ = settings_.backlash / settings_.step;
  shape_.reset();
  direction_ = settings_.approach == FocusApproach::kFromAbove ? -1 : 1;
}

double FocusSearch::command(int at, double position) {
  position_ = position;
  motion_.send(at);
  ++moves_;
  return position;
}

std::optional<double> FocusSearch::send(int at) {
  trail_.clear();
  trail_.push_back({motion_.now(), score_});
  trend_ = score_ - score_before_;
  from_ = std::exchange(at_, at);
  motion_.take_time(is_slow() ? static_cast<int>(std::ceil(1.5 * std::abs(at_ - from_) / slew_)) : 0);
  const double to = position_of(at);
  if (to == position_ && std::exchange(position_is_certain_, true)) return {};
  return command(at, to);
}

void FocusSearch::begin() {
  state_ = FocusState::kCoarse;
  active_ = true;
  phase_ = Phase::kStart;
  moves_ = 0;
  from_here_ = false;
}

void FocusSearch::begin_anew() {
  retries_ = resweeps_ = 0;
  begin();
}

void FocusSearch::clear() {
  motion_.forget();
  if (const std::optional<int> at = here()) motion_.stands(*at);
  row_.clear();
  trace_.clear();
  stops_.clear();
  legs_.clear();
  trail_.clear();
  other_side_.reset();
  spread_ = sum_ = 0;
  spreads_ = summed_ = stops_made_ = settled_ = passes_ = 0;
  suspects_play_ = is_new_play_ = false;
  refuted_play_ = 0;
  trusts_sweep_ = distrusts_sweep_ = stop_contradicts_ = false;
  fit_.reset();
  began_at_ = position_;
}

void FocusSearch::stand_by(FocusState state) {
  state_ = state;
  active_ = false;
  phase_ = Phase::kWatch;
}

std::optional<double> FocusSearch::fail() {
  make_curve(nullptr);
  end(FocusState::kFailed);
  if (std::isnan(began_at_) || began_at_ == position_) return {};
  return command(nearest(began_at_), began_at_);
}

std::optional<double> FocusSearch::finish(bool focused) {
  if (focused && kind_ == Kind::kSweep && !stops_.empty() && last_step() > 0) {
    // Never for less than the best that was seen.
    const double least = extremes(trace_).second - std::max(kLess * prior_.height, 6 * noise_);
    // Of a lens that does what it is told the scene has changed.
    if (best().score < least && (is_slow() || suspects_play_ || !motion_.lag_is_known())) {
      if (resweeps_ < kRetries) return sweep_slower();
      focused = false;
    }
  }
  FocusPeak peak = prior_;
  if (focused && fit_) {
    peak = *fit_;
    const bool is_fit_width = kind_ == Kind::kSweep || stops_.size() >= 3;
    peak.width = is_fit_width ? std::clamp(fit_->width, 0.6 * prior_.width, 1.6 * prior_.width) : prior_.width;
  }
  peak.top = std::clamp(peak.top, at_ - peak.width, at_ + peak.width);
  make_curve(focused ? &peak : nullptr);
  if (focused) {
    if (ended_at_ && at_ != *ended_at_) drift_ = at_ - *ended_at_;
    if (kind_ == Kind::kSweep && noise_least_ <= noise_most_)
      noise_gain_ = kNoiseGain * std::max(0.0, prior_.floor) / std::max(noise_least_ * noise_least_, 0.01);
    shape_ = peak;
    shape_->top = at_;
  }
  end(focused ? FocusState::kFocused : FocusState::kFailed);
  return {};
}

void FocusSearch::end(FocusState state) {
  const bool useless = ended_at_ && std::abs(at_ - *ended_at_) <= 1;
  if (kind_ == Kind::kTracking)
    watch_.probe_was_useless(useless);
  else
    watch_.was_useless(useless);
  ended_at_ = at_;
  stand_by(state);
  watch_from_here();
}

void FocusSearch::watch_from_here() {
  phase_ = Phase::kWatch;
  active_ = settings_.mode == FocusMode::kContinuous;
  watch_.begin();
}

void FocusSearch::make_curve(const FocusPeak* peak) {
  curve_ = {};
  if (kind_ == Kind::kSweep && row_.empty()) make_row();
  samples_ = row_;
  samples_.insert(samples_.end(), stops_.begin(), stops_.end());
  std::sort(samples_.begin(), samples_.end(), [](const FocusSample& a, const FocusSample& b) { return a.at < b.at; });
  for (const FocusSample& s : samples_) {
    curve_.positions.push_back(position_of(static_cast<int>(s.at)));
    curve_.scores.push_back(s.score);
  }
  if (!peak) return;
  constexpr double kHalf = 1.1774;  // sqrt(2 ln 2)
  curve_.top = settings_.min + peak->top * settings_.step;
  curve_.width = kHalf * peak->width * settings_.step;
  curve_.certainty = peak->error * settings_.step;
}

}  // namespace framequality
