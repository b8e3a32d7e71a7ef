// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores of the last seconds, for a chart, in bounded memory at any frame rate and span.
#pragma once

#include "algorithms/ring.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace framequality {

/// Scores by time, in columns of equal time that each keep the first, last, least and greatest of theirs. Times are ns
/// and do not decrease; one that does starts the history anew. Nothing is allocated.
class ScoreHistory {
 public:
  static constexpr std::size_t kColumns = 1024;
  /// Scores pause if none comes for this many times the distance of the last two, or this many ns after a single one.
  static constexpr std::uint64_t kPause = 4, kPauseAfterFirst = 1'000'000'000;

  struct Column {
    std::uint64_t time = 0;  ///< of its last score
    double first = 0, last = 0, least = 0, greatest = 0;
    bool joined = false;  ///< no pause between it and the column before
  };
  struct Range {
    double least = 0, greatest = 0;
  };

  /// span: ns that are kept, at least 1.
  explicit ScoreHistory(std::uint64_t span) : span_(span) {}

  bool empty() const { return columns_.empty(); }
  std::uint64_t span() const { return span_; }
  void clear() { columns_.clear(); }

  /// Changes the span; scores within it keep their resolution.
  void set_span(std::uint64_t span) {
    if (span == span_) return;
    const ScoreHistory old = *this;
    span_ = span;
    clear();
    for (std::size_t i = 0; i < old.columns_.size(); ++i) merge(old.columns_[i]);
  }

  void add(std::uint64_t time, double score) {
    if (!empty() && time < newest().time) clear();
    const bool joined = !paused(time);
    distance_ = empty() ? 0 : time - newest().time;
    merge({time, score, score, score, score, joined});
  }

  /// True if no score was added for long enough before `now` to call it a pause, or none ever.
  bool paused(std::uint64_t now) const {
    return empty() || now > newest().time + (distance_ > 0 ? kPause * distance_ : kPauseAfterFirst);
  }

  /// Calls f(column), the oldest first, for the columns of the span before `now`; `joined` is false for the first.
  template <class F>
  void visit(std::uint64_t now, F&& f) const {
    bool any = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      Column column = columns_[i];
      if (column.time > now || now - column.time > span_) continue;
      column.joined = column.joined && any;
      any = true;
      f(column);
    }
  }

  /// Least and greatest score of the span before `now`; zeros if there is none.
  Range range(std::uint64_t now) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Range range{kInfinity, -kInfinity};
    visit(now, [&](const Column& c) {
      range.least = std::min(range.least, c.least);
      range.greatest = std::max(range.greatest, c.greatest);
    });
    return range.least <= range.greatest ? range : Range{};
  }

 private:
  const Column& newest() const { return columns_.back(); }
  std::uint64_t index(std::uint64_t time) const { return time / (span_ / kColumns + 1); }

  void merge(const Column& column) {
    if (!empty() && index(newest().time) == index(column.time)) {
      Column& to = columns_.back();
      to.time = column.time;
      to.last = column.last;
      to.least = std::min(to.least, column.least);
      to.greatest = std::max(to.greatest, column.greatest);
      return;
    }
    if (columns_.full()) columns_.pop();
    columns_.push(column);
  }

  std::uint64_t span_;
  std::uint64_t distance_ = 0;  ///< of the last two scores
  Ring<Column, std::array<Column, kColumns>> columns_;
};

}  // namespace framequality
