// SPDX-License-Identifier: LGPL-2.1-or-later
// The stream through a sharpnessgate: frames are judged, held, passed, marked or dropped; dropped ones become
// gaps.
#include "gst/sharpnessgate/stream.h"

#include "gst/object/guard.h"
#include "gst/object/score_meta.h"
#include "gst/object/segment.h"
#include "gst/object/structure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

GST_DEBUG_CATEGORY_EXTERN(sharpnessgate_debug);
#define GST_CAT_DEFAULT sharpnessgate_debug

namespace framequality {

namespace {

/// The first gap after a frame is sent at once, so that sinks preroll and muxers go on. Encoders queue gaps until the
/// next frame, which may be hours away: later ones are sent at most once in this time.
constexpr GstClockTime kGapStep = GST_SECOND / 4;

const char* text_of(Reason reason) {
  constexpr std::array kTexts{"above-min-score", "below-min-score", "above-resume-score", "near-median", "below-median",
                              "above-median",    "best-of-window",  "other-blur",         "damaged"};
  static_assert(kTexts.size() == static_cast<std::size_t>(Reason::kDamaged) + 1);
  return kTexts[static_cast<std::size_t>(reason)];
}

}  // namespace

std::optional<GateStream::Score> GateStream::score_of(GstBuffer* buffer) {
  const GstStructure* fields = score_fields(buffer, kSharpnessMeta);
  Score score{fields ? number_in(fields, "score") : std::nan("")};
  if (std::isnan(score.value)) return std::nullopt;
  const auto word = [fields](const char* field) {
    const char* text = gst_structure_get_string(fields, field);
    return std::string_view(text ? text : "");
  };
  const std::string_view metric = word("metric"), blur = word("blur");
  score.compares_scenes = metric == "mean-square-frequency" || metric == "directional-frequency";
  score.knows_blur = !blur.empty();
  gboolean damaged = FALSE;
  score.damaged = gst_structure_get_boolean(fields, "damaged", &damaged) && damaged;
  if (blur == "motion") score.blur = GateDrop::kMotion;
  if (blur == "defocus") score.blur = GateDrop::kDefocus;
  if (const GValue* moved = gst_structure_get_value(fields, "displacement")) {
    score.has_displacement = gst_structure_get_uint(fields, "shot", &score.shot);
    score.x = g_value_get_double(gst_value_array_get_value(moved, 0));
    score.y = g_value_get_double(gst_value_array_get_value(moved, 1));
  }
  return score;
}

// --- Messages -------------------------------------------------------------------------------------------------------

void GateStream::post(const char* state, const Verdict& verdict, double score, GstClockTime pts) {
  GstStructure* fields = gst_structure_new_empty("sharpnessgate");
  set_times(fields, segment_, pts);
  gst_structure_set(fields, "state", G_TYPE_STRING, state, "reason", G_TYPE_STRING, text_of(verdict.reason), "score",
                    G_TYPE_DOUBLE, score, nullptr);
  if (settings_.mode == GateMode::kRelative)
    gst_structure_set(fields, "median", G_TYPE_DOUBLE, stats_.median.load(), nullptr);
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), fields));
}

void GateStream::warn_once(bool& warned, const char* text) {
  if (!std::exchange(warned, true))
    framequality::post(element_, GST_MESSAGE_WARNING, {GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text});
}

// --- Out ------------------------------------------------------------------------------------------------------------

void GateStream::tell_gap() {
  if (lost_.is_empty()) return;
  const GstClockTime duration = lost_.end > lost_.begin ? lost_.end - lost_.begin : GST_CLOCK_TIME_NONE;
  GstEvent* event = gst_event_new_gap(lost_.begin, duration);
  lost_ = {.discont = lost_.discont};
  gap_was_told_ = true;
  gst_pad_push_event(src_, event);
}

void GateStream::tell_gap_if_due() {
  if (lost_.is_empty() || lost_.is_open) return;
  if (!gap_was_told_ || lost_.end - lost_.begin >= kGapStep) tell_gap();
}

