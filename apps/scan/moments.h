// SPDX-License-Identifier: LGPL-2.1-or-later
// Which moments of a clip to show, and what its scores have in common.
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
  bool open = false;  ///< windows of the same length go on behind its end
  /// From 0 on; what lies before the clip belongs to the first, what lies behind to the last, unless it is open.
  std::uint64_t of(std::uint64_t position) const;
  /// Half a window, rounded down.
  std::uint64_t half() const { return length / (2 * static_cast<std::uint64_t>(count)); }
};

/// How far the image has moved, as the meter says: shares of the diagonal, to the right and down, since the shot began.
struct Travel {
  double x = 0, y = 0;
  std::uint64_t shot = 0;
};

/// One frame that may be shown.
struct Moment {
  std::uint64_t frame, time;  ///< number in the clip; ns
  double score;
  std::optional<Travel> travel = {};  ///< where it was measured
  std::uint64_t place = 0;            ///< then: along the way, see Stretches
  bool damaged = false;               ///< not to be chosen
};

inline constexpr std::uint64_t kStretch = 1'000'000;  ///< places

/// Stretches of a clip in which the image moves by one step: a new one begins where it has moved a step away from the
/// stretch's first frame, or `longest` ns after it, and at each cut.
class Stretches {
 public:
  /// step: share of the diagonal; longest: 0: any time.
  Stretches(double step, std::uint64_t longest) : step_(step), longest_(longest) {}
  /// The place of the next frame: kStretch for each stretch before its own, and the part of that one that is over.
  std::uint64_t next(const Travel& travel, std::optional<std::uint64_t> time);

 private:
  double step_;
  std::uint64_t longest_, stretch_ = 0;
  std::optional<Travel> first_;
  std::uint64_t begin_ = 0;
};

/// Chooses the frame with the highest score (lowest, if not `highest`) of each window, of equal ones the first, while
/// they come by. No frame is chosen that lies less than `apart` behind the choice of a window before; a window may so
/// have none. Positions that go back do not open a window again.
class WindowChoice {
 public:
  struct Step {
    bool ended;  ///< the best one before is final: a window has begun
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
  std::uint64_t least_ = 0;                  ///< what comes before is too close
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
  std::size_t min_at = 0, max_at = 0;  ///< the first of equals
};

/// Of at least one number; the median of an even count is the mean of the middle two.
Statistics statistics(std::vector<double> values);

/// Zone scores over a clip of any length in bounded memory: means over equally many frames each, twice as many
/// whenever `limit` of them are full.
class ZoneHistory {
 public:
  /// limit: even.
  explicit ZoneHistory(std::size_t limit) : limit_(limit) {}
  /// One frame's zones; always as many.
  void add(std::span<const double> zones);
  std::size_t zones() const { return zones_; }
  std::size_t frames_per_step() const { return per_step_; }
  std::size_t steps() const { return zones_ ? means_.size() / zones_ : 0; }
  /// Mean score of each zone, step by step. The last step may be of fewer frames.
  const std::vector<double>& means() const { return means_; }
  /// Mean of each zone over all frames.
  std::vector<double> overall() const;

 private:
  void halve();

  std::size_t limit_, zones_ = 0, per_step_ = 1, in_last_ = 0, frames_ = 0;
  std::vector<double> means_, sums_;
};

}  // namespace framequality::apps::scan
