// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all measuring elements: device choice, frames in, messages and metadata out. Pixels pass untouched.
#include "gst/meter_base.h"

#include "gst/allocation.h"
#include "gst/backends.h"
#include "gst/meter_state.h"
#include "gst/pinned_memory.h"

#include <utility>

using namespace framequality;

G_DEFINE_ABSTRACT_TYPE(FqMeterBase, fq_meter_base, GST_TYPE_BASE_TRANSFORM)

enum {
  PROP_DEVICE = 1,
  PROP_CUDA_DEVICE_ID,
  PROP_IN_FLIGHT,
  PROP_INTERVAL,
  PROP_POST_MESSAGES,
  PROP_ATTACH_META,
  PROP_ACTIVE_DEVICE,
  PROP_LAST_SCORE,
  PROP_STATS
};

// --- Where ----------------------------------------------------------------------------------------------------------

void framequality::set_place(FqMeterBase* self, std::optional<Place> place) {
  {
    const std::lock_guard lock(self->state->mutex);
    self->state->place = place;
  }
  g_object_notify(G_OBJECT(self), "active-device");
}

void framequality::set_latency(FqMeterBase* self, const GstVideoInfo& info, int in_flight) {
  GstClockTime latency = 0;
  if (in_flight > 0)
    latency = gst_util_uint64_scale(static_cast<guint64>(in_flight) * GST_SECOND,
                                    static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&info)),
                                    static_cast<guint64>(GST_VIDEO_INFO_FPS_N(&info)));
  {
    const std::lock_guard lock(self->state->mutex);
    if (latency == std::exchange(self->state->latency, latency)) return;
  }
  gst_element_post_message(element(self), gst_message_new_latency(GST_OBJECT(self)));
}

static void choose_place(FqMeterBase* self) {
  MeterState& s = *self->state;
  MeterSettings settings;
  bool chosen;
  {
    const std::lock_guard lock(s.mutex);
    settings = s.settings;
    chosen = s.place.has_value();
  }
  if (chosen && settings.device == s.chosen_for.device && settings.cuda_device_id == s.chosen_for.cuda_device_id) {
    s.chosen_for = settings;
    return;
  }
  Place place;
  if (settings.device != DeviceChoice::kCpu) {
    const cuda::Device found = backends().find_device(settings.cuda_device_id);
    if (found.id >= 0) {
      place = {true, found.id};
      GST_CAT_INFO_OBJECT(category(self), self, "measuring on CUDA device %d, %s", found.id, found.name.c_str());
    } else if (settings.device == DeviceChoice::kCuda) {
      throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                         "device=cuda, but there is no usable CUDA device: " + found.reason);
    } else {
      GST_CAT_INFO_OBJECT(category(self), self, "measuring on the CPU: %s", found.reason.c_str());
    }
  }
  s.chosen_for = settings;
  set_place(self, place);
}

// --- Stream ---------------------------------------------------------------------------------------------------------

static GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  return generate_frame(meter(trans), out);
}

static bool is_on_device(GstCaps* caps) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, 0);
  return features && gst_caps_features_contains(features, FQ_CUDA_FEATURE);
}

static gboolean set_caps(GstBaseTransform* trans, GstCaps* in, GstCaps*) {
  FqMeterBase* self = meter(trans);
  CapsPtr& failed = self->state->failed;
  // Pads offer the caps again with every event and frame that follows: one error is enough.
  if (failed && gst_caps_is_equal(failed.get(), in)) return FALSE;
  drain_frames(self);  // also when it is not a caps event that brings new caps
  end_stream(self);
  if (self->state->broken) return FALSE;
  failed.reset(gst_caps_ref(in));
  return guard(element(self), FALSE, [&]() -> gboolean {
    StreamFormat format;
    GstVideoInfo& info = format.info;
    if (!gst_video_info_from_caps(&info, in)) return FALSE;
    const std::optional<PixelLayout> layout = layout_of(*info.finfo);
    const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&info);
    if (!layout || mode == GST_VIDEO_INTERLACE_MODE_FIELDS || mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE) {
      GST_CAT_WARNING_OBJECT(category(self), self, "not supported: %" GST_PTR_FORMAT, static_cast<void*>(in));
      return FALSE;
    }
    format.geometry = {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), *layout};
    format.on_device = is_on_device(in);
    begin_stream(self, format);
    failed.reset();
    return TRUE;
  });
}

/// Caps pass as they are, but frames in GPU memory can only come where a GPU measures.
static GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection, GstCaps* caps, GstCaps* filter) {
  MeterState& s = *meter(trans)->state;
  bool on_gpu;
  {
    const std::lock_guard lock(s.mutex);
    on_gpu = s.place ? s.place->cuda : s.settings.device != DeviceChoice::kCpu;
  }
  GstCaps* result = gst_caps_copy(caps);
  if (!on_gpu)
    gst_caps_filter_and_map_in_place(
        result,
        [](GstCapsFeatures* features, GstStructure*, gpointer) -> gboolean {
          return !gst_caps_features_contains(features, FQ_CUDA_FEATURE);
        },
        nullptr);
  if (!filter) return result;
  GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(result);
  return filtered;
}

