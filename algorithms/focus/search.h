// SPDX-License-Identifier: LGPL-2.1-or-later
// Autofocus search, and its watch at rest: where to move a lens, from nothing but the score of each frame.
//
// The score of a scene as a function of the lens position has one main peak, where it is in focus, and may be nearly
// flat far from it. So:
//   coarse    a sweep over the range (sweep.h), from the nearer end or from where focus was last, first to one side
//             and back as soon as scores fall: one command a frame, each score credited to the position that its frame
//             shows (motion.h), until it is clearly past a peak. Its step is a share of the range, as peaks do not
//             narrow with finer steps. If noise hides the peak, it sweeps again in between, until the peak stands out
//             or it is certain that there is none. If the nearest or the farthest of several objects is wanted, it sees
//             the whole range, twice as near, and goes on with the part around the first or last peak that stands out
//             (peaks.h).
//             How soon the lens answers tells how far apart commands may be, so that the way to where the sweep begins
//             is watched, or if the lens stands there, the sweep's first step (lens.h)
//             A lens slower than the sweep shows in scores that keep changing. It is sent from end to end at its own
//             speed, which follows from when the scores come to rest, and with it the position that each frame shows.
//             Few positions tell the top of a lens that is at once where it is sent (blur_peak.h): it looks at ten, and
//             looks closer only if they do not. Two looks on the way back across the peak show its play (play.h),
//             or that it moves less far in a frame than was thought
//   fine      a few stops beside the top and at it (stops.h). The sweep has shown the peak's shape; stops locate its
//             top: that of a parabola through the logarithms of their scores (peak.h). Each stop takes as many frames
//             as noise requires. All are approached from the same side, while the lens may have play (lens.h). If the
//             sweep did not show its play, a stop does that is approached from the other side first
//   settle    at the top; if its score is lower than one seen on the way, the search continues
//   stack     if wanted, an image at each position of a focus stack (stack.h), and back to the top
//   focused   the watch (watch.h): a lasting change begins a search once the scene has come to rest: first beside the
//             last peak, as far out as the loss of score says, and only if nothing is there in the whole range. A
//             frame on either side is enough where the sweep's peak, moved, explains them; after a large loss, two
//             more frames first tell on which side it is. A small loss that lasts is probed inside the depth of focus
//             (state tracking). A search that ends where it began was useless: the next waits twice as long, until all
//             has been calm for a while
//
// All thresholds are in tuning.h.
#pragma once

#include "algorithms/focus/certainty.h"
#include "algorithms/focus/stack.h"
#include "algorithms/focus/stops.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace framequality {

/// The scores that a search has seen. Positions in the unit of FocusSettings.
struct FocusCurve {
  std::vector<double> positions, scores;  ///< of equal size, sorted by position
  double top = 0;                         ///< position of the peak's top, between steps
  double width = 0;                       ///< of the peak: half of it at half its height; 0: not known
  double error = 0;                       ///< standard error of the top; 0: not known
  /// Probability that the search ended within one step of the best position, or within 1% of the range if that is
  /// more, 0...1; 0: there is no peak.
  double certainty = 0;
};

namespace focus {

enum class Phase {
  kIdle,    ///< waits for a trigger
  kStart,   ///< a search begins with the next frame
  kToLeg,   ///< on the way to where a leg of the sweep begins
  kLeg,     ///< sweeping
  kLegEnd,  ///< all of a leg's commands are given; frames that show them are still to come
  kBack,    ///< back across the sweep's peak, to see the lens's play
  kPass,    ///< beyond a stop, to come back to it from the right side
  kStop,    ///< on the way to a stop, and there
  kLook,    ///< on both sides of where focus was, one frame each
  kWatch
};
/// For a log.
const char* name_of(Phase phase);

/// Where to look for a focus that was lost.
struct Loss {
  Kind kind;
  const char* cause;
  double distance = 0;  ///< steps from the last peak; 0 for the whole range
  double share = 1;     ///< remaining share of the last peak's height
};
/// shape: of the last peak, null if there is none. reference, level: score when it was found, and now.
Loss loss_of(FocusWatch::Sign sign, const FocusPeak* shape, double reference, double level);

/// Next step when the final score falls short of the expected peak.
enum class Remedy {
  kSuspectPlay,    ///< assume that the lens has play
  kDistrustSweep,  ///< use the stops alone
  kBeginAgain,     ///< discard the stops, because the scene has changed
  kBestStop,       ///< finish at the best stop
  kEnd             ///< accept the result, or fail
};
/// is_best: no stop has seen more. retries: so far.
Remedy remedy_for(bool may_have_play, bool trusts_sweep, bool is_best, int retries);

/// Finds the position with the highest score and watches it. Positions are in the unit of FocusSettings, scores
/// in any unit; only their order and ratios count. Its only clock is the frames passed to it. Allocates while it
/// searches, not while it watches. Thread-safety: none.
class Search {
 public:
  /// position: of the lens; NaN if unknown.
  Search(const FocusSettings& settings, double position);

