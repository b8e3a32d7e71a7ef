// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search: one stop, and what it tells of noise and of the lens's lag and play.
#include "algorithms/focus/search.h"

#include <limits>

namespace framequality {

namespace {

constexpr int kMostFrames = 8;     // at a stop
constexpr int kPatientSettle = 6;  // frames to wait for an answer while the lag is not known
constexpr int kSceneMoves = 3;     // frames that a stop waits for a lens that is known to be at once there
constexpr double kAgree = 0.06;    // share of the height that the end may be below what was promised
constexpr double kFail = 0.4;      // share of the height without which it has failed

}  // namespace

std::optional<double> FocusSearch::go(int at, bool directly) {
  sum_ = 0;
  summed_ = 0;
  ++stops_made_;
  target_ = at;
  from_other_side_ = !takes_up(at, play());
  if (!directly && from_other_side_) {
    const int beyond = clamped(at - direction_ * std::ceil(play()));
    if (beyond != at) {
      from_other_side_ = false;
      phase_ = Phase::kPass;
      // As fast as it has followed the sweep, at least.
      const int distance = std::abs(beyond - at_);
      const int rest = std::max(1, motion_.rest());
      passing_ = suspects_play_ ? rest : std::clamp(distance / std::max(1, 2 * stride_), 1, rest);
      if (settings_.stop_and_go) passing_ = motion_.rest() + 1;
      if (is_slow()) passing_ = std::max(passing_, static_cast<int>(std::ceil(distance / slew_)));
      return send(beyond);
    }
  }
  phase_ = Phase::kStop;
  return send(at);
}

std::optional<double> FocusSearch::settle(int at) {
  state_ = kind_ == Kind::kTracking ? FocusState::kTracking : FocusState::kSettle;
  return go(at);
}

std::optional<double> FocusSearch::pass() {
  if (--passing_ > 0) return {};
  phase_ = Phase::kStop;
  return send(target_);
}

std::optional<double> FocusSearch::stop(double score) {
  if (summed_ == 0) {
    if (!is_steady(score)) return {};
    learn_lag(score);
    learn_noise();
  } else {
    learn_noise(score - previous_);
  }
  previous_ = score;
  sum_ += score;
  if (++summed_ < frames_wanted()) return {};
  const int frames = summed_;
  return measured({static_cast<double>(at_), take_mean(), frames});
}

std::optional<double> FocusSearch::measured(const FocusSample& sample) {
  if (from_other_side_ && !play_ && kind_ == Kind::kSweep && !other_side_) {
    other_side_ = sample;
    return refine();
  }
  if (state_ == FocusState::kSettle && fit_) {
    // No more than was seen: a peak may have an edge where the fit is round.
    const double promised = std::min(fit_->score(sample.at), best_seen());
    if (promised - sample.score > std::max(kAgree * fit_->height, tolerance())) return promise_broken(sample, promised);
  }
  add(sample);
  return refine();
}

std::optional<double> FocusSearch::promise_broken(const FocusSample& sample, double promised) {
  if (may_be_play(static_cast<int>(sample.at))) return suspect_play(sample);
  if (kind_ == Kind::kSweep && trusts_sweep_) {
    distrusts_sweep_ = true;
    state_ = FocusState::kFine;
    add(sample);
    return refine();
  }
  if (retries_ < kRetries) {
    ++retries_;
    stops_.clear();
    add(sample);
    fit_.reset();
    prior_.top = sample.at;
    state_ = kind_ == Kind::kTracking ? FocusState::kTracking : FocusState::kFine;
    if (kind_ == Kind::kSweep) kind_ = Kind::kLocal;
    local_step_ = direction_ * prior_.width;
    stops_made_ = 0;
    return refine();
  }
  const double height = promised - prior_.floor;
  add(sample);
  if (best().at != sample.at && retries_ == kRetries) {
    ++retries_;
    return settle(static_cast<int>(best().at));
  }
  return finish(sample.score - prior_.floor >= kFail * height);
}

bool FocusSearch::is_steady(double score) const {
  if (!motion_.at_rest()) return false;
  if (trail_.size() < 2 || motion_.since() > motion_.rest() + kLongestSettle) return true;
  // The frame before this one: it may have shown the lens on its way.
  const Seen& before = trail_[trail_.size() - 2];
  if (motion_.lag_is_known() && motion_.since() - 1 <= motion_.lag() && !is_slow()) return true;
  if (state_ != FocusState::kCoarse) {
    // What is shown before that belongs to the last position. Waited for where noise and the way let it be seen.
    if (!motion_.lag_is_known() && std::abs(at_ - from_) > prior_.width / 2 && tolerance() < 0.3 * prior_.height &&
        !has_answered() && motion_.since() <= std::max(motion_.rest(), kPatientSettle) + 2)
      return false;
    // A scene that moves does not wait for the lens.
    if (motion_.lag_is_known() && !is_slow() && motion_.since() > motion_.rest() + kSceneMoves) return true;
    return std::abs(score - before.score) <= tolerance();
  }
  const auto [least, most] = extremes(trail_);
  const double range = std::max(most, score) - std::min(least, score);
  // A lens that does not obey before it should have settled, if that can be seen.
  if (!motion_.lag_is_known() && range < 0.1 * std::abs(score)) return motion_.since() > kPatientSettle;
  return range < 0.1 * std::abs(score) || std::abs(score - before.score) <= 0.15 * range;
}

bool FocusSearch::has_answered() const {
  double before = trend_;
  for (std::size_t i = 1; i < trail_.size(); ++i) {
    const double change = trail_[i].score - trail_[i - 1].score;
    if (std::abs(change) > tolerance() && (std::abs(before) <= tolerance() || (change > 0) != (before > 0)))
      return true;
    before = change;
  }
  return false;
}

double FocusSearch::tolerance() const { return std::max(5 * 1.4 * noise_, 0.02 * prior_.height); }

int FocusSearch::frames_wanted() const {
  const int least = settings_.average_frames, most = std::max(least, kMostFrames);
  if (!(noise_ > 0)) return least;
  const double sure = std::max(0.5, 0.1 * prior_.width);
  const double n = 2.5 * prior_.width * noise_ / (prior_.height * sure);
  // Bounded before it is an int: far more noise than peak would not fit in one.
  return n * n < most ? std::max(static_cast<int>(std::ceil(n * n)), least) : most;
}

void FocusSearch::learn_lag(double score) {
  if (motion_.commands() == 0 || trail_.size() < 2) return;
  double far = 0;
  for (const Seen& s : trail_) far = std::max(far, std::abs(s.score - score));
  if (far < std::max(0.05 * std::abs(score), 8 * noise_)) return;
  const double near = std::max(0.08 * far, 4 * noise_);
  std::size_t first = trail_.size();
  while (first > 0 && std::abs(trail_[first - 1].score - score) <= near) --first;
  if (first == 0 || first == trail_.size()) return;
  const std::uint64_t fresh = motion_.now() - static_cast<std::uint64_t>(motion_.since()) + 1;
  if (trail_[first].frame < fresh || trail_[first - 1].frame + 1 != trail_[first].frame) return;
  const auto lag = static_cast<int>(trail_[first].frame - fresh);
  const auto [least, most] = extremes(trail_);
  bool is_clean = std::abs(trail_[first].score - trail_[first - 1].score) > 0.7 * (most - least);
  if (!is_clean && kind_ == Kind::kSweep && stops_made_ == 1) {
    // After a sweep past the peak, frames that were under way show it farther off.
    is_clean = true;
    for (std::size_t i = 1; i < first; ++i)
      if (trail_[i].score > trail_[i - 1].score + near / 2) is_clean = false;
  }
  if (!is_clean) {
    const int known = motion_.lag_is_known() ? motion_.lag() : 0;
    const double speed = std::abs(at_ - from_) / std::max<double>(1, lag - known);
    if (lag > known && at_ != from_) slew_ = is_slow() ? std::min(slew_, speed) : speed;
    return;
  }
  motion_.learn(lag);
}

void FocusSearch::learn_noise() {
  if (!motion_.lag_is_known()) return;
  const auto since = static_cast<std::uint64_t>(motion_.since());
  const std::uint64_t there = motion_.now() + 1 - since + static_cast<std::uint64_t>(motion_.lag());
  for (std::size_t i = 1; i < trail_.size(); ++i)
    if (trail_[i - 1].frame >= there) learn_noise(trail_[i].score - trail_[i - 1].score);
}

void FocusSearch::learn_noise(double change) {
  spread_ += change * change;
  ++spreads_;
  constexpr int kEnough = 8, kSome = 2;
  constexpr double kFew = 1.5;  // for what few changes may be below the mean
  if (spreads_ < kSome) return;
  const double rest = std::sqrt(spread_ / (2 * spreads_));
  noise_ = spreads_ < kEnough ? std::min(noise_, kFew * rest) : rest;
}

double FocusSearch::play() const {
  const bool is_free = settings_.approach == FocusApproach::kAuto;
  if (play_) return is_free && *play_ < 0.5 ? 0 : *play_ + std::max(1.0, 0.1 * *play_);
  return !is_free || kind_ == Kind::kSweep || suspects_play_ ? kDeep * last_step() : 0;
}

bool FocusSearch::takes_up(int at, double play) const {
  if (!(play > 0)) return true;
  bool is_first = true;
  double lens = 0;  // how far above the motor, seen in the direction of approach
  const auto send_to = [&](int to) {
    const double motor = to * direction_;
    lens = is_first ? motor + play : std::clamp(lens, motor, motor + play);
    is_first = false;
  };
  for (std::size_t i = 0; i < motion_.kept(); ++i) send_to(motion_.sent(i));
  send_to(at);
  return lens - at * direction_ < 0.5;
}

bool FocusSearch::may_be_play(int at) const {
  return !suspects_play_ && settings_.backlash < 0 && (!play_ || is_new_play_) && !takes_up(at, kDeep * last_step());
}

std::optional<double> FocusSearch::suspect_play(FocusSample sample) {
  if (!other_side_) other_side_ = sample;
  suspects_play_ = true;
  refuted_play_ = play_.value_or(0);
  play_.reset();
  stops_.clear();
  state_ = FocusState::kFine;
  return go(static_cast<int>(sample.at));
}

void FocusSearch::add(const FocusSample& sample) {
  const auto s = std::lower_bound(stops_.begin(), stops_.end(), sample.at,
                                  [](const FocusSample& other, double at) { return other.at < at; });
  if (s == stops_.end() || s->at != sample.at) {
    stops_.insert(s, sample);
  } else {
    s->frames += sample.frames;
    s->score += (sample.score - s->score) * sample.frames / s->frames;
  }
}

const FocusSample* FocusSearch::stop_at(int at) const {
  for (const FocusSample& s : stops_)
    if (s.at == at) return &s;
  return nullptr;
}

double FocusSearch::best_seen() const {
  const double most = stops_.empty() ? -std::numeric_limits<double>::infinity() : best().score;
  return trusts_sweep_ ? std::max(most, best_of(row_).score) : most;
}

}  // namespace framequality
