// SPDX-License-Identifier: LGPL-2.1-or-later
// The lens as its frames show it: where it was sent, and its lag, speed and play, which are learned.
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
  bool is_clean;  ///< in one frame, so that it is the lag; else the lens took some of the time
};
/// trail: the frame of the command and all since. fresh: the first that could show it. score: at rest. on_a_flank: what
/// was under way before can only have been farther off. Nothing if the frames do not tell.
std::optional<Effect> effect_of(std::span<const Seen> trail, std::uint64_t fresh, double score, double noise,
                                bool on_a_flank);

/// Positions are in steps from the lowest, but for those called position, which are in the unit of FocusSettings. What
/// returns an optional double returns the lens's next command, if any.
class Lens {
 public:
  /// position: where it is; NaN if that is not known.
  Lens(const FocusSettings& settings, double position) : position_(position) { configure(settings); }

  /// Forgets what was learned with others.
  void configure(const FocusSettings& settings);
  /// A search begins: forgets the last one's commands, and its doubts.
  void begin();

  // --- Where it may stand --------------------------------------------------------------------------------------------

  int last() const { return last_; }
  double position_of(int at) const { return std::min(settings_.min + at * settings_.step, settings_.max); }
  int clamped(double at) const { return saturated<int>(std::round(std::clamp<double>(at, 0, last_))); }
  /// The same, where a lens with play follows its motor.
  int reachable(double at) const;
  int nearest(double position) const { return clamped((position - settings_.min) / settings_.step); }

  // --- Frames and commands -------------------------------------------------------------------------------------------

  /// Any frame.
  void frame(const FocusFrame& f);
  /// It counts for what the last command did.
  void follow() {
    if (trail_.size() < kTuning.most_trail) trail_.push_back({motion_.now(), score_});
  }
  /// No command if it is there.
  std::optional<double> send(int at);
  /// The same within a sweep, where a command follows each frame.
  std::optional<double> send_on(int at);
  double send_to(double position) { return command(nearest(position), position); }
  /// It may be anywhere.
  void lose() { is_certain_ = false; }
  /// It is taken for where it was sent; returns that.
  int stand() { return at_ = here().value_or(0); }
  void approach_like(int from, int to) {
    if (is_free()) direction_ = to >= from ? 1 : -1;
  }

  int at() const { return at_; }
  double position() const { return position_; }
  /// Nearest to where it was sent; nothing if that is not known.
  std::optional<int> here() const { return std::isnan(position_) ? std::nullopt : std::optional(nearest(position_)); }
  int direction() const { return direction_; }  ///< of approach: 1 or -1
  bool is_free() const { return settings_.approach == FocusApproach::kAuto; }
  int commands() const { return commands_; }  ///< so far
  double score() const { return score_; }     ///< of the last frame that had one; 0 before the first
  const FocusMotion& motion() const { return motion_; }

  /// True if it has come to rest where a sweep begins, or a stop is, as far as the last score tells.
  bool is_steady() const;
  bool is_steady(const Expected& expected) const;
  /// Frames since it has been where it was sent; none if that is not known.
  std::span<const Seen> rest() const;

  // --- What is learned -----------------------------------------------------------------------------------------------

  /// It has come to rest at the last score: how long did that take?
  void learn_lag(double noise, bool on_a_flank);
  double slew() const { return slew_; }  ///< steps in a frame; 0: it is at once where it is sent
  bool is_slow() const { return slew_ > 0; }

  const std::optional<double>& play() const { return play_; }  ///< as set or learned
  /// Play to reckon with, 0 if there is none. unknown: also what is not known yet.
  double play_to_take_up(bool unknown) const;
  /// True if a lens with so much play is where it is sent to, sent to `at` now.
  bool takes_up(int at, double play) const;
  /// True if play that is not known could be why a stop shows something else than it should.
  bool may_have_play(int at) const;
  /// Takes it that there is some: from now on all stops are approached from far beyond.
  void suspect_play();
  bool suspects_play() const { return suspects_play_; }
  double refuted_play() const { return refuted_play_; }  ///< what a stop has shown to be too little
  /// play: nothing if it could not be told.
  void learn_play(std::optional<double> play) {
    is_new_play_ = true;
    play_ = play;
  }
  /// What it learned of it in this search was learned with a wrong lag.
  void doubt_play() {
    if (is_new_play_) play_.reset();
  }

 private:
  double command(int at, double position);
  bool is_at_once_there() const;
  /// True if the score has changed since the last command otherwise than it did before.
  bool has_answered(double tolerance) const;

  FocusSettings settings_;
  int last_ = 0;
  FocusMotion motion_;
  double position_;         ///< where it was sent last, or was at first
  bool is_certain_ = true;  ///< that it is there
  int at_ = 0, from_ = 0;   ///< where it was sent last, and before
  int direction_ = 1;
  int commands_ = 0;
  double score_ = 0, score_before_ = 0;
  double trend_ = 0;         ///< change of the score when the last command was given
  std::vector<Seen> trail_;  ///< frames since the last command, and the one before it
  double slew_ = 0;
  std::optional<double> play_;
  bool is_new_play_ = false;  ///< learned in this search
  bool suspects_play_ = false;
  double refuted_play_ = 0;
};

}  // namespace framequality::focus
