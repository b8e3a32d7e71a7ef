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
#pragma once

#include "algorithms/focus/motion.h"
#include "algorithms/focus/peak.h"
#include "algorithms/focus/watch.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
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
/// in any unit; only their order and ratios count. Its only clock are the frames it is told of. Allocates nothing per
/// frame once a search has grown its memory. Thread-safety: none.
class FocusSearch {
 public:
  /// position: where the lens is; NaN if that is not known.
  FocusSearch(const FocusSettings& settings, double position) : settings_(settings), position_(position) {
    take_settings();
    if (settings_.mode != FocusMode::kManual) trigger();
  }

  /// One frame has arrived. Returns where the lens is to go now, if anywhere.
  std::optional<double> frame(const FocusFrame& f) {
    if (f.score) score_before_ = std::exchange(score_, *f.score);
    motion_.frame(f.known);
    if (!active_) return {};
    if (phase_ == Phase::kStart) return start(f);
    if (!f.score) return {};
    if (kind_ == Kind::kSweep && phase_ != Phase::kWatch && f.noise >= 0) {
      noise_least_ = std::min(noise_least_, f.noise);
      noise_most_ = std::max(noise_most_, f.noise);
    }
    if (phase_ == Phase::kWatch) return watch(f);
    if (trail_.size() < kMostTrail) trail_.push_back({motion_.now(), *f.score});
    switch (phase_) {
      case Phase::kToLeg:
        return to_leg(*f.score);
      case Phase::kLeg:
        return leg(*f.score);
      case Phase::kLegEnd:
        return leg_end(*f.score);
      case Phase::kPass:
        return pass();
      default:
        return stop(*f.score);
    }
  }
  /// The same of a frame of which nothing but the score is known.
  std::optional<double> frame(std::optional<double> score) {
    FocusFrame f;
    f.score = score;
    return frame(f);
  }

  /// Starts a search of the whole range with the next frame, also in the middle of one.
  void trigger() {
    watch_.was_useless(false);
    ended_at_.reset();
    retries_ = resweeps_ = 0;
    slower_ = 1;
    begin();
  }
  /// Ends a search, and watching, where the lens is; only trigger() starts again.
  void cancel() { rest(FocusState::kIdle); }
  /// Ends a search without result (no scores come, say). It is not tried again before trigger().
  void give_up() {
    is_lost_ = true;
    rest(FocusState::kFailed);
  }

  /// Takes effect at once. Another range, step or timing starts a search under way, or found in focus, anew.
  void configure(const FocusSettings& settings) {
    const FocusSettings old = std::exchange(settings_, settings);
    FocusSettings same = settings;  // as far as a search depends on it
    same.mode = old.mode;
    same.loss = old.loss;
    same.loss_frames = old.loss_frames;
    same.tracking = old.tracking;
    const bool other = !(same == old);
    if (other) take_settings();
    if (settings.mode == FocusMode::kContinuous && !active_ && old.mode != settings.mode) {
      if (state_ == FocusState::kFocused)
        watch_from_here();
      else
        trigger();
    }
    if (settings.mode != FocusMode::kContinuous && active_ && phase_ == Phase::kWatch) active_ = false;
    if (active_ && other) trigger();
  }

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
  enum class Phase {
    kStart,   ///< a search begins with the next frame
    kToLeg,   ///< on the way to where a leg of the sweep begins
    kLeg,     ///< sweeping
    kLegEnd,  ///< all of a leg's commands are given; frames that show them are still to come
    kPass,    ///< beyond a stop, to come back to it from the right side
    kStop,    ///< on the way to a stop, and there
    kWatch
  };
  enum class Kind { kSweep, kLocal, kTracking };

  struct Seen {
    std::uint64_t frame;
    double score;
  };

  static constexpr double kDivisions = 20;      ///< sweep: steps over the range,
  static constexpr double kStopDivisions = 14;  ///< and if each is a stop
  static constexpr double kPast = 0.5;     ///< a leg may end when the score has come down by this share of its rise,
  static constexpr double kPeak = 2;       ///< and its best is so often its least
  static constexpr double kPastNoise = 6;  ///< and has come down by so many standard deviations
  static constexpr double kFlat = 0.01;    ///< a sweep whose scores differ by less than this share has no peak,
  static constexpr double kStandsOut = 6;  ///< nor one whose peak stands out by less than so many standard deviations;
  static constexpr double kMay = 3.5;      ///< one that stands out by so many may be one
  static constexpr int kPasses = 4;        ///< sweeps to find out
  static constexpr double kSideFar = 1.6, kSideNear = 0.75,
                          kSideBehind = 1.2;  ///< stops beside the top, widths of the peak
  static constexpr double kSide = 0.8;
  static constexpr double kWide = 1.2;      ///< a peak that is so many steps of the sweep wide is seen from both sides
  static constexpr double kSideSeen = 0.4;  ///< what the sweep must have seen on each side of the top, widths
  static constexpr double kNoResponse = 0.1;     ///< a move that changes the score by less, of the height, is none
  static constexpr double kCertain = 0.4;        ///< standard error of the top that is small enough, steps,
  static constexpr double kCertainShare = 0.03;  ///< or widths of the peak
  static constexpr double kFewWidth = 2.5;  ///< below so many steps of width the best position is seen, not computed
  static constexpr int kMostStops = 10, kMostLocalStops = 7, kMostTrackingStops = 5;
  static constexpr int kMostFrames = 8;     ///< at a stop
  static constexpr int kPatientSettle = 6;  ///< frames to wait for an answer while the lag is not known
  static constexpr int kSceneMoves = 3;     ///< frames that a stop waits for a lens that is known to be at once there
  static constexpr std::uint64_t kMostTime = 8;  ///< stops' time after which a search is to end,
  static constexpr double kSlowNoise = 0.05;     ///< unless noise makes it slow
  static constexpr int kLongestSettle = 40;      ///< frames that a stop waits for the lens to come to rest
  static constexpr double kAgree = 0.06;         ///< share of the height that the end may be below what was promised
  static constexpr double kLess = 0.2;           ///< share of the height that the end may be below the sweep's best
  static constexpr double kFail = 0.4;           ///< the same, without which it has failed
  static constexpr double kNothing = 0.01;       ///< share of the height that is not worth a move,
  static constexpr int kFine = 90;               ///< where there are so many steps
  static constexpr double kLevelNear = 0.35;     ///< the same, with which one stays where all around looks the same
  static constexpr double kLocalStep = 1;        ///< first step of a local search at most, widths of the peak,
  static constexpr double kLocalReach = 1.2;     ///< and each later one
  static constexpr double kNoiseGain = 2;        ///< for the texture that the estimate of noise has in it
  static constexpr double kNear = 0.3;           ///< share of the height that is left near the last peak
  static constexpr double kDeep = 0.25;          ///< of the range: play that is thought possible
  static constexpr int kRetries = 2;
  static constexpr std::size_t kMostTrail = 256;

