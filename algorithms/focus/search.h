// SPDX-License-Identifier: LGPL-2.1-or-later
// Where to move a lens, from nothing but the score of each frame: the search of an autofocus, and its watch.
//
// The score of a scene as a function of the lens position has one main peak, where it is in focus, and may be nearly
// flat far from it. So:
//   coarse    a sweep over the range, from the nearer end or from where focus was last: one command a frame, each score
//             credited to the position that its frame shows (motion.h), until it is clearly past a peak. Its step is a
//             share of the range, as peaks do not narrow with finer steps. If noise hides the peak, it sweeps again in
//             between, until the peak stands out or it is certain that there is none
//   fine      few stops beside the top and at it. The sweep has told the peak's shape, stops tell where it is: the top
//             of a parabola through the logarithms of their scores (peak.h). Each stop takes as many frames as noise
//             wants. All are approached from the same side, as long as the lens may have play; what it has shows in a
//             stop that is approached from the other side first
//   settle    at the top; if what is seen there is less than what was seen on the way, the search goes on
//   focused   the watch (watch.h): a lasting change begins a search once the scene has come to rest: first beside the
//             last peak, as far out as the loss of score says, and only if nothing is there in the whole range. A small
//             loss that lasts is probed inside the depth of focus (state tracking). A search that ends where it began
//             was useless: the next needs twice the patience, until all has been calm for a while
//
// search.cpp: frames, settings, begin and end; sweep.cpp: coarse; stops.cpp: one stop, the lens's lag and play;
// refine.cpp: where to stop next; beside.cpp: focused, and the search beside the last peak.
#pragma once

#include "algorithms/focus/motion.h"
#include "algorithms/focus/peak.h"
#include "algorithms/focus/watch.h"
#include "algorithms/saturate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace framequality {

enum class FocusMode : int {
  kManual,     ///< searches when triggered
  kOneShot,    ///< searches once at the start, and when triggered
  kContinuous  ///< searches at the start, when triggered, and whenever focus is lost
};

enum class FocusState : int { kIdle, kCoarse, kFine, kSettle, kFocused, kFailed, kTracking };

/// From which side positions are approached, so that the play of the lens does not count.
enum class FocusApproach : int {
  kAuto,  ///< from the side that the sweep came from, as long as the lens has play, or may have
  kFromBelow,
  kFromAbove
};

struct FocusSettings {
  double min = 0, max = 100;  ///< range of positions, any unit; min <= max
  double step = 1;            ///< distance of neighbouring positions, > 0; the lens stands at min + i * step only
  double coarse_step = 0;     ///< of the sweep, >= step; 0: from the range, and the width of the last peak
  int lag_frames = -1;        ///< frames between a command and the first that shows its position; -1: learned
  int settle_frames = 0;      ///< frames after a command in which the lens may still move, the lag's included; >= 0
  int average_frames = 1;     ///< least number of scores that are averaged at each stop, >= 1
  bool stop_and_go = false;   ///< sweeps stop at each position, too
  double backlash = -1;       ///< play between motor and lens, in the positions' unit; -1: learned
  FocusApproach approach = FocusApproach::kAuto;
  double loss = 0.3;     ///< relative change of the score that loses focus, 0...1
  int loss_frames = 10;  ///< frames that it must last, >= 1
  bool tracking = true;  ///< smaller losses that last are probed
  FocusMode mode = FocusMode::kContinuous;

  bool operator==(const FocusSettings&) const = default;
};

/// What a search has seen. Positions in the unit of FocusSettings.
struct FocusCurve {
  std::vector<double> positions, scores;  ///< as many of each, by position
  double top = 0;                         ///< position of the peak's top, between steps
  double width = 0;                       ///< of the peak: half of it at half its height; 0: not known
  double certainty = 0;                   ///< standard error of the top; 0: not known
};

/// Searches the position with the highest score and watches over it. Positions are in the unit of FocusSettings, scores
/// in any unit; only their order and ratios count. Its only clock are the frames it is told of. Allocates while it
/// searches, not while it watches. Thread-safety: none.
class FocusSearch {
 public:
  /// position: where the lens is; NaN if that is not known.
  FocusSearch(const FocusSettings& settings, double position);

  /// One frame has arrived. Returns where the lens is to go now, if anywhere.
  std::optional<double> frame(const FocusFrame& f);
  /// The same of a frame of which nothing but the score is known.
  std::optional<double> frame(std::optional<double> score);

