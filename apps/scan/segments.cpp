// SPDX-License-Identifier: LGPL-2.1-or-later
// One file's rows from several scans of it that run at once.
#include "apps/scan/segments.h"

#include <gst/gst.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace framequality::apps::scan {

namespace {

// Frames predicted across a keyframe follow it closely, within a decoder's store of reference frames.
constexpr std::size_t kOverlap = 8;
/// GST_DEBUG=framequality-scan:5 logs the result of each cut.
GstDebugCategory* category() {
  static GstDebugCategory* const made = _gst_debug_category_new("framequality-scan", 0, "scanning of files");
  return made;
}

constexpr std::size_t kMostKept = 20'000;  // rows of a segment that wait for earlier ones

}  // namespace

void Segments::Rows::add(const Row& row) {
  rows.push_back({row.frame, row.time, row.score, row.damaged, row.duration});
  zone_count = row.zones.size();
  zones.insert(zones.end(), row.zones.begin(), row.zones.end());
}

void Segments::Rows::append(Rows&& more) {
  rows.insert(rows.end(), more.rows.begin(), more.rows.end());
  zones.insert(zones.end(), more.zones.begin(), more.zones.end());
  zone_count = std::max(zone_count, more.zone_count);
  more = {};
}

Row Segments::Rows::at(std::size_t i) const {
  Row row{rows[i].frame, rows[i].time, rows[i].score, std::span(zones).subspan(i * zone_count, zone_count),
          rows[i].duration};
  row.damaged = rows[i].damaged;
  return row;
}

Segments::Segments(OnRow on_row, OnDone on_done, OnEnd on_end)
    : on_row_(std::move(on_row)), on_done_(std::move(on_done)), on_end_(std::move(on_end)) {}

std::size_t Segments::add(std::uint64_t bound) {
  const std::lock_guard lock(mutex_);
  all_.push_back(std::make_unique<Segment>());
  Segment* s = all_.back().get();
  s->id = all_.size() - 1;
  s->bound = bound;
  if (!current_) {
    current_ = s;
  } else {
    Segment* last = current_;
    while (last->next) last = last->next;
    last->next = s;
  }
  return s->id;
}

bool Segments::take(std::size_t id, const Row& row) {
  std::unique_lock lock(mutex_);
  Segment& s = *all_[id];
  changed_.wait(lock, [&] {
    return is_over_ || s.state != State::kOpen || s.rows.rows.size() < kMostKept || (&s == current_ && !telling_);
  });
  if (is_over_ || s.state != State::kOpen) return false;
  const std::uint64_t time = row.time.value_or(s.latest);
  if (!s.start) begin(s, time);
  if (s.state != State::kOpen) {
    // Without it, the segment before may be the last, and over.
    settle();
    tell(lock);
    return false;
  }
  const bool kept = place(lock, s, row);
  if (kept) {
    s.latest = std::max(s.latest, time);
    ++frames_;
  }
  settle();
  changed_.notify_all();
  tell(lock);
  return kept && s.state == State::kOpen;
}

/// The first frame of a segment: now the one before knows where to end.
void Segments::begin(Segment& s, std::uint64_t time) {
  s.start = s.latest = time;
  GST_CAT_DEBUG(category(), "segment %zu begins at %" GST_TIME_FORMAT, s.id, GST_TIME_ARGS(time));
  // The one before began at the same keyframe: all its frames would be measured twice.
  if (Segment* p = before(s); p && p->start && *p->start >= time) {
    ++futile_;
    drop(s);
    return;
  }
  if (s.id > 0) futile_ = 0;
  while (s.next && s.next->start && *s.next->start <= time) drop(*s.next);
  changed_.notify_all();
}

/// Adds the row to the segment, or compares it with the next one's. False if it is not needed.
bool Segments::place(std::unique_lock<std::mutex>& lock, Segment& s, const Row& row) {
  const std::uint64_t time = row.time.value_or(s.latest);
  while (!is_over_ && s.state == State::kOpen) {
    Segment* n = s.next;
    if (!n || time < n->start.value_or(n->bound)) {
      s.rows.add(row);
      return true;
    }
    const auto& theirs = n->rows.rows;
    if (theirs.empty() || (theirs.back().time < time && n->state == State::kOpen)) {
      // A waiting segment with more rows than are ever kept has impossible times.
      if (n->has_ended || theirs.size() >= kMostKept)
        drop(*n);
      else
        changed_.wait(lock);
      continue;
    }
    const std::size_t compared = s.overlap.rows.size();
    if (compared == 0)
      s.matched_from =
          static_cast<std::size_t>(std::lower_bound(theirs.begin(), theirs.end(), time,
                                                    [](const Kept& kept, std::uint64_t t) { return kept.time < t; }) -
                                   theirs.begin());
    const std::size_t i = s.matched_from + compared;
    if (i >= theirs.size()) {
      // It was replaced itself, after a few equal frames.
      if (compared > 0) {
        hand_over(s);
        return false;
      }
      drop(*n);
      continue;
    }
    const Row other = n->rows.at(i);
    GST_CAT_LOG(category(), "segment %zu at %" GST_TIME_FORMAT " %.17g, %zu at %" GST_TIME_FORMAT " %.17g", s.id,
                GST_TIME_ARGS(time), row.score, n->id, GST_TIME_ARGS(other.time.value_or(GST_CLOCK_TIME_NONE)),
                other.score);
    if (row.time != other.time || row.score != other.score || row.damaged != other.damaged ||
        !std::ranges::equal(row.zones, other.zones)) {
      drop(*n);
      continue;
    }
    s.overlap.add(row);
    if (compared + 1 == kOverlap) hand_over(s);
    return true;
  }
  return false;
}