  // --- Steps and positions -------------------------------------------------------------------------------------------

  int last() const {
    return std::max(0, static_cast<int>(std::floor((settings_.max - settings_.min) / settings_.step + 1e-6)));
  }
  double position_of(int at) const { return std::min(settings_.min + at * settings_.step, settings_.max); }
  int clamped(double at) const { return static_cast<int>(std::lround(std::clamp<double>(at, 0, last()))); }
  /// Nearest to where the lens was sent; nothing if that is not known.
  std::optional<int> here() const {
    if (std::isnan(position_)) return {};
    return clamped((position_ - settings_.min) / settings_.step);
  }

  void take_settings() {
    motion_.configure({settings_.lag_frames, settings_.settle_frames});
    play_.reset();
    slew_ = 0;
    if (settings_.backlash >= 0) play_ = settings_.backlash / settings_.step;
    shape_.reset();
    direction_ = settings_.approach == FocusApproach::kFromAbove ? -1 : 1;
  }

  /// Sends the lens there; no command if it is there.
  std::optional<double> send(int at) {
    trail_.clear();
    trail_.push_back({motion_.now(), score_});
    trend_ = score_ - score_before_;
    const double to = position_of(at);
    from_ = std::exchange(at_, at);
    motion_.take_time(slew_ > 0 ? static_cast<int>(std::ceil(1.5 * std::abs(at_ - from_) / slew_)) : 0);
    if (to == position_ && !std::exchange(is_lost_, false)) return {};
    position_ = to;
    motion_.send(at);
    ++moves_;
    return to;
  }

  // --- Begin and end -------------------------------------------------------------------------------------------------

  void begin() {
    state_ = FocusState::kCoarse;
    active_ = true;
    phase_ = Phase::kStart;
    moves_ = 0;
    from_here_ = false;
  }
  void rest(FocusState state) {
    state_ = state;
    active_ = false;
    phase_ = Phase::kWatch;
  }

  void clear() {
    motion_.forget();
    if (const std::optional<int> at = here()) motion_.stands(*at);
    row_.clear();
    trace_.clear();
    rest_.clear();
    legs_.clear();
    trail_.clear();
    other_.reset();
    spread_ = 0;
    spreads_ = stops_ = passes_ = 0;
    sum_ = 0;
    summed_ = 0;
    suspect_ = trusts_sweep_ = distrusts_ = contradicts_ = false;
    is_new_play_ = false;
    refuted_ = 0;
    fit_.reset();
    began_at_ = position_;
  }

  std::optional<double> start(const FocusFrame& f) {
    clear();
    kind_ = Kind::kSweep;
    noise_least_ = std::numeric_limits<double>::infinity();
    noise_most_ = 0;
    score_began_ = f.score;
    const int n = last();
    const double divisions = settings_.stop_and_go ? kStopDivisions : kDivisions;
    double spacing = settings_.coarse_step / settings_.step;
    if (!(spacing > 0)) {
      spacing = n / divisions / slower_;
      // A peak of known width needs a sample on each flank.
      if (shape_) spacing = std::clamp(0.9 * shape_->width, 0.5 * spacing, 1.4 * spacing);
      if (slew_ > 0) spacing = std::min(spacing, 0.9 * slew_);
    }
    // Within the range first: a coarse step of any size is no number of steps that an int would hold.
    stride_ = static_cast<int>(std::lround(std::clamp<double>(spacing, 1, std::max(1, n))));
    const std::optional<int> at = here();
    if (from_here_ && at) {
      const bool down = *at < n - *at;  // the shorter way first
      if (settings_.approach == FocusApproach::kAuto) {
        legs_ = {{*at, down ? 0 : n}, {*at, down ? n : 0}};
        return begin_leg();
      }
    }
    bool down = at && position_ - settings_.min > settings_.max - position_;
    if (settings_.approach != FocusApproach::kAuto) down = settings_.approach == FocusApproach::kFromAbove;
    legs_ = {{down ? n : 0, down ? 0 : n}};
    return begin_leg();
  }

  /// The search found no peak: back to where it began.
  std::optional<double> fail() {
    make_curve(nullptr);
    end(FocusState::kFailed);
    if (std::isnan(began_at_) || began_at_ == position_) return {};
    position_ = began_at_;
    motion_.send(here().value_or(0));
    ++moves_;
    return position_;
  }

  void end(FocusState state) {
    const bool useless = ended_at_ && std::abs(at_ - *ended_at_) <= 1;
    if (kind_ == Kind::kTracking)
      watch_.probe_was_useless(useless);
    else
      watch_.was_useless(useless);
    ended_at_ = at_;
    rest(state);
    watch_from_here();
  }

  void watch_from_here() {
    phase_ = Phase::kWatch;
    active_ = settings_.mode == FocusMode::kContinuous;
    watch_.begin();
  }

  // --- Sweep ---------------------------------------------------------------------------------------------------------

  std::optional<double> begin_leg() {
    leg_ = legs_.front();
    legs_.erase(legs_.begin());
    leg_begin_ = trace_.size();
    if (settings_.approach == FocusApproach::kAuto) direction_ = leg_.to >= leg_.from ? 1 : -1;
    phase_ = Phase::kToLeg;
    const bool is_there = here() && position_of(leg_.from) == position_;
    if (const auto to = send(leg_.from)) return to;
    // Already there: this frame is the first of the leg.
    if (is_there && score_began_) return to_leg(*score_began_);
    return {};
  }

  std::optional<double> to_leg(double score) {
    if (!is_steady(score)) return {};
    learn_lag(score);
    phase_ = Phase::kLeg;
    return leg(score);
  }

  std::optional<double> leg(double score) {
    if (settings_.stop_and_go) {
      if (!motion_.at_rest()) return {};
      sum_ += score;
      if (++summed_ < settings_.average_frames) return {};
      score = std::exchange(sum_, 0) / std::exchange(summed_, 0);
    }
    trace_.push_back({motion_.now(), score});
    if (is_past()) return leg_done();
    const int way = leg_.to - at_;
    if (way == 0) {
      phase_ = Phase::kLegEnd;
      return motion_.at_rest() ? leg_done() : std::nullopt;
    }
    const int next = std::abs(way) < stride_ * 3 / 2 ? leg_.to : at_ + (way > 0 ? stride_ : -stride_);
    const double to = position_of(next);
    at_ = next;
    if (to == position_) return {};
    position_ = to;
    motion_.send(next);
    ++moves_;
    return to;
  }

