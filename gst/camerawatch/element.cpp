// SPDX-License-Identifier: LGPL-2.1-or-later
// camerawatch: tells when a fixed camera has gone bad: defocused, covered, dark, frozen, moved ...
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
 * @short_description: tells when a fixed camera has gone bad: defocused, covered, dark, frozen, moved ...
 *
 * Reads what an upstream sharpnessmeter says of each frame (`GstSharpnessMeta`), learns what is usual of the camera, by
 * day and by night, and tells when the picture is not as it should be. Takes any caps in any memory; frames pass
 * unchanged.
 *
 * Every change of state is an element message named `camerawatch`: string `state` (`defocused`, `covered`, `dark`,
 * `overexposed`, `frozen`, `moved`, `flickering`, `noisy`; `recovered` when that is over; `good` when it has been
 * learned what is usual, `learning` when that begins anew), string `previous`, string `reason` (a sentence with the
 * figures), boolean `repeated` (true of a message that says that a state lasts), guint64 `duration` (ns since it
 * began; of `recovered`: that it lasted), `timestamp`, `stream-time`, `running-time`; where known double `score`,
 * `baseline`, `ratio` of the two, `noise`, `mean`, `clipped-black`, `clipped-white`.
 *
 * The meter is to have metric=mean-square-frequency, noise-correction=true, statistics=true and some zones: without
 * statistics it cannot be told if it is dark, overexposed, flickering or noisy, without zones if the camera was moved.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m rtspsrc location=rtsp://camera/stream ! decodebin ! sharpnessmeter metric=mean-square-frequency
 *     prefilter=binomial5 noise-correction=true statistics=true zone-columns=16 zone-rows=9 interval=200000000
 *     post-messages=false ! camerawatch baseline-location=camera.baseline ! fakesink sync=false
 * ]| watches a network camera, and keeps what it learned in a file.
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
  // The pad takes what comes already.
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

/// What gst-inspect-1.0 says of the states, in their order.
static constexpr const char* kStates[kCameraStates] = {
    "learning what is usual",
    "nothing is wrong",
    "fine detail is missing: the lens is out of focus, dirty or wet",
    "there is nothing to be seen but noise, or next to nothing",
    "there is no light, or the lens is covered",
    "most of the picture is white",
    "the same picture again and again",
    "another picture than the usual one, and as sharp: the camera has been turned or moved",
    "the light goes up and down quickly",
    "much more noise than usual in this light"};

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
          g_param_spec_flags("watch-for", "Watch for", "Faults that are told; others count as usual", faults_get_type(),
                             kAllFaults, flags_of(Mutable::kPlaying)),
          [](const O& o, GValue* v) { g_value_set_flags(v, o.watch.faults); },
          [](GstCameraWatch*, O& o, const GValue* v) {
            o.watch.faults = g_value_get_flags(v);
            return true;
          })
      .add_time(part(&W::hold_time), "hold-time", "Hold time",
                "How long a fault has to last before it is told, in ns of running time", 0)
      .add_time(part(&W::recovery_time), "recovery-time", "Recovery time",
                "How long it has to be away before it is over, in ns of running time", 0)
      .add_time(part(&W::repeat_interval), "repeat-interval", "Repeat interval",
                "Repeat the message of a lasting fault, or of learning that takes too long, after this time, in ns of "
                "running time; 0 = never",
                0)
      .add_time(
          part(&W::learn_time), "learn-time", "Learn time",
          "How much footage with nothing wrong in it makes a baseline, for each light, in ns of running time. The "
          "baseline follows slow change afterwards",
          0)
      .add(part(&W::min_ratio), "min-ratio", "Minimum ratio",
           "Below this part of the baseline's score the camera is defocused. Less where scores vary by themselves, and "
           "squared in a light that is not learned yet",
           0, 1)
      .add(part(&W::resume_ratio), "resume-ratio", "Ratio to resume",
           "From this part of the baseline's score on it is not defocused any more; below min-ratio = min-ratio", 0, 1)
      .add(part(&W::dark_level), "dark-level", "Dark level",
           "Below this mean luma it is dark; above black, in 8-bit codes", 0, 255)
      .add(part(&W::overexposed_share), "overexposed-share", "Overexposed share",
           "From this share of white pixels on the picture is overexposed", 0, 1)
      .add(Mutable::kNextStart, &O::baseline_location, "baseline-location", "Baseline location",
           "File in which what is learned is kept: read at the start, written when a light has been learned, every ten "
           "minutes and at the end. Empty = not kept")
      .add(g_param_spec_enum("state", "State", "How the camera is", state_get_type(),
                             static_cast<int>(CameraState::kLearning), kReadable),
           get_state)
      .add(g_param_spec_boxed("stats", "Statistics",
                              "Frames since start, those without a score, the state and its duration, and the figures "
                              "that are known of the last quarter of a second",
                              GST_TYPE_STRUCTURE, kReadable),
           get_stats);
}

static void gst_camera_watch_init(GstCameraWatch* self) {
  self->stream = new CameraWatchStream(GST_ELEMENT_CAST(self));
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}

static void gst_camera_watch_class_init(GstCameraWatchClass* klass) {
  camerawatch_debug = debug_category("camerawatch", "faults of cameras");
  register_score_meta(kSharpnessMeta);
  delete_with_instance<&GstCameraWatch::stream>(klass);
  install_properties(klass);
  // Forget what is usual and learn it anew. From any thread, with effect on the next frame.
  g_signal_new("relearn", G_TYPE_FROM_CLASS(klass), static_cast<GSignalFlags>(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION),
               G_STRUCT_OFFSET(GstCameraWatchClass, relearn), nullptr, nullptr, nullptr, G_TYPE_NONE, 0);
  klass->relearn = relearn;
  auto* element = GST_ELEMENT_CLASS(klass);
  add_pads_of_any_caps(element);
  gst_element_class_set_static_metadata(
      element, "Camera watch", "Generic/Video",
      "Tells when a fixed camera has gone bad: defocused, covered, dark, overexposed, frozen, moved, noisy",
      "The framequality authors");
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->transform_ip = transform_ip;
  trans->sink_event = sink_event;
  trans->start = start;
  trans->stop = stop;
}