GstFlowReturn GateStream::push(BufferPtr buffer, std::optional<bool> passed) {
  leaving_ = {std::move(buffer), passed};
  return let_go();
}

GstFlowReturn GateStream::let_go() {
  tell_gap();
  if (!leaving_.buffer) return GST_FLOW_OK;
  auto [buffer, passed] = std::move(leaving_);
  gap_was_told_ = false;
  const bool discont = std::exchange(lost_.discont, false);
  if (discont || passed) buffer.reset(make_header_writable(buffer.release()));
  if (discont) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  if (passed) {
    GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer.get(), kSharpnessMeta);
    gst_structure_set(gst_custom_meta_get_structure(meta), "passed", G_TYPE_BOOLEAN, gboolean{*passed}, nullptr);
    ++(*passed ? stats_.passed : stats_.marked);
  }
  return gst_pad_push(src_, buffer.release());
}

void GateStream::catch_up() {
  if (!leaving_.buffer) return;
  const GstFlowReturn flow = let_go();
  if (flow != GST_FLOW_OK) flow_ = flow;
}

void GateStream::lose(Lost& to, const Moment& moment) {
  ++stats_.dropped;
  to.discont = true;
  if (GST_CLOCK_TIME_IS_VALID(moment.pts)) to.add(moment.pts, moment.duration);
}

void GateStream::hold(Held held) {
  if (held_.full()) held_.reserve(std::max<std::size_t>(2 * held_.capacity(), 8));
  if (held.buffer) ++frames_;
  held_.push(std::move(held));
}

GateStream::Held GateStream::take_first() {
  Held first = std::move(held_.pop());
  if (first.buffer) --frames_;
  return first;
}

GstFlowReturn GateStream::release(bool is_window_complete) {
  best_of_.close(is_window_complete, settings_.window);
  if (held_.empty()) return GST_FLOW_OK;
  GST_LOG_OBJECT(element_, "a window ends %s", is_window_complete ? "complete" : "early: it was closed");
  // Of the frames that led the window, the last one is the best.
  for (std::size_t i = held_.size(), leaders = 0; i-- > 0;)
    if (held_[i].leads) held_[i].leads = leaders++ == 0;
  GstFlowReturn flow = GST_FLOW_OK;
  for (std::size_t left = held_.size(); left > 0 && !held_.empty(); --left) {
    Held held = take_first();
    if (held.event) {
      gst_pad_push_event(src_, held.event.release());
    } else if (flow == GST_FLOW_OK) {
      leaving_ = {std::move(held.buffer), held.leads};
      if (held.leads) post("picked", {true, Reason::kBestOfWindow}, held.score->value, held.moment.pts);
      flow = let_go();
    }
  }
  behind_.discont |= lost_.discont;
  lost_ = std::exchange(behind_, {});
  tell_gap_if_due();
  return flow;
}

void GateStream::displace() {
  if (held_.empty()) return;
  lose(lost_, take_first().moment);
  if (!behind_.is_empty())
    lost_.add(behind_.begin, behind_.is_open ? GST_CLOCK_TIME_NONE : behind_.end - behind_.begin);
  behind_ = {};
  if (!held_.empty()) tell_gap();
  while (!held_.empty()) {
    Held held = take_first();
    if (held.event)
      gst_pad_push_event(src_, held.event.release());
    else
      lose(lost_, held.moment);
  }
}

GstFlowReturn GateStream::let_out(std::size_t most) {
  GstFlowReturn flow = GST_FLOW_OK;
  // A frame that comes back may do so in another mode, and then waits for no level.
  while (settings_.mode == GateMode::kRelative && !held_.empty() && (held_.front().event || frames_ > most)) {
    Held held = take_first();
    if (held.event) {
      tell_gap();
      gst_pad_push_event(src_, held.event.release());
      continue;
    }
    Verdict verdict{true, Reason::kNearMedian};
    if (held.score) verdict = held.score->damaged ? Verdict{false, Reason::kDamaged} : judge_next(*held.score);
    if (flow != GST_FLOW_OK) continue;
    lost_.close_at(held.moment.pts);
    if (!held.score) {
      flow = push(std::move(held.buffer), std::nullopt);
      continue;
    }
    flow = carry_out(verdict, std::move(held.buffer), held.moment, *held.score);
  }
  return flow;
}