void Segments::hand_over(Segment& s) {
  Segment& n = *s.next;
  n.skip = s.matched_from;
  // Numbers of the same frame in both. The next one's first frames may precede the match.
  n.base = s.overlap.rows.front().frame - n.rows.rows[s.matched_from].frame;
  s.overlap = {};
  s.state = State::kDone;
  GST_CAT_DEBUG(category(), "segment %zu ends where %zu continues", s.id, n.id);
  on_done_(s.id);
}

void Segments::drop(Segment& s) {
  Segment* p = before(s);
  if (p) {
    give_back_overlap(*p);
    p->next = s.next;
  }
  s.state = State::kDropped;
  GST_CAT_DEBUG(category(), "segment %zu, from %" GST_TIME_FORMAT ", is dropped %s", s.id, GST_TIME_ARGS(s.bound),
                s.error.c_str());
  s.next = nullptr;
  s.rows = s.overlap = {};
  on_done_(s.id);
  changed_.notify_all();
}

void Segments::drop_after(Segment& s) {
  while (s.next) drop(*s.next);
}

void Segments::give_back_overlap(Segment& s) { s.rows.append(std::move(s.overlap)); }

void Segments::end(std::size_t id, const std::string& error) {
  std::unique_lock lock(mutex_);
  Segment& s = *all_[id];
  if (is_over_ || s.state != State::kOpen) return;
  s.has_ended = true;
  s.error = error;
  settle();
  changed_.notify_all();
  tell(lock);
}

/// Handles segments that have ended.
void Segments::settle() {
  for (Segment* s = current_; s;) {
    Segment* n = s->next;
    if (s->state == State::kOpen && n && n->has_ended && (!n->start || !n->error.empty())) {
      // It read nothing, or not to its end, perhaps for lack of memory for a decoder. The one before continues.
      if (!n->start) ++futile_;
      drop(*n);
      continue;
    }
    if (s->state == State::kOpen && s->has_ended && n) {
      const std::size_t compared = s->overlap.rows.size(), theirs = n->rows.rows.size();
      if (compared == 0 || theirs > s->matched_from + compared)
        drop_after(*s);
      else if (n->has_ended)
        hand_over(*s);
    }
    s = s->next;
  }
}

/// Reports the rows that are next, unless another thread does.
void Segments::tell(std::unique_lock<std::mutex>& lock) {
  if (telling_ || is_over_) return;
  telling_ = true;
  while (current_ && !is_over_) {
    Segment& s = *current_;
    if (s.rows.rows.size() > s.skip) {
      // Moved out: others may add meanwhile. Rows compared with the one before are no longer needed.
      const Rows rows = std::exchange(s.rows, {});
      const std::size_t skip = std::exchange(s.skip, 0);
      const std::uint64_t base = s.base;
      lock.unlock();
      for (std::size_t i = skip; i < rows.rows.size(); ++i) {
        Row row = rows.at(i);
        row.frame += base;
        on_row_(row);
      }
      lock.lock();
      continue;
    }
    if (s.state == State::kDone && s.next) {
      s.next->base += s.base;
      current_ = s.next;
      continue;
    }
    if (s.state == State::kOpen && s.has_ended && !s.next) {
      is_over_ = true;
      on_end_(s.id, s.error);
    }
    break;
  }
  telling_ = false;
  changed_.notify_all();
}

void Segments::cancel() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

Segments::Segment* Segments::before(const Segment& s) {
  for (Segment* p = current_; p; p = p->next)
    if (p->next == &s) return p;
  return nullptr;
}

std::uint64_t Segments::next_bound(std::uint64_t apart) const {
  const std::lock_guard lock(mutex_);
  const Segment* last = current_;
  while (last && last->next) last = last->next;
  // No segment begins after the end.
  if (is_over_ || (last && last->has_ended)) return std::numeric_limits<std::uint64_t>::max();
  return last ? std::max(last->bound, last->latest) + apart : 0;
}

std::size_t Segments::open() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const Segment* s = current_; s; s = s->next) ++count;
  return count;
}

std::uint64_t Segments::frames() const {
  const std::lock_guard lock(mutex_);
  return frames_;
}

int Segments::futile() const {
  const std::lock_guard lock(mutex_);
  return futile_;
}

}  // namespace framequality::apps::scan
