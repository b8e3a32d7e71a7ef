// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus loop of one stream: scores in, a lens moved, events reported on the bus.
#pragma once

#include "algorithms/focus/search.h"
#include "gst/focuscontroller/actuator.h"
#include "gst/focuscontroller/subject.h"
#include "gst/object/owned.h"
#include "gst/object/shared.h"

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace framequality {

/// The element's settings. Each part may change at any time.
struct FocusOptions {
  std::string actuator;  ///< empty: the application moves the lens
  /// min, max: lowest() and max() of double, and step: 0 leave them to the actuator.
  FocusSettings search{.min = -G_MAXDOUBLE, .max = G_MAXDOUBLE, .step = 0, .settle_frames = 3};
  GstClockTime timeout = 10 * GST_SECOND;  ///< running time without a score that ends a search; 0: never
  bool wait_for_arrival = false;
  std::string subject;      ///< the part of the image whose scores are searched; empty: the whole
  bool stack_only = false;  ///< of all frames, only those of a stack pass
};

/// Thread-safety: options(), trigger(), cancel(), arrived() and status() from any thread; the rest with the stream lock
/// of the element's sink pad.
class FocusLoop {
 public:
  struct Status {
    FocusState state = FocusState::kIdle;
    double position = 0;  ///< last target, or initial position; 0 while unknown
    double score = 0;
  };

  /// element: posts the messages, has the signal `move` and the properties `state` and `position`.
  explicit FocusLoop(GstElement* element) : element_(element) {}

  /// Changes apply from the next frame on, once options_changed() has been called.
  Shared<FocusOptions>& options() { return options_; }
  void options_changed() { is_new_ = true; }
  void trigger() { command(Command::kTrigger); }
  void cancel() { command(Command::kCancel); }
  /// Reports that the lens has arrived at its last target.
  void arrived();
  Status status();

  /// Processes one frame; seen: its measurements, without the commands that it may show. May move the lens. Throws
  /// ElementError if the options cannot work. True if the frame is to pass.
  bool frame(GstBuffer* buffer, const GstSegment& segment, FocusFrame seen);
  /// Announces frames of another scene or size, or whose running time starts over.
  void start_anew();
  /// Ends the stream: releases the actuator.
  void reset();

 private:
  enum class Command { kNone, kTrigger, kCancel };
  using Range = std::numeric_limits<double>;

  void command(Command command) {
    const std::lock_guard lock(mutex_);
    command_ = command;
  }
  void take_options();
  void look_at_subject(GstBuffer* buffer, FocusFrame& seen);
  FocusSettings settings_of(const FocusOptions& options) const;
  std::optional<std::uint64_t> commands_before(GstClockTime running);
  void forget_commands();
  void move(double position);
  void mind_timeout(GstClockTime running, bool used);
  bool is_searching() const;
  void give_up();
  void tell(const FocusCurve& curve);
  void tell_stack(const FocusStackImage& image);
  void post(const char* event, const FocusCurve* result = nullptr);
  StructurePtr start_message(const char* event, const Status& now) const;
  void push_downstream(GstEventType type, const GstStructure* fields);
  void set_result(GstStructure* fields, const FocusCurve& curve) const;
  void warn(const std::string& text);
  bool is_live();

  GstElement* element_;
  Shared<FocusOptions> options_;
  std::atomic<bool> is_new_ = true;  ///< options_ changed since they were last read

  std::mutex mutex_;  ///< of the following, up to the blank line
  Command command_ = Command::kNone;
  Status status_;
  bool travelling_ = false;  ///< until arrived()
  /// Running times of the lens's last commands, or arrivals, that no frame so far was exposed after. NONE:
  /// any frame may show it, as in pipelines that are not live.
  std::vector<GstClockTime> given_;

  FocusOptions taken_;
  Subject subject_;
  std::vector<guint> zones_;  ///< of the subject when the search began; empty: the whole frame
  int elsewhere_ = 0;         ///< frames since the subject has left them
  bool has_begun_ = false;    ///< the last frame ended the watch
  std::unique_ptr<Actuator> actuator_;
  std::optional<focus::Search> search_;
  std::optional<bool> live_;
  std::uint64_t commands_ = 0, known_ = 0;   ///< of the search; those that the last frame may show
  GstClockTime last_ = GST_CLOCK_TIME_NONE;  ///< running time of the last frame
  guint stacks_ = 0;                         ///< so far
  bool has_seen_score_ = false, has_warned_ = false;
  GstClockTime waiting_since_ = GST_CLOCK_TIME_NONE;  ///< running time of the first frame without a score
  GstBuffer* frame_ = nullptr;                        ///< the current one, and its segment
  GstSegment segment_{};
};

/// Nicks of FocusState.
const char* nick_of(FocusState state);

}  // namespace framequality