/// mode=relative: judges the frame that has waited longest for its level.
Verdict GateStream::judge_next(const Score& score) {
  const bool is_automatic = settings_.min_ratio < 0, fades = level_.fades(settings_.look_ahead);
  const double unrest = level_.unrest(), level = level_.next(settings_.look_ahead);
  stats_.median = level;
  if (!is_automatic) return judge_by_median(score.value, level, settings_.min_ratio, settings_.max_ratio);
  if (!score.compares_scenes) return judge_by_median(score.value, level, kUsualRatio, settings_.max_ratio);
  return judge_by_median(score.value, level, fades ? 0 : scene_ratio(unrest), settings_.max_ratio);
}

void GateStream::drain() {
  catch_up();
  do {
    const GstFlowReturn flow = settings_.mode == GateMode::kRelative ? let_out(0) : release(false);
    if (flow != GST_FLOW_OK) flow_ = flow;
    tell_gap();
  } while (!held_.empty());
}

// --- In -------------------------------------------------------------------------------------------------------------

GstFlowReturn GateStream::take(BufferPtr buffer, const GateSettings& settings) {
  catch_up();
  if (!settings.continues(settings_)) {
    GST_DEBUG_OBJECT(element_, "another mode or window: pushing %zu held frames, and forgetting earlier scores",
                     frames_);
    drain();
    forget();
  }
  settings_ = settings;
  if (flow_ != GST_FLOW_OK) return std::exchange(flow_, GST_FLOW_OK);
  const Moment moment = moment_of(buffer.get());
  const std::optional<Score> score = score_of(buffer.get());
  if (!score) {
    ++stats_.unscored;
    warn_once(warned_unscored_,
              "A frame has no score and passes: put sharpnessmeter, with attach-meta=true and interval=0, upstream of "
              "sharpnessgate");
  }
  if (settings.mode == GateMode::kRelative) return wait(std::move(buffer), moment, score);
  if (!score) {
    const GstFlowReturn flow = release(false);
    return flow == GST_FLOW_OK ? push(std::move(buffer), std::nullopt) : flow;
  }
  if (settings.mode == GateMode::kBestOf) return compete(std::move(buffer), moment, *score);
  Verdict verdict{false, Reason::kDamaged};
  if (!score->damaged)
    verdict =
        hysteresis_.judge(score->value, settings.min_score, settings.resume_score, moment.begin, settings.hold_time);
  return carry_out(verdict, std::move(buffer), moment, *score);
}

GstFlowReturn GateStream::wait(BufferPtr buffer, const Moment& moment, std::optional<Score> score) {
  GstFlowReturn flow = GST_FLOW_OK;
  if (score) {
    if (level_.begins_anew(moment.begin)) flow = let_out(0);
    if (!score->damaged) level_.add(score->value, moment.begin, settings_.window);
  }
  hold({std::move(buffer), nullptr, moment, score});
  const GstFlowReturn last = let_out(static_cast<std::size_t>(settings_.look_ahead));
  return flow == GST_FLOW_OK ? last : flow;
}

