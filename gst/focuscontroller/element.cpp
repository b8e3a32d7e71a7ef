// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: moves a lens until the picture is sharp, and again when it is lost.
#include "gst/focuscontroller/loop.h"
#include "gst/object/guard.h"
#include "gst/object/score_meta.h"

#include <gst/base/gstbasetransform.h>

#include <optional>

/**
 * SECTION:element-focuscontroller
 * @title: focuscontroller
 * @short_description: moves a lens until the picture is sharp, and again when it is lost
 *
 * Closes the autofocus loop: reads the score that `sharpnessmeter` attached to each frame, searches the lens position
 * with the highest score, goes there and watches. Frames pass untouched.
 *
 * The lens is named by `actuator`: a number property of any element of the pipeline (`lens.position`), a field of a
 * structure property (`camera.extra-controls.focus_absolute` of a `v4l2src name=camera`), or a V4L2 device
 * (`/dev/video0`). Without one the application moves the lens when the signal `move` or the message tells it to.
 *
 * Every move and every change of state is an element message named `focuscontroller`: string `event` (`move` or
 * `state`), `state`; double `position`, `score`; guint64 `timestamp`, `stream-time`, `running-time` of the frame.
 *
 * A frame that was exposed before the lens arrived is never used: `settle-frames` are left out after each move and, in
 * live pipelines, all frames with a timestamp from before the move.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m virtuallenssrc name=lens num-buffers=300 ! sharpnessmeter normalize=mean prefilter=binomial5 !
 *     focuscontroller actuator=lens.position min=0 max=100 ! fakesink
 * ]| focuses a lens that is not there.
 * |[
 * gst-launch-1.0 -m v4l2src ! videoconvert ! sharpnessmeter normalize=mean prefilter=binomial5 !
 *     focuscontroller actuator=/dev/video0 ! autovideosink
 * ]| focuses a webcam, in the range and steps that its driver tells.
 */

GST_DEBUG_CATEGORY(focuscontroller_debug);
#define GST_CAT_DEFAULT focuscontroller_debug

using namespace framequality;

struct GstFocusController {
  GstBaseTransform parent;
  FocusLoop* loop;
};
struct GstFocusControllerClass {
  GstBaseTransformClass parent_class;
  void (*trigger)(GstFocusController*);
  void (*cancel)(GstFocusController*);
  void (*arrived)(GstFocusController*);
};

GType gst_focus_controller_get_type();
G_DEFINE_TYPE(GstFocusController, gst_focus_controller, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(focuscontroller, "focuscontroller", GST_RANK_NONE, gst_focus_controller_get_type())

static FocusLoop& loop_of(gpointer instance) { return *static_cast<GstFocusController*>(instance)->loop; }

// --- Stream ---------------------------------------------------------------------------------------------------------

static GstFlowReturn transform_ip(GstBaseTransform* trans, GstBuffer* buffer) {
  return guard(GST_ELEMENT_CAST(trans), GST_FLOW_ERROR, [&] {
    std::optional<double> score;
    double value;
    const GstStructure* fields = score_fields(buffer, kSharpnessMeta);
    if (fields && gst_structure_get_double(fields, "score", &value)) score = value;
    loop_of(trans).frame(buffer, trans->segment, score);
    return GST_FLOW_OK;
  });
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) loop_of(trans).start_anew();
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    GstCaps* old = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans));
    if (old && !gst_caps_is_equal(old, caps)) loop_of(trans).start_anew();
    gst_clear_caps(&old);
  }
  return GST_BASE_TRANSFORM_CLASS(gst_focus_controller_parent_class)->sink_event(trans, event);
}

static gboolean stop(GstBaseTransform* trans) {
  loop_of(trans).reset();
  return TRUE;
}

static void trigger(GstFocusController* self) { self->loop->trigger(); }
static void cancel(GstFocusController* self) { self->loop->cancel(); }
static void arrived(GstFocusController* self) { self->loop->arrived(); }

// --- Properties -----------------------------------------------------------------------------------------------------

enum {
  PROP_ACTUATOR = 1,
  PROP_MIN,
  PROP_MAX,
  PROP_STEP,
  PROP_COARSE_STEP,
  PROP_SETTLE_FRAMES,
  PROP_AVERAGE_FRAMES,
  PROP_LOSS,
  PROP_LOSS_FRAMES,
  PROP_MODE,
  PROP_TIMEOUT,
  PROP_WAIT_FOR_ARRIVAL,
  PROP_STATE,
  PROP_POSITION,
  PROP_SCORE
};

static GType mode_get_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(FocusMode::kManual), "searches when triggered", "manual"},
      {static_cast<int>(FocusMode::kOneShot), "searches at the start, and when triggered", "one-shot"},
      {static_cast<int>(FocusMode::kContinuous), "searches at the start, when triggered, and whenever focus is lost",
       "continuous"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqFocusMode", values);
  return type;
}

