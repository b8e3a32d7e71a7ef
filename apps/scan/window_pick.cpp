// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames of a clip that are worth showing: the sharpest or blurriest of each of its windows.
#include "apps/scan/window_pick.h"

#include <utility>

namespace framequality::apps::scan {

WindowPick::WindowPick(const WindowChoice& choice, OnPick on_pick) : choice_(choice), on_pick_(std::move(on_pick)) {}

void WindowPick::offer(const Measured& frame, std::uint64_t position) {
  if (frame.row.damaged) return;
  const WindowChoice::Step step = choice_.offer(position, frame.row.score);
  if (step.ended) finish();
  if (!step.best) return;
  best_ = {frame.row.frame, frame.row.time.value_or(0), frame.row.score, frame.row.travel, frame.row.place};
  sample_.reset(gst_sample_new(frame.buffer, frame.caps, nullptr, nullptr));
}

void WindowPick::finish() {
  if (!sample_) return;
  on_pick_(best_, sample_.get());
  sample_.reset();
}

}  // namespace framequality::apps::scan