GstFlowReturn GateStream::carry_out(Verdict verdict, BufferPtr buffer, const Moment& moment, const Score& scored) {
  const double score = scored.value;
  const bool is_blurred = verdict.reason != Reason::kAboveMedian && verdict.reason != Reason::kDamaged;
  if (!verdict.pass && is_blurred && settings_.drop != GateDrop::kAny && scored.blur != settings_.drop) {
    verdict = {true, Reason::kOtherBlur};
    if (!scored.knows_blur)
      warn_once(warned_unknown_,
                "The metadata does not say how frames are blurred, so none is dropped: set "
                "metric=directional-frequency or statistics=true on sharpnessmeter, or drop=any on sharpnessgate");
  }
  const bool leaves = verdict.pass || settings_.marks();
  if (leaves) leaving_ = {std::move(buffer), verdict.pass};
  [[maybe_unused]] const char* fate = verdict.pass ? "passed" : leaves ? "marked" : "dropped";
  GST_LOG_OBJECT(element_, "frame %" GST_TIME_FORMAT " is %s: score %g is %s", GST_TIME_ARGS(moment.pts), fate, score,
                 text_of(verdict.reason));
  if (was_passing_ != verdict.pass) {
    was_passing_ = verdict.pass;
    GST_INFO_OBJECT(element_, "frames are %s, starting at %" GST_TIME_FORMAT ": score %g is %s", fate,
                    GST_TIME_ARGS(moment.pts), score, text_of(verdict.reason));
    post(verdict.pass ? "passing" : "blocking", verdict, score, moment.pts);
  }
  if (leaves) return let_go();
  lose(lost_, moment);
  tell_gap_if_due();
  return GST_FLOW_OK;
}

/// The window for a frame; windows of a displacement become windows of time if the frame has none.
WindowLength GateStream::window_for(const Score& score) {
  WindowLength window = settings_.window;
  if (window.displacement == 0 || score.has_displacement) return window;
  warn_once(warned_unmoved_,
            "The frames do not say how far the image has moved, so windows last window-time: set displacement=true on "
            "sharpnessmeter, or window-displacement=0 here");
  window.displacement = 0;
  return window;
}

GstFlowReturn GateStream::compete(BufferPtr buffer, const Moment& moment, const Score& scored) {
  const double score = scored.value;
  const WindowLength window = window_for(scored);
  if (window.displacement > 0 ? best_of_.moves_on(scored.x, scored.y, scored.shot, window)
                              : best_of_.begins_window(moment.begin, window)) {
    const GstFlowReturn flow = release(false);
    if (flow != GST_FLOW_OK) return flow;
  }
  if (scored.damaged) best_of_.pass_over();
  const bool is_best = !scored.damaged && best_of_.offer(score);
  GST_LOG_OBJECT(element_, "frame %" GST_TIME_FORMAT " with score %g: %s", GST_TIME_ARGS(moment.pts), score,
                 is_best ? "best of its window so far" : "not the best of its window");
  if (is_best && !settings_.marks()) displace();
  if (is_best || settings_.marks())
    hold({std::move(buffer), nullptr, moment, Score{score}, is_best});
  else
    lose(held_.empty() ? lost_ : behind_, moment);
  tell_gap_if_due();
  if (best_of_.is_complete(moment.end, window)) return release(true);
  return held_.size() < kMaxWindowFrames ? GST_FLOW_OK : release(false);
}

/// True if a gap from upstream must follow the held frame: as part of the dropped time after it or, if nothing
/// is dropped, as it is.
bool GateStream::take_gap(GstEvent* event) {
  GstClockTime pts, duration;
  gst_event_parse_gap(event, &pts, &duration);
  const auto time = running_time(pts);
  if (!time) return false;
  behind_.close_at(pts);
  if (best_of_.begins_window(*time, settings_.window)) return false;
  if (settings_.marks()) {
    hold({nullptr, EventPtr(event)});
  } else {
    behind_.add(pts, duration);
    gst_event_unref(event);
  }
  const auto end = GST_CLOCK_TIME_IS_VALID(duration) ? running_time(pts + duration) : time;
  if (best_of_.is_complete(end.value_or(*time), settings_.window)) flow_ = release(true);
  return true;
}

