// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search's last part, if it is wanted: an image at each position of a focus stack, and back to the focus.
#include "algorithms/focus/search.h"

namespace framequality::focus {

std::optional<double> Search::begin_stack() {
  state_ = FocusState::kStack;
  reason_ = "the focus is found: the stack follows";
  const double wanted =
      settings_.stack_step > 0 ? settings_.stack_step / settings_.step : kTuning.stack_width * shape_->width;
  const int apart = lens_.clamped(std::clamp<double>(wanted, 1, std::max(1, lens_.last())));
  if (lens_.play() && *lens_.play() < kTuning.no_play) lens_.approach_like(0, 1);
  stack_focus_ = lens_.at();
  const int low = std::min(lens_.reachable(0), stack_focus_),
            high = std::max(lens_.reachable(lens_.last()), stack_focus_);
  stack_ = stack_around(stack_focus_, settings_.stack, std::max(1, apart), low, high, lens_.direction());
  stacked_ = 0;
  return go(stack_.front());
}

std::optional<double> Search::stack_stop() {
  if (!lens_.is_steady(expected_)) return {};
  const auto count = static_cast<int>(stack_.size());
  if (stacked_ == count) {
    reason_ = "the stack is complete";
    end(FocusState::kFocused);
    return {};
  }
  stack_image_ = {++stacked_, count, lens_.position()};
  return go(stacked_ < count ? stack_[static_cast<std::size_t>(stacked_)] : stack_focus_);
}

}  // namespace framequality::focus
