// SPDX-License-Identifier: LGPL-2.1-or-later
// The stops beside a peak: what they and the sweep tell of its top, and where to stop next until that is certain.
#pragma once

#include "algorithms/focus/sweep.h"

#include <optional>
#include <vector>

namespace framequality::focus {

enum class Kind {
  kSweep,    ///< of the whole range, and the stops that follow
  kLocal,    ///< stops beside the last peak
  kTracking  ///< the same, inside the depth of focus
};

/// Inputs of a choice besides the stops.
struct View {
  const Lens& lens;
  const Sweep& sweep;
  const Expected& expected;
  Kind kind;
  std::optional<int> ended_at;  ///< where the search before ended
  int times_slower;             ///< sweeps whose peak was not there
  bool is_prompt = false;       ///< the sweep looked far apart, as the lens is at once where it is sent
};

/// The next action of the fine search.
struct Choice {
  enum class Is {
    kStop,    ///< move to `at` and measure there
    kEnd,     ///< the same; the search may end there
    kTop,     ///< the same, at the estimated top
    kFinish,  ///< stay: the lens is in focus
    kSlower,  ///< sweep again with a smaller stride
    kNothing  ///< no peak near the last one
  } is;
  const char* reason;
  int at = 0;
  bool directly = false;  ///< without approaching from the usual side
};

/// The peak as far as stops and sweep tell it.
struct Fit {
  std::optional<FocusPeak> peak;
  bool trusts_sweep = false;  ///< its positions are as certain as those of stops
  bool contradicts = false;   ///< a stop, the sweep
};

/// Play of the lens as observed.
struct PlaySeen {
  std::optional<double> play;  ///< steps; none if it cannot be observed
};

/// Positions are in steps, times in frames.
class Stops {
 public:
  /// A search begins. What the last one beside a peak was told stays: a sweep that turns into stops of that kind, as
  /// its end is not what was promised, goes by it. Without, two clips of focus_bench come out a little worse, and two
  /// better.
  void clear();
  /// After a sweep.
  void begin(std::uint64_t now) { began_ = now; }
  /// Beside the last peak. step: from the first to the second one. share_left: of the peak's height.
  void begin_beside(std::uint64_t now, double step, double share_left) {
    began_ = now;
    step_ = step;
    share_left_ = share_left;
    from_other_side_ = false;
  }
  /// Those so far show another scene, or were approached in the wrong way.
  void forget() { all_.clear(); }
  /// After stops that show another scene: anew from the one.
  void begin_again(const FocusSample& sample, double step);
  /// No more of them: what was seen at one place is enough.
  void be_content_with(const FocusSample& sample);

  /// The lens is sent to one.
  void go(bool from_other_side) {
    ++made_;
    from_other_side_ = from_other_side;
  }
  void go_past() { from_other_side_ = false; }
  void go_to_top() { ++settled_; }
  void add(const FocusSample& sample);
  void add_other_side(const FocusSample& sample) { other_side_ = sample; }

  bool empty() const { return all_.empty(); }
  const std::vector<FocusSample>& all() const { return all_; }  ///< by position, approached from the right side
  const FocusSample* at(int at) const;                          ///< null if there was none
  const FocusSample& best() const { return best_of(all_); }     ///< of at least one
  const std::optional<FocusSample>& other_side() const { return other_side_; }
  bool is_from_other_side() const { return from_other_side_; }
  bool is_first() const { return made_ == 1; }

  /// Fits the peak to the stops, and to the sweep where its positions are certain: a lag that is known, and no stop
  /// that contradicts.
  const Fit& make_fit(const View& view);
  const Fit& fit() const { return fit_; }
  void distrust_sweep() { distrusts_sweep_ = true; }
  /// Score that the fit promises there, but no more than was seen: a peak may have an edge where the fit is round.
  double promised(int at, const Sweep& sweep) const;

  /// What the stop from the other side tells of the lens's play; nothing until it is known where the peak is.
  std::optional<PlaySeen> play_seen(const View& view) const;

  /// With the fit made.
  Choice choose(const View& view) const;

 private:
  std::optional<FocusPeak> blur_fitted(const View& view) const;
  std::optional<FocusPeak> fitted_with_sweep(const View& view) const;
  bool contradicts(const FocusPeak& fit, const View& view) const;

  bool takes_too_long(const View& view) const;
  bool is_level(const Expected& expected) const;
  bool misses_peak(const View& view) const;

  Choice first(const View& view) const;
  /// With one stop: where the top is if the peak is as the sweep, or the last search, saw it.
  int second(const View& view) const;
  /// The top as far as what was seen is to be believed.
  double believed_top(const View& view) const;
  /// One more stop that the top needs, or all of a narrow peak.
  std::optional<int> next(const View& view, double top) const;
  std::optional<int> beside(const View& view, double top) const;
  /// Where stops alone tell: the middle of the wider gap beside the best one, until its neighbours are near.
  std::optional<int> between(const View& view, double top) const;
  Choice to_top(const View& view, int there, const char* reason) const;

  std::vector<FocusSample> all_;
  std::optional<FocusSample> other_side_;
  Fit fit_;
  bool distrusts_sweep_ = false;  ///< for the rest of this search
  bool from_other_side_ = false;  ///< is how this stop is approached
  int made_ = 0;                  ///< so far
  int settled_ = 0;               ///< those of them at the top
  std::uint64_t began_ = 0;       ///< 0: long ago
  double step_ = 1, share_left_ = 1;
};

}  // namespace framequality::focus