  /// One frame has arrived. Returns where the lens is to go now, if anywhere.
  std::optional<double> frame(const FocusFrame& seen);
  /// The same for a frame with nothing but a score.
  std::optional<double> frame(std::optional<double> score) { return frame(FocusFrame{.score = score}); }

  /// Starts a search of the whole range with the next frame, also in the middle of one.
  void trigger() { trigger("it was triggered"); }
  /// Ends a search, or watching, with the lens where it is; only trigger() starts again.
  void cancel() { stand_by(FocusState::kIdle, "the search was cancelled"); }
  /// Ends a search without result, for example if no scores arrive. Only trigger() starts again.
  void give_up();

  /// Takes effect at once. A new range, step or timing restarts a search in progress, or one that found focus.
  void configure(const FocusSettings& settings);

  FocusState state() const { return state_; }
  Phase phase() const { return phase_; }
  /// Why the last search began ("searched because ..."), and why it made its last move or ended ("stops because
  /// ..."). Both are static strings.
  const char* cause() const { return cause_; }
  const char* reason() const { return reason_; }
  /// The last target, or the initial position.
  double position() const { return lens_.position(); }
  /// Score of the last frame that had one; 0 before the first.
  double score() const { return score_; }
  /// Commands since the last search began, its own final one included.
  int moves() const { return lens_.commands() - commands_before_; }
  /// Curve of the search that ended last. Its scores are in the light of the first frame.
  const FocusCurve& curve() const { return curve_; }
  /// What the certainty of that search follows from.
  const Evidence& evidence() const { return evidence_; }
  /// The frame that was passed last as an image of a focus stack.
  const FocusStackImage& stack_image() const { return stack_image_; }
  /// Frames between a command and the first that shows its position, as set or learned; empty if unknown.
  std::optional<int> lag() const {
    return lens_.motion().lag_is_known() ? std::optional(lens_.motion().lag()) : std::nullopt;
  }
  /// Play of the lens as set or learned, in the positions' unit; empty if unknown.
  std::optional<double> backlash() const {
    return lens_.play() ? std::optional(*lens_.play() * settings_.step) : std::nullopt;
  }

 private:
  using Command = std::optional<double>;  ///< position to send the lens to, if any

  /// The score as it would be in the light of the first frame: lamps flicker, cameras adapt their exposure.
  FocusFrame in_one_light(FocusFrame f);

  // Begin and end.
  void trigger(const char* cause);
  void begin(const char* cause);
  /// Neither searches nor watches.
  void stand_by(FocusState state, const char* reason);
  void clear();
  /// Ends without a peak: back to where the search began.
  Command fail(const char* reason);
  /// Ends the search where the lens is.
  Command finish(bool focused);
  void end(FocusState state);
  void watch_from_here();
  /// True if the sweep saw better than the stops, and these prove little: the lens is slow, or its lag or play unknown.
  bool is_less_than_swept() const;
  FocusPeak peak_found() const;
  Evidence evidence_of(const FocusPeak& found) const;
  /// True if a frame of the sweep, wherever the lens was then, scored clearly higher than the end.
  bool is_below_sweep() const;
  /// Goes on with another fine pass.
  Command look_again();
  void make_curve(const FocusPeak* peak);

