// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of the frames of a stream to let through, from their scores and times alone.
#pragma once

#include "algorithms/ring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace framequality {

/// Values of the `mode` property.
enum class GateMode : int { kThreshold, kRelative, kBestOf };

/// Why a frame passed or was dropped.
enum class Reason : int {
  kAboveMinScore,
  kBelowMinScore,
  kAboveResumeScore,
  kNearMedian,
  kBelowMedian,
  kAboveMedian,
  kBestOfWindow,
  kOtherBlur,
  kDamaged
};

struct Verdict {
  bool pass;
  Reason reason;
  bool operator==(const Verdict&) const = default;
};

/// Most frames that a window can hold, so that memory stays bounded whatever times and lengths are set.
inline constexpr std::size_t kMaxWindowFrames = 65536;

/// The length of a window: until the image has moved by `displacement` of its diagonal if that is > 0, else `frames` of
/// them if that is > 0, else `time` (ns, > 0).
struct WindowLength {
  std::int64_t time = 1'000'000'000;
  int frames = 0;
  double displacement = 0;
  bool operator==(const WindowLength&) const = default;
};

/// later - earlier >= length, for every three times with later >= earlier.
inline bool is_apart(std::int64_t earlier, std::int64_t later, std::int64_t length) {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier) >= static_cast<std::uint64_t>(length);
}

/// Threshold with hysteresis. Scores are finite.
class Hysteresis {
 public:
  /// Frames pass from the start and until one scores below min_score; then again from the first one that scores
  /// resume_score or more. A resume_score below min_score counts as min_score. After each change the state is kept
  /// for hold_time; time: of the frame. Both in ns; time that runs backwards ends the hold.
  Verdict judge(double score, double min_score, double resume_score, std::int64_t time = 0,
                std::int64_t hold_time = 0) {
    const bool was_blocking = blocking_;
    blocking_ = score < (was_blocking ? std::max(min_score, resume_score) : min_score);
    if (blocking_ != was_blocking) {
      if (changed_ && time >= *changed_ && !is_apart(*changed_, time, hold_time))
        blocking_ = was_blocking;
      else
        changed_ = time;
    }
    if (blocking_) return {false, Reason::kBelowMinScore};
    return {true, was_blocking ? Reason::kAboveResumeScore : Reason::kAboveMinScore};
  }

 private:
  bool blocking_ = false;
  std::optional<std::int64_t> changed_;  ///< time of the last change
};

/// Median of at least one score in ascending order; of an even number, the mean of the middle two.
inline double median_of(const std::vector<double>& ascending) {
  const std::size_t middle = ascending.size() / 2;
  // Halved first: the sum of two large scores could overflow.
  return ascending.size() % 2 ? ascending[middle] : ascending[middle - 1] / 2 + ascending[middle] / 2;
}

/// Median of the scores in a window that ends with the newest one. Memory grows to the largest window seen
/// and is kept.
class RunningMedian {
 public:
  /// The median including this score; of an even number of scores the mean of the middle two. score: finite;
  /// time: of the frame, in ns. A window of length T that ends at t is (t - T, t]. Time that runs backwards starts
  /// anew.
  double add(double score, std::int64_t time, const WindowLength& window) {
    if (!window_.empty() && time < window_.back().time) clear();
    const auto most = window.frames > 0 ? static_cast<std::size_t>(window.frames) : kMaxWindowFrames;
    while (!window_.empty() &&
           (window_.size() >= most || (window.frames == 0 && is_apart(window_.front().time, time, window.time))))
      forget_oldest();
    if (window_.full()) grow();
    window_.push({score, time});
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), score), score);
    return median_of(sorted_);
  }

  /// Frames in the window, the newest included.
  std::size_t size() const { return sorted_.size(); }

  void clear() {
    window_.clear();
    sorted_.clear();
  }

 private:
  struct Entry {
    double score;
    std::int64_t time;
  };

  void forget_oldest() { sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), window_.pop().score)); }

  void grow() {
    window_.reserve(std::max<std::size_t>(2 * window_.capacity(), 64));
    sorted_.reserve(window_.capacity());
  }

  Ring<Entry> window_;
  std::vector<double> sorted_;  ///< the same scores in ascending order
};

