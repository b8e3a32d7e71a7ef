// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus loop of one stream: scores in, a lens moved, events reported on the bus.
#include "gst/focuscontroller/loop.h"

#include "gst/object/guard.h"
#include "gst/object/owned.h"
#include "gst/object/score_meta.h"
#include "gst/object/segment.h"
#include "gst/object/structure.h"

#include <algorithm>
#include <cmath>
#include <utility>

GST_DEBUG_CATEGORY_EXTERN(focuscontroller_debug);
#define GST_CAT_DEFAULT focuscontroller_debug

namespace framequality {

namespace {

constexpr double kDivisions = 100;  // divisions of a range without its own step
constexpr double kMostPositions = 1e6;

[[noreturn]] void refuse(const std::string& text) {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text);
}

std::string text_of(double number) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_formatd(text, sizeof text, "%g", number);
}

}  // namespace

const char* nick_of(FocusState state) {
  constexpr const char* kNicks[] = {"idle", "coarse", "fine", "settle", "focused", "failed", "tracking", "stack"};
  return kNicks[static_cast<int>(state)];
}

FocusLoop::Status FocusLoop::status() {
  const std::lock_guard lock(mutex_);
  return status_;
}

void FocusLoop::arrived() {
  const GstClockTime now = gst_element_get_current_running_time(element_);
  const std::lock_guard lock(mutex_);
  if (std::exchange(travelling_, false) && !given_.empty() && GST_CLOCK_TIME_IS_VALID(given_.back()))
    given_.back() = now;
}

bool FocusLoop::frame(GstBuffer* buffer, const GstSegment& segment, FocusFrame seen) {
  frame_ = buffer;
  segment_ = segment;
  take_options();
  has_seen_score_ = has_seen_score_ || seen.score;
  if (!has_seen_score_ && !std::exchange(has_warned_, true))
    warn("Frames have no score: put sharpnessmeter, with attach-meta=true, upstream of focuscontroller");
  const GstClockTime running = running_time_of(segment, GST_BUFFER_PTS(buffer));
  std::optional<double> to;
  FocusStackImage image;
  bool used = false;
  // Hide frames from the search while the lens travels: it must not send it on.
  if (const std::optional<std::uint64_t> known = commands_before(running)) {
    // A frame that shows neither the last move nor more of them than the one before is not used.
    used = seen.score && (*known == commands_ || *known > known_);
    seen.known = known_ = *known;
    look_at_subject(buffer, seen);
    const bool watched = search_->phase() == focus::Phase::kWatch;
    const char* const before = search_->reason();
    to = search_->frame(seen);
    image = search_->stack_image();
    has_begun_ = watched && is_searching() && search_->state() != FocusState::kTracking;
    if (search_->reason() != before)
      GST_DEBUG_OBJECT(element_, "%s: %s (search began: %s)", focus::name_of(search_->phase()), search_->reason(),
                       search_->cause());
  }
  mind_timeout(running, used);
  if (image.number > 0) tell_stack(image);
  tell(search_->curve());
  if (to) move(*to);
  frame_ = nullptr;
  return image.number > 0 || !taken_.stack_only;
}

/// Puts the score of the subject's zones in place of the frame's. The zones are those of when the search began, so that
/// its scores are comparable. A subject that is elsewhere for as long as a loss of focus lasts is searched for anew.
void FocusLoop::look_at_subject(GstBuffer* buffer, FocusFrame& seen) {
  const GstStructure* fields = seen.score ? score_fields(buffer, kSharpnessMeta) : nullptr;
  if (!fields || taken_.subject.empty()) return;
  const std::vector<guint> now = subject_.zones_in(buffer, fields);
  const bool is_moved = !now.empty() && now != zones_;
  const bool overlaps = std::any_of(now.begin(), now.end(), [&](guint zone) {
    return std::find(zones_.begin(), zones_.end(), zone) != zones_.end();
  });
  elsewhere_ = search_->phase() == focus::Phase::kWatch && is_moved && !overlaps ? elsewhere_ + 1 : 0;
  const bool begins_elsewhere = std::exchange(has_begun_, false) && is_moved;
  if (elsewhere_ >= taken_.search.loss_frames || begins_elsewhere) search_->trigger();
  if (search_->phase() == focus::Phase::kStart) {
    zones_ = now;
    elsewhere_ = 0;
  }
  if (!zones_.empty()) seen.score = score_of_zones(fields, zones_);
}

