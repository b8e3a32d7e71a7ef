// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames of a clip that are worth showing: the sharpest or blurriest of each part of it.
#pragma once

#include "apps/scan/moments.h"
#include "apps/scan/scanner.h"

#include <functional>

namespace framequality::apps::scan {

/// Finds the frame with the highest or the lowest score in each of a clip's windows. Of equal ones the first. Holds one
/// frame at a time: decoders own few.
class WindowPick {
 public:
  /// Called with the pick of each window that has frames, in order, as soon as it is certain.
  using OnPick = std::function<void(const Moment&, GstSample*)>;
  WindowPick(const Windows& windows, bool highest, OnPick on_pick);
  /// The next frame; `position`: its place in the windows.
  void offer(const Measured& frame, std::uint64_t position);
  /// There are no more.
  void finish();

 private:
  const Windows windows_;
  const bool highest_;
  const OnPick on_pick_;
  int window_ = 0;
  Moment best_{};
  Owned<GstSample> sample_;
};

}  // namespace framequality::apps::scan
