// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessgate: passes, drops or picks frames by their sharpness.
#include "gst/buffer/allocation.h"
#include "gst/object/guard.h"
#include "gst/object/score_meta.h"
#include "gst/sharpnessgate/stream.h"

#include <algorithm>
#include <memory>
#include <mutex>

/**
 * SECTION:element-sharpnessgate
 * @title: sharpnessgate
 * @short_description: passes, drops or picks frames by their sharpness
 *
 * Reads the score that a sharpnessmeter in front of it attached to each frame (`GstSharpnessMeta`), and lets the frame
 * pass or drops it. Takes any caps in any memory, and never touches pixels or timestamps.
 *
 * - mode=threshold: frames pass while they score min-score or more. Once one was dropped, they pass again from
 *   resume-score on.
 * - mode=relative: frames pass that score at least min-ratio and at most max-ratio times the running median of
 *   window-time or window-frames.
 * - mode=best-of: of every window-time or window-frames only the sharpest frame passes. It is held until its window is
 *   over, which the element reports as latency.
 *
 * What is dropped leaves a GAP event behind, and the next frame is flagged DISCONT. With action=mark all frames pass,
 * and the boolean `passed` in their meta tells what would have become of them; frames that pass carry it always.
 * A frame without a score passes.
 *
 * On every change between passing and blocking, on the first frame, and for every frame picked by mode=best-of, an
 * element message named `sharpnessgate` is posted: string `state` (`passing`, `blocking`, `picked`), string `reason`
 * (`above-min-score`, `below-min-score`, `above-resume-score`; `near-median`, `below-median`, `above-median`;
 * `best-of-window`), double `score`, with mode=relative double `median`, guint64 `timestamp`, `stream-time`,
 * `running-time` (ns).
 *
 * Put it in front of an encoder, not behind: other frames may depend on an encoded one.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -e v4l2src ! videoconvert ! sharpnessmeter prefilter=binomial5 ! sharpnessgate min-score=300
 *     resume-score=400 ! x264enc tune=zerolatency ! mp4mux ! filesink location=sharp.mp4
 * ]| records what is sharp.
 * |[
 * gst-launch-1.0 filesrc location=walk.mp4 ! decodebin ! videoconvert ! sharpnessmeter prefilter=binomial5 !
 *     sharpnessgate mode=best-of window-time=1000000000 ! jpegenc ! multifilesink location=picture-%05d.jpg
 * ]| writes the sharpest picture of every second.
 */

GST_DEBUG_CATEGORY_STATIC(sharpnessgate_debug);
#define GST_CAT_DEFAULT sharpnessgate_debug

namespace framequality {

namespace {

enum class GateAction : int { kDrop, kMark };

GType gate_mode_get_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(GateMode::kThreshold),
       "frames that score min-score or more; once one was dropped, from resume-score on", "threshold"},
      {static_cast<int>(GateMode::kRelative),
       "frames that score min-ratio to max-ratio times the running median of the window", "relative"},
      {static_cast<int>(GateMode::kBestOf), "the sharpest frame of each window; held until the window is over",
       "best-of"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqGateMode", values);
  return type;
}

GType gate_action_get_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(GateAction::kDrop), "frames that do not pass are dropped", "drop"},
      {static_cast<int>(GateAction::kMark), "all frames pass; the meta's boolean 'passed' tells them apart", "mark"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqGateAction", values);
  return type;
}

}  // namespace

struct GateState {
  GateState(GstElement* element, GstPad* src) : stream(element, src) {}

  /// Under mutex: how long a frame may be held, in ns.
  GstClockTime latency() const {
    if (settings.mode != GateMode::kBestOf) return 0;
    if (settings.window.frames == 0) return static_cast<GstClockTime>(settings.window.time);
    if (!GST_CLOCK_TIME_IS_VALID(frame_duration)) return 0;
    return static_cast<GstClockTime>(settings.window.frames) * frame_duration;
  }
  /// Under mutex: how many frames may be held.
  guint held() const {
    if (settings.mode != GateMode::kBestOf) return 0;
    if (!settings.mark) return 1;
    if (settings.window.frames > 0) return static_cast<guint>(settings.window.frames);
    if (!GST_CLOCK_TIME_IS_VALID(frame_duration) || frame_duration == 0) return 1;
    const auto frames = static_cast<guint64>(settings.window.time) / frame_duration + 1;
    return static_cast<guint>(std::min<guint64>(frames, kMaxWindowFrames));
  }