  std::optional<double> leg_end(double score) {
    trace_.push_back({motion_.now(), score});
    if (!motion_.at_rest()) return {};
    // A lens slower than the sweep is still on its way.
    const double before = trace_[trace_.size() - 2].score;
    const auto [least, most] = extremes();
    const double moving = std::max(0.05 * (most - least), kPastNoise * trace_noise());
    if (std::abs(score - before) > moving && motion_.since() < motion_.rest() + kLongestSettle) return {};
    return leg_done();
  }

  std::pair<double, double> extremes() const {
    const auto [low, high] = std::minmax_element(trace_.begin(), trace_.end(),
                                                 [](const Seen& a, const Seen& b) { return a.score < b.score; });
    return {low->score, high->score};
  }
  /// Noise of single scores of the sweep, in the order of its frames.
  double trace_noise() {
    scratch_.clear();
    for (const Seen& s : trace_) scratch_.push_back({static_cast<double>(scratch_.size()), s.score, 1});
    return focus::noise_of(scratch_);
  }

  /// True when the leg is clearly past a peak: the last two scores come down from it.
  bool is_past() {
    const std::size_t n = trace_.size();
    if (n < leg_begin_ + 4) return false;
    const auto [least, most] = extremes();
    const auto best = std::max_element(trace_.begin() + static_cast<std::ptrdiff_t>(leg_begin_), trace_.end(),
                                       [](const Seen& a, const Seen& b) { return a.score < b.score; });
    const auto index = static_cast<std::size_t>(best - trace_.begin());
    if (best->score < most || index <= leg_begin_ + static_cast<std::size_t>(motion_.lag()) || index + 2 >= n)
      return false;
    const double last = trace_[n - 1].score, down = most - kPast * (most - least);
    if (!(least > 0 && most > kPeak * least && last < down && trace_[n - 2].score < most)) return false;
    // Where noise made the least so little, or the best so high, there may be higher peaks to come.
    const double noise = trace_noise();
    return most - last > kPastNoise * noise && most - 2 * noise > kPeak * (least + 2 * noise);
  }

  /// What the sweep saw, by position.
  void make_row() {
    row_.clear();
    repeated_ = repeats_ = 0;
    lag_used_ = motion_.lag();
    for (const Seen& s : trace_)
      if (const std::optional<int> at = motion_.shown(s.frame)) row_.push_back({static_cast<double>(*at), s.score, 1});
    std::sort(row_.begin(), row_.end(), [](const FocusSample& a, const FocusSample& b) { return a.at < b.at; });
    std::size_t n = 0;
    for (const FocusSample& s : row_) {
      if (n > 0 && row_[n - 1].at == s.at) {
        FocusSample& same = row_[n - 1];
        repeated_ += (s.score - same.score) * (s.score - same.score) * same.frames / (same.frames + 1);
        ++repeats_;
        ++same.frames;
        same.score += (s.score - same.score) / same.frames;
      } else {
        row_[n++] = s;
      }
    }
    row_.resize(n);
  }

  /// What the sweep saw there, or beside it.
  double score_at(int at) const {
    const auto nearest = std::min_element(row_.begin(), row_.end(), [&](const FocusSample& a, const FocusSample& b) {
      return std::abs(a.at - at) < std::abs(b.at - at);
    });
    return nearest->score;
  }

  std::optional<double> leg_done() {
    const bool past = is_past();
    if (!past && !legs_.empty()) return begin_leg();
    legs_.clear();
    ++passes_;
    make_row();
    if (row_.empty()) {  // no frame has shown a position of the sweep yet
      --passes_;
      phase_ = Phase::kLegEnd;
      return {};
    }
    noise_ = focus::noise_of(row_);
    constexpr int kEnoughRepeats = 6;
    if (repeats_ >= kEnoughRepeats) noise_ = std::min(noise_, 1.3 * std::sqrt(repeated_ / repeats_));
    const int n = last();
    if (n > 0 && !past) {
      const auto [least, most] = extremes();
      const double spacing = static_cast<double>(stride_) / passes_;
      const double stands_out =
          std::max(focus::significance(row_, 1.5 * stride_, noise_), focus::significance(row_, 3.0 * stride_, noise_));
      const bool is_flat = most - least <= kFlat * std::max(std::abs(most), std::abs(least));
      if (is_flat || stands_out < kStandsOut) {
        // Between the positions seen so far: for a narrow peak, and for certainty.
        const bool may_be = passes_ == 1 || stands_out >= kMay;
        const bool is_narrow = spacing > 1.2 * std::sqrt(n / 2.0);
        if (passes_ < kPasses && (is_flat ? is_narrow : may_be)) {
          constexpr double kOffsets[kPasses] = {0, 0.5, 0.25, 0.75};
          const int off = static_cast<int>(std::lround(kOffsets[passes_] * stride_)) % stride_;
          const bool down = at_ > n / 2;
          legs_ = {{clamped(down ? n - off : off), down ? 0 : n}};
          score_began_.reset();
          return begin_leg();
        }
        if (is_flat || stands_out < kStandsOut) return fail();
      }
    }
    prior_ = focus::peak_of(row_, noise_);
    if (!(prior_.height > 0)) prior_.height = std::max(std::abs(prior_.floor) * 0.01, 1e-300);
    state_ = FocusState::kFine;
    fine_began_ = motion_.now();
    const int began = clamped((began_at_ - settings_.min) / settings_.step);
    if (from_here_ && motion_.lag_is_known() && std::abs(prior_.top - began) < 0.75 * stride_) {
      // Nothing is sharper than where the lens was.
      kind_ = Kind::kLocal;
      stops_ = kMostLocalStops;
      fine_began_ = 0;
      rest_.clear();
      add({static_cast<double>(began), score_at(began), 1});
      return refine();
    }
    return refine();
  }

  // --- Stops ---------------------------------------------------------------------------------------------------------

  /// Play to reckon with, steps: 0 if there is none.
  double play() const {
    const bool is_free = settings_.approach == FocusApproach::kAuto;
    if (play_) return is_free && *play_ < 0.5 ? 0 : *play_ + std::max(1.0, 0.1 * *play_);
    return !is_free || kind_ == Kind::kSweep || suspect_ ? kDeep * last() : 0;
  }

