// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all measuring elements: frames in, messages and metadata out. Pixels pass untouched.
#include "gst/base/meter_base.h"

#include "gst/base/meter_state.h"
#include "gst/buffer/allocation.h"
#include "gst/buffer/pinned_pool.h"

using namespace framequality;

G_DEFINE_ABSTRACT_TYPE(FqMeterBase, fq_meter_base, FQ_TYPE_DEVICE_BASE)

enum { PROP_INTERVAL = 1, PROP_POST_MESSAGES, PROP_ATTACH_META, PROP_LAST_SCORE, PROP_STATS };

// --- Stream ---------------------------------------------------------------------------------------------------------

static GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  return generate_frame(meter(trans), out);
}

static bool begin(FqDeviceBase* base, GstCaps* in, GstCaps*) {
  StreamFormat format;
  GstVideoInfo& info = format.info;
  if (!gst_video_info_from_caps(&info, in)) return false;
  const std::optional<PixelLayout> layout = layout_of(*info.finfo);
  if (!layout || has_separate_fields(info)) return false;
  format.geometry = {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), *layout};
  format.on_device = is_on_device(in);
  begin_stream(meter(base), format);
  return true;
}

/// Downstream is asked first, and what it offers is kept, so that buffers go there uncopied too; its pools only have to
/// be larger by the frames in flight.
static gboolean propose_allocation(GstBaseTransform* trans, GstQuery*, GstQuery* query) {
  FqMeterBase* self = meter(trans);
  MeterState& s = *self->state;
  const gboolean answered = gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(trans), query);
  const Place place = place_of(&self->parent);
  if (!s.stream || !place.cuda) return answered;
  const auto held = static_cast<guint>(s.stream->in_flight);
  reserve_held_buffers(query, held);
  if (s.stream->format.on_device) return answered;
  offer_pinned_pool(query, held + 1, place.id);
  return TRUE;
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP) meter(trans)->state->last_pts = GST_CLOCK_TIME_NONE;
  return GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->sink_event(trans, event);
}

static gboolean start(GstBaseTransform* trans) {
  MeterState& s = *meter(trans)->state;
  s.frames = 0;
  s.last_pts = GST_CLOCK_TIME_NONE;
  {
    const std::lock_guard lock(s.mutex);
    s.stats = {};
    s.last_score = 0;
  }
  return GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->start(trans);
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
  const std::lock_guard lock(s.mutex);
  switch (id) {
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
    case PROP_INTERVAL:
      g_value_set_uint64(value, s.settings.interval);
      break;
    case PROP_POST_MESSAGES:
      g_value_set_boolean(value, s.settings.post_messages);
      break;
    case PROP_ATTACH_META:
      g_value_set_boolean(value, s.settings.attach_meta);
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
  auto* base = FQ_DEVICE_BASE_CLASS(klass);
  base->begin = begin;
  base->end = end_stream;
  base->drop = discard_frames;
  base->finish = finish_frame;
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->start = start;
  trans->propose_allocation = propose_allocation;
  trans->sink_event = sink_event;
  trans->generate_output = generate_output;

  constexpr auto kPlaying =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  constexpr auto kRead = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
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
}