/// Typical change of scores from one frame to the next: the median of the magnitudes of the differences of their
/// logarithms, over the last frames. Single dips do not count. 0 until two scores are above 0.
class Unrest {
 public:
  void add(double score) {
    if (score > 0 && last_ > 0) {
      if (changes_.full()) changes_.pop();
      changes_.push(std::abs(std::log(score / last_)));
    }
    last_ = score;
  }
  double value() const {
    if (changes_.empty()) return 0;
    std::array<double, kFrames> sorted;
    for (std::size_t i = 0; i < changes_.size(); ++i) sorted[i] = changes_[i];
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(changes_.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(changes_.size()));
    return *middle;
  }
  void clear() {
    changes_.clear();
    last_ = 0;
  }

 private:
  static constexpr std::size_t kFrames = 48;
  Ring<double, std::array<double, kFrames>> changes_;
  double last_ = 0;
};

/// Largest number of later frames that a frame can be compared with.
inline constexpr int kMaxLookAhead = 250;

/// The level to compare a frame's score with, from the scores before and after it.
///
/// A blur is a dip: the score falls and, `ahead` frames later at the latest, is back. A longer fall is
/// another scene, other light or other noise; a rise is not a blur either. Filling all dips of the sequence that are
/// no longer than `ahead` frames is its closing (Serra, Image Analysis and Mathematical Morphology, 1982): the least
/// of the highest scores of all windows of ahead + 1 frames that include this one. It leaves
/// steps and ramps as they are, so that none of their frames is below it, and adapts to a new scene at once.
///
/// Highest scores follow outliers, and where every third frame is sharper than the others (as frames of some codecs
/// are) all others are dips. So the level is at most the higher of two medians: of the window that ends with the frame,
/// and of the frame and the `ahead` after it.
///
/// Memory grows to the largest number of frames held and is kept.
class RunningLevel {
 public:
  /// True if a frame of this time begins a new sequence, because time runs backwards. All frames that wait must get
  /// their level first.
  bool begins_anew(std::int64_t time) const { return !entries_.empty() && time < entries_.back().time; }

  /// Adds a frame, which waits for its level. Arguments as for RunningMedian::add().
  void add(double score, std::int64_t time, const WindowLength& window) {
    if (begins_anew(time)) unrest_.clear();
    const double median = median_.add(score, time, window);
    unrest_.add(score);
    if (entries_.full()) entries_.reserve(std::max<std::size_t>(2 * entries_.capacity(), 16));
    entries_.push({score, time, median, median_.size() - 1});
  }

  /// Frames that wait for their level.
  std::size_t waiting() const { return entries_.size() - judged_; }

  /// The level for the frame that has waited longest, which leaves the queue. ahead: at most kMaxLookAhead; 0: the
  /// running median. Frames before it count as far as they are in the median's window. At a scene's first frames the
  /// windows begin with the first frame, so that a rise drops nothing; but with fewer than `ahead` frames after it,
  /// windows end with the last frame and keep their length: the end of a stream does not lower the level.
  double next(int ahead) {
    const Entry& own = entries_[judged_];
    const double level = ahead > 0 ? closing(own, static_cast<std::size_t>(ahead)) : own.median;
    ++judged_;
    for (; judged_ > static_cast<std::size_t>(ahead); --judged_) entries_.pop();
    return level;
  }

  /// True if the image fades out or in around the frame that has waited longest: the last one that it is
  /// compared with, on either side, scores 0. Dark images have few grey levels, so their scores fluctuate.
  bool fades(int ahead) const {
    const auto reach = static_cast<std::size_t>(ahead);
    return reach > 0 && (entries_[judged_ + std::min(reach, waiting() - 1)].score <= 0 ||
                         entries_[judged_ - std::min(reach, judged_)].score <= 0);
  }
  /// Unrest up to the last frame that was added.
  double unrest() const { return unrest_.value(); }

  void clear() {
    entries_.clear();
    judged_ = 0;
    median_.clear();
    unrest_.clear();
  }

 private:
  struct Entry {
    double score;
    std::int64_t time;
    double median;       ///< of the window that ends with it
    std::size_t before;  ///< frames in that window before it
  };

  double closing(const Entry& own, std::size_t ahead) {
    const std::size_t after = std::min(ahead, waiting() - 1), before = std::min(judged_, own.before);
    after_.clear();
    peaks_.clear();
    for (std::size_t i = 0; i <= after; ++i) {
      after_.push_back(entries_[judged_ + i].score);
      peaks_.push_back(i > 0 ? std::max(peaks_.back(), after_.back()) : after_.back());
    }
    double level = std::numeric_limits<double>::max(), peak = own.score;
    for (std::size_t back = 0; back <= ahead; ++back) {  // where the window begins
      if (back <= before) peak = std::max(peak, entries_[judged_ - back].score);
      if (ahead - back <= after) level = std::min(level, std::max(peak, peaks_[ahead - back]));
    }
    std::sort(after_.begin(), after_.end());
    return std::min(level, std::max(own.median, median_of(after_)));
  }