  /// True if a lens with so much play is where it is sent to, sent to `at` now.
  bool takes_up(int at, double play) const {
    if (!(play > 0)) return true;
    bool is_first = true;
    double lens = 0;  // how far above the motor, seen in the direction of approach
    const auto send_to = [&](int to) {
      const double motor = to * direction_;
      lens = is_first ? motor + play : std::clamp(lens, motor, motor + play);
      is_first = false;
    };
    for (std::size_t i = 0; i < motion_.kept(); ++i) send_to(motion_.sent(i));
    send_to(at);
    return lens - at * direction_ < 0.5;
  }

  /// To a stop, past it first where the lens has play; directly: from wherever it is.
  std::optional<double> go(int at, bool directly = false) {
    sum_ = 0;
    summed_ = 0;
    ++stops_;
    target_ = at;
    from_other_side_ = !takes_up(at, play());
    if (!directly && from_other_side_) {
      const int beyond = clamped(at - direction_ * std::ceil(play()));
      if (beyond != at) {
        from_other_side_ = false;
        phase_ = Phase::kPass;
        // As fast as it has followed the sweep, at least.
        const int distance = std::abs(beyond - at_);
        passing_ = suspect_ ? std::max(1, motion_.rest())
                            : std::clamp(distance / std::max(1, 2 * stride_), 1, std::max(1, motion_.rest()));
        if (slew_ > 0) passing_ = std::max(passing_, static_cast<int>(std::ceil(distance / slew_)));
        return send(beyond);
      }
    }
    phase_ = Phase::kStop;
    return send(at);
  }

  std::optional<double> pass() {
    if (--passing_ > 0) return {};
    phase_ = Phase::kStop;
    return send(target_);
  }

  /// How far scores may differ that show the same.
  double tolerance() const { return std::max(5 * 1.4 * noise_, 0.02 * prior_.height); }

  /// True if the lens has come to rest where it was sent, as far as the scores tell.
  bool is_steady(double score) {
    if (!motion_.at_rest()) return false;
    if (trail_.size() < 2 || motion_.since() > motion_.rest() + kLongestSettle) return true;
    // The frame before this one: it may have shown the lens on its way.
    const Seen& before = trail_[trail_.size() - 2];
    if (motion_.lag_is_known() && motion_.since() - 1 <= motion_.lag() && !(slew_ > 0)) return true;
    if (state_ != FocusState::kCoarse) {
      // What is shown before that belongs to the last position. Waited for where noise and the way let it be seen.
      if (!motion_.lag_is_known() && std::abs(at_ - from_) > prior_.width / 2 && tolerance() < 0.3 * prior_.height &&
          !has_answered() && motion_.since() <= std::max(motion_.rest(), kPatientSettle) + 2)
        return false;
      // A scene that moves does not wait for the lens.
      if (motion_.lag_is_known() && !(slew_ > 0) && motion_.since() > motion_.rest() + kSceneMoves) return true;
      return std::abs(score - before.score) <= tolerance();
    }
    double least = score, most = score;
    for (const Seen& s : trail_) least = std::min(least, s.score), most = std::max(most, s.score);
    const double range = most - least;
    // A lens that does not obey before it should have settled, if that can be seen.
    if (!motion_.lag_is_known() && range < 0.1 * std::abs(score)) return motion_.since() > kPatientSettle;
    return range < 0.1 * std::abs(score) || std::abs(score - before.score) <= 0.15 * range;
  }

  /// True if the score has changed since the last command otherwise than it did before.
  bool has_answered() const {
    double before = trend_;
    for (std::size_t i = 1; i < trail_.size(); ++i) {
      const double change = trail_[i].score - trail_[i - 1].score;
      if (std::abs(change) > tolerance() && (std::abs(before) <= tolerance() || (change > 0) != (before > 0)))
        return true;
      before = change;
    }
    return false;
  }

  /// The lens has come to rest at a score: how long did that take? Only a clean step tells: frames on the way would
  /// show a lens that is slow.
  void learn_lag(double score) {
    if (motion_.commands() == 0 || trail_.size() < 2) return;
    double far = 0;
    for (const Seen& s : trail_) far = std::max(far, std::abs(s.score - score));
    if (far < std::max(0.05 * std::abs(score), 8 * noise_)) return;
    const double near = std::max(0.08 * far, 4 * noise_);
    std::size_t first = trail_.size();
    while (first > 0 && std::abs(trail_[first - 1].score - score) <= near) --first;
    if (first == 0 || first == trail_.size()) return;
    const std::uint64_t fresh = motion_.now() - static_cast<std::uint64_t>(motion_.since()) + 1;
    if (trail_[first].frame < fresh || trail_[first - 1].frame + 1 != trail_[first].frame) return;
    const auto lag = static_cast<int>(trail_[first].frame - fresh);
    const auto [least, most] = std::minmax_element(trail_.begin(), trail_.end(),
                                                   [](const Seen& a, const Seen& b) { return a.score < b.score; });
    bool is_clean = std::abs(trail_[first].score - trail_[first - 1].score) > 0.7 * (most->score - least->score);
    if (!is_clean && kind_ == Kind::kSweep && stops_ == 1) {
      // After a sweep past the peak, frames that were under way show it farther off.
      is_clean = true;
      for (std::size_t i = 1; i < first; ++i)
        if (trail_[i].score > trail_[i - 1].score + near / 2) is_clean = false;
    }
    if (!is_clean) {
      const double speed = std::abs(at_ - from_) / std::max(1.0, lag - (motion_.lag_is_known() ? motion_.lag() : 0.0));
      if (lag > (motion_.lag_is_known() ? motion_.lag() : 0) && at_ != from_)
        slew_ = slew_ > 0 ? std::min(slew_, speed) : speed;
      return;
    }
    motion_.learn(lag);
  }

  /// Noise from changes from frame to frame while the lens was at rest: those of the trail.
  void learn_noise() {
    if (!motion_.lag_is_known()) return;
    const auto since = static_cast<std::uint64_t>(motion_.since());
    const std::uint64_t there = motion_.now() + 1 - since + static_cast<std::uint64_t>(motion_.lag());
    for (std::size_t i = 1; i < trail_.size(); ++i)
      if (trail_[i - 1].frame >= there) learn_noise(trail_[i].score - trail_[i - 1].score);
  }
  void learn_noise(double change) {
    spread_ += change * change;
    ++spreads_;
    constexpr int kEnough = 8, kSome = 2;
    constexpr double kFew = 1.5;  // for what few changes may be below the mean
    if (spreads_ < kSome) return;
    const double rest = std::sqrt(spread_ / (2 * spreads_));
    noise_ = spreads_ < kEnough ? std::min(noise_, kFew * rest) : rest;
  }