  /// Starts a search of the whole range with the next frame, also in the middle of one.
  void trigger();
  /// Ends a search, and watching, where the lens is; only trigger() starts again.
  void cancel() { stand_by(FocusState::kIdle); }
  /// Ends a search without result (no scores come, say). It is not tried again before trigger().
  void give_up();

  /// Takes effect at once. Another range, step or timing starts a search under way, or found in focus, anew.
  void configure(const FocusSettings& settings);

  FocusState state() const { return state_; }
  /// Where the lens was told to go, or was at first.
  double position() const { return position_; }
  /// Of the last frame that had one; 0 before the first.
  double score() const { return score_; }
  /// Commands since the last search began, its own final one included.
  int moves() const { return moves_; }
  /// Of the search that ended last.
  const FocusCurve& curve() const { return curve_; }
  /// Frames between a command and the first that shows its position, as set or learned; nothing if not known.
  std::optional<int> lag() const { return motion_.lag_is_known() ? std::optional(motion_.lag()) : std::nullopt; }
  /// Play of the lens as set or learned, in the positions' unit; nothing if not known.
  std::optional<double> backlash() const { return play_ ? std::optional(*play_ * settings_.step) : std::nullopt; }

 private:
  // Distances are in steps, and positions in steps from min, but for those called position. What returns an optional
  // double returns the lens's next command, if any.

  enum class Phase {
    kStart,   ///< a search begins with the next frame
    kToLeg,   ///< on the way to where a leg of the sweep begins
    kLeg,     ///< sweeping
    kLegEnd,  ///< all of a leg's commands are given; frames that show them are still to come
    kPass,    ///< beyond a stop, to come back to it from the right side
    kStop,    ///< on the way to a stop, and there
    kWatch
  };
  enum class Kind {
    kSweep,    ///< of the whole range, and the stops that follow
    kLocal,    ///< stops beside the last peak
    kTracking  ///< the same, inside the depth of focus
  };

  struct Seen {
    std::uint64_t frame;
    double score;
  };
  struct Leg {
    int from, to;
  };

  static constexpr double kDeep = 0.25;      ///< of the range: play that is thought possible
  static constexpr int kLongestSettle = 40;  ///< frames that are waited for the lens to come to rest
  static constexpr int kMostLocalStops = 7;
  static constexpr int kRetries = 2;

  /// Least and highest score; at least one.
  template <class T>  // Seen, FocusSample
  static std::pair<double, double> extremes(const std::vector<T>& all) {
    const auto [least, most] =
        std::minmax_element(all.begin(), all.end(), [](const T& a, const T& b) { return a.score < b.score; });
    return {least->score, most->score};
  }

  /// The one with the highest score; at least one.
  static const FocusSample& best_of(const std::vector<FocusSample>& all) {
    return *std::max_element(all.begin(), all.end(),
                             [](const FocusSample& a, const FocusSample& b) { return a.score < b.score; });
  }

  // --- search.cpp: steps and positions -------------------------------------------------------------------------------

  int last_step() const;
  double position_of(int at) const { return std::min(settings_.min + at * settings_.step, settings_.max); }
  int clamped(double at) const { return saturated<int>(std::round(std::clamp<double>(at, 0, last_step()))); }
  /// The same, where a lens with play follows its motor.
  int reachable(double at) const;
  int nearest(double position) const { return clamped((position - settings_.min) / settings_.step); }
  /// Nearest to where the lens was sent; nothing if that is not known.
  std::optional<int> here() const { return std::isnan(position_) ? std::nullopt : std::optional(nearest(position_)); }

  /// Forgets what was learned with others.
  void take_settings();
  double command(int at, double position);
  /// Sends the lens there; no command if it is there.
  std::optional<double> send(int at);

  // --- search.cpp: begin and end -------------------------------------------------------------------------------------

  /// A search of the whole range starts with the next frame.
  void begin();
  /// The same, as if none had been tried before.
  void begin_anew();
  /// Forgets what the last search saw.
  void clear();
  /// Neither searches nor watches.
  void stand_by(FocusState state);
  /// The search found no peak: back to where it began.
  std::optional<double> fail();
  /// The search ends where the lens is.
  std::optional<double> finish(bool focused);
  void end(FocusState state);
  void watch_from_here();
  void make_curve(const FocusPeak* peak);

