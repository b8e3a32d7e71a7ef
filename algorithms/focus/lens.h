// SPDX-License-Identifier: LGPL-2.1-or-later
// The lens as seen through its frames: where it was sent, and its learned lag, speed and play.
#pragma once

#include "algorithms/focus/expected.h"
#include "algorithms/focus/motion.h"
#include "algorithms/focus/settings.h"
#include "algorithms/focus/watch.h"
#include "algorithms/saturate.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framequality::focus {

/// A frame and its score.
struct Seen {
  std::uint64_t frame;
  double score;
};

/// When the lens's last command took effect.
struct Effect {
  int lag;        ///< frames
  bool is_clean;  ///< within one frame: `lag` is the lag alone; else it includes travel time
};
/// trail: the frame of the command and all since. fresh: the first that could show it. score: at rest. on_a_flank:
/// earlier positions can only have been farther from the peak. Empty if the frames do not show it.
std::optional<Effect> effect_of(std::span<const Seen> trail, std::uint64_t fresh, double score, double noise,
                                bool on_a_flank);

/// How the lens answered a command, as far as frames show it.
enum class Answer {
  kNone,    ///< not yet
  kAtOnce,  ///< within a frame
  kSlow,    ///< it is on its way
  kUnclear  ///< not to be told from noise, or from those of later commands
};

/// The frame from which on the lens has been at rest, by its scores alone: while it moves, even past a peak, they
/// change smoothly, at rest only by noise (von Neumann's ratio). Empty while it moves.
std::optional<std::uint64_t> came_to_rest(std::span<const Seen> trail);

/// True if the last two changes tell that the lens is on its way: both are large, of one sign and about equal.
bool is_running(std::span<const Seen> trail);

/// Positions are in steps from the lowest, except those called position, which are in the unit of FocusSettings.
/// Functions that return an optional double return the lens's next command, if any.
class Lens {
 public:
  /// position: of the lens; NaN if unknown.
  Lens(const FocusSettings& settings, double position) : position_(position) { configure(settings); }

  /// Forgets what was learned under other settings.
  void configure(const FocusSettings& settings);
  /// Starts a search: forgets the last one's commands and doubts.
  void begin();

  // --- Reachable positions -------------------------------------------------------------------------------------------

  int last() const { return last_; }
  double position_of(int at) const { return std::min(settings_.min + at * settings_.step, settings_.max); }
  int clamped(double at) const { return saturated<int>(std::round(std::clamp<double>(at, 0, last_))); }
  /// The same, limited to where a lens with play follows its motor.
  int reachable(double at) const;
  int nearest(double position) const { return clamped((position - settings_.min) / settings_.step); }

  // --- Frames and commands -------------------------------------------------------------------------------------------

  /// Takes in any frame, with or without a score.
  void frame(const FocusFrame& f);
  /// Counts this frame for the last command.
  void follow() {
    if (trail_.size() < kTuning.most_trail) trail_.push_back({motion_.now(), score_});
    if (has_waited() && is_gliding()) scene_glides_ = true;
  }
  /// Sends the lens; no command if it is there.
  std::optional<double> send(int at);
  /// The same within a sweep, where a command follows each frame.
  std::optional<double> send_on(int at);
  /// Back to where send() sent it last, as if it had not been sent elsewhere since.
  std::optional<double> send_again(int at);
  double send_to(double position) { return command(nearest(position), position); }
  /// The lens may now be anywhere.
  void lose() { is_certain_ = false; }
  /// Assumes that the lens is where it was sent; returns that.
  int stand() { return at_ = here().value_or(0); }
  void approach_like(int from, int to) {
    if (is_free()) direction_ = to >= from ? 1 : -1;
  }
  /// From now on approaches from the other side.
  void turn_round() { direction_ = -direction_; }

  int at() const { return at_; }
  double position() const { return position_; }
  /// The step nearest to where it was sent; empty if unknown.
  std::optional<int> here() const { return std::isnan(position_) ? std::nullopt : std::optional(nearest(position_)); }
  int direction() const { return direction_; }  ///< of approach: 1 or -1
  bool is_free() const { return settings_.approach == FocusApproach::kAuto; }
  int commands() const { return commands_; }  ///< so far
  double score() const { return score_; }     ///< of the last frame that had one; 0 before the first
  const FocusMotion& motion() const { return motion_; }

  /// True if the last score shows the lens at rest where a sweep begins, or at a stop.
  bool is_steady() const;
  bool is_steady(const Expected& expected) const;
  /// Frames since it has been where it was sent; empty if unknown.
  std::span<const Seen> rest() const;
  /// True if the last command was given longer ago than any lens takes to get there.
  bool has_waited() const {
    return motion_.since() > std::min(kTuning.slowest * last_ + kTuning.longest_settle, kTuning.most_wait);
  }

  // --- What is learned -----------------------------------------------------------------------------------------------

