// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search's fine part: from stop to stop, and the end.
#include "algorithms/focus/search.h"

namespace framequality::focus {

Remedy remedy_for(bool may_have_play, bool trusts_sweep, bool is_best, int retries) {
  if (may_have_play) return Remedy::kSuspectPlay;
  if (trusts_sweep) return Remedy::kDistrustSweep;
  if (retries < kTuning.retries) return Remedy::kBeginAgain;
  return !is_best && retries == kTuning.retries ? Remedy::kBestStop : Remedy::kEnd;
}

std::optional<double> Search::refine() {
  if (kind_ == Kind::kSweep && lens_.motion().lag() != sweep_.lag() && !sweep_.row().empty()) {
    if (lens_.doubt_play()) sweep_.forget_play();
    if (sweep_.credit(lens_.motion())) {
      const FocusPeak again = swept_peak();
      if (again.height > 0) expected_.peak = again;
    }
  }
  if (lens_.last() == 0) return stops_.empty() ? settle(0) : finish(true);
  const Fit& fit = stops_.make_fit(view());
  const int at = lens_.at();
  if (fit.contradicts && lens_.may_have_play(at) && stops_.at(at)) return suspect_play(*stops_.at(at));
  if (learn_play()) stops_.make_fit(view());
  if (has_not_followed()) return turn_round();
  return follow(stops_.choose(view()));
}

bool Search::has_not_followed() const {
  if (kind_ != Kind::kSweep || !lens_.is_free() || lens_.is_slow() || lens_.knows_play()) return false;
  const double beyond = lens_.at() - lens_.direction() * std::ceil(lens_.play_to_take_up(true));
  return lens_.clamped(beyond) != beyond && stops_.are_one_place(expected_);
}

std::optional<double> Search::turn_round() {
  reason_ = "the lens does not follow from this end of the range";
  lens_.turn_round();
  lens_.suspect_play();
  stops_.forget();
  stops_.distrust_sweep();
  state_ = FocusState::kFine;
  return go(lens_.clamped(expected_.peak.top));
}

std::optional<double> Search::follow(const Choice& choice) {
  reason_ = choice.reason;
  switch (choice.is) {
    case Choice::Is::kStop:
      return go(choice.at, choice.directly);
    case Choice::Is::kTop:
      stops_.go_to_top();
      return settle(choice.at);
    case Choice::Is::kEnd:
      return settle(choice.at);
    case Choice::Is::kFinish:
      return finish(true);
    case Choice::Is::kSlower:
      return sweep_slower();
    default:
      return nothing_here();
  }
}

bool Search::may_look() const {
  return !settings_.stop_and_go && settings_.average_frames <= 1 && lens_.motion().lag_is_known() && !lens_.is_slow() &&
         lens_.play().value_or(kTuning.no_play) < kTuning.no_play && expected_.frames_wanted(1) == 1 && expected_.shape;
}

std::optional<double> Search::look_beside(int at, double step) {
  const int there = lens_.clamped(at + step), opposite = lens_.clamped(at - step);
  if (there == at || opposite == at) return stops_.empty() ? go(at) : refine();
  return look_at({at, opposite, there});
}

std::optional<double> Search::look_at(std::vector<int> positions) {
  looks_ = std::move(positions);
  stops_wanted_ = stops_.all().size() + looks_.size() - (stops_.at(looks_.front()) ? 1 : 0);
  looks_from_ = lens_.motion().commands();
  phase_ = Phase::kLook;
  return look_on();
}

std::optional<double> Search::look_on() {
  const int next = looks_.back();
  looks_.pop_back();
  return lens_.send_on(next);
}

std::optional<double> Search::look() {
  const FocusMotion& motion = lens_.motion();
  const std::optional<std::size_t> shown = motion.shown_command(motion.now());
  // Not what it shows of where it was before.
  if (shown && motion.commands() - motion.kept() + *shown >= looks_from_)
    if (const int at = motion.sent(*shown); !stops_.at(at)) stops_.add({static_cast<double>(at), lens_.score(), 1});
  if (!looks_.empty()) return look_on();
  if (stops_.all().size() < stops_wanted_ && !motion.at_rest()) return {};
  return std::exchange(is_far_, false) ? look_there() : refine();
}

std::optional<double> Search::look_there() {
  const FocusSample best = stops_.best();
  const BlurPeak& shape = *expected_.shape;
  if (best.score < kTuning.found * shape.height) return nothing_here();
  stops_.forget();
  expected_.peak.top = best.at;
  return look_beside(static_cast<int>(best.at), std::max({1.0, expected_.side(), shape.distance(best.score)}));
}

std::optional<double> Search::go(int at, bool directly) {
  mean_ = {};
  target_ = at;
  const double play = lens_.play_to_take_up(!sweep_.row().empty() || state_ == FocusState::kStack);
  const bool from_other_side = !lens_.takes_up(at, play);
  stops_.go(from_other_side);
  phase_ = Phase::kStop;
  if (directly || !from_other_side) return lens_.send(at);
  const int beyond = lens_.clamped(at - lens_.direction() * std::ceil(play));
  if (beyond == at) return lens_.send(at);
  stops_.go_past();
  phase_ = Phase::kPass;
  const int distance = std::abs(beyond - lens_.at());
  const Command command = lens_.send(beyond);
  passing_ = frames_past(distance);
  return command;
}

int Search::frames_past(int distance) const {
  const int rest = std::max(1, lens_.motion().rest());
  // At least as fast as it followed the sweep.
  int frames = lens_.suspects_play() ? rest : std::clamp(distance / std::max(1, 2 * sweep_.stride()), 1, rest);
  if (settings_.stop_and_go) frames = lens_.motion().rest() + 1;
  if (lens_.creeps()) return rest;
  if (lens_.is_slow()) frames = std::max(frames, static_cast<int>(std::ceil(distance / lens_.slew())));
  return frames;
}

std::optional<double> Search::settle(int at) {
  state_ = kind_ == Kind::kTracking ? FocusState::kTracking : FocusState::kSettle;
  return go(at);
}

std::optional<double> Search::pass() {
  if (--passing_ > 0) return {};
  phase_ = Phase::kStop;
  return lens_.send(target_);
}

std::optional<double> Search::stop() {
  if (state_ == FocusState::kStack) return stack_stop();
  if (!is_back_) {
    sweep_.add({lens_.motion().now(), lens_.score()});
    if (lens_.motion().shown(lens_.motion().now()) == lens_.at()) learn_play_from_way_back();
  }
  if (mean_.frames == 0) {
    if (!lens_.is_steady(expected_)) return {};
    const double speed = lens_.learn_lag(expected_.noise, kind_ == Kind::kSweep && stops_.is_first());
    if (kind_ == Kind::kSweep && speed < kTuning.creeping * sweep_.stride() && times_slower_ < kTuning.retries)
      return sweep_in_one_move();
    lens_.learn_settling();
    learn_noise();
  } else {
    expected_.noise = changes_.noise_with(lens_.score() - mean_.last, expected_.noise);
  }
  mean_.add(lens_.score());
  const int least = looks_again_ ? std::max(settings_.average_frames, kTuning.again_frames) : settings_.average_frames;
  if (mean_.frames < expected_.frames_wanted(least)) return {};
  return measured(mean_.take(lens_.at()));
}

std::optional<double> Search::measured(const FocusSample& sample) {
  if (++measured_ > kTuning.most_measured) return fail("stops contradict each other: are lag and backlash set right?");
  if (stops_.is_from_other_side() && !lens_.play() && kind_ == Kind::kSweep && !stops_.other_side()) {
    stops_.add_other_side(sample);
    return refine();
  }
  const std::optional<FocusPeak>& fit = stops_.fit().peak;
  const bool is_end = fit && state_ == FocusState::kSettle;
  const double promised = is_end ? stops_.promised(static_cast<int>(sample.at), sweep_) : sample.score;
  stops_.add(sample);
  if (is_end && promised - sample.score > std::max(kTuning.agree * fit->height, expected_.tolerance()))
    return promise_broken(sample, promised);
  return refine();
}

std::optional<double> Search::promise_broken(const FocusSample& sample, double promised) {
  reason_ = "the final score is lower than expected";
  const bool trusts_sweep = kind_ == Kind::kSweep && stops_.fit().trusts_sweep;
  const bool is_best = stops_.best().at == sample.at;
  const auto at = static_cast<int>(sample.at);
  switch (remedy_for(lens_.may_have_play(at), trusts_sweep, is_best, retries_)) {
    case Remedy::kSuspectPlay:
      return suspect_play(sample);
    case Remedy::kDistrustSweep:
      stops_.distrust_sweep();
      state_ = FocusState::kFine;
      return refine();
    case Remedy::kBeginAgain:
      ++retries_;
      stops_.begin_again(sample, lens_.direction() * expected_.peak.width);
      expected_.peak.top = sample.at;
      state_ = kind_ == Kind::kTracking ? FocusState::kTracking : FocusState::kFine;
      if (kind_ == Kind::kSweep) kind_ = Kind::kLocal;
      return refine();
    case Remedy::kBestStop:
      ++retries_;
      return settle(static_cast<int>(stops_.best().at));
    default:
      return finish(sample.score - expected_.peak.floor >= kTuning.fail * (promised - expected_.peak.floor));
  }
}

std::optional<double> Search::suspect_play(const FocusSample& sample) {
  reason_ = "the lens seems to have backlash";
  const auto at = static_cast<int>(sample.at);
  if (!stops_.other_side()) stops_.add_other_side(sample);
  stops_.forget();  // and the sample with them, if it is one of them
  lens_.suspect_play();
  sweep_.forget_play();
  sweep_.credit(lens_.motion());
  state_ = FocusState::kFine;
  return go(at);
}

void Search::learn_noise() {
  const std::span<const Seen> rest = lens_.rest();
  for (std::size_t i = 1; i < rest.size(); ++i)
    expected_.noise = changes_.noise_with(rest[i].score - rest[i - 1].score, expected_.noise);
}

bool Search::learn_play() {
  const std::optional<PlaySeen> seen = stops_.play_seen(view());
  if (!seen) return false;
  // What seems to be more than is considered possible is something else, for example a change of the scene.
  const bool is_possible = seen->play.value_or(0) <= kTuning.deep * lens_.last();
  const std::optional<double> play = is_possible ? seen->play : std::nullopt;
  lens_.learn_play(play);
  // At the start of the sweep, the lens did not follow until its play was taken up.
  const FocusPeak& peak = expected_.peak;
  if (play && (peak.top - sweep_.start()) * lens_.direction() < *play + peak.width / 2) stops_.distrust_sweep();
  return true;
}

}  // namespace framequality::focus
