// SPDX-License-Identifier: LGPL-2.1-or-later
// camerawatch: reports when a fixed camera's image degrades: defocused, covered, dark, frozen, moved ...
#include "algorithms/saturate.h"
#include "gst/camerawatch/reason.h"
#include "gst/camerawatch/stream.h"
#include "gst/object/guard.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/pads.h"
#include "gst/object/properties.h"
#include "gst/object/score_meta.h"
#include "gst/object/segment.h"

#include <gst/base/gstbasetransform.h>

#include <cmath>
#include <iterator>

/**
 * SECTION:element-camerawatch
 * @title: camerawatch
 * @short_description: alerts you when a fixed camera's image degrades: defocused, covered, dark, frozen, moved ...
 *
 * Reads the metadata that an upstream sharpnessmeter attached to each frame (`GstSharpnessMeta`), learns the camera's
 * usual image by day and by night, and posts a message when the image differs from it. Accepts any caps in any memory;
 * frames pass unchanged.
 *
 * It posts every change of state as an element message named `camerawatch`: string `state` (`defocused`, `covered`,
 * `dark`, `overexposed`, `frozen`, `moved`, `flickering`, `noisy`; `recovered` when a fault is over; `good` when
 * learning ended, `learning` when it starts again), string `previous`, string `reason` (a sentence with the numbers
 * that led to it), boolean `repeated` (true if the message repeats that a state lasts), guint64 `duration` (ns since
 * the fault began; with `recovered`: ns that it lasted), `timestamp`, `stream-time`, `running-time`; if known double
 * `score`, `baseline`, `ratio` of the two, `noise`, `mean`, `clipped-black`, `clipped-white`.
 *
 * Set metric=mean-square-frequency, noise-correction=true, statistics=true and some zones on the meter: camerawatch
 * cannot detect dark, overexposed, flickering and noisy images without statistics, nor a moved camera without zones.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m rtspsrc location=rtsp://camera/stream ! decodebin ! sharpnessmeter metric=mean-square-frequency
 *     prefilter=binomial5 noise-correction=true statistics=true zone-columns=16 zone-rows=9 interval=200000000
 *     post-messages=false ! camerawatch baseline-location=camera.baseline ! fakesink sync=false
 * ]| watches a network camera, and keeps its baseline in a file.
 */

GST_DEBUG_CATEGORY(camerawatch_debug);
#define GST_CAT_DEFAULT camerawatch_debug

using namespace framequality;

struct GstCameraWatch {
  GstBaseTransform parent;
  CameraWatchStream* stream;
};
struct GstCameraWatchClass {
  GstBaseTransformClass parent_class;
  void (*relearn)(GstCameraWatch*);
};

GType gst_camera_watch_get_type();
G_DEFINE_TYPE(GstCameraWatch, gst_camera_watch, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(camerawatch, "camerawatch", GST_RANK_NONE, gst_camera_watch_get_type())

static CameraWatchStream& stream_of(gpointer instance) { return *static_cast<GstCameraWatch*>(instance)->stream; }

// --- Stream ---------------------------------------------------------------------------------------------------------

static GstFlowReturn transform_ip(GstBaseTransform* trans, GstBuffer* buffer) {
  return guard(GST_ELEMENT_CAST(trans), GST_FLOW_ERROR, [&] {
    stream_of(trans).frame(buffer, segment_of(trans));
    return GST_FLOW_OK;
  });
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP || GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT)
    stream_of(trans).begin_anew();
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    stream_of(trans).take_caps(caps);
  }
  return GST_BASE_TRANSFORM_CLASS(gst_camera_watch_parent_class)->sink_event(trans, event);
}

static gboolean start(GstBaseTransform* trans) {
  // The pad may already receive data.
  const StreamLock streaming(GST_BASE_TRANSFORM_SINK_PAD(trans));
  return guard(GST_ELEMENT_CAST(trans), FALSE, [&] {
    stream_of(trans).start();
    return TRUE;
  });
}

static gboolean stop(GstBaseTransform* trans) {
  return guard(GST_ELEMENT_CAST(trans), FALSE, [&] {
    stream_of(trans).stop();
    return TRUE;
  });
}

static void relearn(GstCameraWatch* self) { self->stream->relearn(); }

// --- Properties -----------------------------------------------------------------------------------------------------

/// Descriptions of the states, for gst-inspect-1.0, in their order.
static constexpr const char* kStates[kCameraStates] = {
    "learning the camera's usual image",
    "nothing is wrong",
    "fine detail is missing: the lens is out of focus, dirty or wet",
    "nothing but noise is visible, or next to nothing",
    "no light, or a covered lens",
    "most of the image is white",
    "the camera repeats the same image",
    "the image differs from the usual one, and is as sharp: the camera has been turned or moved",
    "the brightness goes up and down quickly",
    "much more noise than usual at this brightness"};

static GType state_get_type() {
  static const GType type = [] {
    EnumValue<CameraState> values[kCameraStates];
    for (int i = 0; i < kCameraStates; ++i)
      values[i] = {static_cast<CameraState>(i), kStates[i], nick_of(static_cast<CameraState>(i))};
    return register_enum("FqCameraState", values);
  }();
  return type;
}

static GType faults_get_type() {
  static const GType type = [] {
    static GFlagsValue values[kFaults + 1];
    for (int i = 0; i < kFaults; ++i) {
      const auto state = static_cast<CameraState>(kFirstFault + i);
      values[i] = {fault_bit(state), kStates[kFirstFault + i], nick_of(state)};
    }
    return g_flags_register_static("FqCameraFaults", values);
  }();
  return type;
}

static void get_state(GstCameraWatch* self, GValue* value) {
  g_value_set_enum(value, static_cast<int>(self->stream->status().state));
}

