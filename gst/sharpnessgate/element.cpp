// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessgate: passes, drops or selects frames by their sharpness score.
#include "gst/memory/allocation.h"
#include "gst/object/guard.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/pads.h"
#include "gst/object/properties.h"
#include "gst/object/score_meta.h"
#include "gst/sharpnessgate/stream.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

/**
 * SECTION:element-sharpnessgate
 * @title: sharpnessgate
 * @short_description: passes, drops or selects frames by their sharpness score
 *
 * Reads the score that an upstream sharpnessmeter attached to each frame (`GstSharpnessMeta`), and passes or drops the
 * frame. Takes any caps in any memory, and never changes pixels or timestamps.
 *
 * - mode=threshold: frames that score at least min-score pass; after one was dropped, at least resume-score.
 * - mode=relative: frames that score between min-ratio and max-ratio times the level of the frames around them pass:
 *   those of window-time or window-frames before, and look-ahead frames after. The element holds frames for the latter
 *   and reports that latency. Falls that last longer than look-ahead frames (cuts, fades, light) drop almost nothing.
 * - mode=best-of: only the sharpest frame of each window-time or window-frames passes. The element holds it until its
 *   window is over, and reports that latency.
 *
 * GAP events replace dropped frames, and the next frame is flagged DISCONT. With action=mark all frames pass, and the
 * boolean `passed` in their metadata says which would have passed; frames that pass always have it. A frame without a
 * score passes. A frame that the meter calls damaged never passes.
 *
 * On every change between passing and blocking, on the first frame, and for every frame that mode=best-of picks, it
 * posts an element message named `sharpnessgate`: string `state` (`passing`, `blocking`, `picked`), string `reason`
 * (`above-min-score`, `below-min-score`, `above-resume-score`; `near-median`, `below-median`, `above-median`;
 * `other-blur`, which `drop` lets pass; `best-of-window`; `damaged`), double `score`, with mode=relative double
 * `median`, guint64 `timestamp`, `stream-time`, `running-time` (ns).
 *
 * Put it upstream of an encoder, not downstream: other frames may depend on an encoded one.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -e v4l2src ! videoconvert ! video/x-raw,format=I420 ! sharpnessmeter prefilter=binomial5 !
 *     sharpnessgate min-score=300 resume-score=400 ! x264enc tune=zerolatency ! mp4mux ! filesink location=sharp.mp4
 * ]| records only sharp frames.
 * |[
 * gst-launch-1.0 filesrc location=walk.mp4 ! decodebin ! videoconvert ! sharpnessmeter prefilter=binomial5 !
 *     sharpnessgate mode=best-of window-time=1000000000 ! jpegenc ! multifilesink location=image-%05d.jpg
 * ]| writes the sharpest frame of every second.
 */

GST_DEBUG_CATEGORY(sharpnessgate_debug);
#define GST_CAT_DEFAULT sharpnessgate_debug

namespace framequality {

struct GateState {
  GateState(GstElement* element, GstPad* src) : stream(element, src) {}

  /// Longest time for which a frame may be held, in ns.
  GstClockTime latency(const GateSettings& settings) const {
    if (settings.mode == GateMode::kThreshold) return 0;
    const bool is_relative = settings.mode == GateMode::kRelative;
    if (!is_relative && settings.window.frames == 0) return static_cast<GstClockTime>(settings.window.time);
    const auto frames = static_cast<GstClockTime>(is_relative ? settings.look_ahead : settings.window.frames);
    const GstClockTime duration = frame_duration;
    return GST_CLOCK_TIME_IS_VALID(duration) ? frames * duration : 0;
  }
  /// Most frames that may be held.
  guint held(const GateSettings& settings) const {
    if (settings.mode == GateMode::kThreshold) return 0;
    if (settings.mode == GateMode::kRelative) return static_cast<guint>(settings.look_ahead);
    if (!settings.marks()) return 1;
    if (settings.window.frames > 0) return static_cast<guint>(settings.window.frames);
    const GstClockTime duration = frame_duration;
    if (!GST_CLOCK_TIME_IS_VALID(duration) || duration == 0) return 1;
    const auto frames = static_cast<guint64>(settings.window.time) / duration + 1;
    return static_cast<guint>(std::min<guint64>(frames, kMaxWindowFrames));
  }

  /// The settings as applied now: a live stream waits for nothing while the duration of frames is unknown.
  GateSettings now() const {
    GateSettings now = settings.get();
    if (is_live && !GST_CLOCK_TIME_IS_VALID(frame_duration)) now.look_ahead = 0;
    return now;
  }

  Shared<GateSettings> settings;
  std::atomic<GstClockTime> frame_duration = GST_CLOCK_TIME_NONE;
  std::atomic<bool> is_live = false;
  Shared<GstClockTime> told{0};  ///< the latency last reported to the pipeline
  GateStream stream;
};

}  // namespace framequality