void FocusLoop::start_anew() {
  {
    const std::lock_guard lock(mutex_);
    given_.clear();
  }
  waiting_since_ = last_ = GST_CLOCK_TIME_NONE;
  if (!search_) return;
  const bool watching = taken_.search.mode == FocusMode::kContinuous && search_->state() != FocusState::kIdle;
  if (is_searching() || watching) search_->trigger();
}

void FocusLoop::reset() {
  search_.reset();
  actuator_.reset();
  live_.reset();
  has_seen_score_ = has_warned_ = false;
  stacks_ = 0;
  zones_.clear();
  elsewhere_ = 0;
  waiting_since_ = GST_CLOCK_TIME_NONE;
  is_new_ = true;
  forget_commands();
  const std::lock_guard lock(mutex_);
  command_ = Command::kNone;
  status_ = {};
}

/// Resets counts: no search has moved the lens yet.
void FocusLoop::forget_commands() {
  commands_ = known_ = 0;
  last_ = GST_CLOCK_TIME_NONE;
  const std::lock_guard lock(mutex_);
  travelling_ = false;
  given_.clear();
}

/// Applies options and requests since the last frame to the search.
void FocusLoop::take_options() {
  std::optional<FocusOptions> fresh;
  if (is_new_.exchange(false) || !search_) fresh = options_.get();
  Command command;
  {
    const std::lock_guard lock(mutex_);
    command = std::exchange(command_, Command::kNone);
  }
  if (fresh) {
    const bool other_lens = !search_ || fresh->actuator != taken_.actuator;
    const bool other_subject = search_ && fresh->subject != taken_.subject;
    subject_ = Subject(fresh->subject);
    taken_ = std::move(*fresh);
    if (other_subject) start_anew();
    if (other_lens) {
      search_.reset();
      forget_commands();
      actuator_ = taken_.actuator.empty() ? nullptr : find_actuator(element_, taken_.actuator);
      search_.emplace(settings_of(taken_), actuator_ ? actuator_->position() : Range::quiet_NaN());
    } else if (!(taken_.search.min > taken_.search.max)) {
      // Otherwise one end of the range has been set, and the other one will follow.
      search_->configure(settings_of(taken_));
    }
    const std::lock_guard lock(mutex_);
    travelling_ = travelling_ && taken_.wait_for_arrival;
  }
  if (command == Command::kTrigger) search_->trigger();
  if (command == Command::kCancel) search_->cancel();
}

/// The settings, completed with the actuator's values.
FocusSettings FocusLoop::settings_of(const FocusOptions& options) const {
  const Travel travel = actuator_ ? actuator_->travel() : Travel{};
  FocusSettings s = options.search;
  s.stop_and_go = s.stop_and_go || options.wait_for_arrival;
  const auto low = s.min > Range::lowest() ? s.min : -Range::infinity();
  const auto high = s.max < Range::max() ? s.max : Range::infinity();
  if (low > high) refuse("min=" + text_of(low) + " is above max=" + text_of(high));
  s.min = std::max(low, travel.min);
  s.max = std::min(high, travel.max);
  if (!std::isfinite(s.min) || !std::isfinite(s.max))
    refuse(std::string("The range of the lens is unknown: set ") + (std::isfinite(s.min) ? "" : "min") +
           (std::isfinite(s.min) || std::isfinite(s.max) ? "" : " and ") + (std::isfinite(s.max) ? "" : "max"));
  if (s.min > s.max)
    refuse("min=" + text_of(low) + " and max=" + text_of(high) + " are outside the range of " + options.actuator +
           ", which is " + text_of(travel.min) + " to " + text_of(travel.max));
  if (!(s.step > 0)) s.step = travel.step;
  if (!(s.step > 0)) s.step = (s.max - s.min) / kDivisions;
  if (!(s.step > 0)) s.step = 1;
  // Negated, so that it also holds for ranges wider than double, which give NaN.
  if (!((s.max - s.min) / s.step <= kMostPositions))
    refuse("The range " + text_of(s.min) + " to " + text_of(s.max) + " has more than " + text_of(kMostPositions) +
           " positions: set a larger step");
  return s;
}