static void get_stats(GstCameraWatch* self, GValue* value) {
  const CameraStatus status = self->stream->status();
  const CameraFigures& f = status.figures;
  GstStructure* s =
      gst_structure_new("stats", "frames", G_TYPE_UINT64, guint64{status.frames}, "unscored", G_TYPE_UINT64,
                        guint64{status.unscored}, "state", G_TYPE_STRING, nick_of(status.state), "duration",
                        G_TYPE_UINT64, saturated<guint64>(std::round(status.seconds * GST_SECOND)), nullptr);
  const std::pair<const char*, double> figures[] = {{"score", f.score},
                                                    {"baseline", f.baseline},
                                                    {"ratio", f.ratio},
                                                    {"noise", f.noise},
                                                    {"usual-noise", f.usual_noise},
                                                    {"mean", f.mean + status.black},
                                                    {"contrast", f.contrast},
                                                    {"difference", f.difference},
                                                    {"changed", f.changed},
                                                    {"clipped-white", f.clipped_white},
                                                    {"clipped-black", f.clipped_black}};
  for (const auto& [name, v] : figures)
    if (std::isfinite(v)) gst_structure_set(s, name, G_TYPE_DOUBLE, v, nullptr);
  g_value_take_boxed(value, s);
}

static void install_properties(GstCameraWatchClass* klass) {
  const In part{&CameraWatchOptions::watch};
  using O = CameraWatchOptions;
  using W = CameraWatchSettings;
  gst_type_mark_as_plugin_api(state_get_type(), static_cast<GstPluginAPIFlags>(0));
  gst_type_mark_as_plugin_api(faults_get_type(), static_cast<GstPluginAPIFlags>(0));
  Properties<GstCameraWatch, O>::install(
      klass, [](GstCameraWatch * self) -> auto& { return self->stream->options(); })
      .add(
          Mutable::kPlaying,
          g_param_spec_flags("watch-for", "Watch for", "Report these faults; treat the others as usual",
                             faults_get_type(), kAllFaults, flags_of(Mutable::kPlaying)),
          [](const O& o, GValue* v) { g_value_set_flags(v, o.watch.faults); },
          [](GstCameraWatch*, O& o, const GValue* v) {
            o.watch.faults = g_value_get_flags(v);
            return true;
          })
      .add_time(part(&W::hold_time), "hold-time", "Hold time",
                "Report a fault only after it has lasted this long, in ns of running time", 0)
      .add_time(part(&W::recovery_time), "recovery-time", "Recovery time",
                "Report a recovery only after the fault has been gone this long, in ns of running time", 0)
      .add_time(part(&W::repeat_interval), "repeat-interval", "Repeat interval",
                "Repeat the message about a fault that lasts, or learning that takes too long, after this time, in ns "
                "of running time; 0 = never",
                0)
      .add_time(part(&W::learn_time), "learn-time", "Learn time",
                "Learn a baseline from this much footage without faults, for each brightness level, in ns of running "
                "time. Afterwards the baseline follows slow changes",
                0)
      .add(part(&W::min_ratio), "min-ratio", "Minimum ratio",
           "Report the camera as defocused below this share of the baseline's score; a lower share applies where "
           "scores vary by themselves, and its square at a brightness that is not learned yet",
           0, 1)
      .add(part(&W::resume_ratio), "resume-ratio", "Ratio to resume",
           "Report it as recovered from this share of the baseline's score on; a value below min-ratio counts as "
           "min-ratio",
           0, 1)
      .add(part(&W::dark_level), "dark-level", "Dark level",
           "Report the camera as dark below this mean luma, above black, in 8-bit grey levels", 0, 255)
      .add(part(&W::overexposed_share), "overexposed-share", "Overexposed share",
           "Report the image as overexposed from this share of white pixels on", 0, 1)
      .add(Mutable::kNextStart, &O::baseline_location, "baseline-location", "Baseline location",
           "Keep the baseline in this file: read at the start, written when a brightness level has been learned, every "
           "ten minutes and at the end. Empty = not kept")
      .add(g_param_spec_enum("state", "State", "Report the state of the camera", state_get_type(),
                             static_cast<int>(CameraState::kLearning), kReadable),
           get_state)
      .add(g_param_spec_boxed("stats", "Statistics",
                              "Count frames since start, and those without a score; report the state and its duration, "
                              "and what is known about the last quarter of a second",
                              GST_TYPE_STRUCTURE, kReadable),
           get_stats);
}

static void gst_camera_watch_init(GstCameraWatch* self) {
  self->stream = new CameraWatchStream(GST_ELEMENT_CAST(self));
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}

static void gst_camera_watch_class_init(GstCameraWatchClass* klass) {
  camerawatch_debug = debug_category("camerawatch", "faults of fixed cameras");
  register_score_meta(kSharpnessMeta);
  delete_with_instance<&GstCameraWatch::stream>(klass);
  install_properties(klass);
  // Forgets the baseline and learns from scratch, starting with the next frame. May be emitted from any thread.
  g_signal_new("relearn", G_TYPE_FROM_CLASS(klass), static_cast<GSignalFlags>(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION),
               G_STRUCT_OFFSET(GstCameraWatchClass, relearn), nullptr, nullptr, nullptr, G_TYPE_NONE, 0);
  klass->relearn = relearn;
  auto* element = GST_ELEMENT_CLASS(klass);
  add_pads_of_any_caps(element);
  gst_element_class_set_static_metadata(element, "Camera watch", "Generic/Video",
                                        "Alerts you when a fixed camera's image degrades: defocused, covered, dark, "
                                        "overexposed, frozen, moved, flickering, noisy",
                                        "The framequality authors");
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->transform_ip = transform_ip;
  trans->sink_event = sink_event;
  trans->start = start;
  trans->stop = stop;
}