  RunningMedian median_;
  Unrest unrest_;
  Ring<Entry> entries_;        ///< judged ones that are still needed, then those that wait
  std::size_t judged_ = 0;     ///< number of judged entries_
  std::vector<double> after_;  ///< scores of a frame and of those after it
  std::vector<double> peaks_;  ///< the highest of the first 1, 2, ... of them
};

/// Default minimum ratio of a score to the level. Scores that depend on light and contrast can fall by a fifth without
/// blur. Those that compare scenes (mean-square-frequency, directional-frequency) do not, but fluctuate where subjects
/// move: there the score must fall by several times the usual fluctuation.
inline constexpr double kUsualRatio = 0.8;
inline double scene_ratio(double unrest) {
  constexpr double kRatio = 0.9, kTimes = 3.5;
  return std::min(kRatio, std::exp(-kTimes * unrest));
}

/// Passes while min_ratio x median <= score <= max_ratio x median; max_ratio 0: no upper limit. Nothing can be said
/// against a frame while the median, or level, is 0 or less.
inline Verdict judge_by_median(double score, double median, double min_ratio, double max_ratio) {
  if (median <= 0) return {true, Reason::kNearMedian};
  if (score < min_ratio * median) return {false, Reason::kBelowMedian};
  if (max_ratio > 0 && score > max_ratio * median) return {false, Reason::kAboveMedian};
  return {true, Reason::kNearMedian};
}

/// Finds the best frame of each window. Windows of time lie end to end from the first frame on; windows of frames hold
/// the frames offered.
class BestOf {
 public:
  /// Call before a frame of this time is offered: true if the window before it is over.
  bool begins_window(std::int64_t time, const WindowLength& window) {
    if (window.displacement > 0) return false;  // moves_on() says
    if (window.frames > 0) return frames_ >= window.frames;
    if (!begin_) {
      begin_ = time;
      return false;
    }
    if (time < *begin_) {
      // is_complete() may have been a little early for a source whose durations are not exact.
      if (!is_apart(time, *begin_, window.time)) return false;
      begin_ = time;
      return true;
    }
    if (!is_apart(*begin_, time, window.time)) return false;
    const auto past = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(*begin_);
    begin_ = time - static_cast<std::int64_t>(past % static_cast<std::uint64_t>(window.time));
    return true;
  }

  /// The same for windows of a displacement: (x, y) is where the image has moved to in this shot, in diagonals.
  bool moves_on(double x, double y, unsigned shot, const WindowLength& window) {
    const bool begins =
        !first_ || shot != first_->shot || std::hypot(x - first_->x, y - first_->y) >= window.displacement;
    const bool has_window = first_.has_value();
    if (begins) first_ = {x, y, shot};
    return begins && has_window;
  }

  /// Adds a frame to the window; true if it is the best so far. Of equal scores, the first is best.
  bool offer(double score) {
    ++frames_;
    if (best_ && score <= *best_) return false;
    best_ = score;
    return true;
  }

  /// Takes a frame into the window that cannot be its best.
  void pass_over() { ++frames_; }

  /// True if the window is full with the frame last taken, which lasts until `end`: waiting for the next one would
  /// only cost time.
  bool is_complete(std::int64_t end, const WindowLength& window) const {
    if (window.displacement > 0) return false;
    if (window.frames > 0) return frames_ >= window.frames;
    return begin_ && end > *begin_ && is_apart(*begin_, end, window.time);
  }

  /// Ends the window once its best frame is out. If it was complete, the next one begins where it ends; else the rest
  /// is a window of its own.
  void close(bool complete, const WindowLength& window) {
    frames_ = 0;
    best_.reset();
    if (complete && begin_ && window.frames == 0 && window.displacement == 0 &&
        *begin_ <= std::numeric_limits<std::int64_t>::max() - window.time)
      *begin_ += window.time;
  }

 private:
  struct Place {
    double x, y;
    unsigned shot;
  };
  std::optional<std::int64_t> begin_;  ///< of the current window of time
  std::optional<Place> first_;         ///< frame of the current window of a displacement
  std::int64_t frames_ = 0;            ///< in the current window
  std::optional<double> best_;         ///< of those offered
};

}  // namespace framequality