  std::mutex mutex;
  GateSettings settings;                              ///< under mutex
  GstClockTime frame_duration = GST_CLOCK_TIME_NONE;  ///< under mutex
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

/// change() under the lock, and the pipeline is told if that made the latency another one.
template <class F>
static void change_settings(GstSharpnessGate* self, F&& change) {
  GateState& s = *self->state;
  {
    const std::lock_guard lock(s.mutex);
    const GstClockTime before = s.latency();
    change(s);
    if (s.latency() == before) return;
  }
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

// --- Stream ---------------------------------------------------------------------------------------------------------

static GstFlowReturn chain(GstPad*, GstObject* parent, GstBuffer* taken) {
  GateState& s = *gate(parent)->state;
  BufferPtr buffer(taken);
  return guard(GST_ELEMENT(parent), GST_FLOW_ERROR, [&] {
    GateSettings settings;
    {
      const std::lock_guard lock(s.mutex);
      settings = s.settings;
    }
    return s.stream.take(std::move(buffer), settings);
  });
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
    change_settings(gate(parent), [&](GateState& state) { state.frame_duration = frame_duration_of(caps); });
  }
  return gst_pad_event_default(pad, parent, event);
}

static gboolean sink_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  GateState& s = *gate(parent)->state;
  // Who asks for a drain wants its buffers back.
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) s.stream.drain();
  if (!gst_pad_query_default(pad, parent, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) {
    const std::lock_guard lock(s.mutex);
    reserve_held_buffers(query, s.held());
  }
  return TRUE;
}

static gboolean src_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (!gst_pad_query_default(pad, parent, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) {
    GateState& s = *gate(parent)->state;
    gboolean live;
    GstClockTime least, most;
    gst_query_parse_latency(query, &live, &least, &most);
    const std::lock_guard lock(s.mutex);
    gst_query_set_latency(query, live, least + s.latency(), GST_CLOCK_TIME_IS_VALID(most) ? most + s.latency() : most);
  }
  return TRUE;
}

static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  GateState& s = *gate(element)->state;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) s.stream.restart();
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_sharpness_gate_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) s.stream.flush();
  return result;
}

// --- Properties -----------------------------------------------------------------------------------------------------

enum {
  PROP_MODE = 1,
  PROP_MIN_SCORE,
  PROP_RESUME_SCORE,
  PROP_MIN_RATIO,
  PROP_MAX_RATIO,
  PROP_WINDOW_TIME,
  PROP_WINDOW_FRAMES,
  PROP_ACTION,
  PROP_STATS
};

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  change_settings(gate(object), [&](GateState& state) {
    GateSettings& s = state.settings;
    switch (id) {
      case PROP_MODE:
        s.mode = static_cast<GateMode>(g_value_get_enum(value));
        break;
      case PROP_MIN_SCORE:
        s.min_score = g_value_get_double(value);
        break;
      case PROP_RESUME_SCORE:
        s.resume_score = g_value_get_double(value);
        break;
      case PROP_MIN_RATIO:
        s.min_ratio = g_value_get_double(value);
        break;
      case PROP_MAX_RATIO:
        s.max_ratio = g_value_get_double(value);
        break;
      case PROP_WINDOW_TIME:
        s.window.time = static_cast<std::int64_t>(g_value_get_uint64(value));
        break;
      case PROP_WINDOW_FRAMES:
        s.window.frames = g_value_get_int(value);
        break;
      case PROP_ACTION:
        s.mark = static_cast<GateAction>(g_value_get_enum(value)) == GateAction::kMark;
        break;
      default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    }
  });
}