/// Downstream is asked first, and what it offers is kept, so that buffers go there uncopied too; its pools only have to
/// be larger by the frames in flight.
static gboolean propose_allocation(GstBaseTransform* trans, GstQuery*, GstQuery* query) {
  FqMeterBase* self = meter(trans);
  MeterState& s = *self->state;
  const gboolean answered = gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(trans), query);
  const Place place = s.place.value_or(Place{});
  if (!s.stream || !place.cuda) return answered;
  const auto held = static_cast<guint>(s.stream->in_flight);
  reserve_held_buffers(query, held);
  if (s.stream->format.on_device) return answered;
  offer_pinned_pool(query, held + 1, place.id);
  return TRUE;
}

static gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  FqMeterBase* self = meter(trans);
  MeterState& s = *self->state;
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && s.context.answer(element(self), query)) return TRUE;
  // Who asks for a drain wants its buffers back.
  if (direction == GST_PAD_SINK && gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED)
    drain_frames(self);
  if (!GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->query(trans, direction, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) {
    gboolean live;
    GstClockTime least, most;
    gst_query_parse_latency(query, &live, &least, &most);
    const std::lock_guard lock(s.mutex);
    gst_query_set_latency(query, live, least + s.latency, GST_CLOCK_TIME_IS_VALID(most) ? most + s.latency : most);
  }
  return TRUE;
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  FqMeterBase* self = meter(trans);
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_STOP) {
    discard_frames(self);
    self->state->broken = false;
  } else if (gst_event_type_get_flags(type) & GST_EVENT_TYPE_SERIALIZED) {
    drain_frames(self);
  }
  if (type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP) self->state->last_pts = GST_CLOCK_TIME_NONE;
  return GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->sink_event(trans, event);
}

static gboolean start(GstBaseTransform* trans) {
  MeterState& s = *meter(trans)->state;
  s.frames = 0;
  s.failed.reset();
  s.broken = false;
  s.last_pts = GST_CLOCK_TIME_NONE;
  const std::lock_guard lock(s.mutex);
  s.stats = {};
  s.last_score = 0;
  return TRUE;
}

static gboolean stop(GstBaseTransform* trans) {
  FqMeterBase* self = meter(trans);
  end_stream(self);
  const std::lock_guard lock(self->state->mutex);
  self->state->latency = 0;
  return TRUE;
}

static void set_context(GstElement* e, GstContext* context) {
  MeterState& s = *meter(e)->state;
  int id;
  {
    const std::lock_guard lock(s.mutex);
    id = s.settings.cuda_device_id;
  }
  s.context.set(e, context, id);
  GST_ELEMENT_CLASS(fq_meter_base_parent_class)->set_context(e, context);
}

static GstStateChangeReturn change_state(GstElement* e, GstStateChange transition) {
  FqMeterBase* self = meter(e);
  if (transition == GST_STATE_CHANGE_NULL_TO_READY || transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    const bool ok = guard(e, false, [&] {
      choose_place(self);
      return true;
    });
    if (!ok) return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result = GST_ELEMENT_CLASS(fq_meter_base_parent_class)->change_state(e, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    set_place(self, std::nullopt);
    self->state->context.clear();
  }
  return result;
}

void fq_meter_base_warn_once(FqMeterBase* self, unsigned which, const char* text) {
  MeterStream& stream = *self->state->stream;
  if (stream.warned >> which & 1u) return;
  stream.warned |= 1u << which;
  post(element(self), GST_MESSAGE_WARNING, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text});
}