  /// Frames that a stop takes, so that the top is as certain as it should be.
  int frames_wanted() const {
    const double sure = std::max(0.5, 0.1 * prior_.width);
    const double n = 2.5 * prior_.width * noise_ / (prior_.height * sure);
    return std::clamp(static_cast<int>(std::ceil(n * n)), settings_.average_frames,
                      std::max(settings_.average_frames, kMostFrames));
  }

  std::optional<double> stop(double score) {
    if (summed_ == 0) {
      if (!is_steady(score)) return {};
      learn_lag(score);
      learn_noise();
    } else {
      learn_noise(score - previous_);
    }
    previous_ = score;
    sum_ += score;
    if (++summed_ < frames_wanted()) return {};
    const int frames = std::exchange(summed_, 0);
    const double mean = std::exchange(sum_, 0) / frames;
    return measured({static_cast<double>(at_), mean, frames});
  }

  std::optional<double> measured(const FocusSample& sample) {
    if (from_other_side_ && !play_ && kind_ == Kind::kSweep && !other_) {
      other_ = sample;
      return refine();
    }
    if (state_ == FocusState::kSettle && fit_) {
      // No more than was seen: a peak may have an edge where the fit is round.
      const double promised = std::min(fit_->score(sample.at), best_seen());
      if (promised - sample.score > std::max(kAgree * fit_->height, tolerance())) return broken(sample, promised);
    }
    add(sample);
    return refine();
  }

  void add(const FocusSample& sample) {
    const auto s = std::lower_bound(rest_.begin(), rest_.end(), sample.at,
                                    [](const FocusSample& a, double at) { return a.at < at; });
    if (s == rest_.end() || s->at != sample.at) {
      rest_.insert(s, sample);
    } else {
      s->frames += sample.frames;
      s->score += (sample.score - s->score) * sample.frames / s->frames;
    }
  }
  const FocusSample* seen(int at) const {
    for (const FocusSample& s : rest_)
      if (s.at == at) return &s;
    return nullptr;
  }
  double best_seen() const {
    double most = rest_.empty() ? -std::numeric_limits<double>::infinity() : best().score;
    if (trusts_sweep_)
      for (const FocusSample& s : row_) most = std::max(most, s.score);
    return most;
  }
  const FocusSample& best() const {
    return *std::max_element(rest_.begin(), rest_.end(),
                             [](const FocusSample& a, const FocusSample& b) { return a.score < b.score; });
  }

  /// The end is not what was promised: the lens has play, or the scene has changed.
  std::optional<double> broken(const FocusSample& sample, double promised) {
    if (may_be_play(static_cast<int>(sample.at))) return suspect(sample);
    if (kind_ == Kind::kSweep && trusts_sweep_) {
      distrusts_ = true;
      state_ = FocusState::kFine;
      add(sample);
      return refine();
    }
    if (retries_ < kRetries) {
      ++retries_;
      rest_.clear();
      add(sample);
      fit_.reset();
      prior_.top = sample.at;
      state_ = kind_ == Kind::kTracking ? FocusState::kTracking : FocusState::kFine;
      if (kind_ == Kind::kSweep) kind_ = Kind::kLocal;
      local_step_ = direction_ * prior_.width;
      stops_ = 0;
      return refine();
    }
    const double height = promised - prior_.floor;
    add(sample);
    if (best().at != sample.at && retries_ == kRetries) {
      ++retries_;
      return settle(static_cast<int>(best().at));
    }
    return finish(sample.score - prior_.floor >= kFail * height);
  }

  /// True if play that is not known could be why a stop shows something else than it should.
  bool may_be_play(int at) const {
    return !suspect_ && settings_.backlash < 0 && (!play_ || is_new_play_) && !takes_up(at, kDeep * last());
  }
  /// Takes it that the lens has play: from now on all stops are approached from far beyond, this one again.
  std::optional<double> suspect(const FocusSample& sample) {
    if (!other_) other_ = sample;
    suspect_ = true;
    refuted_ = play_.value_or(0);
    play_.reset();
    rest_.clear();
    state_ = FocusState::kFine;
    return go(static_cast<int>(sample.at));
  }

  // --- Where to stop next --------------------------------------------------------------------------------------------

  std::optional<double> refine() {
    if (kind_ == Kind::kSweep && motion_.lag() != lag_used_ && !row_.empty()) {
      make_row();
      const FocusPeak again = focus::peak_of(row_, noise_);
      if (again.height > 0) prior_ = again;
      if (is_new_play_) play_.reset();
    }
    if (last() == 0) return rest_.empty() ? settle(0) : finish(true);
    fit_ = fitted();
    if (std::exchange(contradicts_, false) && may_be_play(at_) && seen(at_)) return suspect(*seen(at_));
    check_play();
    if (takes_too_long()) {
      const int end =
          kind_ == Kind::kSweep && motion_.lag_is_known() ? clamped(prior_.top) : static_cast<int>(best().at);
      if (at_ == end) return finish(true);
      return settle(end);
    }
    if (kind_ == Kind::kSweep && rest_.empty() && !(trusts_sweep_ && other_)) return first_stop();
    if (rest_.size() == 1 && !trusts_sweep_) return go(second_stop());
    if (kind_ != Kind::kSweep && is_level()) return share_left_ < kLevelNear ? nothing_here() : to_top(*ended_at_);
    if (is_lost()) return sweep_slower();
    const int most = kind_ == Kind::kSweep ? kMostStops : kind_ == Kind::kLocal ? kMostLocalStops : kMostTrackingStops;
    const double sure = std::max(kCertain, kCertainShare * prior_.width);
    const double from = trusts_sweep_ ? prior_.top : rest_.front().at,
                 to = trusts_sweep_ ? prior_.top : rest_.back().at;
    // A parabola is believed as far as it is known to be one.
    const double reach = 1.5 * prior_.width;
    double top = fit_ ? fit_->top : best().at == from ? from - reach : best().at == to ? to + reach : best().at;
    top = std::clamp(top, std::max(0.0, from - reach), std::min<double>(last(), to + reach));
    if (kind_ != Kind::kSweep) {
      // Step by step: what changes may be the scene rather than focus.
      const double step = std::max(1.0, kLocalReach * prior_.width);
      top = std::clamp(top, best().at - step, best().at + step);
    }
    if (kind_ == Kind::kTracking) top = std::clamp(top, *ended_at_ - 2 * prior_.width, *ended_at_ + 2 * prior_.width);
    const int there = clamped(top);
    if (stops_ < most && !trusts_sweep_) {
      // Beyond what was seen: there first.
      if (!seen(there) && (top < from - 0.3 * prior_.width || top > to + 0.3 * prior_.width)) return settle(there);
      if (!fit_ || fit_->error > sure) {
        const double side = std::max(1.0, kSide * prior_.width);
        const bool left = from<top - 0.4 * side, right = to> top + 0.4 * side;
        const int low = clamped(top - side), high = clamped(top + side);
        if (!right && !seen(high) && high != there) return go(high);
        if (!left && !seen(low) && low != there) return go(low);
      }
    }
    if (!trusts_sweep_ && prior_.width < kFewWidth && stops_ < most) {
      // Few positions are near the top: all that could be it are seen.
      const FocusSample& b = best();
      for (const int at : {there, static_cast<int>(b.at) + direction_, static_cast<int>(b.at) - direction_}) {
        if (at < 0 || at > last() || seen(at)) continue;
        const double below = fit_ ? fit_->score(fit_->top) - fit_->score(at) : 0;
        if (!fit_ || below < 0.15 * fit_->height) return at == there ? settle(at) : go(at);
      }
    }
    if (!trusts_sweep_ && kind_ == Kind::kSweep && stops_ < kMostStops + 4)
      if (const std::optional<int> at = between(top)) return go(*at);
    return to_top(there);
  }