static GstStructure* stats_of(const GateStats& stats, GateMode mode) {
  GstStructure* s = gst_structure_new("stats", "passed", G_TYPE_UINT64, guint64{stats.passed}, "dropped", G_TYPE_UINT64,
                                      guint64{stats.dropped}, "marked", G_TYPE_UINT64, guint64{stats.marked},
                                      "unscored", G_TYPE_UINT64, guint64{stats.unscored}, nullptr);
  if (mode == GateMode::kRelative) gst_structure_set(s, "median", G_TYPE_DOUBLE, stats.median.load(), nullptr);
  return s;
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  GateState& state = *gate(object)->state;
  const std::lock_guard lock(state.mutex);
  const GateSettings& s = state.settings;
  switch (id) {
    case PROP_MODE:
      g_value_set_enum(value, static_cast<int>(s.mode));
      break;
    case PROP_MIN_SCORE:
      g_value_set_double(value, s.min_score);
      break;
    case PROP_RESUME_SCORE:
      g_value_set_double(value, s.resume_score);
      break;
    case PROP_MIN_RATIO:
      g_value_set_double(value, s.min_ratio);
      break;
    case PROP_MAX_RATIO:
      g_value_set_double(value, s.max_ratio);
      break;
    case PROP_WINDOW_TIME:
      g_value_set_uint64(value, static_cast<guint64>(s.window.time));
      break;
    case PROP_WINDOW_FRAMES:
      g_value_set_int(value, s.window.frames);
      break;
    case PROP_ACTION:
      g_value_set_enum(value, static_cast<int>(s.mark ? GateAction::kMark : GateAction::kDrop));
      break;
    case PROP_STATS:
      g_value_take_boxed(value, stats_of(state.stream.stats(), s.mode));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
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

static void finalize(GObject* object) {
  delete gate(object)->state;
  G_OBJECT_CLASS(gst_sharpness_gate_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  const GateSettings defaults;
  g_object_class_install_property(object, PROP_MODE,
                                  g_param_spec_enum("mode", "Mode", "Which frames pass", gate_mode_get_type(),
                                                    static_cast<int>(defaults.mode), kFlags));
  g_object_class_install_property(
      object, PROP_MIN_SCORE,
      g_param_spec_double("min-score", "Least score",
                          "mode=threshold: frames that score less do not pass. In the unit of the meter's metric",
                          -G_MAXDOUBLE, G_MAXDOUBLE, defaults.min_score, kFlags));
  g_object_class_install_property(
      object, PROP_RESUME_SCORE,
      g_param_spec_double("resume-score", "Score to resume",
                          "mode=threshold: after a frame did not pass, the first score that does again. Less than "
                          "min-score (the default) = min-score",
                          -G_MAXDOUBLE, G_MAXDOUBLE, defaults.resume_score, kFlags));
  g_object_class_install_property(
      object, PROP_MIN_RATIO,
      g_param_spec_double("min-ratio", "Least ratio",
                          "mode=relative: frames that score less than this times the median do not pass. All pass "
                          "while the median is 0 or less",
                          0, G_MAXDOUBLE, defaults.min_ratio, kFlags));
  g_object_class_install_property(
      object, PROP_MAX_RATIO,
      g_param_spec_double("max-ratio", "Greatest ratio",
                          "mode=relative: frames that score more than this times the median do not pass (corrupt ones "
                          "score high). 0 = no limit",
                          0, G_MAXDOUBLE, defaults.max_ratio, kFlags));
  g_object_class_install_property(
      object, PROP_WINDOW_TIME,
      g_param_spec_uint64("window-time", "Window",
                          "mode=relative: time over which the median runs; mode=best-of: time of which one frame "
                          "passes. In ns of running time; not used with window-frames",
                          1, G_MAXINT64, static_cast<guint64>(defaults.window.time), kFlags));
  g_object_class_install_property(
      object, PROP_WINDOW_FRAMES,
      g_param_spec_int("window-frames", "Window in frames",
                       "The window as a number of frames with a score; 0 = use window-time", 0,
                       static_cast<int>(kMaxWindowFrames), defaults.window.frames, kFlags));
  g_object_class_install_property(
      object, PROP_ACTION,
      g_param_spec_enum("action", "Action",
                        "What becomes of frames that do not pass. mode=best-of with action=mark holds all frames of a "
                        "window, with their memory",
                        gate_action_get_type(), static_cast<int>(GateAction::kDrop), kFlags));
  g_object_class_install_property(
      object, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames since start, uint64: passed, dropped, marked (did not pass, with action=mark), "
                         "unscored (passed without a score); with mode=relative also double median, the last one",
                         GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void gst_sharpness_gate_class_init(GstSharpnessGateClass* klass) {
  GST_DEBUG_CATEGORY_INIT(sharpnessgate_debug, "sharpnessgate", 0, "frames passed by their sharpness");
  register_score_meta(kSharpnessMeta);
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);

  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  gst_element_class_set_static_metadata(
      element, "Sharpness gate", "Filter/Video",
      "Passes, drops or picks frames by the score that sharpnessmeter gave them; pixels untouched",
      "The framequality authors");
  for (const GType type : {gate_mode_get_type(), gate_action_get_type()})
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
}
