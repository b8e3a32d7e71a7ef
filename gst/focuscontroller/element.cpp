// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: autofocus; moves a lens to the highest sharpnessmeter score, and again when focus is lost.
#include "algorithms/sharpness/metrics.h"
#include "gst/focuscontroller/loop.h"
#include "gst/object/guard.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/pads.h"
#include "gst/object/properties.h"
#include "gst/object/score_meta.h"
#include "gst/object/segment.h"
#include "gst/object/structure.h"

#include <gst/base/gstbasetransform.h>

#include <cmath>

/**
 * SECTION:element-focuscontroller
 * @title: focuscontroller
 * @short_description: autofocus: moves a lens to the highest sharpnessmeter score, and again when focus is lost
 *
 * Closes the autofocus loop: reads the score that `sharpnessmeter` attached to each frame, searches for the lens
 * position with the highest score, moves there and watches. Frames pass unchanged.
 *
 * A search sweeps the range without stopping, then stops a few times near the peak and at its top. When focus is lost,
 * it searches near the last peak first; a small loss is probed. The element learns the latency of frames and the play
 * of the lens, unless `lag-frames` and `backlash` are set. With `statistics=true` on the meter, changes of noise and
 * brightness do not trigger a search.
 *
 * `actuator` names the lens: a numeric property of any element in the pipeline (`lens.position`), a field of a
 * structure property (`camera.extra-controls.focus_absolute` of a `v4l2src name=camera`), or a V4L2 device
 * (`/dev/video0`). Without one the application moves the lens, on the signal `move` or the message.
 *
 * It posts every move and every change of state as an element message named `focuscontroller`: string `event` (`move`,
 * `state` or `stack`), `state`; double `position`, `score`; guint64 `timestamp`, `stream-time`, `running-time` of the
 * frame.
 *
 * When a search has ended (`state` is `focused` or `failed`) the message also has what it saw: the arrays of double
 * `positions` and `scores`, double `top`, `width` and `error` of the peak, its `certainty`, and, if known, int
 * `lag-frames` and double `backlash`. The same structure is sent downstream as a sticky event before the frame, for
 * `sharpnessoverlay`.
 *
 * With `stack`, the lens then steps through positions around the focus and goes back. Each image of this focus stack is
 * reported by a message with `event` `stack`, the `position` where the lens stood, and guint `stack` (from 1),
 * `stack-image` (from 1) and `stack-images`; the same structure goes downstream as an event before the frame. With
 * `stack-only`, no other frames pass.
 *
 * `subject` chooses zones of the meter instead of the whole frame: one, or those under the boxes of a detector.
 *
 * A score counts for the position that its frame shows. At stops `settle-frames` are skipped after each move, and in
 * live pipelines all frames with a timestamp from before it.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m virtuallenssrc name=lens num-buffers=300 ! sharpnessmeter normalize=mean prefilter=binomial5
 *     statistics=true ! focuscontroller actuator=lens.position min=0 max=100 ! fakesink
 * ]| focuses a simulated lens.
 * |[
 * gst-launch-1.0 -m v4l2src ! videoconvert ! sharpnessmeter normalize=mean prefilter=binomial5 statistics=true !
 *     focuscontroller actuator=/dev/video0 ! autovideosink
 * ]| focuses a webcam, with the range and step that its driver reports.
 * |[
 * gst-launch-1.0 virtuallenssrc name=lens blur-per-unit=0.4 num-buffers=200 ! sharpnessmeter normalize=mean
 * prefilter=binomial5 ! focuscontroller actuator=lens.position min=0 max=100 stack=7 stack-only=true ! videoconvert !
 * pngenc ! multifilesink location=stack-%d.png
 * ]| writes a focus stack of seven images.
 */

GST_DEBUG_CATEGORY(focuscontroller_debug);
#define GST_CAT_DEFAULT focuscontroller_debug

using namespace framequality;
using namespace framequality::sharpness;

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

/// The power of the light that these scores scale with; 0 if unknown.
static int light_power(const GstStructure* fields) {
  const char *normalize = gst_structure_get_string(fields, "normalize"),
             *metric = gst_structure_get_string(fields, "metric");
  if (!metric || g_strcmp0(normalize, "none") != 0) return 0;
  const MetricInfo* info = find_metric(metric);
  return info ? info->power : 0;
}

/// The meter's measurements of a frame.
static FocusFrame seen_in(GstBuffer* buffer) {
  FocusFrame seen;
  const GstStructure* fields = score_fields(buffer, kSharpnessMeta);
  const double score = fields ? number_in(fields, "score") : std::nan("");
  if (std::isnan(score)) return seen;
  seen.score = score;
  seen.noise = number_in(fields, "noise");
  seen.mean = number_in(fields, "mean");
  seen.light_power = light_power(fields);
  return seen;
}