  /// True if the stops have gone on for so long that it is the scene that does not stand still.
  bool takes_too_long() const {
    const std::uint64_t stop = static_cast<std::uint64_t>(motion_.rest()) + 4;
    const std::uint64_t most = (suspect_ ? 2 * kMostTime : kMostTime) * stop;
    return !rest_.empty() && !(slew_ > 0) && noise_ < kSlowNoise * prior_.height &&
           (fine_began_ == 0 || motion_.now() - fine_began_ > most);
  }

  /// Where stops alone tell: the middle of the wider gap beside the best one, until its neighbours are near.
  std::optional<int> between(double top) const {
    const auto b = std::max_element(rest_.begin(), rest_.end(),
                                    [](const FocusSample& a, const FocusSample& c) { return a.score < c.score; });
    const double left = b == rest_.begin() ? b->at : b->at - std::prev(b)->at;
    const double right = std::next(b) == rest_.end() ? last() - b->at : std::next(b)->at - b->at;
    const double near = std::max(2.0, 0.12 * prior_.width);
    if (std::max(left, right) <= near) return {};
    const int there = clamped(top);
    if (!seen(there) && std::abs(there - b->at) < std::max(left, right)) return there;
    const bool to_right = left <= near || (right > near && top >= b->at);
    const double gap = to_right ? right : left;
    // A third of a wide gap: the top is nearer to the best one.
    const double step = gap > 3 * near ? gap / 3 : gap / 2;
    return clamped(b->at + (to_right ? 1 : -1) * std::max(1.0, step));
  }

  /// The peak as the stops show it, with the sweep's scores where their positions are certain: a lag that is known, and
  /// no stop that contradicts.
  std::optional<FocusPeak> fitted() {
    trusts_sweep_ = kind_ == Kind::kSweep && motion_.lag_is_known() && !distrusts_ && row_.size() >= 3 &&
                    (!(slew_ > 0) || stride_ <= slew_);
    if (trusts_sweep_) {
      const double highest = std::max_element(row_.begin(), row_.end(), [](const FocusSample& a, const FocusSample& b) {
                               return a.score < b.score;
                             })->at;
      // From both sides, or as near the top as noise lets it be: farther out a peak may lean to one side.
      std::optional<FocusPeak> fit;
      if (prior_.width > kWide * stride_) fit = focus::bisected(prior_, row_, noise_);
      if (fit && !(fit->error <= std::max(kCertain, kCertainShare * prior_.width))) fit.reset();
      if (!fit)
        for (const double widths : {0.55, 0.8, 1.3}) {
          samples_.clear();
          for (const auto* all : {&rest_, &row_})
            for (const FocusSample& s : *all)
              if (std::abs(s.at - prior_.top) <= widths * prior_.width || std::abs(s.at - highest) <= 1.01 * stride_)
                samples_.push_back(s);
          if (samples_.size() < 3) continue;
          fit = focus::refined(prior_, samples_, noise_);
          if (fit && fit->error <= std::max(kCertain, kCertainShare * prior_.width)) break;
        }
      // At an end of the range one side of the peak is missing: stops have to tell.
      trusts_sweep_ = fit && fit->top - row_.front().at > kSideSeen * prior_.width &&
                      row_.back().at - fit->top > kSideSeen * prior_.width;
      contradicts_ = false;
      for (const FocusSample& s : rest_)
        if (trusts_sweep_ && std::abs(s.at - fit->top) <= std::max(1.0, prior_.width) &&
            // More than was expected is no wonder between the sweep's positions.
            fit->score(s.at) - s.score > std::max(0.1 * fit->height, tolerance()))
          contradicts_ = true;
      if (trusts_sweep_ && !contradicts_) return fit;
      trusts_sweep_ = false;
      distrusts_ = !contradicts_ || !may_be_play(at_);
    }
    if (rest_.size() < 2) return {};
    FocusPeak known = prior_;
    known.top = best().at;
    return focus::refined(known, rest_, noise_);
  }

  /// True if the peak that the sweep saw is not where its frames said.
  bool is_lost() const {
    return kind_ == Kind::kSweep && rest_.size() >= 3 && stride_ > 1 && resweeps_ < kRetries &&
           best().score - prior_.floor < 0.5 * prior_.height && !(legs_.size() > 0);
  }
  std::optional<double> sweep_slower() {
    ++resweeps_;
    slower_ *= 2.5;
    state_ = FocusState::kCoarse;
    FocusFrame f;
    f.score = score_;
    return start(f);
  }

  /// To the top, or the end if the lens is there.
  std::optional<double> to_top(int there) {
    // A step aside that gains next to nothing is not worth its frames.
    if (last() >= kFine && fit_ && seen(at_) && !from_other_side_ && std::abs(fit_->top - at_) <= 0.8 &&
        fit_->score(there) - fit_->score(at_) < kNothing * fit_->height)
      there = at_;
    const FocusSample* s = seen(there);
    const FocusSample& b = best();
    int end = there;
    if (s) {
      const double spread = noise_ * std::sqrt(1.0 / s->frames + 1.0 / b.frames);
      if (b.score - s->score > std::max(2 * spread, 1e-6 * prior_.height)) end = static_cast<int>(b.at);
    }
    const FocusSample* is_seen = seen(end);
    if (is_seen && at_ == end && !from_other_side_) return finish(true);
    if ((settled_ > kRetries + 2 || takes_too_long()) && is_seen && at_ == end) return finish(true);
    ++settled_;
    return settle(end);
  }