/// Number of commands given before a frame of this running time was exposed; empty while the lens
/// travels.
std::optional<std::uint64_t> FocusLoop::commands_before(GstClockTime running) {
  const std::lock_guard lock(mutex_);
  if (GST_CLOCK_TIME_IS_VALID(running)) {
    // Times from before a jump back are useless for later frames.
    if (GST_CLOCK_TIME_IS_VALID(last_) && running < last_) given_.clear();
    last_ = running;
  }
  if (travelling_) return {};
  const auto later = std::find_if(given_.begin(), given_.end(), [&](GstClockTime at) {
    return GST_CLOCK_TIME_IS_VALID(at) && GST_CLOCK_TIME_IS_VALID(running) && running < at;
  });
  given_.erase(given_.begin(), later);
  return commands_ - given_.size();
}

void FocusLoop::move(double position) {
  const bool live = is_live();
  ++commands_;
  {
    // Before the lens can move, and report at once that it has arrived.
    const std::lock_guard lock(mutex_);
    travelling_ = taken_.wait_for_arrival;
    given_.push_back(GST_CLOCK_TIME_NONE);
  }
  try {
    if (actuator_) actuator_->move(position);
  } catch (const ElementError& e) {
    warn(std::string("Cannot move the lens; focusing stops until the next trigger: ") + e.what());
    {
      const std::lock_guard lock(mutex_);
      travelling_ = false;
    }
    give_up();
    return;
  }
  GST_DEBUG_OBJECT(element_, "moved to %g", position);
  g_signal_emit_by_name(element_, "move", position);
  if (live) {
    const GstClockTime now = gst_element_get_current_running_time(element_);
    const std::lock_guard lock(mutex_);
    given_.back() = now;
  }
  post("move");
  g_object_notify(G_OBJECT(element_), "position");
}

/// Ends a search that gets no scores.
void FocusLoop::mind_timeout(GstClockTime running, bool used) {
  if (used || !is_searching() || taken_.timeout == 0) {
    waiting_since_ = GST_CLOCK_TIME_NONE;
    return;
  }
  if (!GST_CLOCK_TIME_IS_VALID(running)) return;
  if (!GST_CLOCK_TIME_IS_VALID(waiting_since_) || running < waiting_since_) waiting_since_ = running;
  if (running - waiting_since_ < taken_.timeout) return;
  waiting_since_ = GST_CLOCK_TIME_NONE;
  give_up();
  {
    const std::lock_guard lock(mutex_);
    travelling_ = false;
  }
  warn("No score for " + text_of(static_cast<double>(taken_.timeout) / GST_SECOND) +
       " s; focusing stops until the next trigger");
}

bool FocusLoop::is_searching() const {
  const FocusState state = search_->state();
  return state == FocusState::kCoarse || state == FocusState::kFine || state == FocusState::kSettle ||
         state == FocusState::kTracking || state == FocusState::kStack;
}

/// Ends the search without publishing its incomplete curve.
void FocusLoop::give_up() {
  search_->give_up();
  tell({});
}

