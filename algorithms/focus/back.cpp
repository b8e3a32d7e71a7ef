// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search's way back across the peak of a sweep, which shows the lens's play.
#include "algorithms/focus/search.h"

#include <limits>

namespace framequality::focus {

bool Search::looks_back() const {
  return is_wide_ && times_back_ < kTuning.most_times_back && !from_here_ && !lens_.play() && !lens_.is_slow();
}

bool Search::tells_top() const {
  if (sweep_.is_too_coarse()) return false;
  const BlurPeak peak = *sweep_.blur_peak({});
  return peak.error <= Expected{peak.bell(expected_.peak.floor)}.error_wanted();
}

std::optional<double> Search::go_back() {
  ++times_back_;
  expected_.peak = swept_peak();
  const FocusPeak& peak = expected_.peak;
  const int direction = lens_.direction();
  way_back_ = sweep_.flanks(peak, lens_.at());
  if (way_back_.empty()) return swept();
  // As far as play may have to be taken up again on the way to the top.
  const int beyond = lens_.clamped(std::round(peak.top) - direction * std::ceil(kTuning.deep * lens_.last()));
  if ((way_back_.back() - beyond) * direction > 0) way_back_.push_back(beyond);
  // No farther in a frame than the lens moves.
  std::vector<int> way;
  for (int at = lens_.at(); const int to : way_back_) {
    if (!lens_.is_prompt_over(std::abs(to - at))) {
      const int step = std::max(1, static_cast<int>(std::min<double>(lens_.most_way(), sweep_.stride())));
      while (std::abs(to - at) > step * 3 / 2) way.push_back(at += to > at ? step : -step);
    }
    way.push_back(at = to);
  }
  way_back_ = std::move(way);
  reason_ = "back across the peak: the lens may have backlash";
  phase_ = Phase::kBack;
  sweep_.begin_back(lens_.motion().kept());
  return back();
}

std::optional<double> Search::back() {
  const FocusMotion& motion = lens_.motion();
  sweep_.add({motion.now(), lens_.score()});
  if (!way_back_.empty()) {
    const int next = way_back_.front();
    way_back_.erase(way_back_.begin());
    return lens_.send_on(next);
  }
  if (!sweep_.credit(motion)) return {};
  // Play matters for the top only near where the sweep began, as the lens did not follow there.
  const bool is_far = std::abs(sweep_.best().at - sweep_.start()) > kTuning.clear_of_play * kTuning.deep * lens_.last();
  is_back_ = !(is_far && tells_top());
  if (is_back_) {
    if (motion.since() < motion.lag()) return {};
    learn_play_from_way_back();
  }
  return swept();
}

void Search::look_slower(double slew) {
  lens_.limit_way(slew);
  if (slew < kTuning.keeps_up * sweep_.stride()) lens_.learn_slew(slew);
  sweep_.forget_way_back(lens_.motion());
  sweep_.credit(lens_.motion());
  looks_slower_ = true;
  is_near_ = false;
  --times_back_;
}

void Search::learn_play_from_way_back() {
  is_back_ = true;
  const double stride = sweep_.stride();
  const std::optional<PlayFit> fit = sweep_.play_fit(lens_.motion(), lens_.direction(), kTuning.deep * lens_.last());
  const bool is_good =
      fit && fit->peak.off < kTuning.play_off &&
      fit->error < std::max({kTuning.play_error, kTuning.play_stride * stride, kTuning.play_share * fit->play});
  const double same = kTuning.repeated * expected_.peak.height;
  // Repeated scores may be low ones, and noise a share of the score.
  const double noise = sweep_.least_noise() > 0 ? sweep_.least_noise() : sweep_.noise();
  const bool repeats = sweep_.repeats(lens_.motion(), expected_.peak, same);
  const bool is_clear =
      noise < kTuning.clear * extremes(sweep_.row()).first || (repeats && kTuning.play_gain * noise < same);
  const bool is_play = is_good && fit->play >= kTuning.no_play && fit->gain > kTuning.play_gain;
  if (lens_.most_way() == 0 && (is_play || !is_good)) {
    // A lens that was still on its way may look like one with play.
    const std::optional<SlewFit> slow = sweep_.slew_fit(lens_.motion());
    const double squares = fit ? fit->peak.squares : std::numeric_limits<double>::infinity();
    if (slow && slow->peak.off < kTuning.slew_off && slow->peak.squares <= (is_play ? kTuning.as_well : 1) * squares)
      return look_slower(slow->slew);
  }
  std::optional<double> play;
  if (is_play)
    play = fit->play;
  else if (is_good ? fit->play + fit->error < tolerance_of(lens_.last()) : is_clear && repeats)
    play = 0;
  lens_.learn_play(play, is_clear);
  if (is_good) {
    sweep_.set_play(play.value_or(fit->play), lens_.direction());
    sweep_.credit(lens_.motion());
  }
  is_wide_ = is_good || play || times_back_ < kTuning.most_times_back;
}

}  // namespace framequality::focus