static GType state_get_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(FocusState::kIdle), "waits for a trigger", nick_of(FocusState::kIdle)},
      {static_cast<int>(FocusState::kCoarse), "sweeps the range", nick_of(FocusState::kCoarse)},
      {static_cast<int>(FocusState::kFine), "closes in on the peak", nick_of(FocusState::kFine)},
      {static_cast<int>(FocusState::kSettle), "looks at the final position", nick_of(FocusState::kSettle)},
      {static_cast<int>(FocusState::kFocused), "in focus", nick_of(FocusState::kFocused)},
      {static_cast<int>(FocusState::kFailed), "no position is sharper than others, no scores come, or the lens fails",
       nick_of(FocusState::kFailed)},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqFocusState", values);
  return type;
}

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  loop_of(object).set_options([&](FocusOptions& o) {
    switch (id) {
      case PROP_ACTUATOR:
        o.actuator = g_value_get_string(value) ? g_value_get_string(value) : "";
        break;
      case PROP_MIN:
        o.search.min = g_value_get_double(value);
        break;
      case PROP_MAX:
        o.search.max = g_value_get_double(value);
        break;
      case PROP_STEP:
        o.search.step = g_value_get_double(value);
        break;
      case PROP_COARSE_STEP:
        o.search.coarse_step = g_value_get_double(value);
        break;
      case PROP_SETTLE_FRAMES:
        o.search.settle_frames = g_value_get_int(value);
        break;
      case PROP_AVERAGE_FRAMES:
        o.search.average_frames = g_value_get_int(value);
        break;
      case PROP_LOSS:
        o.search.loss = g_value_get_double(value);
        break;
      case PROP_LOSS_FRAMES:
        o.search.loss_frames = g_value_get_int(value);
        break;
      case PROP_MODE:
        o.search.mode = static_cast<FocusMode>(g_value_get_enum(value));
        break;
      case PROP_TIMEOUT:
        o.timeout = g_value_get_uint64(value);
        break;
      case PROP_WAIT_FOR_ARRIVAL:
        o.wait_for_arrival = g_value_get_boolean(value);
        break;
      default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    }
  });
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  const FocusOptions o = loop_of(object).options();
  const FocusLoop::Status status = loop_of(object).status();
  switch (id) {
    case PROP_ACTUATOR:
      g_value_set_string(value, o.actuator.empty() ? nullptr : o.actuator.c_str());
      break;
    case PROP_MIN:
      g_value_set_double(value, o.search.min);
      break;
    case PROP_MAX:
      g_value_set_double(value, o.search.max);
      break;
    case PROP_STEP:
      g_value_set_double(value, o.search.step);
      break;
    case PROP_COARSE_STEP:
      g_value_set_double(value, o.search.coarse_step);
      break;
    case PROP_SETTLE_FRAMES:
      g_value_set_int(value, o.search.settle_frames);
      break;
    case PROP_AVERAGE_FRAMES:
      g_value_set_int(value, o.search.average_frames);
      break;
    case PROP_LOSS:
      g_value_set_double(value, o.search.loss);
      break;
    case PROP_LOSS_FRAMES:
      g_value_set_int(value, o.search.loss_frames);
      break;
    case PROP_MODE:
      g_value_set_enum(value, static_cast<int>(o.search.mode));
      break;
    case PROP_TIMEOUT:
      g_value_set_uint64(value, o.timeout);
      break;
    case PROP_WAIT_FOR_ARRIVAL:
      g_value_set_boolean(value, o.wait_for_arrival);
      break;
    case PROP_STATE:
      g_value_set_enum(value, static_cast<int>(status.state));
      break;
    case PROP_POSITION:
      g_value_set_double(value, status.position);
      break;
    case PROP_SCORE:
      g_value_set_double(value, status.score);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static constexpr FocusSettings kDefaults{.min = -G_MAXDOUBLE, .max = G_MAXDOUBLE, .step = 0, .settle_frames = 3};
static constexpr GstClockTime kTimeout = 10 * GST_SECOND;

static void gst_focus_controller_init(GstFocusController* self) {
  self->loop = new FocusLoop(GST_ELEMENT_CAST(self));
  self->loop->set_options([](FocusOptions& o) {
    o.search = kDefaults;
    o.timeout = kTimeout;
  });
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}

static void finalize(GObject* object) {
  delete static_cast<GstFocusController*>(static_cast<gpointer>(object))->loop;
  G_OBJECT_CLASS(gst_focus_controller_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  constexpr auto kRead = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  const auto install = [&](guint id, GParamSpec* spec) { g_object_class_install_property(object, id, spec); };
  install(PROP_ACTUATOR,
          g_param_spec_string("actuator", "Actuator",
                              "What moves the lens: element.property, any number property of an element of the "
                              "pipeline; element.property.field of a structure property (extra-controls of v4l2src); "
                              "/dev/videoN or /dev/videoN:control, a V4L2 device's focus_absolute or another control. "
                              "Empty = the application, on the signal move",
                              nullptr, kFlags));
  install(PROP_MIN, g_param_spec_double("min", "Minimum",
                                        "Lowest position, in the actuator's unit; -1.797693e+308 = the actuator's own, "
                                        "an error if it does not tell",
                                        -G_MAXDOUBLE, G_MAXDOUBLE, kDefaults.min, kFlags));
  install(PROP_MAX, g_param_spec_double("max", "Maximum",
                                        "Highest position, in the actuator's unit; 1.797693e+308 = the actuator's own, "
                                        "an error if it does not tell",
                                        -G_MAXDOUBLE, G_MAXDOUBLE, kDefaults.max, kFlags));
  install(PROP_STEP, g_param_spec_double("step", "Step",
                                         "Distance of the positions that are tried: how exactly to focus, in the "
                                         "actuator's unit; 0 = the actuator's own (1 for integers), else 1/100 of the "
                                         "range",
                                         0, G_MAXDOUBLE, kDefaults.step, kFlags));
  install(PROP_COARSE_STEP, g_param_spec_double("coarse-step", "Coarse step",
                                                "Distance of the positions of the first sweep, in the actuator's unit, "
                                                "less than the width of the peak; 0 = automatic",
                                                0, G_MAXDOUBLE, kDefaults.coarse_step, kFlags));
  install(PROP_SETTLE_FRAMES,
          g_param_spec_int("settle-frames", "Settle frames",
                           "Frames after a move that may still show the lens on its way; they are not used", 0, 1000,
                           kDefaults.settle_frames, kFlags));
  install(PROP_AVERAGE_FRAMES,
          g_param_spec_int("average-frames", "Average frames",
                           "Scores that are averaged at each position: more are slower, and stand more noise", 1, 1000,
                           kDefaults.average_frames, kFlags));
  install(PROP_LOSS, g_param_spec_double("loss", "Loss",
                                         "Share by which the score must change, down or up, for focus to be lost "
                                         "(mode=continuous)",
                                         0, 1, kDefaults.loss, kFlags));
  install(PROP_LOSS_FRAMES, g_param_spec_int("loss-frames", "Loss frames",
                                             "Frames that such a change must last; more after a search that was in "
                                             "vain (mode=continuous)",
                                             1, 10000, kDefaults.loss_frames, kFlags));
  install(PROP_MODE, g_param_spec_enum("mode", "Mode", "When to search", mode_get_type(),
                                       static_cast<int>(kDefaults.mode), kFlags));
  install(PROP_TIMEOUT, g_param_spec_uint64("timeout", "Timeout",
                                            "Running time without a usable score after which a search fails, in ns; "
                                            "0 = never",
                                            0, G_MAXUINT64, kTimeout, kFlags));
  install(PROP_WAIT_FOR_ARRIVAL,
          g_param_spec_boolean("wait-for-arrival", "Wait for arrival",
                               "After each move use no frame before the action signal arrived is emitted; "
                               "settle-frames count from there",
                               FALSE, kFlags));
  install(PROP_STATE, g_param_spec_enum("state", "State", "What the search is doing", state_get_type(),
                                        static_cast<int>(FocusState::kIdle), kRead));
  install(PROP_POSITION, g_param_spec_double("position", "Position",
                                             "Where the lens was sent last, or was at first; 0 while that is not known",
                                             -G_MAXDOUBLE, G_MAXDOUBLE, 0, kRead));
  install(PROP_SCORE, g_param_spec_double("score", "Score", "Of the last frame that had one; 0 before the first",
                                          -G_MAXDOUBLE, G_MAXDOUBLE, 0, kRead));
}

static void install_signals(GstFocusControllerClass* klass) {
  const GType type = G_TYPE_FROM_CLASS(klass);
  constexpr auto kAction = static_cast<GSignalFlags>(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION);
  // Move the lens to this position: emitted for every move, in the streaming thread, with an actuator after it moved.
  g_signal_new("move", type, G_SIGNAL_RUN_LAST, 0, nullptr, nullptr, nullptr, G_TYPE_NONE, 1, G_TYPE_DOUBLE);
  // From any thread, with effect on the next frame.
  g_signal_new("trigger", type, kAction, G_STRUCT_OFFSET(GstFocusControllerClass, trigger), nullptr, nullptr, nullptr,
               G_TYPE_NONE, 0);
  g_signal_new("cancel", type, kAction, G_STRUCT_OFFSET(GstFocusControllerClass, cancel), nullptr, nullptr, nullptr,
               G_TYPE_NONE, 0);
  g_signal_new("arrived", type, kAction, G_STRUCT_OFFSET(GstFocusControllerClass, arrived), nullptr, nullptr, nullptr,
               G_TYPE_NONE, 0);
  klass->trigger = trigger;
  klass->cancel = cancel;
  klass->arrived = arrived;
}

static void gst_focus_controller_class_init(GstFocusControllerClass* klass) {
  GST_DEBUG_CATEGORY_INIT(focuscontroller_debug, "focuscontroller", 0, "autofocus");
  register_score_meta(kSharpnessMeta);
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  install_signals(klass);
  auto* element = GST_ELEMENT_CLASS(klass);
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  gst_element_class_set_static_metadata(element, "Focus controller", "Generic/Video",
                                        "Moves a lens until the picture is sharp by sharpnessmeter's score, and again "
                                        "when it is lost",
                                        "The framequality authors");
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->transform_ip = transform_ip;
  trans->sink_event = sink_event;
  trans->stop = stop;
  for (const GType type : {mode_get_type(), state_get_type()})
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
}