static GstFlowReturn transform_ip(GstBaseTransform* trans, GstBuffer* buffer) {
  return guard(GST_ELEMENT_CAST(trans), GST_FLOW_ERROR, [&] {
    const bool passes = loop_of(trans).frame(buffer, segment_of(trans), seen_in(buffer));
    return passes ? GST_FLOW_OK : GST_BASE_TRANSFORM_FLOW_DROPPED;
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

static GType mode_get_type() {
  static const GType type = register_enum<FocusMode>(
      "FqFocusMode",
      {{FocusMode::kManual, "search when triggered", "manual"},
       {FocusMode::kOneShot, "search at the start and when triggered", "one-shot"},
       {FocusMode::kContinuous, "search at the start, when triggered, and whenever focus is lost", "continuous"}});
  return type;
}

static GType state_get_type() {
  static const GType type = register_enum<FocusState>(
      "FqFocusState",
      {{FocusState::kIdle, "waiting for a trigger", nick_of(FocusState::kIdle)},
       {FocusState::kCoarse, "sweeping the range", nick_of(FocusState::kCoarse)},
       {FocusState::kFine, "stopping near the peak, or searching near the last one", nick_of(FocusState::kFine)},
       {FocusState::kSettle, "checking the final position", nick_of(FocusState::kSettle)},
       {FocusState::kFocused, "in focus", nick_of(FocusState::kFocused)},
       {FocusState::kFailed,
        "no position is sharper than the others or certain enough, there are no scores, or the lens fails",
        nick_of(FocusState::kFailed)},
       {FocusState::kTracking, "probing a small loss near the focus", nick_of(FocusState::kTracking)},
       {FocusState::kStack, "shooting a focus stack", nick_of(FocusState::kStack)}});
  return type;
}

static GType approach_get_type() {
  static const GType type = register_enum<FocusApproach>(
      "FqFocusApproach",
      {{FocusApproach::kAuto, "from where the sweep came, while the lens has play or may have", "auto"},
       {FocusApproach::kFromBelow, "from lower positions, whatever the play", "from-below"},
       {FocusApproach::kFromAbove, "from higher positions, whatever the play", "from-above"}});
  return type;
}

static GType goal_get_type() {
  static const GType type = register_enum<FocusGoal>(
      "FqFocusGoal",
      {{FocusGoal::kPeak, "the object with the highest score", "peak"},
       {FocusGoal::kNearest, "the nearest object that stands out: the one at the largest position", "nearest"},
       {FocusGoal::kFarthest, "the farthest object that stands out: the one at the smallest position", "farthest"}});
  return type;
}

static void get_state(GstFocusController* self, GValue* value) {
  g_value_set_enum(value, static_cast<int>(self->loop->status().state));
}
static void get_position(GstFocusController* self, GValue* value) {
  g_value_set_double(value, self->loop->status().position);
}
static void get_score(GstFocusController* self, GValue* value) {
  g_value_set_double(value, self->loop->status().score);
}

/// How the lens moves and what it shows of it; then when to search.
static void add_search(Properties<GstFocusController, FocusOptions>& properties) {
  const In part{&FocusOptions::search};
  using O = FocusOptions;
  using S = FocusSettings;
  properties
      .add(&O::actuator, "actuator", "Actuator",
           "Move the lens through this: element.property, any numeric property of an element in the pipeline; "
           "element.property.field, a field of a structure property (extra-controls of v4l2src); /dev/videoN or "
           "/dev/videoN:control, focus_absolute or another control of a V4L2 device. Empty = through the application, "
           "on the signal 'move'")
      .add(part(&S::min), "min", "Minimum",
           "Search from this position, in the actuator's unit; -1.797693e+308 = from the actuator's own minimum, an "
           "error if it reports none",
           -G_MAXDOUBLE, G_MAXDOUBLE)
      .add(part(&S::max), "max", "Maximum",
           "Search up to this position, in the actuator's unit; 1.797693e+308 = up to the actuator's own maximum, an "
           "error if it reports none",
           -G_MAXDOUBLE, G_MAXDOUBLE)
      .add(part(&S::step), "step", "Step",
           "Use positions this far apart, which is the precision of focusing, in the actuator's unit; 0 = the "
           "actuator's own step (1 for integers), else 1/100 of the range",
           0, G_MAXDOUBLE)
      .add(part(&S::coarse_step), "coarse-step", "Coarse step",
           "Sweep in steps of this size, in the actuator's unit; must be less than the width of the peak. 0 = "
           "automatic: 1/20 of the range and, once a peak has been found, from its width",
           0, G_MAXDOUBLE)
      .add(part(&S::lag_frames), "lag-frames", "Lag frames",
           "Expect the effect of a move after this many frames, the latency of camera and pipeline without the time "
           "that the lens itself takes, which settle-frames covers. -1 = learn it",
           -1, FocusMotion::kMaxLag)
      .add(part(&S::settle_frames), "settle-frames", "Settle frames",
           "Skip this many frames at each stop, lag-frames included, while the lens may still be moving. 0 where "
           "lag-frames is -1 = learn it",
           0, 1000)
      .add(part(&S::average_frames), "average-frames", "Average frames",
           "Average at least this many scores at each stop, and more if noise requires it", 1, 1000)
      .add(part(&S::stop_and_go), "stop-and-go", "Stop and go",
           "Stop at each position of the sweep too, until the lens is at rest, instead of moving it on with each "
           "frame: slower, for lenses that must not get a new target while they move. Implied by wait-for-arrival")
      .add(part(&S::backlash), "backlash", "Backlash",
           "Allow for this play between motor and lens, how far the motor turns back before the lens follows, in the "
           "actuator's unit; 0 = none, -1 = learn it",
           -1, G_MAXDOUBLE)
      .add(part(&S::approach), approach_get_type(), "approach", "Approach",
           "Approach stops from this side, so that play does not matter")
      .add(part(&S::goal), goal_get_type(), "goal", "Goal",
           "Focus on this object where there are objects at several distances. Larger positions are taken to focus "
           "nearer, as with focus_absolute of V4L2 and lens-position of libcamera")
      .add(part(&S::loss), "loss", "Loss",
           "Treat focus as lost when the score changes by this fraction, up or down (mode=continuous)", 0, 1)
      .add(part(&S::loss_frames), "loss-frames", "Loss frames",
           "Treat focus as lost only after the change has lasted this many frames, or half as many if the score falls "
           "and the meter says that the brightness stays; raised after an unsuccessful search (mode=continuous)",
           1, 10000)
      .add(part(&S::tracking), "tracking", "Tracking",
           "Probe near the focus when a change of score that is smaller than 'loss' lasts (mode=continuous)")
      .add(part(&S::min_certainty), "min-certainty", "Minimum certainty",
           "Search on once, then fail, if the probability of being in focus (within one step, or 1% of the range if "
           "that is more) is below this; 0 = never",
           0, 1)
      .add(part(&S::mode), mode_get_type(), "mode", "Mode", "Choose when to search");
}

/// What to look at, and the images around it.
static void add_subject(Properties<GstFocusController, FocusOptions>& properties) {
  const In part{&FocusOptions::search};
  using O = FocusOptions;
  using S = FocusSettings;
  properties
      .add(&O::subject, "subject", "Subject",
           "Focus on this part of the image: zone:COLUMN,ROW, a zone of sharpnessmeter, from 0,0 at the top left; "
           "boxes or boxes:LABEL, the zones under the GstVideoRegionOfInterestMeta of a detector upstream, of all or "
           "of this label. Needs zone-columns and zone-rows on the meter. Empty = the whole frame, or the meter's roi")
      .add(part(&S::stack), "stack", "Stack",
           "Shoot a focus stack of this many images around the focus, after each search that found one; 0 = none", 0,
           1000)
      .add(part(&S::stack_step), "stack-step", "Stack step",
           "Move the lens by this much between the images of a stack, in the actuator's unit; 0 = automatic, from the "
           "width of the peak, so that nothing between two images is visibly blurred in both",
           0, G_MAXDOUBLE)
      .add(&O::stack_only, "stack-only", "Stack only",
           "Pass only the images of focus stacks, and drop all other frames");
}

static void install_properties(GstFocusControllerClass* klass) {
  using O = FocusOptions;
  gst_type_mark_as_plugin_api(state_get_type(), static_cast<GstPluginAPIFlags>(0));
  auto& properties = Properties<GstFocusController, O>::install(
      klass, [](GstFocusController * self) -> auto& { return self->loop->options(); });
  add_search(properties);
  add_subject(properties);
  properties
      .add(&O::timeout, "timeout", "Timeout",
           "Fail a search after this running time without a usable score, in ns; 0 = never", 0, G_MAXUINT64)
      .add(&O::wait_for_arrival, "wait-for-arrival", "Wait for arrival",
           "Ignore frames after each move until the action signal 'arrived' is emitted; settle-frames count from "
           "there. Implies stop-and-go")
      .add(g_param_spec_enum("state", "State", "Report the state of the search", state_get_type(),
                             static_cast<int>(FocusState::kIdle), kReadable),
           get_state)
      .add(g_param_spec_double("position", "Position",
                               "Report the last commanded position, or the initial one; 0 if unknown", -G_MAXDOUBLE,
                               G_MAXDOUBLE, 0, kReadable),
           get_position)
      .add(g_param_spec_double("score", "Score", "Report the score of the last frame that had one; 0 before the first",
                               -G_MAXDOUBLE, G_MAXDOUBLE, 0, kReadable),
           get_score)
      .when_changed([](GstFocusController* self, const O&, const O&) { self->loop->options_changed(); });
}

static void gst_focus_controller_init(GstFocusController* self) {
  self->loop = new FocusLoop(GST_ELEMENT_CAST(self));
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
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
  focuscontroller_debug = debug_category("focuscontroller", "autofocus");
  register_score_meta(kSharpnessMeta);
  delete_with_instance<&GstFocusController::loop>(klass);
  install_properties(klass);
  install_signals(klass);
  auto* element = GST_ELEMENT_CLASS(klass);
  add_pads_of_any_caps(element);
  gst_element_class_set_static_metadata(
      element, "Focus controller", "Generic/Video",
      "Autofocus: moves a lens to the position with the highest sharpnessmeter score, and again when focus is lost",
      "The framequality authors");
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->transform_ip = transform_ip;
  trans->sink_event = sink_event;
  trans->stop = stop;
}
