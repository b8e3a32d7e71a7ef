// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a fixed camera still sees what it should, told from what a meter says of its frames.
//
// Readings of a quarter of a second are held against the baseline of their light. A fault is told once it has lasted
// for the hold time, and is over once it has been away for the recovery time; what comes and goes counts down twice as
// fast as up, so that somebody who walks past the lens is no fault and single good frames do not hide one. Thresholds
// of coming and going differ.
//
// Which figure tells which fault: a defocused lens takes the fine detail (the score), and leaves the pattern of
// contrast over the zones, the light and the noise as they are; a cover takes all contrast; a moved camera shows
// another pattern, as sharp as before; a frozen one shows what it has shown before, noise included, in three zones of
// four (clocks that are drawn into the picture run on). All faults that a reading shows are counted; the one that
// explains the others is told.
#pragma once

#include "algorithms/ring.h"
#include "algorithms/watch/baseline.h"
#include "algorithms/watch/reading.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace framequality {

/// Values of the property `state`.
enum class CameraState : int {
  kLearning,
  kGood,
  // Faults.
  kDefocused,
  kCovered,
  kDark,
  kOverexposed,
  kFrozen,
  kMoved,
  kFlickering,
  kNoisy
};
inline constexpr int kCameraStates = 10;
inline constexpr int kFirstFault = static_cast<int>(CameraState::kDefocused);
inline constexpr int kFaults = kCameraStates - kFirstFault;
constexpr bool is_fault(CameraState s) { return static_cast<int>(s) >= kFirstFault; }
/// Of a set of faults.
constexpr unsigned fault_bit(CameraState s) { return 1U << (static_cast<int>(s) - kFirstFault); }
inline constexpr unsigned kAllFaults = (1U << kFaults) - 1;

struct CameraWatchSettings {
  unsigned faults = kAllFaults;  ///< that are watched for
  std::int64_t hold_time = 10'000'000'000, recovery_time = 5'000'000'000, repeat_interval = 60'000'000'000,
               learn_time = 60'000'000'000;  ///< ns; repeat_interval 0: never
  double min_ratio = 0.6;                    ///< of score and baseline, below which it is defocused
  double resume_ratio = 0.75;                ///< from which it is not any more
  double dark_level = 8;                     ///< mean luma above black, 8-bit codes: darker is dark
  double overexposed_share = 0.5;            ///< of the pixels that are white
};

/// The figures of a reading. NaN: not known.
struct CameraFigures {
  double score = kUnknown, baseline = kUnknown, ratio = kUnknown;
  double least_ratio = kUnknown;  ///< below it is defocused
  double noise = kUnknown, usual_noise = kUnknown;
  double mean = kUnknown, clipped_black = kUnknown, clipped_white = kUnknown;
  double contrast = kUnknown;    ///< energy of the gradient over its baseline, both relative to the light
  double difference = kUnknown;  ///< of the pattern of zones: 0 the same ... 1 another
  double changed = kUnknown;     ///< share of the zones
  double spread = kUnknown;      ///< of the pattern over the usual one's: how alike the zones are
  double unrest = kUnknown;      ///< difference of the pattern from that of the reading before
  double still = 0;              ///< s
  double swing = 0;              ///< turns of the mean luma, 1/s
};

/// A change of state, or one that lasts.
struct CameraNews {
  CameraState state, previous;
  bool repeated = false;
  double seconds = 0;  ///< since the fault began; where one is over: that it lasted
};

class CameraWatch {
 public:
  /// Takes a frame. Times are running times; one that runs backwards begins counting anew, and keeps what was learned.
  std::optional<CameraNews> frame(const WatchedFrame& frame, const CameraWatchSettings& settings) {
    std::optional<CameraNews> news;
    if (averager_.add(frame)) news = judge(averager_.reading(), settings);
    return news;
  }

  CameraState state() const { return state_; }
  /// Of the last reading.
  const CameraFigures& figures() const { return figures_; }
  /// s that the state has lasted, or its fault.
  double seconds() const { return seconds_; }

  /// Learns all anew.
  void relearn() {
    baseline_.forget();
    begin_anew();
    state_ = CameraState::kLearning;
    seconds_ = 0;
  }
  /// What follows is another stretch of the same camera's frames.
  void begin_anew() {
    averager_.forget();
    recent_.clear();
    counts_ = {};
    cleared_ = 0;
    still_ = 0;
    baseline_.forget_begun();
  }

  Baseline& baseline() { return baseline_; }
  const Baseline& baseline() const { return baseline_; }
  /// The baseline was given, not learned.
  void know() {
    if (!baseline_.empty() && state_ == CameraState::kLearning) state_ = CameraState::kGood;
  }