/// The same for waiting frames. Those that no further frame can reach in time are judged with the available ones.
bool GateStream::wait_gap(GstEvent* event) {
  GstClockTime pts, duration;
  gst_event_parse_gap(event, &pts, &duration);
  const auto begin = running_time(pts);
  if (!begin || !GST_CLOCK_TIME_IS_VALID(frame_duration_)) return false;
  const auto known = GST_CLOCK_TIME_IS_VALID(duration) ? running_time(pts + duration) : begin;
  const std::int64_t end = known.value_or(*begin);
  const auto ahead = static_cast<guint64>(settings_.look_ahead) * frame_duration_;
  std::size_t in_time = 0;
  for (std::size_t i = 0; i < held_.size(); ++i)
    in_time += held_[i].buffer && later_by(held_[i].moment.begin, signed_time(ahead)) > end;
  const GstFlowReturn flow = let_out(in_time);
  if (flow != GST_FLOW_OK) flow_ = flow;
  if (held_.empty()) return false;
  hold({nullptr, EventPtr(event)});
  return true;
}

void GateStream::take_caps(GstEvent* event) {
  GstCaps* caps;
  gst_event_parse_caps(event, &caps);
  if (caps_ && gst_caps_is_equal(caps_.get(), caps)) return tell_gap();
  drain();
  caps_.reset(gst_caps_ref(caps));
  frame_duration_ = frame_duration_of(caps);
  GST_DEBUG_OBJECT(element_, "caps: frames of %" GST_TIME_FORMAT ", forgetting earlier scores",
                   GST_TIME_ARGS(frame_duration_));
  // Scores of another image size are not comparable.
  hysteresis_ = {};
  level_.clear();
}

bool GateStream::take_event(GstEvent* event) {
  catch_up();
  if (!held_.empty()) GST_LOG_OBJECT(element_, "%s while %zu frames are held", GST_EVENT_TYPE_NAME(event), frames_);
  // A window of frames lasts while none arrive, however many events do.
  if (held_.size() >= kMaxWindowFrames) drain();
  const bool is_holding = !held_.empty();
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_STREAM_START:
      drain();
      forget();
      warned_unscored_ = warned_timeless_ = warned_unknown_ = false;
      return false;
    case GST_EVENT_CAPS:
      take_caps(event);
      return false;
    case GST_EVENT_SEGMENT:
      drain();
      gst_event_copy_segment(event, &segment_);
      return false;
    case GST_EVENT_GAP:
      if (is_holding && (settings_.mode == GateMode::kRelative ? wait_gap(event) : take_gap(event))) return true;
      drain();
      return false;
    case GST_EVENT_TAG:
    case GST_EVENT_TOC:
    case GST_EVENT_PROTECTION:
    case GST_EVENT_SINK_MESSAGE:
    case GST_EVENT_STREAM_COLLECTION:
    case GST_EVENT_CUSTOM_DOWNSTREAM:
    case GST_EVENT_CUSTOM_BOTH:
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
      if (is_holding) {
        hold({nullptr, EventPtr(event)});
        return true;
      }
      tell_gap();
      return false;
    default:
      drain();
      return false;
  }
}

void GateStream::forget() {
  hysteresis_ = {};
  level_.clear();
  best_of_ = {};
  was_passing_.reset();
}

void GateStream::flush() {
  GST_DEBUG_OBJECT(element_, "flush: discarding %zu held frames", frames_);
  forget();
  while (!held_.empty()) take_first();
  leaving_ = {};
  lost_ = behind_ = {};
  gap_was_told_ = false;
  expected_ = 0;
  flow_ = GST_FLOW_OK;
}

void GateStream::restart() {
  flush();
  segment_ = {};
  caps_.reset();
  frame_duration_ = GST_CLOCK_TIME_NONE;
  warned_unscored_ = warned_timeless_ = warned_unknown_ = false;
  for (auto* counter : {&stats_.passed, &stats_.dropped, &stats_.marked, &stats_.unscored}) *counter = 0;
  stats_.median = 0;
}

}  // namespace framequality