  /// Learns how long the lens took to come to rest. Returns the most steps per frame that a long move may have had;
  /// infinite if it was not seen.
  double learn_lag(double noise, bool on_a_flank);
  /// Learns from frames at rest that the lens has arrived as soon as its lag is over, if neither time was set.
  void learn_settling();
  /// How the lens answered the last send(), after which two frames passed before send_on(). Learns the lag if that was
  /// at once.
  Answer learn_answer();
  /// The same where no other command followed, from four scores on. kUnclear: noise hides it, or it is late.
  Answer learn_answer_at_rest();
  /// True if two frames since the last send() are alike, so that noise does not hide much.
  bool is_calm() const;
  double slew() const { return slew_; }  ///< steps per frame; 0: it moves instantly, or it is not known
  bool is_slow() const { return slew_ > 0 || creeps_; }
  /// True if it is slower than sweeps: what frames show follows from its speed, not from the last command.
  bool creeps() const { return creeps_; }
  void learn_creeping() { creep(true, 0); }
  /// Learns the speed of a lens that is slower than a sweep from the frame in which it arrived at the end of a leg.
  void learn_slew(std::uint64_t arrived);
  /// It moves so many steps per frame: less than a sweep does.
  void learn_slew(double slew) { creep(creeps_, slew); }
  /// It keeps up with a sweep, but moves so many steps in a frame at most.
  void limit_way(double steps) { most_way_ = std::max(1.0, steps); }
  double most_way() const { return most_way_; }  ///< steps; 0: not limited, as far as is known
  /// True unless it is known to take more than a frame to move so far.
  bool is_prompt_over(int way) const { return most_way_ == 0 || way <= most_way_; }

  const std::optional<double>& play() const { return play_; }  ///< as set or learned
  /// True if it was set, or an earlier search proved it.
  bool knows_play() const { return play_ && !is_new_play_; }
  /// Play to allow for, 0 if there is none. unknown: also if not known yet.
  double play_to_take_up(bool unknown) const;
  /// True if a lens with this much play would reach `at`, sent there now.
  bool takes_up(int at, double play) const;
  /// True if unknown play could explain an unexpected score of a stop.
  bool may_have_play(int at) const;
  /// True if it may not follow at once where a sweep begins, after it came there the other way.
  bool may_stand() const { return !is_slow() && !(play_ && *play_ < kTuning.no_play); }
  /// Assumes that there is play: from now on all stops are approached from far beyond.
  void suspect_play();
  bool suspects_play() const { return suspects_play_; }
  double refuted_play() const { return refuted_play_; }  ///< play that a stop has shown to be too little
  /// play: empty if it could not be measured. is_clear: several scores show it, so that one that seems to show another
  /// does not, in this search.
  void learn_play(std::optional<double> play, bool is_clear = false) {
    is_new_play_ = true;
    if (is_clear) clear_play_ = play;
    play_ = clear_play_ ? clear_play_ : play;
  }
  /// Discards play learned in this search, because the lag was wrong. False if there is none.
  bool doubt_play() {
    if (is_new_play_) play_.reset();
    clear_play_.reset();
    return is_new_play_;
  }

 private:
  double command(int at, double position);
  void creep(bool creeps, double slew) {
    creeps_ = creeps;
    slew_ = slew;
    motion_.set_slew(slew);
  }
  /// Frames that a move takes which begins now.
  int travel_time() const;
  bool is_at_once_there() const;
  /// True if the last scores rise or fall evenly, so that the lens is on its way, unless they have done so for longer
  /// than any lens takes: then it is the light.
  bool is_gliding() const;
  /// True if the score has changed since the last command differently from before.
  bool has_answered(double tolerance) const;

  FocusSettings settings_;
  int last_ = 0;
  FocusMotion motion_;
  double position_;         ///< its last target, or its initial position
  bool is_certain_ = true;  ///< whether it is there
  bool is_again_ = false;   ///< send_again() followed the last send()
  int at_ = 0, from_ = 0;   ///< last target, and the one before
  int apart_ = 0;           ///< frames between the last two commands
  std::uint64_t sent_ = 0;  ///< frame of the last one
  std::size_t asked_ = 0;   ///< index in motion_ of the last command of send()
  int direction_ = 1;
  int commands_ = 0;
  double score_ = 0, score_before_ = 0;
  double trend_ = 0;         ///< change of the score when the last command was given
  std::vector<Seen> trail_;  ///< frames since the last command, and the one before it
  double slew_ = 0, most_way_ = 0;
  std::optional<double> play_;
  std::optional<double> clear_play_;  ///< as several scores of this search show it
  bool creeps_ = false;
  bool learns_settling_ = false;
  bool is_new_play_ = false;  ///< learned in this search
  bool suspects_play_ = false;
  bool scene_glides_ = false;  ///< scores changed evenly for longer than any lens takes
  double refuted_play_ = 0;
};

}  // namespace framequality::focus