  // Coarse.
  Command start_sweep(bool has_score, bool from_here);
  Command sweep_slower();
  /// Again, as the lens was slower than the sweep: all the way at its own speed.
  Command sweep_in_one_move();
  /// Again near the peak, as the positions seen do not tell enough.
  Command sweep_near();
  /// Again, in between, for all objects: twice as near, positions show objects that are near each other as peaks of
  /// their own. Repeated scores where it begins tell the noise that peaks stand out of.
  Command sweep_shifted();
  Pace pace() const { return pace(is_prompt()); }
  Pace pace(bool is_prompt) const;
  /// Each frame shows the lens where it was sent, so that few positions, far apart, tell where the top is.
  bool is_prompt() const;
  /// The same as far as it is known.
  bool may_be_prompt() const;
  /// Sweeps do not end behind the first peak, as another may be wanted.
  bool wants_all() const { return settings_.goal != FocusGoal::kPeak; }
  bool is_past_peak() const;
  /// The peak that is wanted, as the credited scores of the sweep show it.
  FocusPeak swept_peak();
  /// The part of the sweep's scores that a peak of blur does not explain.
  double noise_beside_blur() const;
  Command begin_leg();
  /// Positions far apart if the lens is prompt, near ones if not.
  void choose_stride();
  /// Begins a leg where the lens is with a step that shows how it answers.
  Command set_out();
  // Handle a frame in the phase of this name.
  Command to_leg();
  /// The lens may not be prompt: begins the leg once it has arrived where that begins.
  Command begin_leg_anew(bool is_on_its_way);
  Command leg();
  /// True if the sweep began beside the last focus, and moves away from the new one.
  bool is_wrong_way();
  Command leg_end();
  /// Waits at the end of a leg until the lens is there.
  Command arrive();
  /// Goes to the next leg, another sweep in between, back across the peak, or on with swept().
  Command leg_done();
  /// Takes the sweep's peak, and goes near it or to the first stop; ends if there is no peak.
  Command swept();

  // Back across the peak.
  /// True if the lens's play is not known and the way back can show it.
  bool looks_back() const;
  /// True if the sweep alone tells the top.
  bool tells_top() const;
  /// Sends the lens back across the peak, one frame at each position.
  Command go_back();
  /// Handles a frame on the way back.
  Command back();
  void learn_play_from_way_back();
  /// The lens moves so many steps in a frame at most, so that the way back showed other positions than those it was
  /// sent to: forgets them. Play is looked for again, at that speed.
  void look_slower(double slew);

  // Fine, settle.
  View view() const { return {lens_, sweep_, expected_, kind_, ended_at_, times_slower_, is_wide_}; }
  /// After the sweep and each stop: to the next, or the end.
  Command refine();
  Command follow(const Choice& choice);
  /// True if single frames show a position each, and where on the known peak that is.
  bool may_look() const;
  /// Looks on both sides of a position, so many steps away, and goes back there.
  Command look_beside(int at, double step);
  /// Looks at positions, the last one first. The lens stays at the first one.
  Command look_at(std::vector<int> positions);
  Command look_on();
  /// Handles looks where the peak may have gone: looks beside the one that found it.
  Command look_there();
  /// Goes to a stop, past it first if the lens has play; directly: from wherever it is.
  Command go(int at, bool directly = false);
  int frames_past(int distance) const;
  /// True if the stops show one place, since play that is not known was not taken up from this end of the range.
  bool has_not_followed() const;
  /// Makes the stops again, approached from the other end.
  Command turn_round();
  /// Goes to a stop that may be the end.
  Command settle(int at);
  // Handle a frame in the phase of this name.
  Command pass();
  Command look();
  Command stop();
  /// Handles a stop that has enough frames.
  Command measured(const FocusSample& sample);
  /// Handles a final score below the promised one: the lens has play, or the scene has changed.
  Command promise_broken(const FocusSample& sample, double promised);
  Command suspect_play(const FocusSample& sample);
  void learn_noise();
  /// True if it was seen now.
  bool learn_play();

