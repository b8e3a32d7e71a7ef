// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search: the lens in focus is watched, and what is lost is first searched beside the last peak.
#include "algorithms/focus/search.h"

namespace framequality {

namespace {

constexpr double kLocalStep = 1, kTrackingStep = 0.6;  // first step at most, widths of the peak
constexpr double kNear = 0.3;                          // share of the height that is left near the last peak

}  // namespace

std::optional<double> FocusSearch::watch(const FocusFrame& f) {
  if (!motion_.at_rest()) return {};
  const bool is_local = shape_ && state_ == FocusState::kFocused;
  const WatchSettings s{.loss = settings_.loss,
                        .loss_frames = settings_.loss_frames,
                        .tracking = settings_.tracking && is_local,
                        .noise_gain = state_ == FocusState::kFocused ? noise_gain_ : 0,
                        .noise_least = noise_least_,
                        .noise_most = noise_most_};
  const FocusWatch::Sign sign = watch_.frame(f, s);
  if (sign == FocusWatch::Sign::kNone) return {};
  if (is_local) {
    // The height of the scene as it was at rest, rather than as the search found it.
    FocusPeak now = *shape_;
    const double level = watch_.level().score;
    now.height = std::max(watch_.reference() - now.floor, 0.1 * now.height);
    const double share = (level - now.floor) / now.height;
    if (sign == FocusWatch::Sign::kSlipped) return begin_local(Kind::kTracking, now.distance(level, 1), share);
    if (share > kNear) return begin_local(Kind::kLocal, share < 1 ? now.distance(level, 2) : 0.6 * now.width, share);
  }
  begin_anew();
  from_here_ = is_local;
  return start_sweep(f.score);
}

std::optional<double> FocusSearch::begin_local(Kind kind, double distance, double share) {
  clear();
  moves_ = 0;
  kind_ = kind;
  settled_ = 0;
  noise_ = std::max(watch_.noise(), watch_.unrest());
  share_left_ = share;
  state_ = kind == Kind::kTracking ? FocusState::kTracking : FocusState::kFine;
  FocusSample level = watch_.level();
  at_ = here().value_or(0);
  level.at = at_;
  prior_ = *shape_;
  prior_.top = at_;
  add(level);
  const double most = kind == Kind::kTracking ? kTrackingStep : kLocalStep;
  local_step_ = (drift_ < 0 ? -1 : 1) * std::clamp(distance, 1.0, std::max(1.0, most * prior_.width));
  retries_ = kRetries - 1;
  fine_began_ = motion_.now();
  from_other_side_ = false;
  return refine();
}

bool FocusSearch::is_level() const {
  if (stops_.size() < 3) return false;
  const auto [least, most] = extremes(stops_);
  return most - least < std::max(4 * noise_, 0.02 * prior_.height);
}

std::optional<double> FocusSearch::nothing_here() {
  if (kind_ == Kind::kTracking) {
    const int back = *ended_at_;
    if (at_ == back) return finish(true);
    stops_.clear();
    const std::optional<double> to = send(back);
    finish(true);
    return to;
  }
  begin();
  from_here_ = true;
  return start_sweep(score_);
}

}  // namespace framequality