 private:
  enum Sign { kClear, kBetween, kBad };
  struct Count {
    double held = 0;     ///< s, up to the hold time
    double lasted = 0;   ///< s since it began
    Sign sign = kClear;  ///< of the last reading
  };

  static constexpr std::size_t kRecent = 64;
  // The fault that explains the others comes first.
  static constexpr CameraState kOrder[] = {CameraState::kDark,       CameraState::kOverexposed, CameraState::kCovered,
                                           CameraState::kFrozen,     CameraState::kMoved,       CameraState::kDefocused,
                                           CameraState::kFlickering, CameraState::kNoisy};
  static constexpr double kDown = 2;  ///< a count falls by so many times the time that it is not bad
  // Defocused. Where scores vary by themselves their low quantile counts, within limits.
  static constexpr double kBelowLow = 0.85, kWidest = 0.7;
  // Covered: contrast and score that are left; the second of each ends it.
  static constexpr double kFaded = 0.05, kFadedEnd = 0.1, kBlurred = 0.3, kBlurredEnd = 0.45, kStillAlike = 0.5;
  static constexpr double kUnrest = 0.25, kAlikeNoise = 0.5, kAlike = 0.15, kAlikeEnd = 1.3, kChance = 2.5;
  static constexpr double kDarkEnd = 1.5, kWhiteEnd = 0.7, kLight = 0.9, kLightEnd = 0.85;
  // Frozen: of the distances between readings. Exact numbers that are averaged differ in the last bits.
  static constexpr double kExact = 1e-9, kActive = 1e-5, kStill = 0.125, kLonger = 2;
  static constexpr std::size_t kStillOf = 4;  ///< all but one zone of four
  // Moved.
  static constexpr double kOther = 0.3, kOtherUnsure = 0.45, kOtherThanUsual = 2.2, kOtherEnd = 0.7;
  static constexpr double kMostZones = 0.45, kMostZonesEnd = 0.3;
  static constexpr double kMuchWhite = 0.25;
  static constexpr double kSwing = 1.5, kSwingEnd = 1.2;
  static constexpr double kNoisier = 1.3, kNoise = 6, kNoiseEnd = 0.7;

  Count& count(CameraState s) { return counts_[static_cast<std::size_t>(static_cast<int>(s) - kFirstFault)]; }

  static Sign sign(bool bad, bool clear) { return bad ? kBad : clear ? kClear : kBetween; }

  std::optional<CameraNews> judge(const Reading& r, const CameraWatchSettings& s) {
    pattern_.set(r.frame);
    level_ = baseline_.level_of(r.frame.mean, level_);
    const LevelBaseline* const b = baseline_.nearest(level_);
    const Likeness likeness = compare(r, b, s);
    bool calm = true;
    for (const CameraState fault : kOrder) {
      Count& c = count(fault);
      c.sign = s.faults & fault_bit(fault) ? sign_of(fault, r, b, s) : kClear;
      if (c.held > 0 || c.sign == kBad) c.lasted += r.seconds;
      const double most = static_cast<double>(s.hold_time) * 1e-9;
      if (c.sign == kBad) c.held = std::min(most, c.held + r.seconds);
      if (c.sign == kClear) c.held = std::max(0.0, c.held - kDown * r.seconds);
      if (c.held == 0 && c.sign != kBad) c.lasted = 0;
      // The time that it has stood still is its own count: pictures that codecs repeat do not add up.
      if (fault == CameraState::kFrozen) c.held = c.sign == kBad ? most : 0, c.lasted = still_;
      calm = calm && c.held == 0 && c.sign == kClear;
    }
    seconds_ += r.seconds;
    if (calm && !is_fault(state_))
      baseline_.learn(level_, r, pattern_, likeness, static_cast<double>(s.learn_time) * 1e-9);
    remember();
    return change(r, s);
  }