  // Stack.
  Command begin_stack();
  /// Handles a frame at a position of the stack, or back at the focus.
  Command stack_stop();

  // Focused.
  Command watch(const FocusFrame& f);
  /// Begins a search beside the last peak.
  void begin_near(const Loss& loss);
  Command begin_beside(const Loss& loss);
  /// Looks at the two positions where a known peak that scores as it does here may have gone; no command if none.
  Command begin_far(const Loss& loss);
  /// Returns to the last focus, or starts a search of the whole range.
  Command nothing_here();

  struct Mean {
    double sum = 0, last = 0;
    int frames = 0;
    void add(double score) {
      sum += last = score;
      ++frames;
    }
    FocusSample take(int at) {
      const int n = std::exchange(frames, 0);
      return {static_cast<double>(at), std::exchange(sum, 0) / n, n};
    }
  };

  FocusSettings settings_;
  Lens lens_;
  Sweep sweep_;
  Stops stops_;
  FocusWatch watch_;
  double score_ = 0;
  double light_ = 0;  ///< of the first frame whose score scales with it: mean luma; 0: none yet
  Expected expected_;
  Changes changes_;
  Mean mean_;  ///< of scores at a position

  FocusState state_ = FocusState::kIdle;
  Phase phase_ = Phase::kIdle;
  Kind kind_ = Kind::kSweep;
  const char* cause_ = "";
  const char* reason_ = "";
  double began_at_ = 0;           ///< position
  int commands_before_ = 0;       ///< the search
  bool has_score_ = false;        ///< the frame with which the sweep began
  bool is_past_ = false;          ///< the leg has shown its peak
  bool is_wide_ = false;          ///< the sweep looks far apart, as is_prompt() was true when it began
  bool can_ask_ = false;          ///< the way to the first leg may tell how the lens answers:
  bool asks_ = false;             ///< it is waited for,
  bool sets_out_ = false;         ///< after the first step of the leg, as it stood where that begins,
  bool hurries_ = false;          ///< or the leg began before it is seen
  int late_ = 0;                  ///< frames that the lens moved after the leg should have ended
  int lingers_ = 0;               ///< frames more at the beginning of a leg, which tell the noise
  bool is_near_ = false;          ///< it was made again near the peak,
  bool is_shifted_ = false;       ///< or in between
  std::vector<int> way_back_;     ///< positions to come
  bool looks_slower_ = false;     ///< the way back showed that the lens moves less far in a frame
  int times_back_ = 0;            ///< across the peak
  bool is_back_ = true;           ///< all frames of the way back were seen
  bool from_here_ = false;        ///< the sweep goes to both sides of where focus was last
  int target_ = 0;                ///< stop to come back to
  std::vector<int> looks_;        ///< positions to be sent to, the next one last
  std::uint64_t looks_from_ = 0;  ///< command that sent it to the first of them
  std::size_t stops_wanted_ = 0;  ///< until all looks were seen
  bool is_far_ = false;           ///< they are where the peak may have gone
  bool looks_again_ = false;      ///< this is the second fine pass
  int passing_ = 0;               ///< frames until the lens comes back to the stop
  int measured_ = 0;              ///< stops of this search
  int retries_ = 0;               ///< of stops, after a final score below the promised one
  std::vector<int> stack_;        ///< steps, in order
  int stacked_ = 0;               ///< images of it so far
  int stack_focus_ = 0;           ///< where the lens goes back to
  FocusStackImage stack_image_;
  int times_slower_ = 0;  ///< finer sweeps, because the stops missed the peak

  // Kept from one search to the next.
  std::optional<BlurPeak> blur_shape_;  ///< of the last sweep's peak
  std::optional<FocusPeak> shape_;      ///< of the last peak; its top is where the lens stands
  std::optional<int> ended_at_;         ///< step
  int drift_ = 1;                       ///< sign of the last change of focus
  WatchSettings noise_;                 ///< of the frames of a sweep, as far as the watch takes it into account
  FocusCurve curve_;
  Evidence evidence_;
};

}  // namespace focus
}  // namespace framequality
