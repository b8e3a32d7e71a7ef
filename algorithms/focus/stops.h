// SPDX-License-Identifier: LGPL-2.1-or-later
// Stops beside a peak: what they and the sweep show of its top, and where to stop next until that is certain.
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

/// The peak as estimated from stops and sweep.
struct Fit {
  std::optional<FocusPeak> peak;
  bool trusts_sweep = false;  ///< its positions are as certain as those of stops
  bool contradicts = false;   ///< a stop contradicts the sweep
};

/// Play of the lens as observed.
struct PlaySeen {
  std::optional<double> play;  ///< steps; none if it cannot be observed
};

/// The stops of a search. Positions are in steps, times in frames.
class Stops {
 public:
  /// Starts a search. Keeps the values of the last one beside a peak, which a sweep uses that turns into such stops
  /// because its final score falls short. Without them, two clips of focus_bench come out a little worse, and two
  /// better.
  void clear();
  /// Starts the stops after a sweep.
  void begin(std::uint64_t now) { began_ = now; }
  /// Starts stops beside the last peak. step: from the first to the second. share_left: of the peak's height.
  void begin_beside(std::uint64_t now, double step, double share_left) {
    began_ = now;
    step_ = step;
    share_left_ = share_left;
    from_other_side_ = false;
  }
  /// Discards all stops: they show another scene, or were approached from the wrong side.
  void forget() { all_.clear(); }
  /// Restarts from one stop, because the others show another scene.
  void begin_again(const FocusSample& sample, double step);
  /// After begin_again(): the stops alone are to tell, and have as much time as the first ones.
  void make_anew(std::uint64_t now) {
    began_ = now;
    settled_ = 0;
    distrusts_sweep_ = true;
  }
  /// Makes no more stops: this sample is enough.
  void be_content_with(const FocusSample& sample);

  /// Counts a stop that the lens is sent to.
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
  const FocusSample& best() const { return best_of(all_); }     ///< must not be empty()
  const std::optional<FocusSample>& other_side() const { return other_side_; }
  bool is_from_other_side() const { return from_other_side_; }
  bool is_first() const { return made_ == 1; }

  /// True if stops far apart score alike, so the lens did not move.
  bool are_one_place(const Expected& expected) const;

  /// Fits the peak to the stops, and also to the sweep if the lag is known and no stop contradicts
  /// it.
  const Fit& make_fit(const View& view);
  const Fit& fit() const { return fit_; }
  void distrust_sweep() { distrusts_sweep_ = true; }
  /// Score predicted there by the fit, capped at the highest seen: a peak may have an edge where the fit is round.
  double promised(int at, const Sweep& sweep) const;

  /// The lens's play, from the stop approached from the other side; empty until the peak is located.
  std::optional<PlaySeen> play_seen(const View& view) const;

  /// The next action; call make_fit() first.
  Choice choose(const View& view) const;

 private:
  /// The last sweep's peak, moved to where it explains the stops; empty if nowhere.
  std::optional<FocusPeak> placed(const Expected& expected) const;
  std::optional<FocusPeak> blur_fitted(const View& view) const;
  std::optional<FocusPeak> fitted_with_sweep(const View& view) const;
  /// How far farther up than the sweep's frames say what they show is, as stops show it; 0 if that is certain.
  double shift_of_sweep(const View& view) const;
  bool contradicts(const FocusPeak& fit, const View& view) const;

  bool takes_too_long(const View& view) const;
  bool is_level(const Expected& expected) const;
  bool misses_peak(const View& view) const;

  Choice first(const View& view) const;
  /// Position after one stop: the top, if the peak is as the sweep, or the last search, saw it.
  int second(const View& view) const;
  /// The top, limited to where the stops can be trusted.
  double believed_top(const View& view) const;
  /// One more stop to locate the top, or a position of a narrow peak.
  std::optional<int> next(const View& view, double top) const;
  std::optional<int> beside(const View& view, double top) const;
  /// Next stop if the sweep is not trusted: in the wider gap beside the best one, until its neighbours are near.
  std::optional<int> between(const View& view, double top) const;
  Choice to_top(const View& view, int there, const char* reason) const;

  std::vector<FocusSample> all_;
  std::optional<FocusSample> other_side_;
  Fit fit_;
  bool distrusts_sweep_ = false;  ///< for the rest of this search
  bool from_other_side_ = false;  ///< this stop is approached from there
  int made_ = 0;                  ///< stops so far
  int settled_ = 0;               ///< those of them at the top
  std::uint64_t began_ = 0;       ///< 0: long ago
  double step_ = 1, share_left_ = 1;
};

}  // namespace framequality::focus
