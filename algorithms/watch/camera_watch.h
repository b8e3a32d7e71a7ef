// SPDX-License-Identifier: LGPL-2.1-or-later
// State of a fixed camera, judged from the measurements of its frames: good, or a fault.
//
// Readings of a quarter of a second are compared with the baseline of their light. A fault is reported after it lasted
// for the hold time, and ends after it was absent for the recovery time; intermittent signs count down twice as
// fast as up, so that somebody who walks past the lens is not a fault and single good frames do not hide one. The
// thresholds of beginning and end differ.
//
// How faults show: a defocused lens takes the fine detail (the score), and leaves the pattern of
// contrast over the zones, the light and the noise as they are; a cover takes all contrast; a moved camera shows
// another pattern, as sharp as before; a frozen one shows what it has shown before, noise included, in three zones of
// four (clocks that are drawn into the image run on). All faults that a reading shows are counted; the one that
// explains the others is reported.
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
/// Bit of a fault in a set of faults.
constexpr unsigned fault_bit(CameraState s) { return 1U << (static_cast<int>(s) - kFirstFault); }
inline constexpr unsigned kAllFaults = (1U << kFaults) - 1;

struct CameraWatchSettings {
  unsigned faults = kAllFaults;  ///< that are watched for
  std::int64_t hold_time = 10'000'000'000, recovery_time = 5'000'000'000, repeat_interval = 60'000'000'000,
               learn_time = 60'000'000'000;  ///< ns; repeat_interval 0: never
  double min_ratio = 0.6;                    ///< of score and baseline, below which it is defocused
  double resume_ratio = 0.75;                ///< from which it is not any more
  double dark_level = 8;                     ///< mean luma above black, 8-bit grey levels: darker is dark
  double overexposed_share = 0.5;            ///< of the pixels that are white
};

/// The numbers of a reading. NaN: not known.
struct CameraFigures {
  double score = kUnknown, baseline = kUnknown, ratio = kUnknown;
  double least_ratio = kUnknown;  ///< ratio below which it is defocused
  double noise = kUnknown, usual_noise = kUnknown;
  double mean = kUnknown, clipped_black = kUnknown, clipped_white = kUnknown;
  double contrast = kUnknown;    ///< energy of the gradient over its baseline, both relative to the light
  double difference = kUnknown;  ///< of the pattern of zones: 0 the same ... 1 unrelated
  double changed = kUnknown;     ///< share of the zones
  double spread = kUnknown;      ///< of the pattern over the usual one's: how alike the zones are
  double smeared = 0;            ///< share of the calm zones that lost detail; 0 if the other zones lost it, too
  ViewFit view;                  ///< the reading compared with the template
  ViewFit lasting;               ///< the same of the view of the last seconds
  ViewFound found;               ///< where that fits better
  double unrest = kUnknown;      ///< difference of the pattern from that of the reading before
  double still = 0;              ///< s
  double swing = 0;              ///< turns of the mean luma, 1/s
};

/// Progress of a watch before it has learned anything.
struct LearningProgress {
  double seconds = 0;                    ///< since it began
  double learned = 0;                    ///< s learned of the light level that is furthest
  std::optional<CameraState> hindrance;  ///< the fault that most often prevented learning
  double hindered = 0;                   ///< s that it did so
};

/// A change of state, or a reminder that it lasts.
struct CameraNews {
  CameraState state, previous;
  bool repeated = false;
  double seconds = 0;  ///< since the fault began; at its end, its duration
};

class CameraWatch {
 public:
  /// Judges a frame. Times are running times; one that runs backwards restarts counting, and keeps what was learned.
  std::optional<CameraNews> frame(const WatchedFrame& frame, const CameraWatchSettings& settings) {
    std::optional<CameraNews> news;
    if (averager_.add(frame)) news = judge(averager_.reading(), settings);
    return news;
  }

  CameraState state() const { return state_; }
  /// Numbers of the last reading.
  const CameraFigures& figures() const { return figures_; }
  /// Duration of the state, or of its fault, s.
  double seconds() const { return seconds_; }
  LearningProgress progress() const;

  /// Starts learning again.
  void relearn() {
    baseline_.forget();
    begin_anew();
    state_ = CameraState::kLearning;
    seconds_ = told_ = 0;
    is_slow_told_ = false;
    hindered_ = {};
  }
  /// Starts another stretch of the same camera's frames. Learning in progress is kept.
  void begin_anew() {
    averager_.forget();
    window_.forget();
    lasting_ = {};
    found_ = {};
    recent_.clear();
    counts_ = {};
    cleared_ = 0;
    still_ = 0;
  }

  Baseline& baseline() { return baseline_; }
  const Baseline& baseline() const { return baseline_; }
  /// Accepts a baseline that was given, not learned.
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
  /// s: a fault; the remainder is for compilers, which do not know that.
  static std::size_t index_of(CameraState s) {
    return static_cast<std::size_t>(static_cast<int>(s) - kFirstFault) % kFaults;
  }
  Count& count(CameraState s) { return counts_[index_of(s)]; }

  static Sign sign(bool bad, bool clear) { return bad ? kBad : clear ? kClear : kBetween; }

  std::optional<CameraNews> judge(const Reading& r, const CameraWatchSettings& s);
  /// Fills figures_.
  Likeness compare(const Reading& r, const LevelBaseline* b, const CameraWatchSettings& s);
  /// Evidence of a fault in a reading; b: null until a baseline is learned.
  Sign sign_of(CameraState fault, const Reading& r, const LevelBaseline* b, const CameraWatchSettings& s) const;
  ViewFit fit_view(std::span<const double> levels, double floor);
  /// Compares the reading and the view of the last seconds with the template.
  /// True if that is a new one.
  bool compare_view(const Reading& r);
  Sign sign_of_moved(const LevelBaseline* b) const;
  std::optional<CameraNews> change(const Reading& r, const CameraWatchSettings& s);
  /// The report due, if any, while there is neither a baseline nor a fault.
  std::optional<CameraNews> keep_learning(const Reading& r, const CameraWatchSettings& s);
  std::optional<CameraNews> repeat(const Reading& r, const CameraWatchSettings& s);
  CameraNews become(CameraState state, double lasted);
  void remember();

  /// Distance of a reading from the nearest recent one, in octaves: of all zones but one in four, and of all.
  /// NaN without readings.
  struct Distance {
    double most = kUnknown, all = kUnknown;
  };
  Distance distance();
  double score() const { return averager_.reading().frame.score; }

  struct Recent {
    double score = 0, noise = 0, mean = 0, floor = 0;
    std::vector<double> logs;
  };

  Averager averager_;
  Baseline baseline_;
  Pattern pattern_;
  ViewWindow window_;
  ViewMatcher matcher_;
  ViewFit lasting_;
  ViewFound found_;
  Ring<Recent, std::array<Recent, kRecent>> recent_;
  std::vector<double> changes_;
  std::array<Count, kFaults> counts_;
  CameraState state_ = CameraState::kLearning;
  CameraFigures figures_;
  int level_ = -1;
  double seconds_ = 0, cleared_ = 0, told_ = 0, still_ = 0;
  std::array<double, kFaults> hindered_{};  ///< s that a fault kept readings from being learned, while nothing is
  bool is_slow_told_ = false;               ///< that learning takes long
};

}  // namespace framequality