  std::optional<double> settle(int at) {
    state_ = kind_ == Kind::kTracking ? FocusState::kTracking : FocusState::kSettle;
    return go(at);
  }

  std::optional<double> first_stop() {
    settled_ = 0;
    const double w = std::max(prior_.width, 0.7);
    const auto beside = [&](double widths) { return clamped(prior_.top - direction_ * widths * w); };
    const int near = beside(kSideNear) == clamped(prior_.top) ? clamped(prior_.top - direction_) : beside(kSideNear);
    if (!play_ && settings_.approach == FocusApproach::kAuto && !other_ && !suspect_) {
      int far = beside(kSideFar);
      if (far == near) far = clamped(near - direction_);
      if (std::abs(far - prior_.top) > w && (at_ - far) * direction_ > 0) return go(far, true);
      // Where the range begins: behind the peak.
      far = clamped(prior_.top + direction_ * kSideBehind * w);
      if ((at_ - far) * direction_ > 0.3 * w) return go(far, true);
    }
    return go(near, other_.has_value());
  }

  /// With one stop: where the top is if the peak is as the sweep, or the last search, saw it.
  int second_stop() const {
    const FocusSample& s = rest_.front();
    if (kind_ != Kind::kSweep) {
      const int to = clamped(s.at + local_step_);
      return to != static_cast<int>(s.at) ? to : clamped(s.at - local_step_);
    }
    double top = prior_.top;
    const double share = (s.score - prior_.floor) / prior_.height;
    if (share > 0.1 && share < 0.97) top = s.at + direction_ * prior_.distance(s.score, 2);
    const double most = 2 * prior_.width + 1;
    int at = clamped(std::clamp(top, s.at - most, s.at + most));
    if (at == static_cast<int>(s.at)) at = clamped(s.at + direction_ * std::max(1.0, kSide * prior_.width));
    if (at == static_cast<int>(s.at)) at = clamped(s.at - direction_ * std::max(1.0, kSide * prior_.width));
    return at;
  }

  /// What a stop from the other side tells of the lens's play, once it is known where the peak is.
  void check_play() {
    if (!other_ || play_ || kind_ != Kind::kSweep || !fit_ || (!trusts_sweep_ && rest_.size() < 2)) return;
    if (suspect_ && rest_.empty()) return;
    const double share = (other_->score - fit_->floor) / fit_->height;
    // There are two places with this score. The lens went down from beyond the peak, so it is beyond the stop.
    const double off = std::max({1.0, 0.15 * stride_, 0.1 * prior_.width});
    const double stood = (other_->at - fit_->top) * direction_;
    const double near = -sweep_distance(share, -direction_) - stood, far = sweep_distance(share, direction_) - stood;
    is_new_play_ = true;
    const bool tells = share > 0.05 && share < 0.9;
    if (!suspect_) {
      if (tells && near > -3 * off) play_ = near > off ? near : 0;
    } else {
      // It is known then that it has some.
      play_ = !tells ? kDeep * last() / 1.2 : near > off && near > refuted_ + off ? near : std::max(far, 0.0);
    }
    // Where the sweep turned in, the lens did not follow until its play was used up.
    if (play_ && (prior_.top - leg_.from) * direction_ < *play_ + prior_.width / 2) distrusts_ = true;
  }

  /// How far from its top, on one side of it, the sweep saw this share of its height.
  double sweep_distance(double share, int side) const {
    const auto share_of = [&](const FocusSample& s) { return (s.score - prior_.floor) / prior_.height; };
    double nearer = 0, above = 1;
    const auto n = static_cast<std::ptrdiff_t>(row_.size());
    for (std::ptrdiff_t i = side > 0 ? 0 : n - 1; i >= 0 && i < n; i += side) {
      const FocusSample& s = row_[static_cast<std::size_t>(i)];
      const double distance = (s.at - prior_.top) * side, here = share_of(s);
      if (distance <= 0) continue;
      if (here <= share) return nearer + (above > here ? (above - share) / (above - here) : 1) * (distance - nearer);
      nearer = distance, above = here;
    }
    return nearer;
  }

  // --- Beside the last peak ------------------------------------------------------------------------------------------

  /// True if three or more stops differ by no more than noise.
  bool is_level() const {
    if (rest_.size() < 3) return false;
    double least = rest_[0].score, most = least;
    for (const FocusSample& s : rest_) least = std::min(least, s.score), most = std::max(most, s.score);
    return most - least < std::max(4 * noise_, 0.02 * prior_.height);
  }

  std::optional<double> nothing_here() {
    if (kind_ == Kind::kTracking) {
      const int back = *ended_at_;
      if (at_ == back) return finish(true);
      rest_.clear();
      state_ = FocusState::kTracking;
      kind_ = Kind::kTracking;
      at_ = clamped(at_);
      const auto to = send(back);
      finish(true);
      return to;
    }
    begin();
    from_here_ = true;
    FocusFrame f;
    f.score = score_;
    return start(f);
  }

  std::optional<double> begin_local(Kind kind, double distance, double share) {
    clear();
    moves_ = 0;
    kind_ = kind;
    settled_ = 0;
    noise_ = std::max(watch_.noise(), watch_.unrest());
    share_left_ = share;
    state_ = kind == Kind::kTracking ? FocusState::kTracking : FocusState::kFine;
    FocusSample level = watch_.level();
    at_ = here().value_or(0);
    level.at = at_;
    prior_ = *shape_;
    prior_.top = at_;
    fit_.reset();
    add(level);
    local_step_ = (drift_ < 0 ? -1 : 1) * std::clamp(distance, 1.0, std::max(1.0, kLocalStep * prior_.width));
    retries_ = kRetries - 1;
    fine_began_ = motion_.now();
    from_other_side_ = false;
    return refine();
  }

