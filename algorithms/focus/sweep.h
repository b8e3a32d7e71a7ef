// SPDX-License-Identifier: LGPL-2.1-or-later
// A sweep over the range: its legs, the scores of their frames, and whether they show a peak.
#pragma once

#include "algorithms/focus/blur_peak.h"
#include "algorithms/focus/lens.h"
#include "algorithms/focus/peaks.h"
#include "algorithms/focus/play.h"

#include <optional>
#include <span>
#include <vector>

namespace framequality::focus {

struct Leg {
  int from, to;
};

/// Inputs for the distance between the commands of a sweep.
struct Pace {
  double wanted = 0;  ///< steps, as set; 0: automatic
  int last = 0;       ///< step of the range
  bool stop_and_go = false;
  bool is_halved = false;  ///< another sweep follows, halfway: all positions are to be as far apart
  bool is_prompt = false;  ///< the lens is at once where it is sent
  int times_slower = 0;    ///< after sweeps whose peak was not there
  double width = 0;        ///< of the last peak, steps; 0: not known
  double slew = 0;         ///< of the lens; 0: it is not slow
  bool creeps = false;     ///< the lens is slower than a sweep: sent to the other end, it shows all that is on its way
};
/// Distance between commands, steps, >= 1.
int stride_of(const Pace& pace);

/// The legs of a sweep: from the nearer end, from the set side, or, from_here, from the lens to both sides.
std::vector<Leg> legs_of(const Lens& lens, const FocusSettings& settings, bool from_here);

struct Verdict {
  enum class Is {
    kPeak,
    kDoubt,  ///< another sweep, in between, must decide
    kNothing
  } is;
  const char* reason;
};

/// Positions are in steps, scores in any unit.
class Sweep {
 public:
  /// Forgets everything except the stride.
  void clear();
  void begin(int stride, std::vector<Leg> legs);
  /// Forgets all that was seen, and starts with the last leg again.
  void begin_anew(int stride);
  /// Starts another sweep between the positions seen so far, from the end nearer to `at`.
  void begin_between(int at, const Lens& lens);
  /// Another sweep follows halfway between the positions of the first, from the same end: a lens with play then stands
  /// as long as it did there.
  void begin_shifted();
  /// Another sweep of half the stride follows near the highest position. row: not empty.
  void begin_near(const Lens& lens);
  void set_stride(int stride) { stride_ = stride; }
  int passes() const { return passes_; }  ///< sweeps so far
  bool has_legs() const { return !legs_.empty(); }
  bool is_first_leg() const { return leg_begin_ == 0; }
  const Leg& begin_leg();
  /// A leg begins with this command, an index in FocusMotion. Frames that show commands before the first leg's do not
  /// count.
  void begin_with(std::size_t command) {
    if (trace_.empty()) first_command_ = command;
    if (turns_.size() % 2 == 1) turns_.push_back(command);
  }
  /// The way back across the peak begins with this command. What it shows is credited once the play is known.
  void begin_back(std::size_t command) {
    if (turns_.size() % 2 == 0) turns_.push_back(command);
  }

  /// Forgets what ways back showed, as the lens was not where they sent it.
  void forget_way_back(const FocusMotion& motion);

  /// Adds a frame and its score.
  void add(const Seen& seen) { trace_.push_back(seen); }
  /// The next position after `at`; empty at the end of the leg.
  std::optional<int> next(int at) const;
  /// True when the leg is clearly past a peak: the last two scores come down from it.
  bool is_past(int lag) const;
  /// True when one peak, as blur makes it, explains all that was seen, lies behind the leg's last position, and leaves
  /// no room for a higher one. Credits scores.
  bool shows_one_peak(const FocusMotion& motion, int last);
  /// After credit(), in the first leg: true when scores have only come down since it began, by more than noise.
  bool falls(double noise) const;
  /// The rest of the leg, from `at` on, comes after the others.
  void postpone(int at) { legs_.push_back({at, leg_.to}); }
  /// The peak as blur makes it, from what was seen near the highest position, and stops. row: not empty.
  std::optional<BlurPeak> blur_peak(std::span<const FocusSample> stops) const;
  /// True where its positions do not tell that the peak has the shape that blur gives it. row: not empty.
  bool is_too_coarse() const;
  /// The frame since which the last scores tell that the lens is at rest.
  std::optional<std::uint64_t> came_to_rest() const { return focus::came_to_rest(trace_); }
  /// Where to look again on the way back from `at`, in that order: positions that were seen about half as high as the
  /// peak, one on each flank, or more where one flank was not seen. row: not empty.
  std::vector<int> flanks(const FocusPeak& peak, int at) const;
  /// The play that explains what was seen on the way there and back, at most `most` steps. Nothing if it saw
  /// nothing, or no peak explains it.
  std::optional<PlayFit> play_fit(const FocusMotion& motion, int direction, double most) const;
  /// The speed that explains the same without play.
  std::optional<SlewFit> slew_fit(const FocusMotion& motion) const;
  /// True if the peak's flanks scored the same on the way back as before, within so much, so that there is no play,
  /// whatever the peak's shape. False if fewer than two positions were seen again.
  bool repeats(const FocusMotion& motion, const FocusPeak& peak, double within) const;
  /// True if the lens was where its leg begins. row: not empty.
  bool has_seen_start() const {
    return leg_.to > leg_.from ? row_.front().at <= leg_.from + stride_ : row_.back().at >= leg_.from - stride_;
  }
  /// True if the lens was seen on its way in both frames before the last.
  bool ran_until_now() const;
  /// True while the last two scores tell that the lens is on its way.
  bool is_moving() const;

