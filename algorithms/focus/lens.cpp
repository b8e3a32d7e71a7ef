// SPDX-License-Identifier: LGPL-2.1-or-later
// The lens as seen through its frames: commands, and learning of lag, speed and play.
#include "algorithms/focus/lens.h"

#include <limits>

namespace framequality::focus {

std::optional<Effect> effect_of(std::span<const Seen> trail, std::uint64_t fresh, double score, double noise,
                                bool on_a_flank) {
  if (trail.size() < 2) return {};
  double far = 0;
  for (const Seen& s : trail) far = std::max(far, std::abs(s.score - score));
  if (far < std::max(kTuning.far * std::abs(score), kTuning.far_noise * noise)) return {};
  const double near = std::max(kTuning.near * far, kTuning.near_noise * noise);
  std::size_t first = trail.size();
  while (first > 0 && std::abs(trail[first - 1].score - score) <= near) --first;
  if (first == 0 || first == trail.size()) return {};
  if (trail[first].frame < fresh || trail[first - 1].frame + 1 != trail[first].frame) return {};
  const auto [least, most] =
      std::minmax_element(trail.begin(), trail.end(), [](const Seen& a, const Seen& b) { return a.score < b.score; });
  bool is_clean = std::abs(trail[first].score - trail[first - 1].score) > kTuning.clean * (most->score - least->score);
  if (!is_clean && on_a_flank) {
    is_clean = true;
    for (std::size_t i = 1; i < first; ++i)
      if (trail[i].score > trail[i - 1].score + near / 2) is_clean = false;
  }
  return Effect{static_cast<int>(trail[first].frame - fresh), is_clean};
}

std::optional<std::uint64_t> came_to_rest(std::span<const Seen> trail) {
  const std::size_t n = kTuning.rest_frames;
  if (trail.size() < n) return {};
  const std::span<const Seen> last = trail.last(n);
  double mean = 0, squares = 0, changes = 0;
  for (const Seen& s : last) mean += s.score / static_cast<double>(n);
  for (const Seen& s : last) squares += (s.score - mean) * (s.score - mean);
  for (std::size_t i = 1; i < n; ++i)
    changes += (last[i].score - last[i - 1].score) * (last[i].score - last[i - 1].score);
  if (changes < kTuning.rest_ratio * squares) return {};
  const double near = kTuning.rest_noise * std::sqrt(squares / static_cast<double>(n - 1));
  std::size_t first = trail.size() - n;
  while (first > 0 && std::abs(trail[first - 1].score - mean) <= near) --first;
  return trail[first].frame;
}

bool is_running(std::span<const Seen> trail) {
  if (trail.size() < 3) return false;
  const std::span<const Seen> last = trail.last(3);
  const double change = last[2].score - last[1].score, pace = change / (last[1].score - last[0].score);
  return std::abs(change) > kTuning.running * std::abs(last[1].score) && pace > kTuning.even_pace &&
         pace < 1 / kTuning.even_pace;
}

void Lens::configure(const FocusSettings& settings) {
  settings_ = settings;
  last_ = std::max(0, static_cast<int>(std::floor((settings.max - settings.min) / settings.step + 1e-6)));
  // With stop_and_go, frames may be passed only once the lens has arrived.
  learns_settling_ = settings.lag_frames < 0 && settings.settle_frames == 0 && !settings.stop_and_go;
  motion_.configure({settings.lag_frames, learns_settling_ ? kTuning.unknown_settle : settings.settle_frames});
  play_.reset();
  most_way_ = 0;
  creep(false, 0);
  if (settings.backlash >= 0) play_ = settings.backlash / settings.step;
  direction_ = settings.approach == FocusApproach::kFromAbove ? -1 : 1;
}

void Lens::begin() {
  motion_.forget();
  is_again_ = false;
  if (const std::optional<int> at = here()) motion_.stands(*at);
  trail_.clear();
  suspects_play_ = is_new_play_ = scene_glides_ = false;
  clear_play_.reset();
  refuted_play_ = 0;
}

int Lens::reachable(double at) const {
  // At the end of the range where it reverses, the lens does not follow until its play is taken up. Stops there show
  // one place, so that learned play, which may be more, is given room. What slow lenses show as play is less certain.
  const double room = settings_.backlash >= 0 || is_slow() ? 0 : kTuning.play_room * last_;
  const double dead = play_ && *play_ > kTuning.no_play ? std::floor(*play_ + room) : 0;
  const double low = direction_ > 0 ? dead : 0, high = direction_ > 0 ? last_ : last_ - dead;
  return low < high ? clamped(std::clamp(at, low, high)) : clamped(at);
}

void Lens::frame(const FocusFrame& f) {
  if (f.score) score_before_ = std::exchange(score_, *f.score);
  motion_.frame(f.known);
}

double Lens::command(int at, double position) {
  position_ = position;
  motion_.send(at);
  ++commands_;
  return position;
}

int Lens::travel_time() const {
  if (!(slew_ > 0)) return 0;
  if (!creeps_) return static_cast<int>(std::ceil(kTuning.slow_time * std::abs(at_ - from_) / slew_));
  // Until the command takes effect, the lens goes on to where it was sent before.
  const int lag = motion_.lag(), turns = motion_.shown(motion_.now() + static_cast<std::uint64_t>(lag)).value_or(from_);
  const double time = kTuning.creeping_time * std::abs(at_ - turns) / slew_;
  return static_cast<int>(std::ceil(time)) + (motion_.lag_is_known() ? 0 : lag);
}

std::optional<double> Lens::send(int at) {
  is_again_ = false;
  apart_ = static_cast<int>(std::min<std::uint64_t>(motion_.now() - sent_, kTuning.most_trail));
  sent_ = motion_.now();
  trail_.clear();
  trail_.push_back({motion_.now(), score_});
  trend_ = score_ - score_before_;
  from_ = std::exchange(at_, at);
  motion_.take_time(travel_time());
  const double to = position_of(at);
  if (to == position_ && std::exchange(is_certain_, true)) return {};
  asked_ = motion_.kept();
  return command(at, to);
}

std::optional<double> Lens::send_again(int at) {
  at_ = at;
  is_again_ = true;
  motion_.take_time(travel_time());
  return command(at, position_of(at));
}

Answer Lens::learn_answer() {
  double least = trail_[0].score, most = least;
  for (std::size_t i = 1; i + 1 < trail_.size(); ++i) {
    const double score = trail_[i].score, noise = most - least;
    if (std::max(score - most, least - score) <= kTuning.far_noise * noise + kTuning.answer * std::abs(most)) {
      least = std::min(least, score), most = std::max(most, score);
      continue;
    }
    const double change = score - trail_[i - 1].score, next = trail_[i + 1].score - score;
    const std::uint64_t frame = trail_[i].frame, first = motion_.first(asked_);
    if (frame >= first && std::abs(next) <= std::max(kTuning.near * std::abs(change), 2 * noise)) {
      motion_.learn(static_cast<int>(frame - first));
      return Answer::kAtOnce;
    }
    const double pace = next / change;
    return pace > kTuning.even_pace && pace < 1 / kTuning.even_pace ? Answer::kSlow : Answer::kUnclear;
  }
  return trail_.size() > kTuning.answer_frames ? Answer::kUnclear : Answer::kNone;
}

bool Lens::is_calm() const {
  for (std::size_t i = 1; i < trail_.size(); ++i)
    if (std::abs(trail_[i].score - trail_[i - 1].score) < kTuning.calm * std::abs(trail_[i].score)) return true;
  return false;
}

Answer Lens::learn_answer_at_rest() {
  const std::size_t n = trail_.size();
  if (n < 4) return Answer::kNone;
  struct Part {
    double mean, squares, count;
  };
  const auto part = [&](std::size_t from, std::size_t to) {
    Part p{0, 0, static_cast<double>(to - from)};
    for (std::size_t i = from; i < to; ++i) p.mean += trail_[i].score / p.count;
    for (std::size_t i = from; i < to; ++i) p.squares += (trail_[i].score - p.mean) * (trail_[i].score - p.mean);
    return p;
  };
  // Where the scores change at once: by Student's t of the difference between those before and after.
  double clearest = 0, last = 0, change = 0;
  std::size_t first = 0;
  for (std::size_t i = 1; i < n; ++i) {
    const Part before = part(0, i), after = part(i, n);
    const double variance = (before.squares + after.squares) / static_cast<double>(n - 2);
    const double error = std::sqrt(variance * (1 / before.count + 1 / after.count));
    const double clear = std::abs(after.mean - before.mean) / std::max(error, 1e-9 * std::abs(score_));
    if (i + 1 == n)
      last = clear;  // must be seen again
    else if (clear > clearest)
      clearest = clear, first = i, change = after.mean - before.mean;
  }
  if (clearest > kTuning.clear_step[std::min(n - 4, std::size(kTuning.clear_step) - 1)]) {
    if (std::abs(part(first + 1, n).mean - trail_[first].score) > kTuning.quiet_change * std::abs(change))
      return Answer::kSlow;
    const std::uint64_t frame = trail_[first].frame, fresh = motion_.first(asked_);
    if (frame < fresh) return Answer::kUnclear;
    motion_.learn(static_cast<int>(frame - fresh));
    return Answer::kAtOnce;
  }
  const bool is_hidden = n > 4 && std::max(clearest, last) < kTuning.no_step && !is_calm();
  return is_hidden || n >= kTuning.step_scores ? Answer::kUnclear : Answer::kNone;
}

std::optional<double> Lens::send_on(int at) {
  const int before = std::exchange(at_, at);
  if (settings_.stop_and_go) {  // the wait is for this step, not for the way to the first position
    from_ = before;
    motion_.take_time(travel_time());
  }
  sent_ = motion_.now();
  const double to = position_of(at);
  if (to == position_) return {};
  return command(at, to);
}

bool Lens::is_at_once_there() const {
  return motion_.lag_is_known() && !is_slow() && is_prompt_over(std::abs(at_ - from_));
}

bool Lens::is_gliding() const {
  if (scene_glides_) return false;
  if (is_running(trail_)) return true;
  const std::size_t n = kTuning.gliding;
  if (trail_.size() <= n) return false;
  const auto last = std::span(trail_).last(n);
  const double way = last[n - 1].score - last[0].score;
  for (std::size_t i = 1; i < n; ++i) {
    const double share = (last[i].score - last[i - 1].score) / way;
    if (!(share > kTuning.even[0] && share < kTuning.even[1])) return false;
  }
  return true;
}

bool Lens::is_steady() const {
  if (!motion_.at_rest()) return false;
  if (creeps_) return has_waited() || came_to_rest(trail_);
  if (is_gliding()) return false;
  if (trail_.size() < 2 || motion_.since() > motion_.rest() + kTuning.longest_settle) return true;
  // The frame before this one may have shown the lens still moving.
  if (is_at_once_there() && motion_.since() - 1 <= motion_.lag()) return true;
  const auto [least, most] = extremes(trail_);
  const double range = std::max(most, score_) - std::min(least, score_);
  // The frames show no change: the lens may not have responded yet if its lag is unknown.
  if (range < kTuning.quiet * std::abs(score_))
    return motion_.lag_is_known() || motion_.since() > kTuning.patient_settle;
  return std::abs(score_ - trail_[trail_.size() - 2].score) <= kTuning.quiet_change * range;
}

bool Lens::is_steady(const Expected& expected) const {
  if (!motion_.at_rest()) return false;
  if (is_gliding()) return false;
  if (trail_.size() < 2 || motion_.since() > motion_.rest() + kTuning.longest_settle) return true;
  if (is_at_once_there() && motion_.since() - 1 <= motion_.lag()) return true;
  if (creeps_ && slew_ == 0) return has_waited() || came_to_rest(trail_);
  const double tolerance = expected.tolerance();
  // Frames before the response show the last position. Wait for it if noise and distance let it be seen.
  const bool is_seen = std::abs(at_ - from_) > kTuning.seen_width * expected.peak.width &&
                       tolerance < kTuning.seen_noise * expected.peak.height;
  if (!motion_.lag_is_known() && is_seen && !has_answered(tolerance) &&
      motion_.since() <= std::max(motion_.rest(), kTuning.patient_settle) + 2)
    return false;
  // A scene that moves never becomes steady.
  if (is_at_once_there() && motion_.since() > motion_.rest() + kTuning.scene_moves) return true;
  return std::abs(score_ - trail_[trail_.size() - 2].score) <= tolerance;
}

bool Lens::has_answered(double tolerance) const {
  double before = trend_;
  for (std::size_t i = 1; i < trail_.size(); ++i) {
    const double change = trail_[i].score - trail_[i - 1].score;
    if (std::abs(change) > tolerance && (std::abs(before) <= tolerance || (change > 0) != (before > 0))) return true;
    before = change;
  }
  return false;
}

std::span<const Seen> Lens::rest() const {
  if (!motion_.lag_is_known()) return {};
  const auto since = static_cast<std::uint64_t>(motion_.since());
  const std::uint64_t there = motion_.now() + 1 - since + static_cast<std::uint64_t>(motion_.lag());
  const auto first = std::find_if(trail_.begin(), trail_.end(), [&](const Seen& s) { return s.frame >= there; });
  return {first, trail_.end()};
}

void Lens::learn_settling() {
  const std::span<const Seen> seen = rest();
  if (!learns_settling_ || is_slow() || seen.size() < 2) return;
  const auto [least, most] = extremes(seen);
  const auto [lowest, highest] = extremes(trail_);
  if (most - least > kTuning.settled * (highest - lowest)) return;
  learns_settling_ = false;
  motion_.set_settle(0);
}

double Lens::learn_lag(double noise, bool on_a_flank) {
  constexpr double kUnseen = std::numeric_limits<double>::infinity();
  if (motion_.commands() == 0) return kUnseen;
  const std::uint64_t last = motion_.now() - static_cast<std::uint64_t>(motion_.since()) + 1;
  const std::uint64_t fresh = is_again_ ? motion_.first(asked_) : last;
  const std::optional<Effect> effect = effect_of(trail_, fresh, score_, noise, on_a_flank && !creeps_);
  if (!effect) return kUnseen;
  if (on_a_flank && !play_ && is_free()) {
    // Sent back from a flank, a lens with more play than that stays: what is seen is the command before.
    const double far = extremes(trail_).second - extremes(trail_).first;
    if (score_ < extremes(trail_).first + kTuning.near * far) return kUnseen;
  }
  // What comes as late after the command before as that lag is, shows that one.
  if (motion_.lag_is_known() && effect->lag != motion_.lag() && effect->lag + apart_ == motion_.lag()) return kUnseen;
  // What a slow lens shows sooner than that is the rest of its way before.
  if (is_slow() && effect->lag < (motion_.lag_is_known() ? motion_.lag() : 1)) return kUnseen;
  if (effect->is_clean) {
    // What moves within a frame answers the last command, even if it was sent there before.
    motion_.learn(effect->lag - static_cast<int>(last - fresh));
    if (creeps_ && std::abs(at_ - from_) > kTuning.jump * std::max(1.0, slew_)) creep(false, 0);
    return kUnseen;
  }
  const int known = motion_.lag_is_known() ? motion_.lag() : 0;
  if (effect->lag <= known || at_ == from_ || creeps_) return kUnseen;
  if (slew_ > 0 && effect->lag - known < kTuning.tells_speed) return kUnseen;
  const double way = std::abs(at_ - from_),
               speed = std::max(way / std::max<double>(1, effect->lag - known), 1.0 / kTuning.slowest);
  slew_ = slew_ > 0 ? std::min(slew_, speed) : speed;
  const int frames = effect->lag - motion_.lag() + 1;
  return frames >= kTuning.long_move && effect->lag > settings_.settle_frames ? way / frames : kUnseen;
}

void Lens::learn_slew(std::uint64_t arrived) {
  // The slowest that is there by then, by bisection.
  double low = 1.0 / kTuning.slowest, high = std::max<double>(low, last_);
  for (int i = 0; i < 40; ++i) {
    const double middle = std::sqrt(low * high);
    (motion_.shown_on_the_way(arrived, middle) == at_ ? high : low) = middle;
  }
  creep(creeps_, high);
}

double Lens::play_to_take_up(bool unknown) const {
  if (play_) {
    const double spare = settings_.backlash < 0 ? kTuning.spare_learned : kTuning.spare_play;
    return is_free() && *play_ < kTuning.no_play ? 0 : *play_ + std::max(1.0, spare * *play_);
  }
  return !is_free() || unknown || suspects_play_ ? kTuning.deep * last_ : 0;
}

bool Lens::takes_up(int at, double play) const {
  if (!(play > 0)) return true;
  bool is_first = true;
  double lens = 0;  // position, at or above the motor, along the approach
  const auto send_to = [&](int to) {
    const double motor = to * direction_;
    lens = is_first ? motor + play : std::clamp(lens, motor, motor + play);
    is_first = false;
  };
  for (std::size_t i = 0; i < motion_.kept(); ++i) send_to(motion_.sent(i));
  send_to(at);
  return lens - at * direction_ < kTuning.no_play;
}

bool Lens::may_have_play(int at) const {
  return !suspects_play_ && settings_.backlash < 0 && (!play_ || is_new_play_) && !takes_up(at, kTuning.deep * last_);
}

void Lens::suspect_play() {
  suspects_play_ = true;
  refuted_play_ = play_.value_or(0);
  play_.reset();
}

}  // namespace framequality::focus