using namespace framequality;

struct GstSharpnessGate {
  GstElement parent;
  GstPad *sink, *src;
  GateState* state;
};
struct GstSharpnessGateClass {
  GstElementClass parent_class;
};

GType gst_sharpness_gate_get_type();
G_DEFINE_TYPE(GstSharpnessGate, gst_sharpness_gate, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(sharpnessgate, "sharpnessgate", GST_RANK_NONE, gst_sharpness_gate_get_type())

static GstSharpnessGate* gate(gpointer object) { return static_cast<GstSharpnessGate*>(object); }

/// Reports the latency to the pipeline if it has changed.
static void tell_latency(GstSharpnessGate* self) {
  GateState& s = *self->state;
  const bool is_new = s.told.change([&](GstClockTime& told) {
    const GstClockTime now = s.latency(s.settings.get());
    return std::exchange(told, now) != now;
  });
  if (is_new) gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

// --- Stream ---------------------------------------------------------------------------------------------------------

static GstFlowReturn chain(GstPad*, GstObject* parent, GstBuffer* taken) {
  GateState& s = *gate(parent)->state;
  BufferPtr buffer(taken);
  return guard(GST_ELEMENT(parent), GST_FLOW_ERROR, [&] { return s.stream.take(std::move(buffer), s.now()); });
}

static gboolean sink_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  GateState& s = *gate(parent)->state;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    s.stream.flush();
  } else if (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) {
    if (guard(GST_ELEMENT(parent), true, [&] { return s.stream.take_event(event); })) return TRUE;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps;
    gst_event_parse_caps(event, &caps);
    s.frame_duration = frame_duration_of(caps);
    tell_latency(gate(parent));
  }
  return gst_pad_event_default(pad, parent, event);
}

static gboolean sink_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  GateState& s = *gate(parent)->state;
  // A DRAIN query means that upstream wants its buffers back.
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) s.stream.drain();
  if (!gst_pad_query_default(pad, parent, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) reserve_held_buffers(query, s.held(s.now()));
  return TRUE;
}

static gboolean src_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (!gst_pad_query_default(pad, parent, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) {
    GateState& s = *gate(parent)->state;
    gboolean live;
    GstClockTime least, most;
    gst_query_parse_latency(query, &live, &least, &most);
    s.is_live = live;
    const GstClockTime own = s.latency(s.settings.get());
    gst_query_set_latency(query, live, least + own, GST_CLOCK_TIME_IS_VALID(most) ? most + own : most);
  }
  return TRUE;
}

static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  GstSharpnessGate* self = gate(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    const StreamLock streaming(self->sink);
    self->state->stream.restart();
    self->state->is_live = false;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_sharpness_gate_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    const StreamLock streaming(self->sink);
    self->state->stream.flush();
  }
  return result;
}

// --- Properties -----------------------------------------------------------------------------------------------------

static GType mode_get_type() {
  static const GType type = register_enum<GateMode>(
      "FqGateMode",
      {{GateMode::kThreshold, "pass frames that score at least min-score or, after a drop, at least resume-score",
        "threshold"},
       {GateMode::kRelative,
        "pass frames that score between min-ratio and max-ratio times the level of the frames before and after them",
        "relative"},
       {GateMode::kBestOf, "pass the sharpest frame of each window, at the end of the window", "best-of"}});
  return type;
}

static GType action_get_type() {
  static const GType type = register_enum<GateAction>(
      "FqGateAction",
      {{GateAction::kDrop, "drop frames that do not pass", "drop"},
       {GateAction::kMark, "pass all frames, with the verdict in their metadata, as the boolean 'passed'", "mark"}});
  return type;
}

static GType drop_get_type() {
  static const GType type =
      register_enum<GateDrop>("FqGateDrop", {{GateDrop::kAny, "any reason", "any"},
                                             {GateDrop::kMotion, "motion blur, of the camera or the subject", "motion"},
                                             {GateDrop::kDefocus, "defocus: equal blur in all directions", "defocus"}});
  return type;
}

static void get_stats(GstSharpnessGate* self, GValue* value) {
  const GateStats& stats = self->state->stream.stats();
  GstStructure* s = gst_structure_new("stats", "passed", G_TYPE_UINT64, guint64{stats.passed}, "dropped", G_TYPE_UINT64,
                                      guint64{stats.dropped}, "marked", G_TYPE_UINT64, guint64{stats.marked},
                                      "unscored", G_TYPE_UINT64, guint64{stats.unscored}, nullptr);
  if (self->state->settings.get().mode == GateMode::kRelative)
    gst_structure_set(s, "median", G_TYPE_DOUBLE, stats.median.load(), nullptr);
  g_value_take_boxed(value, s);
}

