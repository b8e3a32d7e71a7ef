// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames of a clip that are worth showing: the sharpest or blurriest of each part of it.
#include "apps/scan/window_pick.h"

#include <algorithm>
#include <utility>

namespace framequality::apps::scan {

WindowPick::WindowPick(const Windows& windows, bool highest, OnPick on_pick)
    : windows_(windows), highest_(highest), on_pick_(std::move(on_pick)) {}

void WindowPick::offer(const Measured& frame, std::uint64_t position) {
  // Times that go back do not open a window again.
  if (const int window = std::max(window_, windows_.of(position)); window != window_) {
    finish();
    window_ = window;
  }
  const double score = frame.row.score;
  if (sample_ && (highest_ ? score <= best_.score : score >= best_.score)) return;
  best_ = {frame.row.frame, frame.row.time.value_or(0), score};
  sample_.reset(gst_sample_new(frame.buffer, frame.caps, nullptr, nullptr));
}

void WindowPick::finish() {
  if (!sample_) return;
  on_pick_(best_, sample_.get());
  sample_.reset();
}

}  // namespace framequality::apps::scan
