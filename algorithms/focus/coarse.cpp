// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search's coarse part: legs of a sweep, until it shows a peak or that there is none.
#include "algorithms/focus/search.h"

#include <limits>

namespace framequality::focus {

std::optional<double> Search::start_sweep(bool has_score, bool from_here) {
  clear();
  looks_slower_ = is_wide_ = is_shifted_ = is_near_ = hurries_ = asks_ = sets_out_ = false;
  can_ask_ = times_slower_ == 0;
  lingers_ = late_ = 0;
  times_back_ = 0;
  kind_ = Kind::kSweep;
  noise_.noise_least = std::numeric_limits<double>::infinity();
  noise_.noise_most = 0;
  has_score_ = has_score;
  from_here_ = from_here && !wants_all();
  sweep_.begin(stride_of(pace()), legs_of(lens_, settings_, from_here_));
  return begin_leg();
}

Pace Search::pace(bool is_prompt) const {
  return {.wanted = settings_.coarse_step / settings_.step,
          .last = lens_.last(),
          .stop_and_go = settings_.stop_and_go,
          .is_halved = wants_all(),
          .is_prompt = is_prompt,
          .times_slower = times_slower_,
          .width = shape_ && !wants_all() ? shape_->width : 0,
          .slew = lens_.slew(),
          .creeps = lens_.creeps()};
}

bool Search::may_be_prompt() const {
  return !settings_.stop_and_go && !wants_all() && lens_.is_free() && !lens_.is_slow();
}

bool Search::is_prompt() const { return may_be_prompt() && (lens_.motion().lag_is_known() || hurries_); }

std::optional<double> Search::sweep_near() {
  is_near_ = has_score_ = true;
  looks_slower_ = false;
  reason_ = "the positions seen so far do not tell the peak's shape";
  sweep_.begin_near(lens_);
  return begin_leg();
}

std::optional<double> Search::sweep_shifted() {
  is_shifted_ = true;
  reason_ = "another object may be between the positions seen so far";
  sweep_.begin_shifted();
  lingers_ = kTuning.enough_repeats;
  has_score_ = false;
  return begin_leg();
}

std::optional<double> Search::sweep_slower() {
  ++times_slower_;
  state_ = FocusState::kCoarse;
  return start_sweep(true, from_here_);
}

std::optional<double> Search::sweep_in_one_move() {
  reason_ = "the lens is slower than the sweep";
  lens_.learn_creeping();
  from_here_ = false;
  return sweep_slower();
}

std::optional<double> Search::begin_leg() {
  const auto [from, to] = sweep_.begin_leg();
  lens_.approach_like(from, to);
  if (lens_.play()) sweep_.set_play(*lens_.play(), lens_.direction());
  phase_ = Phase::kToLeg;
  const bool is_there = lens_.here() && lens_.position_of(from) == lens_.position();
  sweep_.begin_with(lens_.motion().kept() - (is_there ? 1 : 0));
  if (is_prompt() && !is_there && has_score_ && lens_.is_prompt_over(std::abs(from - lens_.at()))) {
    if (sweep_.passes() == 0) choose_stride();
    phase_ = Phase::kLeg;
    return lens_.send(from);
  }
  const bool may_ask = can_ask_ && !settings_.stop_and_go && !lens_.motion().lag_is_known() && !lens_.is_slow();
  if (const Command command = lens_.send(from)) {
    asks_ = may_ask;
    return command;
  }
  if (!is_there || !has_score_) return {};
  // The lens is there already: this frame is the first of the leg.
  asks_ = may_ask && !from_here_ && lens_.last() > 0;
  return asks_ ? set_out() : to_leg();
}

std::optional<double> Search::set_out() {
  sets_out_ = true;
  sweep_.set_stride(stride_of(pace(may_be_prompt())));
  sweep_.add({lens_.motion().now(), lens_.score()});
  return lens_.send(sweep_.next(lens_.at()).value());
}

void Search::choose_stride() {
  sweep_.set_stride(stride_of(pace()));
  is_wide_ = is_prompt() && sweep_.stride() >= kTuning.wide_least;
}

std::optional<double> Search::to_leg() {
  if (asks_) {
    // Where there is little noise, the leg begins before the answer is seen.
    hurries_ = may_be_prompt() && !sets_out_ && lens_.motion().since() == 2 && lens_.is_calm();
    const Answer answer = hurries_ ? Answer::kNone : lens_.learn_answer_at_rest();
    if (!hurries_ && answer == Answer::kNone) {
      if (sets_out_) sweep_.add({lens_.motion().now(), lens_.score()});
      return {};
    }
    asks_ = can_ask_ = false;
    if (hurries_ || sets_out_ || answer == Answer::kAtOnce) {
      choose_stride();
      phase_ = Phase::kLeg;
      return leg();
    }
  }
  if (!lens_.is_steady()) return {};
  const double speed = lens_.learn_lag(expected_.noise, false);
  if (speed < kTuning.creeping * sweep_.stride()) lens_.learn_creeping();
  if (sweep_.passes() == 0) choose_stride();
  phase_ = Phase::kLeg;
  return leg();
}

std::optional<double> Search::begin_leg_anew(bool is_on_its_way) {
  hurries_ = false;
  sweep_.begin_anew(stride_of(pace()));
  if (!is_on_its_way) return begin_leg();
  phase_ = Phase::kToLeg;
  return lens_.send_again(sweep_.begin_leg().from);
}

std::optional<double> Search::leg() {
  double score = lens_.score();
  if (hurries_) {
    const Answer answer = lens_.learn_answer();
    if (answer == Answer::kSlow || answer == Answer::kUnclear) return begin_leg_anew(answer == Answer::kSlow);
    hurries_ = answer == Answer::kNone;
  }
  if (settings_.stop_and_go) {
    if (!lens_.motion().at_rest()) return {};
    mean_.add(score);
    if (mean_.frames < settings_.average_frames) return {};
    score = mean_.take(lens_.at()).score;
  }
  sweep_.add({lens_.motion().now(), score});
  if (lingers_ > 0) {
    --lingers_;
    return {};
  }
  is_past_ = !is_near_ && (is_past_peak() || (is_wide_ && sweep_.shows_one_peak(lens_.motion(), lens_.last())));
  if (is_past_) return leg_done();
  if (is_wrong_way()) {
    sweep_.postpone(lens_.at());
    return begin_leg();
  }
  if (const std::optional<int> next = sweep_.next(lens_.at())) return lens_.send_on(*next);
  phase_ = Phase::kLegEnd;
  return arrive();
}

bool Search::is_wrong_way() {
  return from_here_ && sweep_.is_first_leg() && sweep_.has_legs() && is_prompt() && sweep_.credit(lens_.motion()) &&
         sweep_.falls(std::max(watch_.noise(), watch_.unrest()));
}

std::optional<double> Search::leg_end() {
  sweep_.add({lens_.motion().now(), lens_.score()});
  is_past_ = !is_near_ && is_past_peak();
  if (is_past_ && lens_.creeps()) return leg_done();
  return arrive();
}

std::optional<double> Search::arrive() {
  const FocusMotion& motion = lens_.motion();
  if (!motion.at_rest()) return {};
  if (lens_.creeps()) {
    const std::optional<std::uint64_t> arrived = sweep_.came_to_rest();
    if (!arrived && !lens_.has_waited()) return {};
    if (arrived) lens_.learn_slew(*arrived);
    return leg_done();
  }
  // A lens slower than the sweep is still moving.
  if (sweep_.is_moving() && motion.since() < motion.rest() + kTuning.longest_settle) {
    if (++late_ == kTuning.creeping_late) lens_.learn_creeping();
    return {};
  }
  // A lag that was set may be set too short.
  const bool tells_speed = settings_.lag_frames < 0 && motion.lag_is_known() && !lens_.is_slow();
  if (tells_speed && motion.since() > motion.rest() + kTuning.late && sweep_.ran_until_now())
    lens_.learn_slew(motion.now() - 1);
  return leg_done();
}

double Search::noise_beside_blur() const {
  const std::optional<BlurPeak> blur = sweep_.blur_peak({});
  if (!blur) return std::numeric_limits<double>::infinity();
  return std::max(kTuning.more_noise * sweep_.least_noise(), kTuning.blur_noise * blur->off * blur->height);
}

bool Search::is_past_peak() const {
  // A lens that creeps at unknown speed has to arrive first.
  if (lens_.creeps() && lens_.slew() == 0) return false;
  return !wants_all() && sweep_.is_past(lens_.motion().lag());
}

FocusPeak Search::swept_peak() {
  if (lens_.may_stand() && !from_here_) sweep_.leave_out_standstill();
  if (wants_all()) sweep_.narrow(settings_.goal, expected_.noise);
  return peak_of(sweep_.row(), expected_.noise);
}

std::optional<double> Search::leg_done() {
  const bool is_past = std::exchange(is_past_, false);
  if (hurries_) return begin_leg_anew(false);
  if (!is_past && sweep_.has_legs()) return begin_leg();
  if (!sweep_.end(lens_.motion())) {  // no frame has shown a position of the sweep yet
    phase_ = Phase::kLegEnd;
    return {};
  }
  if (wants_all() && sweep_.passes() == 1 && sweep_.stride() > 1 && !lens_.creeps()) return sweep_shifted();
  if (lens_.creeps()) {
    if (late_ > 0 && !sweep_.has_seen_start() && times_slower_ < kTuning.retries) return sweep_in_one_move();
    sweep_.set_stride(std::max(1, static_cast<int>(std::lround(lens_.slew()))));
  }
  if ((is_shifted_ || is_near_) && sweep_.passes() == 2) sweep_.set_stride(std::max(1, sweep_.stride() / 2));
  expected_.noise = sweep_.noise();
  const Verdict verdict = is_past ? Verdict{Verdict::Is::kPeak, "the scores fell from a peak"}
                                  : sweep_.verdict(lens_.last(), expected_.noise);
  reason_ = verdict.reason;
  if (verdict.is == Verdict::Is::kNothing) return fail(verdict.reason);
  if (verdict.is == Verdict::Is::kDoubt) {
    sweep_.begin_between(lens_.at(), lens_);
    has_score_ = false;
    return begin_leg();
  }
  return looks_back() ? go_back() : swept();
}

std::optional<double> Search::swept() {
  if (looks_slower_ && lens_.is_slow() && times_slower_ < kTuning.retries) {
    reason_ = "the lens is slower than the sweep";
    return sweep_slower();
  }
  if (is_wide_ && !is_near_ && !from_here_ && (looks_slower_ || !tells_top())) return sweep_near();
  FocusPeak& peak = expected_.peak;
  peak = swept_peak();
  if (!(peak.height > 0)) peak.height = std::max(std::abs(peak.floor) * 0.01, 1e-300);
  if (is_wide_) expected_.noise = std::min(expected_.noise, noise_beside_blur());
  state_ = FocusState::kFine;
  stops_.begin(lens_.motion().now());
  const int began = lens_.nearest(began_at_);
  if (from_here_ && lens_.motion().lag_is_known() && std::abs(peak.top - began) < kTuning.from_here * sweep_.stride()) {
    // Nothing is sharper than the start of the search: go back there, without more stops.
    kind_ = Kind::kLocal;
    stops_.be_content_with({static_cast<double>(began), sweep_.score_at(began), 1});
  }
  return refine();
}

}  // namespace framequality::focus