  // --- sweep.cpp -----------------------------------------------------------------------------------------------------

  std::optional<double> start_sweep(std::optional<double> score);
  std::optional<double> sweep_slower();
  std::optional<double> begin_leg();
  // A frame in the phase of this name.
  std::optional<double> to_leg(double score);
  std::optional<double> leg(double score);
  std::optional<double> leg_end(double score);
  /// To the next leg, another sweep in between, the first stop, or the end if there is no peak.
  std::optional<double> leg_done();
  /// True when the leg is clearly past a peak: the last two scores come down from it.
  bool is_past();
  /// Noise of single scores of the sweep, in the order of its frames.
  double trace_noise();
  /// What the sweep saw, by position.
  void make_row();
  /// What the sweep saw there, or beside it.
  double swept_score(int at) const;

  // --- stops.cpp -----------------------------------------------------------------------------------------------------

  /// To a stop, past it first where the lens has play; directly: from wherever it is.
  std::optional<double> go(int at, bool directly = false);
  /// To a stop that may be the end.
  std::optional<double> settle(int at);
  // A frame in the phase of this name.
  std::optional<double> pass();
  std::optional<double> stop(double score);
  /// A stop has enough frames.
  std::optional<double> measured(const FocusSample& sample);
  /// The end is not what was promised: the lens has play, or the scene has changed.
  std::optional<double> promise_broken(const FocusSample& sample, double promised);

  /// True if the lens has come to rest where it was sent, as far as the scores tell.
  bool is_steady(double score) const;
  /// True if the score has changed since the last command otherwise than it did before.
  bool has_answered() const;
  /// True if the lens takes time to get where it is sent.
  bool is_slow() const { return slew_ > 0; }
  /// How far scores may differ that show the same.
  double tolerance() const;
  /// Frames that a stop takes, so that the top is as certain as it should be.
  int frames_wanted() const;
  /// Mean of the scores summed up so far, which it forgets.
  double take_mean() { return std::exchange(sum_, 0) / std::exchange(summed_, 0); }

  /// The lens has come to rest at a score: how long did that take? Only a clean step tells: frames on the way would
  /// show a lens that is slow.
  void learn_lag(double score);
  /// Noise from changes from frame to frame while the lens was at rest: those of the trail.
  void learn_noise();
  void learn_noise(double change);

  /// Play to reckon with: 0 if there is none.
  double play() const;
  /// True if a lens with so much play is where it is sent to, sent to `at` now.
  bool takes_up(int at, double play) const;
  /// True if play that is not known could be why a stop shows something else than it should.
  bool may_be_play(int at) const;
  /// Takes it that the lens has play: from now on all stops are approached from far beyond, this one again.
  std::optional<double> suspect_play(FocusSample sample);

  void add(const FocusSample& sample);
  /// Null if there was none.
  const FocusSample* stop_at(int at) const;
  const FocusSample& best() const { return best_of(stops_); }
  /// Highest score of stops, and of the sweep where its positions are certain.
  double best_seen() const;

  // --- refine.cpp ----------------------------------------------------------------------------------------------------

  /// After each stop: to the next, or the end.
  std::optional<double> refine();
  std::optional<double> first_stop();
  /// With one stop: where the top is if the peak is as the sweep, or the last search, saw it.
  int second_stop() const;
  /// The top as far as what was seen is to be believed.
  double believed_top() const;
  /// One more stop that the top needs, or all of a narrow peak.
  std::optional<int> next_stop(double top) const;
  /// Where stops alone tell: the middle of the wider gap beside the best one, until its neighbours are near.
  std::optional<int> between(double top) const;
  /// To the top, or the end if the lens is there.
  std::optional<double> to_top(int there);

  /// The peak as the stops show it, with the sweep's scores where their positions are certain: a lag that is known, and
  /// no stop that contradicts.
  std::optional<FocusPeak> fitted();
  std::optional<FocusPeak> fitted_with_sweep();
  /// Standard error of the top that is small enough.
  double error_wanted() const;
  /// Distance of stops beside the top.
  double side() const;
  /// What a stop from the other side tells of the lens's play, once it is known where the peak is.
  void learn_play();
  /// How far from its top, on one side of it, the sweep saw this share of its height.
  double swept_distance(double share, int side) const;
  /// True if the peak that the sweep saw is not where its frames said.
  bool misses_peak() const;
  /// True if the stops have gone on for so long that it is the scene that does not stand still.
  bool takes_too_long() const;