  std::optional<double> watch(const FocusFrame& f) {
    if (!motion_.at_rest()) return {};
    WatchSettings s{.loss = settings_.loss,
                    .loss_frames = settings_.loss_frames,
                    .tracking = settings_.tracking && shape_ && state_ == FocusState::kFocused,
                    .noise_gain = state_ == FocusState::kFocused ? noise_gain_ : 0,
                    .noise_least = noise_least_,
                    .noise_most = noise_most_};
    const FocusWatch::Sign sign = watch_.frame(f, s);
    if (sign == FocusWatch::Sign::kNone) return {};
    const bool is_local = shape_ && state_ == FocusState::kFocused;
    const double level = watch_.level().score, reference = watch_.reference();
    // The height of the scene as it was at rest, rather than as the search found it.
    if (is_local) {
      FocusPeak now = *shape_;
      now.height = std::max(reference - now.floor, 0.1 * now.height);
      const double share = (level - now.floor) / now.height;
      if (sign == FocusWatch::Sign::kSlipped) return begin_local(Kind::kTracking, now.distance(level, 1), share);
      if (share > kNear) return begin_local(Kind::kLocal, share < 1 ? now.distance(level, 2) : 0.6 * now.width, share);
    }
    retries_ = resweeps_ = 0;
    slower_ = 1;
    begin();
    from_here_ = is_local;
    return start(f);
  }

  // --- Result --------------------------------------------------------------------------------------------------------

  std::optional<double> finish(bool focused) {
    if (focused && kind_ == Kind::kSweep && !rest_.empty() && last() > 0) {
      // Never for less than the best that was seen.
      const double seen = extremes().second, least = seen - std::max(kLess * prior_.height, 6 * noise_);
      // Of a lens that does what it is told the scene has changed.
      if (best().score < least && (slew_ > 0 || suspect_ || !motion_.lag_is_known())) {
        if (resweeps_ < kRetries) return sweep_slower();
        focused = false;
      }
    }
    const FocusPeak* found = focused ? &prior_ : nullptr;
    FocusPeak peak = prior_;
    if (focused && fit_) {
      peak = *fit_;
      peak.width = prior_.width;
      if (kind_ == Kind::kSweep || rest_.size() >= 3)
        peak.width = std::clamp(fit_->width, 0.6 * prior_.width, 1.6 * prior_.width);
    }
    peak.top = std::clamp(peak.top, at_ - peak.width, at_ + peak.width);
    if (found) found = &peak;
    make_curve(found);
    if (focused) {
      if (ended_at_ && at_ != *ended_at_) drift_ = at_ - *ended_at_;
      if (kind_ == Kind::kSweep && noise_least_ <= noise_most_)
        noise_gain_ = kNoiseGain * std::max(0.0, prior_.floor) / std::max(noise_least_ * noise_least_, 0.01);
      shape_ = peak;
      shape_->top = at_;
    }
    end(focused ? FocusState::kFocused : FocusState::kFailed);
    return {};
  }

  void make_curve(const FocusPeak* peak) {
    curve_ = {};
    if (kind_ == Kind::kSweep && row_.empty()) make_row();
    samples_ = row_;
    samples_.insert(samples_.end(), rest_.begin(), rest_.end());
    std::sort(samples_.begin(), samples_.end(), [](const FocusSample& a, const FocusSample& b) { return a.at < b.at; });
    for (const FocusSample& s : samples_) {
      curve_.positions.push_back(position_of(static_cast<int>(s.at)));
      curve_.scores.push_back(s.score);
    }
    if (!peak) return;
    constexpr double kHalf = 1.1774;  // sqrt(2 ln 2)
    curve_.top = settings_.min + peak->top * settings_.step;
    curve_.width = kHalf * peak->width * settings_.step;
    curve_.certainty = peak->error * settings_.step;
  }

  struct Leg {
    int from, to;
  };

  FocusSettings settings_;
  FocusState state_ = FocusState::kIdle;
  Phase phase_ = Phase::kWatch;
  Kind kind_ = Kind::kSweep;
  bool active_ = false;  ///< scores are used
  double position_;
  double score_ = 0, score_before_ = 0;  ///< of the last frames that had one
  double trend_ = 0;                     ///< change of the score when the last command was given
  std::optional<double> score_began_;    ///< of the frame with which the search began
  double began_at_ = 0;                  ///< position
  int moves_ = 0;
  bool is_lost_ = false;  ///< the lens may not be where it was sent

  FocusMotion motion_;
  FocusWatch watch_;
  int at_ = 0, from_ = 0;    ///< where the lens was sent last, and before, steps from min
  int direction_ = 1;        ///< of approach
  std::vector<Seen> trail_;  ///< frames since the last command, and the one before it

  // The sweep.
  std::vector<Leg> legs_;  ///< to come
  Leg leg_{};
  std::size_t leg_begin_ = 0;  ///< of the trace
  bool from_here_ = false;
  int stride_ = 1;
  double slower_ = 1;
  int passes_ = 0;
  std::vector<Seen> trace_;
  std::vector<FocusSample> row_;
  int lag_used_ = 0;
  double repeated_ = 0;  ///< sum of squared differences of scores of the same position, and their number
  int repeats_ = 0;

  // Stops.
  std::uint64_t fine_began_ = 0;      ///< frame
  std::vector<FocusSample> rest_;     ///< by position, approached from the right side
  std::optional<FocusSample> other_;  ///< approached from the other one
  std::vector<FocusSample> samples_, scratch_;
  FocusPeak prior_;  ///< as the sweep, or the last search, saw it
  std::optional<FocusPeak> fit_;
  int target_ = 0, passing_ = 0, stops_ = 0, settled_ = 0, retries_ = 0;
  bool from_other_side_ = false;
  bool suspect_ = false;       ///< play
  bool is_new_play_ = false;   ///< learned in this search
  double refuted_ = 0;         ///< play that a stop has shown to be more
  bool trusts_sweep_ = false;  ///< its positions are as certain as those of stops
  bool distrusts_ = false;     ///< they are not
  bool contradicts_ = false;   ///< a stop does
  int resweeps_ = 0;
  double local_step_ = 1;
  double share_left_ = 1;  ///< of the height of the last peak, when the search began
  double sum_ = 0, previous_ = 0;
  int summed_ = 0;
  double spread_ = 0;  ///< sum of squared changes from frame to frame, lens at rest, and their number
  int spreads_ = 0;
  double noise_ = 0;  ///< standard deviation of single scores

  // What is learned.
  std::optional<double> play_;  ///< steps
  double slew_ = 0;             ///< steps that a lens that is not at once where it is sent makes in a frame; 0: it is
  std::optional<FocusPeak> shape_;  ///< of the last peak, and where the lens stands
  std::optional<int> ended_at_;
  double drift_ = 1;  ///< sign: where focus went last
  double noise_least_ = 0, noise_most_ = 0, noise_gain_ = 0;
  FocusCurve curve_;
};

}  // namespace framequality
