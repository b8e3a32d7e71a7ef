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

/// Puts together what one scan from the beginning would give, from scans that begin at keyframes. Each goes on over the
/// first frames of the next one, and ends only when these came out the same, in time and score to the last bit; if not
/// (a keyframe that is none, times that depend on where one begins, damage), the next one is dropped and the scan
/// before it goes on in its place. So a cut can cost time, but not change a row.
///
/// Thread-safe: take() is called in the streaming threads of the scans, the rest in the main thread.
class Segments {
 public:
  /// A row of the file, in order and with the number that it has in the file. By one thread at a time.
  using OnRow = std::function<void(const Row&)>;
  /// Segment `id` needs no more frames. By any thread.
  using OnDone = std::function<void(std::size_t id)>;
  /// All rows have been told; error: of the scan that came to the end of the file. By any thread.
  using OnEnd = std::function<void(std::size_t id, const std::string& error)>;

  Segments(OnRow on_row, OnDone on_done, OnEnd on_end);
  ~Segments() = default;
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  /// A further scan, after all others, that is to begin at the last keyframe up to `bound`, in ns; 0 for the first.
  std::size_t add(std::uint64_t bound);
  /// The next frame of a segment, frame numbers from 0 where it begins. False: it is done, and this row not needed.
  /// Waits for the rows to compare with, and where far too many are kept.
  bool take(std::size_t id, const Row& row);
  /// The scan of a segment came to the end of the file, or to an error.
  void end(std::size_t id, const std::string& error);
  /// Nobody waits any more, nothing is told any more.
  void cancel();

  /// Where the next segment may begin, at least `apart` ns after the last one's beginning and its latest frame; the
  /// largest number if the end of the file has been read.
  std::uint64_t next_bound(std::uint64_t apart) const;
  /// Segments whose rows have not all been told.
  std::size_t open() const;
  /// Frames taken by all of them, also those that had to be taken twice.
  std::uint64_t frames() const;
  /// Segments in a row that began no later than the one before, or not at all: there are no keyframes to cut at.
  int futile() const;

 private:
  struct Kept {
    std::uint64_t frame;
    std::optional<std::uint64_t> time;
    double score;
    bool damaged;
    std::uint64_t duration;
  };
  /// Rows, with all zones in one block.
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
    Rows rows;                           ///< not told yet
    Rows overlap;                        ///< those that belong to the next one too, while they are compared
    std::size_t matched_from = 0;        ///< the row of the next one that `overlap` begins with
    std::uint64_t base = 0;              ///< number of its first frame in the file, once it is its turn
    std::size_t skip = 0;                ///< rows that the one before has told
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
  Segment* current_ = nullptr;  ///< whose rows are told
  bool telling_ = false, is_over_ = false;
  std::uint64_t frames_ = 0;
  int futile_ = 0;
};

}  // namespace framequality::apps::scan
