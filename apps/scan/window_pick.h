// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames of a clip that are worth showing: the sharpest or blurriest of each of its windows.
#pragma once

#include "apps/scan/moments.h"
#include "apps/scan/scanner.h"

#include <functional>

namespace framequality::apps::scan {

/// The frames that WindowChoice chooses. Holds one frame at a time, because decoders own few.
class WindowPick {
 public:
  /// Called with each window's pick, if it has one, in order, as soon as it is final.
  using OnPick = std::function<void(const Moment&, GstSample*)>;
  WindowPick(const WindowChoice& choice, OnPick on_pick);
  /// The next frame; `position`: its place in the windows. Damaged ones are passed over.
  void offer(const Measured& frame, std::uint64_t position);
  /// Ends the stream.
  void finish();

 private:
  WindowChoice choice_;
  const OnPick on_pick_;
  Moment best_{};
  Owned<GstSample> sample_;
};

}  // namespace framequality::apps::scan