// --- Properties -----------------------------------------------------------------------------------------------------

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  MeterState& s = *meter(object)->state;
  GST_OBJECT_LOCK(object);
  const bool chosen = GST_STATE(object) > GST_STATE_READY;
  GST_OBJECT_UNLOCK(object);
  if (chosen && (id == PROP_DEVICE || id == PROP_CUDA_DEVICE_ID || id == PROP_IN_FLIGHT)) {
    g_warning("%s: %s can only be changed in READY or NULL; value kept", GST_OBJECT_NAME(object), pspec->name);
    return;
  }
  const std::lock_guard lock(s.mutex);
  switch (id) {
    case PROP_DEVICE:
      s.settings.device = static_cast<DeviceChoice>(g_value_get_enum(value));
      break;
    case PROP_CUDA_DEVICE_ID:
      s.settings.cuda_device_id = g_value_get_int(value);
      break;
    case PROP_IN_FLIGHT:
      s.settings.in_flight = g_value_get_int(value);
      break;
    case PROP_INTERVAL:
      s.settings.interval = g_value_get_uint64(value);
      break;
    case PROP_POST_MESSAGES:
      s.settings.post_messages = g_value_get_boolean(value);
      break;
    case PROP_ATTACH_META:
      s.settings.attach_meta = g_value_get_boolean(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  MeterState& s = *meter(object)->state;
  const std::lock_guard lock(s.mutex);
  switch (id) {
    case PROP_DEVICE:
      g_value_set_enum(value, static_cast<int>(s.settings.device));
      break;
    case PROP_CUDA_DEVICE_ID:
      g_value_set_int(value, s.settings.cuda_device_id);
      break;
    case PROP_IN_FLIGHT:
      g_value_set_int(value, s.settings.in_flight);
      break;
    case PROP_INTERVAL:
      g_value_set_uint64(value, s.settings.interval);
      break;
    case PROP_POST_MESSAGES:
      g_value_set_boolean(value, s.settings.post_messages);
      break;
    case PROP_ATTACH_META:
      g_value_set_boolean(value, s.settings.attach_meta);
      break;
    case PROP_ACTIVE_DEVICE:
      g_value_set_string(value, s.place ? s.place->name() : "");
      break;
    case PROP_LAST_SCORE:
      g_value_set_double(value, s.last_score);
      break;
    case PROP_STATS:
      g_value_take_boxed(value, gst_structure_new("stats", "measured", G_TYPE_UINT64, guint64{s.stats.measured},
                                                  "skipped", G_TYPE_UINT64, guint64{s.stats.skipped}, "replayed-on-cpu",
                                                  G_TYPE_UINT64, guint64{s.stats.replayed}, "busy-ns", G_TYPE_UINT64,
                                                  guint64{s.stats.busy_ns}, nullptr));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void fq_meter_base_init(FqMeterBase* self) {
  self->state = new MeterState;
  // The pixels are not ours to change; generate_output gives buffers a new header when they get metadata. Allocation
  // queries go straight downstream.
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}

static void finalize(GObject* object) {
  delete meter(object)->state;
  G_OBJECT_CLASS(fq_meter_base_parent_class)->finalize(object);
}

static void fq_meter_base_class_init(FqMeterBaseClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_LUMA_CAPS));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_LUMA_CAPS));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  element->change_state = change_state;
  element->set_context = set_context;
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->start = start;
  trans->stop = stop;
  trans->transform_caps = transform_caps;
  trans->set_caps = set_caps;
  trans->propose_allocation = propose_allocation;
  trans->query = query;
  trans->sink_event = sink_event;
  trans->generate_output = generate_output;

  constexpr auto kReady =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  constexpr auto kPlaying =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  constexpr auto kRead = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      object, PROP_DEVICE,
      g_param_spec_enum("device", "Device", "Where to measure; the scores are the same", device_choice_get_type(),
                        static_cast<int>(DeviceChoice::kAuto), kReady));
  g_object_class_install_property(
      object, PROP_CUDA_DEVICE_ID,
      g_param_spec_int("cuda-device-id", "CUDA device", "CUDA device number, -1 = the first usable one", -1, G_MAXINT,
                       -1, kReady));
  g_object_class_install_property(
      object, PROP_IN_FLIGHT,
      g_param_spec_int(
          "in-flight", "Frames in flight",
          "CUDA only: frames that stay behind, being measured, while later ones arrive; latency grows by as "
          "many frames. 0 = each leaves with its score before the next is taken; also where caps have no "
          "frame rate",
          0, kMaxInFlight, 0, kReady));
  g_object_class_install_property(
      object, PROP_INTERVAL,
      g_param_spec_uint64("interval", "Interval",
                          "Least time between measured frames, by their timestamps, in ns; 0 = every frame. The others "
                          "pass without message and metadata",
                          0, G_MAXUINT64, 0, kPlaying));
  g_object_class_install_property(
      object, PROP_POST_MESSAGES,
      g_param_spec_boolean("post-messages", "Post messages", "Post an element message for every measured frame", TRUE,
                           kPlaying));
  g_object_class_install_property(
      object, PROP_ATTACH_META,
      g_param_spec_boolean("attach-meta", "Attach metadata",
                           "Attach the result to every measured buffer. Without it the very same buffers pass on", TRUE,
                           kPlaying));
  g_object_class_install_property(
      object, PROP_ACTIVE_DEVICE,
      g_param_spec_string("active-device", "Active device", "cpu or cuda; empty in state NULL", "", kRead));
  g_object_class_install_property(
      object, PROP_LAST_SCORE,
      g_param_spec_double("last-score", "Last score", "Score of the last measured frame; 0 before the first",
                          -G_MAXDOUBLE, G_MAXDOUBLE, 0, kRead));
  g_object_class_install_property(
      object, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Frames since start: measured, skipped (by interval, or not measurable), replayed-on-cpu (after a CUDA "
          "fault); busy-ns, the time spent measuring in ns",
          GST_TYPE_STRUCTURE, kRead));
  gst_type_mark_as_plugin_api(fq_meter_base_get_type(), static_cast<GstPluginAPIFlags>(0));
  gst_type_mark_as_plugin_api(device_choice_get_type(), static_cast<GstPluginAPIFlags>(0));
}