  /// Credits scores to the positions that their frames show. False if there are none.
  bool credit(const FocusMotion& motion);
  /// From now on credit() allows for the lens's play, steps: positions are those to which a lens has to be sent in this
  /// direction to be there.
  void set_play(double play, int direction) {
    play_ = play;
    direction_ = direction;
  }
  void forget_play() { play_.reset(); }
  /// After credit(): leaves out the positions at the beginning of the leg where the lens did not follow yet, as its
  /// play had to be taken up, if that shows.
  void leave_out_standstill();
  /// How far the lens was sent without following, as leave_out_standstill() saw it, steps: its play is that, and less
  /// than a stride more; 0: not seen.
  double stood() const { return stood_; }
  /// After credit(): from now on the sweep has seen only the part of the range around the nearest or farthest peak that
  /// stands out; seen() is all.
  void narrow(FocusGoal goal, double noise);
  /// Like credit(), at the end of all legs.
  bool end(const FocusMotion& motion);
  Verdict verdict(int last, double noise) const;
  /// Standard deviation of single scores: an upper bound, as the curve's own bends count; of fewer than four positions
  /// the whole range of their scores, until enough are repeated. row: not empty.
  double noise() const;
  /// The same as few repeated scores show it, at most noise(); it may be too little, and is 0 where there are none.
  double least_noise() const;

  const std::vector<FocusSample>& row() const { return row_; }  ///< by position
  /// The row before narrow().
  const std::vector<FocusSample>& seen() const { return seen_.empty() ? row_ : seen_; }
  const FocusSample& best() const { return best_of(row_); }  ///< of a row that is not empty
  /// Score of all frames, at least one; after narrow(), of its part of the range.
  double highest() const { return seen_.empty() ? extremes(trace_).second : best().score; }
  int lag() const { return lag_; }  ///< frames, as used to credit scores
  int stride() const { return stride_; }
  int start() const { return leg_.from; }  ///< of the last leg
  /// Score seen nearest to `at`; the row must not be empty.
  double score_at(int at) const;
  /// Distance from a peak's top, on one side, at which it saw this share of its height; steps.
  double distance(const FocusPeak& peak, double share, int side) const;

 private:
  /// How far from the highest position scores count for play_fit() and slew_fit(), steps. row: not empty.
  double reach_of_fits() const;
  bool is_back(std::size_t command) const {
    return (std::upper_bound(turns_.begin(), turns_.end(), command) - turns_.begin()) % 2 == 1;
  }
  /// Standard deviation of single scores, in frame order.
  double trace_noise() const;

  std::vector<Leg> legs_;  ///< to come
  Leg leg_{};
  std::vector<Seen> trace_;         ///< all frames
  std::size_t leg_begin_ = 0;       ///< index in trace_
  std::size_t first_command_ = 0;   ///< index in FocusMotion
  std::vector<std::size_t> turns_;  ///< the same: beginnings of ways back and of the legs that follow, by turns
  std::optional<double> play_;      ///< steps, as told by set_play(),
  int direction_ = 1;               ///< and with this direction
  std::vector<FocusSample> row_;
  std::vector<FocusSample> seen_;  ///< the row before narrow(); empty: that was not called
  int lag_ = 0;
  int stride_ = 1;
  bool is_shifted_ = false;  ///< the leg's first step is half a stride
  bool is_near_ = false;     ///< half the stride
  int passes_ = 0;           ///< sweeps so far
  double stood_ = 0;         ///< steps
  int repeats_ = 0;          ///< scores at positions that had one,
  double repeated_ = 0;      ///< and the sum of their squared differences
};

}  // namespace framequality::focus