/// Publishes the search's progress, and reports a new state. curve: the search's, if it has ended.
void FocusLoop::tell(const FocusCurve& curve) {
  const Status now{search_->state(), std::isnan(search_->position()) ? 0 : search_->position(), search_->score()};
  bool is_another;
  {
    const std::lock_guard lock(mutex_);
    is_another = std::exchange(status_, now).state != now.state;
  }
  if (!is_another) return;
  GST_INFO_OBJECT(element_, "%s at %g, score %g", nick_of(now.state), now.position, now.score);
  const bool has_ended = now.state == FocusState::kFocused || now.state == FocusState::kFailed;
  post("state", has_ended ? &curve : nullptr);
  g_object_notify(G_OBJECT(element_), "state");
}

/// The fields that all messages have.
StructurePtr FocusLoop::start_message(const char* event, const Status& now) const {
  StructurePtr fields(gst_structure_new("focuscontroller", "event", G_TYPE_STRING, event, "state", G_TYPE_STRING,
                                        nick_of(now.state), "position", G_TYPE_DOUBLE, now.position, "score",
                                        G_TYPE_DOUBLE, now.score, nullptr));
  set_times(fields.get(), segment_, GST_BUFFER_PTS(frame_));
  return fields;
}

/// Sends a copy of the fields before the frame.
void FocusLoop::push_downstream(GstEventType type, const GstStructure* fields) {
  GstPad* pad = gst_element_get_static_pad(element_, "src");
  gst_pad_push_event(pad, gst_event_new_custom(type, gst_structure_copy(fields)));
  gst_object_unref(pad);
}

void FocusLoop::post(const char* event, const FocusCurve* result) {
  StructurePtr fields = start_message(event, status());
  if (result) {
    set_result(fields.get(), *result);
    push_downstream(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, fields.get());
  }
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), fields.release()));
}

/// Reports that this frame is an image of a stack, on the bus, and downstream before the frame.
void FocusLoop::tell_stack(const FocusStackImage& image) {
  if (image.number == 1) ++stacks_;
  StructurePtr fields = start_message("stack", {status().state, image.position, search_->score()});
  gst_structure_set(fields.get(), "stack", G_TYPE_UINT, stacks_, "stack-image", G_TYPE_UINT, guint(image.number),
                    "stack-images", G_TYPE_UINT, guint(image.count), nullptr);
  push_downstream(GST_EVENT_CUSTOM_DOWNSTREAM, fields.get());
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), fields.release()));
}

/// Adds the results of a search that has ended.
void FocusLoop::set_result(GstStructure* fields, const FocusCurve& curve) const {
  set_array(fields, "positions", G_TYPE_DOUBLE, g_value_set_double, curve.positions);
  set_array(fields, "scores", G_TYPE_DOUBLE, g_value_set_double, curve.scores);
  gst_structure_set(fields, "top", G_TYPE_DOUBLE, curve.top, "width", G_TYPE_DOUBLE, curve.width, "error",
                    G_TYPE_DOUBLE, curve.error, "certainty", G_TYPE_DOUBLE, curve.certainty, nullptr);
  if (const auto lag = search_->lag()) gst_structure_set(fields, "lag-frames", G_TYPE_INT, gint{*lag}, nullptr);
  if (const auto play = search_->backlash()) gst_structure_set(fields, "backlash", G_TYPE_DOUBLE, *play, nullptr);
}

void FocusLoop::warn(const std::string& text) {
  framequality::post(element_, GST_MESSAGE_WARNING, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text});
}

/// True for live sources, whose timestamps are running times comparable with the clock.
bool FocusLoop::is_live() {
  if (live_) return *live_;
  GstQuery* query = gst_query_new_latency();
  GstPad* pad = gst_element_get_static_pad(element_, "sink");
  gboolean live = FALSE;
  if (gst_pad_peer_query(pad, query)) gst_query_parse_latency(query, &live, nullptr, nullptr);
  gst_object_unref(pad);
  gst_query_unref(query);
  live_ = live;
  return live;
}

}  // namespace framequality
