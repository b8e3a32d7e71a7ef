// SPDX-License-Identifier: LGPL-2.1-or-later
// The stream through a sharpnessgate: frames are judged, held, passed, marked or dropped; dropped ones become
// gaps.
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
  double min_ratio = -1, max_ratio = 0;  ///< min_ratio below 0: depends on the metric
  WindowLength window;
  int look_ahead = 6;
  std::int64_t hold_time = 0;
  GateAction action = GateAction::kDrop;
  GateDrop drop = GateDrop::kAny;

  bool marks() const { return action == GateAction::kMark; }
  /// True if state from the other settings remains useful under these.
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

/// Thread-safety: everything but stats() under the sink pad's stream lock, or while no stream flows. Locks nothing
/// itself. The receiver of a frame, an event or a message may send an event, a query, a flush or a frame back in that
/// thread, which owns that lock. So whatever leaves is no longer held when it is pushed, and no reference to held data
/// survives a push.
class GateStream {
 public:
  /// Neither is owned. Frames and gaps leave through src; the element posts messages and warnings.
  GateStream(GstElement* element, GstPad* src) : element_(element), src_(src) {}

  /// Takes the next frame. Returns downstream's last result.
  GstFlowReturn take(BufferPtr buffer, const GateSettings& settings);

  /// Prepares for a serialised event: pushes all that must precede it. True if the event has been taken and follows
  /// later, after the held frame; else the caller forwards it.
  bool take_event(GstEvent* event);

  /// Releases everything held, and sends all gaps.
  void drain();

  /// Drops everything held, and judges the following frames as the start of a stream.
  void flush();

  /// flush(), and also forgets segment, caps and counts.
  void restart();

  const GateStats& stats() const { return stats_; }

 private:
  /// The meter's measurements of a frame.
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
  /// Times of a frame: running time for windows, the segment's time for gaps.
  struct Moment {
    std::int64_t begin, end;     ///< running time; end == begin if the duration is unknown
    GstClockTime pts, duration;  ///< NONE if unknown
  };
  /// Frames dropped, and the time span that they leave empty.
  struct Lost {
    GstClockTime begin = GST_CLOCK_TIME_NONE, end = 0;
    bool is_open = false;  ///< the span lasts until the next frame
    bool discont = false;  ///< the next frame out must be marked DISCONT

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
    std::optional<bool> passed;  ///< for the meta of a judged frame
  };

  void hold(Held held);
  /// Removes the oldest one.
  Held take_first();
  /// mode=relative: the frame waits for its look-ahead.
  GstFlowReturn wait(BufferPtr buffer, const Moment& moment, std::optional<Score> score);
  /// Releases frames, and events after them, until at most `most` frames are held.
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

  /// Ends the window: its best frame leaves, with everything that waits for it.
  GstFlowReturn release(bool is_window_complete);
  /// Drops the held frame for a better one.
  void displace();
  void lose(Lost& to, const Moment& moment);
  GstFlowReturn push(BufferPtr buffer, std::optional<bool> passed);
  /// Pushes the leaving frame, unless a callback of a gap or message before it has already done so.
  GstFlowReturn let_go();
  /// For callbacks: the leaving frame goes first.
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
  std::int64_t expected_ = 0;  ///< running time of the next frame, if it has no timestamp

  Hysteresis hysteresis_;
  RunningLevel level_;
  BestOf best_of_;
  std::optional<bool> was_passing_;  ///< state in the last edge message

  Ring<Held> held_;         ///< the best frame of the window so far; all its frames, if they are marked; mode=relative:
                            ///< waiting frames
  std::size_t frames_ = 0;  ///< in held_
  Leaving leaving_;
  Lost lost_;                         ///< not yet sent downstream
  Lost behind_;                       ///< the same, but must follow the held frame
  bool gap_was_told_ = false;         ///< a gap was sent since the last frame
  GstFlowReturn flow_ = GST_FLOW_OK;  ///< result of a frame that an event pushed, returned by the next frame
  bool warned_unscored_ = false, warned_timeless_ = false, warned_unknown_ = false, warned_unmoved_ = false;
};

}  // namespace framequality
