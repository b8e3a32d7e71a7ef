// SPDX-License-Identifier: LGPL-2.1-or-later
// The stream through a sharpnessgate: frames are judged, held, passed, marked or dropped; what is dropped becomes a
// gap.
#pragma once

#include "algorithms/gate.h"
#include "algorithms/ring.h"
#include "gst/object/owned.h"

#include <atomic>
#include <cstdint>
#include <optional>

namespace framequality {

/// Values of the property `action`.
enum class GateAction { kDrop, kMark };

/// Values of the property `drop`.
enum class GateDrop { kAny, kMotion, kDefocus };

struct GateSettings {
  GateMode mode = GateMode::kThreshold;
  double min_score = 0, resume_score = -G_MAXDOUBLE;
  double min_ratio = -1, max_ratio = 0;  ///< min_ratio below 0: by the metric
  WindowLength window;
  int look_ahead = 6;
  std::int64_t hold_time = 0;
  GateAction action = GateAction::kDrop;
  GateDrop drop = GateDrop::kAny;

  bool marks() const { return action == GateAction::kMark; }
  /// True if what was seen and held under the other settings is of use under these.
  bool continues(const GateSettings& other) const {
    return mode == other.mode && (mode != GateMode::kBestOf || (window == other.window && action == other.action));
  }
};

/// Counts since start. Written by the streaming thread, read by any.
struct GateStats {
  std::atomic<std::uint64_t> passed{0}, dropped{0}, marked{0}, unscored{0};
  std::atomic<double> median{0};
};

/// Duration of a frame by the caps' frame rate; NONE if they have none.
GstClockTime frame_duration_of(GstCaps* caps);

/// Thread-safety: all but stats() under the sink pad's stream lock, or while no stream flows. Locks nothing itself.
/// Whoever receives a frame, an event or a message may send an event, a query, a flush or a frame back in the same
/// thread, which owns that lock. So what leaves is no longer held when it is pushed, and no reference to what is held
/// lives across a push.
class GateStream {
 public:
  /// Neither is owned. Frames and gaps leave through src; messages and warnings are the element's.
  GateStream(GstElement* element, GstPad* src) : element_(element), src_(src) {}

  /// Takes the next frame in. Returns what downstream answered last.
  GstFlowReturn take(BufferPtr buffer, const GateSettings& settings);

  /// Prepares for a serialised event: what has to leave before it does. True if the event has been taken and follows
  /// later, after the frame that is held; else the caller forwards it.
  bool take_event(GstEvent* event);

  /// Lets out what is held, and tells of all gaps.
  void drain();

  /// Drops what is held and judges what follows as the start of a stream.
  void flush();

  /// flush(), and segment, caps and counts are forgotten too.
  void restart();

  const GateStats& stats() const { return stats_; }

 private:
  /// What the meter says of a frame.
  struct Score {
    double value;
    bool compares_scenes = false;  ///< light, contrast and subject cancel in it
    bool damaged = false;          ///< not to be chosen, and no measure for others
    bool knows_blur = false;
    GateDrop blur = GateDrop::kAny;  ///< its kind, if it is one of the two
    bool has_displacement = false;
    double x = 0, y = 0;  ///< diagonals; see sharpnessmeter's field `displacement`
    unsigned shot = 0;
  };
  /// When a frame is: in running time for windows, in the segment's time for gaps.
  struct Moment {
    std::int64_t begin, end;     ///< running time; end == begin where the duration is unknown
    GstClockTime pts, duration;  ///< NONE where unknown
  };
  /// Frames dropped, and the span of time that they leave empty.
  struct Lost {
    GstClockTime begin = GST_CLOCK_TIME_NONE, end = 0;
    bool is_open = false;  ///< the span lasts until the next frame, whenever that is
    bool discont = false;  ///< the next frame out is to say that some are missing

    bool is_empty() const { return !GST_CLOCK_TIME_IS_VALID(begin); }
    void add(GstClockTime pts, GstClockTime duration);
    void close_at(GstClockTime pts);
  };
  /// A frame, or an event that must not overtake one.
  struct Held {
    BufferPtr buffer;
    EventPtr event;
    Moment moment{};
    std::optional<Score> score{};
    bool leads = false;  ///< mode=best-of: scored best of the window when it came
  };

  /// A frame about to be pushed.
  struct Leaving {
    BufferPtr buffer;
    std::optional<bool> passed;  ///< for the meta of a frame that was judged
  };

  void hold(Held held);
  /// Takes out the oldest one.
  Held take_first();
  /// mode=relative: the frame waits for its look-ahead.
  GstFlowReturn wait(BufferPtr buffer, const Moment& moment, std::optional<Score> score);
  /// Lets frames out, and events behind them, until no more than `most` frames are held.
  GstFlowReturn let_out(std::size_t most);
  GstFlowReturn carry_out(Verdict verdict, BufferPtr buffer, const Moment& moment, const Score& score);
  Verdict judge_next(const Score& score);
  static std::optional<Score> score_of(GstBuffer* buffer);
  GstFlowReturn compete(BufferPtr buffer, const Moment& moment, const Score& score);
  WindowLength window_for(const Score& score);
  bool take_gap(GstEvent* event);
  bool wait_gap(GstEvent* event);
  void take_caps(GstEvent* event);
  void forget();

  /// The window's end: its best frame leaves, with all that waits for it.
  GstFlowReturn release(bool is_window_complete);
  /// The frame held is dropped for a better one.
  void displace();
  void lose(Lost& to, const Moment& moment);
  GstFlowReturn push(BufferPtr buffer, std::optional<bool> passed);
  /// Pushes the frame that is leaving, if a gap or a message told before it did not bring anything back that did.
  GstFlowReturn let_go();
  /// For all that comes back: the frame that is leaving goes first.
  void catch_up();
  void tell_gap();
  void tell_gap_if_due();

  Moment moment_of(GstBuffer* buffer);
  std::optional<std::int64_t> running_time(GstClockTime pts) const;
  void post(const char* state, const Verdict& verdict, double score, GstClockTime pts);
  void warn_once(bool& warned, const char* text);

  GstElement* element_;
  GstPad* src_;
  GateSettings settings_;  ///< of the last frame
  GateStats stats_;

  GstSegment segment_{};
  CapsPtr caps_;
  GstClockTime frame_duration_ = GST_CLOCK_TIME_NONE;
  std::int64_t expected_ = 0;  ///< running time of the next frame, if it does not say itself

  Hysteresis hysteresis_;
  RunningLevel level_;
  BestOf best_of_;
  std::optional<bool> was_passing_;  ///< what the last edge message said

  Ring<Held> held_;         ///< the best frame of the window so far; to be marked, all its frames; mode=relative:
                            ///< those that wait
  std::size_t frames_ = 0;  ///< in held_
  Leaving leaving_;
  Lost lost_;                         ///< downstream does not know of it yet
  Lost behind_;                       ///< the same, but what is held must leave first
  bool gap_was_told_ = false;         ///< since the last frame that left
  GstFlowReturn flow_ = GST_FLOW_OK;  ///< of a frame that an event let out, for the next frame to return
  bool warned_unscored_ = false, warned_timeless_ = false, warned_unknown_ = false, warned_unmoved_ = false;
};

}  // namespace framequality