static void install_properties(GstSharpnessGateClass* klass) {
  using S = GateSettings;
  Properties<GstSharpnessGate, S>::install(
      klass, [](GstSharpnessGate * self) -> auto& { return self->state->settings; })
      .add(&S::mode, mode_get_type(), "mode", "Mode", "Choose which frames pass")
      .add(&S::min_score, "min-score", "Minimum score",
           "Stop frames below this score, in the unit of the meter's metric (mode=threshold)", -G_MAXDOUBLE,
           G_MAXDOUBLE)
      .add(&S::resume_score, "resume-score", "Score to resume",
           "Pass frames again from this score on, after one was dropped; a value below min-score (the default) counts "
           "as min-score (mode=threshold)",
           -G_MAXDOUBLE, G_MAXDOUBLE)
      .add_time(&S::hold_time, "hold-time", "Hold time",
                "Keep passing or dropping for at least this time after a change between them, in ns of running time "
                "(mode=threshold)",
                0)
      .add(&S::min_ratio, "min-ratio", "Minimum ratio",
           "Stop frames below this multiple of the level; 0 = none. -1 = by metric: 0.9 for mean-square-frequency and "
           "directional-frequency, less where their scores fluctuate from frame to frame, and 0.8 for others. All pass "
           "while the level is 0 or less (mode=relative)",
           -1, G_MAXDOUBLE)
      .add(
          &S::max_ratio, "max-ratio", "Maximum ratio",
          "Stop frames above this multiple of the level, since corrupt frames score high; 0 = no limit (mode=relative)",
          0, G_MAXDOUBLE)
      .add(&S::look_ahead, "look-ahead", "Look-ahead",
           "Compare each frame with this many frames after it too, which is the longest blur that is certain to be "
           "dropped; adds that many frames of latency. 0 = compare only with the running median of the frames before "
           "it (mode=relative)",
           0, kMaxLookAhead)
      .add_time(
          [](auto& s) -> auto& { return s.window.time; }, "window-time", "Window",
          "Set the length of the window in ns of running time: of the running median with mode=relative; of the window "
          "from which one frame passes with mode=best-of. Ignored if window-frames is set",
          1)
      .add(
          [](auto& s) -> auto& { return s.window.frames; }, "window-frames", "Window in frames",
          "Set the length of the window in scored frames; 0 = use window-time", 0, static_cast<int>(kMaxWindowFrames))
      .add(
          [](auto& s) -> auto& { return s.window.displacement; }, "window-displacement", "Window of displacement",
          "End a window when the image has moved by this share of its diagonal, or at a cut, however long that takes; "
          "needs displacement=true on the meter. 0 = use window-frames or window-time (mode=best-of)",
          0, 1)
      .add(&S::action, action_get_type(), "action", "Action",
           "Choose what happens to frames that do not pass. mode=best-of with action=mark keeps all frames of a window "
           "in memory")
      .add(&S::drop, drop_get_type(), "drop", "Drop",
           "Stop frames that score too low only if they have this kind of blur; needs metric=directional-frequency or "
           "statistics=true on the meter (mode=threshold and mode=relative)")
      .add(g_param_spec_boxed(
               "stats", "Statistics",
               "Count since start: frames passed, dropped, marked (did not pass, with action=mark), unscored (passed "
               "without a score); with mode=relative also report the last level, as median",
               GST_TYPE_STRUCTURE, kReadable),
           get_stats)
      .when_changed([](GstSharpnessGate* self, const S&, const S&) { tell_latency(self); });
}

static GstPad* add_pad(GstSharpnessGate* self, const char* name) {
  GstPad* pad = gst_pad_new_from_template(gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), name), name);
  GST_PAD_SET_PROXY_CAPS(pad);
  GST_PAD_SET_PROXY_ALLOCATION(pad);
  gst_element_add_pad(GST_ELEMENT(self), pad);
  return pad;
}

static void gst_sharpness_gate_init(GstSharpnessGate* self) {
  self->sink = add_pad(self, "sink");
  self->src = add_pad(self, "src");
  self->state = new GateState(GST_ELEMENT(self), self->src);
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_pad_set_query_function(self->sink, sink_query);
  gst_pad_set_query_function(self->src, src_query);
}

static void gst_sharpness_gate_class_init(GstSharpnessGateClass* klass) {
  sharpnessgate_debug = debug_category("sharpnessgate", "frames selected by their sharpness");
  register_score_meta(kSharpnessMeta);
  delete_with_instance<&GstSharpnessGate::state>(klass);
  install_properties(klass);

  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  add_pads_of_any_caps(element);
  gst_element_class_set_static_metadata(element, "Sharpness gate", "Filter/Video",
                                        "Passes, drops or selects frames by their sharpness score",
                                        "The framequality authors");
}