  // --- beside.cpp ----------------------------------------------------------------------------------------------------

  // A frame in the phase of this name.
  std::optional<double> watch(const FocusFrame& f);
  /// share: of the last peak's height, that is left.
  std::optional<double> begin_local(Kind kind, double distance, double share);
  /// True if three or more stops differ by no more than noise.
  bool is_level() const;
  /// Back to where focus was found last, or on to a search of the whole range.
  std::optional<double> nothing_here();

  FocusSettings settings_;
  double position_;                      ///< where the lens was sent last, or was at first
  double began_at_ = 0;                  ///< position
  double score_ = 0, score_before_ = 0;  ///< of the last frames that had one
  std::optional<double> score_began_;    ///< of the frame with which the search began
  FocusState state_ = FocusState::kIdle;
  Phase phase_ = Phase::kWatch;
  Kind kind_ = Kind::kSweep;
  int moves_ = 0;
  int retries_ = 0;                  ///< of stops, after an end that was not what was promised
  int resweeps_ = 0;                 ///< after stops that did not find the sweep's peak
  bool active_ = false;              ///< scores are used
  bool position_is_certain_ = true;  ///< the lens is where it was sent

  FocusMotion motion_;
  FocusWatch watch_;
  double trend_ = 0;         ///< change of the score when the last command was given
  std::vector<Seen> trail_;  ///< frames since the last command, and the one before it
  int at_ = 0, from_ = 0;    ///< where the lens was sent last, and before
  int direction_ = 1;        ///< of approach

  // The sweep.
  std::vector<Leg> legs_;  ///< to come
  Leg leg_{};
  std::vector<Seen> trace_;       ///< all frames
  std::size_t leg_begin_ = 0;     ///< of the trace
  std::vector<FocusSample> row_;  ///< by position
  int lag_used_ = 0;              ///< for the row
  int stride_ = 1;                ///< distance between commands
  int passes_ = 0;                ///< sweeps so far
  int repeats_ = 0;               ///< scores of a position that had one,
  double repeated_ = 0;           ///< and the sum of their squared differences
  bool from_here_ = false;        ///< to both sides of where focus was last

  // Stops.
  std::uint64_t fine_began_ = 0;  ///< frame; 0: long ago
  FocusPeak prior_;               ///< as the sweep, or the last search, saw it
  std::optional<FocusPeak> fit_;
  std::vector<FocusSample> stops_;         ///< by position, approached from the right side
  std::optional<FocusSample> other_side_;  ///< approached from the other one
  std::vector<FocusSample> samples_;       ///< scratch
  double refuted_play_ = 0;                ///< what a stop has shown to be too little
  double local_step_ = 1;
  double share_left_ = 1;          ///< of the height of the last peak, when a local search began
  double sum_ = 0, previous_ = 0;  ///< of scores at a position, and the last of them
  double noise_ = 0;               ///< standard deviation of single scores
  double spread_ = 0;              ///< sum of squared changes from frame to frame, lens at rest,
  int spreads_ = 0;                ///< and their number
  int summed_ = 0;
  int target_ = 0;                ///< stop to come back to
  int passing_ = 0;               ///< frames until then
  int stops_made_ = 0;            ///< so far
  int settled_ = 0;               ///< those of them that could have been the end
  bool from_other_side_ = false;  ///< is how this stop is approached
  bool suspects_play_ = false;
  bool is_new_play_ = false;       ///< learned in this search
  bool trusts_sweep_ = false;      ///< its positions are as certain as those of stops
  bool distrusts_sweep_ = false;   ///< for the rest of this search
  bool stop_contradicts_ = false;  ///< the sweep

  // What is learned.
  std::optional<double> play_;
  double slew_ = 0;                 ///< steps in a frame of a lens that is not at once where it is sent; 0: it is
  std::optional<FocusPeak> shape_;  ///< of the last peak, and where the lens stands
  std::optional<int> ended_at_;
  double drift_ = 1;                         ///< sign: where focus went last
  double noise_least_ = 0, noise_most_ = 0;  ///< of the frames of a sweep
  double noise_gain_ = 0;                    ///< of the watch's settings
  FocusCurve curve_;
};

}  // namespace framequality
