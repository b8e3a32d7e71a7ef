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
  /// 0...count-1; what lies outside the clip belongs to the first or the last.
  int of(std::uint64_t time) const;
};

/// One frame that may be shown.
struct Moment {
  std::uint64_t frame, time;  ///< number in the clip; ns
  double score;
};

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
