// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of moments of a clip, and statistics of its scores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framequality::apps::scan {

/// A clip from `begin` on, `length` long, in `count` windows of equal length. In ns, or in frames.
struct Windows {
  std::uint64_t begin = 0, length = 0;
  int count = 1;
  bool open = false;  ///< windows of the same length continue after its end
  /// Number of the window, from 0; those before the clip count to the first, after it to the last, unless it is open.
  std::uint64_t of(std::uint64_t position) const;
  /// Half a window, rounded down.
  std::uint64_t half() const { return length / (2 * static_cast<std::uint64_t>(count)); }
};

/// How far the image has moved, as the meter measures it: in diagonals, to the right and down, since the shot began.
struct Travel {
  double x = 0, y = 0;
  std::uint64_t shot = 0;
};

/// A frame that may be chosen.
struct Moment {
  std::uint64_t frame, time;  ///< number in the clip; ns
  double score;
  std::optional<Travel> travel = {};  ///< where it was measured
  std::uint64_t place = 0;            ///< then: along the way, see Stretches
  bool damaged = false;               ///< not to be chosen
};

inline constexpr std::uint64_t kStretch = 1'000'000;  ///< places

/// Parts of a clip in which the image moves by one step: a new one begins where it has moved a step away from the
/// stretch's first frame, or `longest` ns after it, and at each cut.
class Stretches {
 public:
  /// step: share of the diagonal; longest: ns, 0: unlimited.
  Stretches(double step, std::uint64_t longest) : step_(step), longest_(longest) {}
  /// The place of the next frame: kStretch for each stretch before its own, plus the share of its own that is over.
  std::uint64_t next(const Travel& travel, std::optional<std::uint64_t> time);

 private:
  double step_;
  std::uint64_t longest_, stretch_ = 0;
  std::optional<Travel> first_;
  std::uint64_t begin_ = 0;
};

/// Chooses the frame with the highest score (lowest, if not `highest`) of each window, the first among equals, while
/// frames arrive. No frame less than `apart` after the choice of an earlier window is chosen, so that a window may
/// have none. Positions that go back do not reopen a window.
class WindowChoice {
 public:
  struct Step {
    bool ended;  ///< the best one so far is final: a new window has begun
    bool best;   ///< this frame is the best of its window so far
  };
  WindowChoice(const Windows& windows, std::uint64_t apart, bool highest)
      : windows_(windows), apart_(apart), highest_(highest) {}
  Step offer(std::uint64_t position, double score);

 private:
  const Windows windows_;
  const std::uint64_t apart_;
  const bool highest_;
  std::uint64_t window_ = 0, position_ = 0;  ///< position_: of the best one
  std::uint64_t least_ = 0;                  ///< earlier positions are too close
  double score_ = 0;
  bool has_ = false;
};

/// All that WindowChoice chooses of these moments that are not damaged, placed by &Moment::time or &Moment::frame. As
/// indices.
std::vector<std::size_t> choose_of_windows(const std::vector<Moment>& moments, std::uint64_t Moment::*position,
                                           const Windows& windows, std::uint64_t apart, bool highest);

/// At most `count` of these moments, highest scores first (lowest, if not `highest`), of equal ones the earlier; no two
/// closer together than `apart` ns. As indices.
std::vector<std::size_t> pick_moments(const std::vector<Moment>& moments, bool highest, std::size_t count,
                                      std::uint64_t apart);

struct Statistics {
  double min = 0, median = 0, max = 0;
  std::size_t min_at = 0, max_at = 0;  ///< the first among equals
};

/// Statistics of at least one number; the median of an even count is the mean of the middle two.
Statistics statistics(std::vector<double> values);

/// Zone scores over a clip of any length in bounded memory: means over equally many frames each, twice as many
/// whenever `limit` of them are full.
class ZoneHistory {
 public:
  /// limit: even.
  explicit ZoneHistory(std::size_t limit) : limit_(limit) {}
  /// Adds one frame's zones; the same number for all frames.
  void add(std::span<const double> zones);
  std::size_t zones() const { return zones_; }
  std::size_t frames_per_step() const { return per_step_; }
  std::size_t steps() const { return zones_ ? means_.size() / zones_ : 0; }
  /// Mean score of each zone, step by step. The last step may have fewer frames.
  const std::vector<double>& means() const { return means_; }
  /// Mean of each zone over all frames.
  std::vector<double> overall() const;

 private:
  void halve();

  std::size_t limit_, zones_ = 0, per_step_ = 1, in_last_ = 0, frames_ = 0;
  std::vector<double> means_, sums_;
};

}  // namespace framequality::apps::scan
