// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of a focus search, and the state and curve that it reports.
#pragma once

namespace framequality {

enum class FocusMode : int {
  kManual,     ///< searches when triggered
  kOneShot,    ///< searches once at the start, and when triggered
  kContinuous  ///< searches at the start, when triggered, and whenever focus is lost
};

enum class FocusState : int { kIdle, kCoarse, kFine, kSettle, kFocused, kFailed, kTracking, kStack };

/// Side from which positions are approached, so that the lens's play does not matter.
enum class FocusApproach : int {
  kAuto,  ///< from the side that the sweep came from, as long as the lens has play, or may have
  kFromBelow,
  kFromAbove
};

/// The object to focus on where several distances are sharp. Larger positions focus nearer.
enum class FocusGoal : int {
  kPeak,     ///< the sharpest
  kNearest,  ///< the one at the largest position, of those that stand out
  kFarthest  ///< the one at the smallest
};

struct FocusSettings {
  double min = 0, max = 100;  ///< range of positions, any unit; min <= max
  double step = 1;            ///< distance of neighbouring positions, > 0; the lens stands at min + i * step only
  double coarse_step = 0;     ///< of the sweep, >= step; 0: from the range, and the width of the last peak
  int lag_frames = -1;        ///< frames between a command and the first that shows its position; -1: learned
  int settle_frames = 0;      ///< frames after a command in which the lens may still move, lag included; >= 0. 0 if
                              ///< the lag is learned: learned, too
  int average_frames = 1;     ///< least number of scores that are averaged at each stop, >= 1
  bool stop_and_go = false;   ///< sweeps stop at each position, too
  double backlash = -1;       ///< play between motor and lens, in the positions' unit; -1: learned
  FocusApproach approach = FocusApproach::kAuto;
  double loss = 0.3;     ///< relative change of the score that loses focus, 0...1
  int loss_frames = 10;  ///< frames that it must last, >= 1; half if brightness is known to be unchanged
  bool tracking = true;  ///< smaller losses that last are probed
  /// A search that would end with less certainty goes on once, then fails; 0...1. 0: never.
  double min_certainty = 0.5;
  FocusMode mode = FocusMode::kContinuous;
  FocusGoal goal = FocusGoal::kPeak;
  int stack = 0;          ///< images of the focus stack that follows each search that found focus; 0: none
  double stack_step = 0;  ///< distance of their positions; 0: from the width of the peak

  bool operator==(const FocusSettings&) const = default;
};

}  // namespace framequality