  /// Fills figures_.
  Likeness compare(const Reading& r, const LevelBaseline* b, const CameraWatchSettings& s) {
    const WatchedFrame& f = r.frame;
    Likeness is;
    if (f.noise >= 0) is.noise = Baseline::log_of(f.noise);
    if (f.energy >= 0 && f.mean > 0) is.energy = Baseline::log_of(f.energy / (f.mean * f.mean));
    figures_ = {};
    figures_.score = f.score;
    figures_.noise = f.noise;
    figures_.mean = f.mean;
    figures_.clipped_black = f.clipped_black;
    figures_.clipped_white = f.clipped_white;
    figures_.swing = r.swing;
    const Distance from_recent = distance();
    is.distance = from_recent.most;
    if (b) {
      figures_.baseline = std::exp2(b->score);
      figures_.ratio = f.score / figures_.baseline;
      figures_.least_ratio = baseline_.knows(level_) ? std::clamp(kBelowLow * std::exp2(b->low - b->score),
                                                                  kWidest * s.min_ratio, s.min_ratio)
                                                     : s.min_ratio * s.min_ratio;
      figures_.usual_noise = std::exp2(b->noise);
      figures_.contrast = std::exp2(is.energy - b->energy);
      is.difference = pattern_.difference(b->pattern, b->floor);
      if (!pattern_.empty() && !b->pattern.empty()) {
        const double floor = std::max(pattern_.floor(), b->floor);
        figures_.spread = Pattern::spread(pattern_.logs(), floor) / std::max(Pattern::spread(b->pattern, floor), 1e-3);
      }
      if (!recent_.empty())
        figures_.unrest = pattern_.difference(recent_.back().logs, recent_.back().floor).value_or(1);
      if (is.difference) {
        figures_.difference = *is.difference;
        figures_.changed = pattern_.changed(b->pattern, b->floor);
      }
    }
    // Where the zones of a picture never rest by themselves, most of them are enough; else it must be all.
    const bool is_still =
        from_recent.all <= kExact || (b && b->activity > kActive && is.distance <= kStill * b->activity);
    if (!is_still) is.still = still_;  // by itself, and is over
    figures_.still = still_ = is_still ? still_ + r.seconds : 0;
    return is;
  }

  Sign sign_of(CameraState fault, const Reading& r, const LevelBaseline* b, const CameraWatchSettings& s) const {
    const WatchedFrame& f = r.frame;
    const CameraFigures& is = figures_;
    const bool own = b && baseline_.knows(level_);
    switch (fault) {
      case CameraState::kDark:
        return sign(f.mean < s.dark_level, !(f.mean < kDarkEnd * s.dark_level));
      case CameraState::kOverexposed: {
        const double light = f.mean / f.range;
        return sign(f.clipped_white >= s.overexposed_share || light > kLight,
                    !(f.clipped_white >= kWhiteEnd * s.overexposed_share) && !(light > kLightEnd));
      }
      case CameraState::kCovered: {
        if (f.score == 0) return kBad;
        // Noise that has not been taken off, or was coded, lies on all zones alike, and on others the next moment.
        const double unrest = b ? std::max(kUnrest, kOtherThanUsual * b->restless) : kUnrest;
        const bool other = is.difference > kStillAlike;  // than the usual picture: fog leaves it alike
        const double alike = is.unrest > unrest ? kAlikeNoise : kAlike;
        const bool faded = is.contrast < kFaded && (is.ratio < kBlurred || other),
                   still_faded = is.contrast < kFadedEnd && (is.ratio < kBlurredEnd || other);
        const bool chance = other && is.unrest > kChance * unrest;
        return sign(faded || chance || is.spread < alike, !still_faded && !chance && !(is.spread < kAlikeEnd * alike));
      }
      case CameraState::kFrozen: {
        const double hold = static_cast<double>(s.hold_time) * 1e-9;
        const bool too_long = still_ >= (b ? std::max(hold, kLonger * b->longest_still) : kLonger * hold);
        return sign(still_ > 0 && too_long, still_ == 0 || state_ != CameraState::kFrozen);
      }
      case CameraState::kMoved: {
        if (!b) return kClear;
        // What is blurred or white says little of where the camera looks.
        if (!(is.ratio >= is.least_ratio) || is.clipped_white > kMuchWhite) return kBetween;
        const double other = std::max(own ? kOther : kOtherUnsure, kOtherThanUsual * b->restless);
        // A picture that has nothing in common with the usual one is another even where many zones hold as much by
        // chance.
        const double most = is.difference > 2 * other ? kMostZonesEnd : kMostZones;
        return sign(is.difference > other && is.changed >= most,
                    !(is.difference > kOtherEnd * other) || !(is.changed >= kOtherEnd * most));
      }
      case CameraState::kDefocused:
        return sign(is.ratio < is.least_ratio, !(is.ratio < is.least_ratio * s.resume_ratio / s.min_ratio));
      case CameraState::kFlickering:
        return sign(r.swing > kSwing, r.swing < kSwingEnd);
      case CameraState::kNoisy: {
        if (!own) return kClear;
        // What has come in addition.
        const double most = std::max(kNoise, kNoisier * is.usual_noise),
                     more = std::sqrt(std::max(0.0, is.noise * is.noise - is.usual_noise * is.usual_noise));
        return sign(more > most, !(more > kNoiseEnd * most));
      }
      default:
        return kClear;
    }
  }

