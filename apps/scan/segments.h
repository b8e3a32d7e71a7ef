// SPDX-License-Identifier: LGPL-2.1-or-later
// One file's rows from several scans of it that run at once.
#pragma once

#include "apps/scan/table.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::scan {

/// Assembles the rows of one scan from the beginning, from scans that begin at keyframes. Each continues over the
/// first frames of the next one, and ends only if these are the same, in time and score to the last bit; if not
/// (a false keyframe, times that depend on where one begins, damage), the next one is dropped and the scan
/// before it continues in its place. So a cut can cost time, but never changes a row.
///
/// Thread-safe: take() is called in the streaming threads of the scans, the rest in the main thread.
class Segments {
 public:
  /// Receives the file's rows, in order and with their numbers in the file. One thread at a time.
  using OnRow = std::function<void(const Row&)>;
  /// Segment `id` needs no more frames. Any thread.
  using OnDone = std::function<void(std::size_t id)>;
  /// All rows have been reported; error: of the scan that reached the end of the file. Any thread.
  using OnEnd = std::function<void(std::size_t id, const std::string& error)>;

  Segments(OnRow on_row, OnDone on_done, OnEnd on_end);
  ~Segments() = default;
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  /// Adds a scan after all others, to begin at the last keyframe up to `bound`, in ns; 0 for the first.
  std::size_t add(std::uint64_t bound);
  /// Takes the next frame of a segment, numbered from 0 where it begins. False: the segment is done without this row.
  /// Waits for rows to compare with, and while far too many are kept.
  bool take(std::size_t id, const Row& row);
  /// The scan of a segment reached the end of the file, or an error.
  void end(std::size_t id, const std::string& error);
  /// Ends all waiting and reporting.
  void cancel();

  /// Where the next segment may begin, at least `apart` ns after the last one's beginning and its latest frame; the
  /// largest number if the end of the file has been read.
  std::uint64_t next_bound(std::uint64_t apart) const;
  /// Segments with rows still to report.
  std::size_t open() const;
  /// Frames taken by all segments, including those taken twice.
  std::uint64_t frames() const;
  /// Segments in a row that began no later than the one before, or not at all: there are no more keyframes to cut at.
  int futile() const;

 private:
  struct Kept {
    std::uint64_t frame;
    std::optional<std::uint64_t> time;
    double score;
    bool damaged;
    std::uint64_t duration;
  };
  /// Rows, with the zones of all in one block.
  struct Rows {
    std::vector<Kept> rows;
    std::vector<double> zones;
    std::size_t zone_count = 0;
    void add(const Row& row);
    void append(Rows&& more);
    Row at(std::size_t i) const;
  };
  enum class State { kOpen, kDone, kDropped };
  struct Segment {
    std::size_t id;
    std::uint64_t bound;
    State state = State::kOpen;
    bool has_ended = false;
    std::string error;
    std::optional<std::uint64_t> start;  ///< ns, of its first frame
    std::uint64_t latest = 0;            ///< ns
    Rows rows;                           ///< not reported yet
    Rows overlap;                        ///< rows that belong to the next one too, while they are compared
    std::size_t matched_from = 0;        ///< the row of the next one that `overlap` begins with
    std::uint64_t base = 0;              ///< number of its first frame in the file, once its turn has come
    std::size_t skip = 0;                ///< rows already reported by the one before
    Segment* next = nullptr;
  };

  bool place(std::unique_lock<std::mutex>& lock, Segment& s, const Row& row);
  void begin(Segment& s, std::uint64_t time);
  void drop(Segment& s);
  void drop_after(Segment& s);
  void give_back_overlap(Segment& s);
  void hand_over(Segment& s);
  void settle();
  void tell(std::unique_lock<std::mutex>& lock);
  Segment* before(const Segment& s);

  const OnRow on_row_;
  const OnDone on_done_;
  const OnEnd on_end_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Segment>> all_;
  Segment* current_ = nullptr;  ///< the one whose rows are being reported
  bool telling_ = false, is_over_ = false;
  std::uint64_t frames_ = 0;
  int futile_ = 0;
};

}  // namespace framequality::apps::scan
