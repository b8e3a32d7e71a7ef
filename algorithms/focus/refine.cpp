// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search: where to stop next, until it is certain where the top is.
#include "algorithms/focus/search.h"

namespace framequality {

namespace {

// Stops beside the top, widths of the peak: the first from the other side, the first, behind the top, and all later.
constexpr double kSideFar = 1.6, kSideNear = 0.75, kSideBehind = 1.2, kSide = 0.8;
constexpr double kWide = 1.2;           // a peak that is so many steps of the sweep wide is seen from both sides
constexpr double kSideSeen = 0.4;       // what the sweep must have seen on each side of the top, widths
constexpr double kCertain = 0.4;        // standard error of the top that is small enough, steps,
constexpr double kCertainShare = 0.03;  // or widths of the peak
constexpr double kFewWidth = 2.5;       // below so many steps of width the best position is seen, not computed
// Stops of a sweep's search, so many more where stops alone tell, and of tracking.
constexpr int kMostStops = 10, kMoreStops = 4, kMostTrackingStops = 5;
constexpr std::uint64_t kMostTime = 8;  // stops' time after which a search is to end,
constexpr double kSlowNoise = 0.05;     // unless noise makes it slow
constexpr double kNothing = 0.01;       // share of the height that is not worth a move,
constexpr int kFine = 90;               // where there are so many steps
constexpr double kLevelNear = 0.35;     // share of the last peak's height with which one stays where all is level
constexpr double kLocalReach = 1.2;     // each later step of a local search at most, widths of the peak

}  // namespace

std::optional<double> FocusSearch::refine() {
  if (kind_ == Kind::kSweep && motion_.lag() != lag_used_ && !row_.empty()) {
    make_row();
    if (!row_.empty()) {
      const FocusPeak again = focus::peak_of(row_, noise_);
      if (again.height > 0) prior_ = again;
    }
    if (is_new_play_) play_.reset();
  }
  if (last_step() == 0) return stops_.empty() ? settle(0) : finish(true);
  fit_ = fitted();
  if (std::exchange(stop_contradicts_, false) && may_be_play(at_) && stop_at(at_)) return suspect_play(*stop_at(at_));
  learn_play();
  if (takes_too_long()) {
    const int end =
        kind_ == Kind::kSweep && motion_.lag_is_known() ? reachable(prior_.top) : static_cast<int>(best().at);
    if (at_ == end) return finish(true);
    return settle(end);
  }
  if (kind_ == Kind::kSweep && stops_.empty() && !(trusts_sweep_ && other_side_)) return first_stop();
  if (stops_.size() == 1 && !trusts_sweep_) return go(second_stop());
  if (kind_ != Kind::kSweep && is_level())
    return share_left_ < kLevelNear ? nothing_here() : to_top(ended_at_.value_or(static_cast<int>(best().at)));
  if (misses_peak()) return sweep_slower();
  const double top = believed_top();
  const int there = reachable(top);
  if (!trusts_sweep_) {
    if (const std::optional<int> at = next_stop(top)) return *at == there ? settle(*at) : go(*at);
    if (kind_ == Kind::kSweep && stops_made_ < kMostStops + kMoreStops)
      if (const std::optional<int> at = between(top)) return go(*at);
  }
  return to_top(there);
}

std::optional<double> FocusSearch::first_stop() {
  settled_ = 0;
  const double w = std::max(prior_.width, 0.7);
  const auto beside = [&](double widths) { return reachable(prior_.top - direction_ * widths * w); };
  const int near = beside(kSideNear) == reachable(prior_.top) ? reachable(prior_.top - direction_) : beside(kSideNear);
  if (!play_ && settings_.approach == FocusApproach::kAuto && !other_side_ && !suspects_play_) {
    int far = beside(kSideFar);
    if (far == near) far = reachable(near - direction_);
    if (std::abs(far - prior_.top) > w && (at_ - far) * direction_ > 0) return go(far, true);
    // Where the range begins: behind the peak.
    far = reachable(prior_.top + direction_ * kSideBehind * w);
    if ((at_ - far) * direction_ > 0.3 * w) return go(far, true);
  }
  return go(near, other_side_.has_value());
}

int FocusSearch::second_stop() const {
  const FocusSample& s = stops_.front();
  if (kind_ != Kind::kSweep) {
    const int to = reachable(s.at + local_step_);
    return to != static_cast<int>(s.at) ? to : reachable(s.at - local_step_);
  }
  double top = prior_.top;
  const double share = (s.score - prior_.floor) / prior_.height;
  if (share > 0.1 && share < 0.97) top = s.at + direction_ * prior_.distance(s.score, 2);
  const double most = 2 * prior_.width + 1;
  int at = reachable(std::clamp(top, s.at - most, s.at + most));
  if (at == static_cast<int>(s.at)) at = reachable(s.at + direction_ * side());
  if (at == static_cast<int>(s.at)) at = reachable(s.at - direction_ * side());
  return at;
}

double FocusSearch::believed_top() const {
  const double from = trusts_sweep_ ? prior_.top : stops_.front().at,
               to = trusts_sweep_ ? prior_.top : stops_.back().at;
  // A parabola is believed as far as it is known to be one.
  const double reach = 1.5 * prior_.width;
  double top = fit_ ? fit_->top : best().at == from ? from - reach : best().at == to ? to + reach : best().at;
  top = std::clamp(top, std::max(0.0, from - reach), std::min<double>(last_step(), to + reach));
  if (kind_ != Kind::kSweep) {
    // Step by step: what changes may be the scene rather than focus.
    const double step = std::max(1.0, kLocalReach * prior_.width);
    top = std::clamp(top, best().at - step, best().at + step);
  }
  if (kind_ == Kind::kTracking) top = std::clamp(top, *ended_at_ - 2 * prior_.width, *ended_at_ + 2 * prior_.width);
  return top;
}

std::optional<int> FocusSearch::next_stop(double top) const {
  const int most = kind_ == Kind::kSweep ? kMostStops : kind_ == Kind::kLocal ? kMostLocalStops : kMostTrackingStops;
  if (stops_made_ >= most) return {};
  const int there = reachable(top);
  // Beyond what was seen: there first.
  const bool is_beyond = top < stops_.front().at - 0.3 * prior_.width || top > stops_.back().at + 0.3 * prior_.width;
  if (!stop_at(there) && is_beyond) return there;
  if (!fit_ || fit_->error > error_wanted()) {
    const bool left = stops_.front().at<top - 0.4 * side(), right = stops_.back().at> top + 0.4 * side();
    const int low = reachable(top - side()), high = reachable(top + side());
    if (!right && !stop_at(high) && high != there) return high;
    if (!left && !stop_at(low) && low != there) return low;
  }
  if (prior_.width >= kFewWidth) return {};
  // Few positions are near the top: all that could be it are seen.
  const int highest = static_cast<int>(best().at);
  for (const int at : {there, highest + direction_, highest - direction_}) {
    if (at < 0 || at > last_step() || stop_at(at)) continue;
    if (!fit_ || fit_->score(fit_->top) - fit_->score(at) < 0.15 * fit_->height) return at;
  }
  return {};
}

std::optional<int> FocusSearch::between(double top) const {
  const auto b = stops_.begin() + (&best() - stops_.data());
  const double left = b == stops_.begin() ? b->at : b->at - std::prev(b)->at;
  const double right = std::next(b) == stops_.end() ? last_step() - b->at : std::next(b)->at - b->at;
  const double near = std::max(2.0, 0.12 * prior_.width);
  if (std::max(left, right) <= near) return {};
  const int there = reachable(top);
  if (!stop_at(there) && std::abs(there - b->at) < std::max(left, right)) return there;
  const bool to_right = left <= near || (right > near && top >= b->at);
  const double gap = to_right ? right : left;
  // A third of a wide gap: the top is nearer to the best one.
  const double step = gap > 3 * near ? gap / 3 : gap / 2;
  return reachable(b->at + (to_right ? 1 : -1) * std::max(1.0, step));
}

std::optional<double> FocusSearch::to_top(int there) {
  // A step aside that gains next to nothing is not worth its frames.
  if (last_step() >= kFine && fit_ && stop_at(at_) && !from_other_side_ && std::abs(fit_->top - at_) <= 0.8 &&
      fit_->score(there) - fit_->score(at_) < kNothing * fit_->height)
    there = at_;
  int end = there;
  if (const FocusSample* s = stop_at(there)) {
    const FocusSample& b = best();
    const double spread = noise_ * std::sqrt(1.0 / s->frames + 1.0 / b.frames);
    if (b.score - s->score > std::max(2 * spread, 1e-6 * prior_.height)) end = static_cast<int>(b.at);
  }
  const bool is_enough = !from_other_side_ || settled_ > kRetries + 2 || takes_too_long();
  if (stop_at(end) && at_ == end && is_enough) return finish(true);
  ++settled_;
  return settle(end);
}

std::optional<FocusPeak> FocusSearch::fitted() {
  trusts_sweep_ = kind_ == Kind::kSweep && motion_.lag_is_known() && !distrusts_sweep_ && row_.size() >= 3 &&
                  (!is_slow() || stride_ <= slew_);
  if (trusts_sweep_) {
    const std::optional<FocusPeak> fit = fitted_with_sweep();
    // At an end of the range one side of the peak is missing: stops have to tell.
    trusts_sweep_ = fit && fit->top - row_.front().at > kSideSeen * prior_.width &&
                    row_.back().at - fit->top > kSideSeen * prior_.width;
    stop_contradicts_ = false;
    for (const FocusSample& s : stops_)
      if (trusts_sweep_ && std::abs(s.at - fit->top) <= std::max(1.0, prior_.width) &&
          // More than was expected is no wonder between the sweep's positions.
          fit->score(s.at) - s.score > std::max(0.1 * fit->height, tolerance()))
        stop_contradicts_ = true;
    if (trusts_sweep_ && !stop_contradicts_) return fit;
    trusts_sweep_ = false;
    distrusts_sweep_ = !stop_contradicts_ || !may_be_play(at_);
  }
  if (stops_.size() < 2) return {};
  FocusPeak known = prior_;
  known.top = best().at;
  return focus::refined(known, stops_, noise_);
}

std::optional<FocusPeak> FocusSearch::fitted_with_sweep() {
  // From both sides, or as near the top as noise lets it be: farther out a peak may lean to one side.
  std::optional<FocusPeak> fit;
  if (prior_.width > kWide * stride_) fit = focus::bisected(prior_, row_, noise_);
  if (fit && fit->error <= error_wanted()) return fit;
  fit.reset();
  const double highest = best_of(row_).at;
  for (const double widths : {0.55, 0.8, 1.3}) {
    samples_.clear();
    for (const auto* all : {&stops_, &row_})
      for (const FocusSample& s : *all)
        if (std::abs(s.at - prior_.top) <= widths * prior_.width || std::abs(s.at - highest) <= 1.01 * stride_)
          samples_.push_back(s);
    if (samples_.size() < 3) continue;
    fit = focus::refined(prior_, samples_, noise_);
    if (fit && fit->error <= error_wanted()) break;
  }
  return fit;
}

int FocusSearch::reachable(double at) const {
  // Where the lens turns in at an end of the range, it does not follow until its play is used up.
  const double dead = play_ && *play_ > 0.5 ? std::floor(*play_) : 0;
  const double low = direction_ > 0 ? dead : 0, high = direction_ > 0 ? last_step() : last_step() - dead;
  return low < high ? clamped(std::clamp(at, low, high)) : clamped(at);
}

double FocusSearch::error_wanted() const { return std::max(kCertain, kCertainShare * prior_.width); }

double FocusSearch::side() const { return std::max(1.0, kSide * prior_.width); }

void FocusSearch::learn_play() {
  if (!other_side_ || play_ || kind_ != Kind::kSweep) return;
  if (suspects_play_ && stops_.empty()) return;
  // At an end of the range nothing is fitted yet: the sweep itself says where it saw this score.
  const bool is_fitted = fit_ && (trusts_sweep_ || stops_.size() >= 2);
  if (!is_fitted && !(motion_.lag_is_known() && !is_slow() && stops_.empty())) return;
  const FocusPeak& peak = is_fitted ? *fit_ : prior_;
  const double share = (other_side_->score - peak.floor) / peak.height;
  // There are two places with this score. The lens went down from beyond the peak, so it is beyond the stop.
  const double off = std::max({1.0, 0.15 * stride_, 0.1 * prior_.width});
  const double stood = (other_side_->at - peak.top) * direction_;
  const double near = -swept_distance(share, -direction_) - stood, far = swept_distance(share, direction_) - stood;
  is_new_play_ = true;
  const bool tells = share > 0.05 && share < 0.9;
  if (!suspects_play_) {
    // Behind the peak, where an end of the range is near, too little is seen to tell that there is none.
    const bool is_behind = stood > 0;
    const double told = is_behind ? far : near;
    if (tells && told > (is_behind ? off : -3 * off)) play_ = told > off ? told : 0;
  } else {
    // It is known then that it has some.
    play_ = !tells ? kDeep * last_step() / 1.2 : near > off && near > refuted_play_ + off ? near : std::max(far, 0.0);
  }
  // Where the sweep turned in, the lens did not follow until its play was used up.
  if (play_ && (prior_.top - leg_.from) * direction_ < *play_ + prior_.width / 2) distrusts_sweep_ = true;
}

double FocusSearch::swept_distance(double share, int side) const {
  const auto share_of = [&](const FocusSample& s) { return (s.score - prior_.floor) / prior_.height; };
  double nearer = 0, above = 1;
  const auto n = static_cast<std::ptrdiff_t>(row_.size());
  for (std::ptrdiff_t i = side > 0 ? 0 : n - 1; i >= 0 && i < n; i += side) {
    const FocusSample& s = row_[static_cast<std::size_t>(i)];
    const double distance = (s.at - prior_.top) * side, here = share_of(s);
    if (distance <= 0) continue;
    if (here <= share) return nearer + (above > here ? (above - share) / (above - here) : 1) * (distance - nearer);
    nearer = distance, above = here;
  }
  return nearer;
}

bool FocusSearch::misses_peak() const {
  return kind_ == Kind::kSweep && stops_.size() >= 3 && stride_ > 1 && resweeps_ < kRetries &&
         best().score - prior_.floor < 0.5 * prior_.height;
}

bool FocusSearch::takes_too_long() const {
  const std::uint64_t stop = static_cast<std::uint64_t>(motion_.rest()) + 4;
  const std::uint64_t most = (suspects_play_ ? 2 * kMostTime : kMostTime) * stop;
  return !stops_.empty() && !is_slow() && noise_ < kSlowNoise * prior_.height &&
         (fine_began_ == 0 || motion_.now() - fine_began_ > most);
}

}  // namespace framequality