  std::optional<CameraNews> change(const Reading& r, const CameraWatchSettings& s) {
    const double hold = static_cast<double>(s.hold_time) * 1e-9;
    const auto is_held = [&](CameraState fault) { return count(fault).sign == kBad && count(fault).held >= hold; };
    std::optional<CameraState> held;
    for (const CameraState fault : kOrder)
      if (is_held(fault)) {
        held = fault;
        break;
      }
    // One that explains it and began a moment later.
    if (held)
      for (const CameraState fault : kOrder) {
        if (fault == *held) break;
        if (count(fault).sign == kBad && count(fault).held >= hold / 2) {
          held = fault;
          break;
        }
      }
    const CameraState before = state_;
    if (!is_fault(state_)) {
      if (held) return become(*held, count(*held).lasted);
      if (!baseline_.empty() && state_ == CameraState::kLearning) return become(CameraState::kGood, 0);
      return std::nullopt;
    }
    if (!(s.faults & fault_bit(state_))) count(state_) = {};  // not watched for any more
    const bool explains = held && *held != state_ && rank(*held) < rank(state_);
    if (explains) return become(*held, count(*held).lasted);
    cleared_ = count(state_).sign == kClear ? cleared_ + r.seconds : std::max(0.0, cleared_ - kDown * r.seconds);
    if (cleared_ >= static_cast<double>(s.recovery_time) * 1e-9) {
      if (held && *held != before) return become(*held, count(*held).lasted);
      return become(baseline_.empty() ? CameraState::kLearning : CameraState::kGood, 0);
    }
    told_ += r.seconds;
    if (s.repeat_interval > 0 && told_ >= static_cast<double>(s.repeat_interval) * 1e-9) {
      told_ -= static_cast<double>(s.repeat_interval) * 1e-9;
      return CameraNews{state_, state_, true, seconds_};
    }
    return std::nullopt;
  }

  static int rank(CameraState fault) {
    int i = 0;
    while (kOrder[i] != fault) ++i;
    return i;
  }

  CameraNews become(CameraState state, double lasted) {
    const CameraNews news{state, state_, false, is_fault(state) ? lasted : seconds_};
    state_ = state;
    seconds_ = lasted;
    cleared_ = told_ = 0;
    return news;
  }

  /// How far a reading is from the nearest recent one, in octaves: what all zones but one of four differ by, and all.
  /// NaN without readings.
  struct Distance {
    double most = kUnknown, all = kUnknown;
  };
  Distance distance() {
    Distance least;
    for (std::size_t i = recent_.size(); i-- > 0;) {
      const Recent& other = recent_[i];
      if (other.logs.size() != pattern_.size()) continue;
      const double by_score = apart(score(), other.score);
      Distance d{by_score, std::max({by_score, apart(figures_.noise, other.noise), apart(figures_.mean, other.mean)})};
      if (!pattern_.empty()) {
        changes_.clear();
        for (std::size_t z = 0; z < pattern_.size(); ++z) {
          const double now = pattern_.logs()[z], before = other.logs[z], change = std::abs(now - before);
          d.all = std::max(d.all, change);
          // What lies on the floor says nothing.
          if (now > pattern_.floor() || before > other.floor) changes_.push_back(change);
        }
        d.most = kUnknown;
        if (changes_.size() > pattern_.size() / 2) {
          const auto at =
              changes_.begin() + static_cast<std::ptrdiff_t>(changes_.size() - 1 - changes_.size() / kStillOf);
          std::nth_element(changes_.begin(), at, changes_.end());
          d.most = *at;
        }
      }
      if (d.most < least.most || std::isnan(least.most)) least.most = d.most;
      if (d.all < least.all || std::isnan(least.all)) least.all = d.all;
    }
    return least;
  }
  /// Octaves between two figures; 0 if neither is known.
  static double apart(double a, double b) {
    return std::isnan(a) && std::isnan(b) ? 0 : std::abs(std::log2((std::abs(a) + kExact) / (std::abs(b) + kExact)));
  }
  double score() const { return averager_.reading().frame.score; }

  void remember() {
    if (recent_.full()) recent_.pop();
    Recent& now = recent_.next();  // with the memory of an old one
    now.score = score();
    now.noise = figures_.noise;
    now.mean = figures_.mean;
    now.floor = pattern_.floor();
    now.logs.assign(pattern_.logs().begin(), pattern_.logs().end());
    recent_.push();
  }

  struct Recent {
    double score = 0, noise = 0, mean = 0, floor = 0;
    std::vector<double> logs;
  };

  Averager averager_;
  Baseline baseline_;
  Pattern pattern_;
  Ring<Recent, std::array<Recent, kRecent>> recent_;
  std::vector<double> changes_;
  std::array<Count, kFaults> counts_;
  CameraState state_ = CameraState::kLearning;
  CameraFigures figures_;
  int level_ = -1;
  double seconds_ = 0, cleared_ = 0, told_ = 0, still_ = 0;
};

}  // namespace framequality
