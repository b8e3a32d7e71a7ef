// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that change pixels: frames in, filtered frames out, in order, from pools both ways.
#include "gst/base/filter_base.h"

#include "gst/base/filter_state.h"

#include <string_view>

using namespace framequality;

G_DEFINE_ABSTRACT_TYPE(FqFilterBase, fq_filter_base, FQ_TYPE_DEVICE_BASE)

enum { PROP_N_THREADS = 1, PROP_STATS };

constexpr int kMaxThreads = 256;

// --- Stream ---------------------------------------------------------------------------------------------------------

/// Pictures, on both sides the same.
static bool parse_caps(GstCaps* in, GstCaps* out, FilterFormat& format) {
  GstVideoInfo& info = format.in;
  if (!gst_video_info_from_caps(&info, in) || has_separate_fields(info) || !gst_video_info_from_caps(&format.out, out))
    return false;
  const std::optional<PictureGeometry> geometry = picture_geometry_of(info);
  if (!geometry) return false;
  format.in_extents = format.out_extents = *geometry;
  format.on_device = format.out_on_device = is_on_device(in);
  return true;
}

static bool begin(FqDeviceBase* base, GstCaps* in, GstCaps* out) {
  FilterFormat format;
  if (!FQ_FILTER_BASE_GET_CLASS(base)->parse_caps(in, out, format)) return false;
  begin_filtering(filter_base(base), format);
  return true;
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  FqFilterBase* self = filter_base(trans);
  switch (GST_EVENT_TYPE(event)) {
    // Events that say something about the stream, and do not part what is before them from what is after.
    case GST_EVENT_TAG:
    case GST_EVENT_TOC:
    case GST_EVENT_SINK_MESSAGE:
    case GST_EVENT_CUSTOM_DOWNSTREAM:
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
    case GST_EVENT_FLUSH_STOP:  // all frames go then, those pending too
      break;
    default:
      if (!(gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED)) break;
      drain_frames(&self->parent);
      forget_past(self);
  }
  return GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->sink_event(trans, event);
}

static gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  FqFilterBase* self = filter_base(trans);
  if (direction == GST_PAD_SINK && gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) {
    drain_frames(&self->parent);
    forget_past(self);
  }
  return GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->query(trans, direction, query);
}

static GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont, GstBuffer* buffer) {
  FqFilterBase* self = filter_base(trans);
  FilterState& s = *self->state;
  if (s.stream && s.stream->format.on_device && !device(self).broken) {
    const GstFlowReturn flow = guard(element(self), GST_FLOW_ERROR, [&] {
      return device(self).context.owns(buffer) ? GST_FLOW_OK : change_context(self, buffer);
    });
    if (flow != GST_FLOW_OK) {
      gst_buffer_unref(buffer);
      if (flow == GST_FLOW_ERROR) drop_taken(&self->parent);
      return flow;
    }
  }
  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->submit_input_buffer(trans, is_discont, buffer);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) s.missed = true;
  return flow;
}

/// Pushes frames itself: GstBaseTransform would mark the next one that it pushes as discontinuous, which with frames
/// held back is another one than the one that came so.
static GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  *out = nullptr;
  return filter_queued(filter_base(trans));
}

/// Never called, but without it GstBaseTransform takes an element to work in place.
static GstFlowReturn transform(GstBaseTransform*, GstBuffer*, GstBuffer*) { return GST_FLOW_NOT_SUPPORTED; }

static gboolean start(GstBaseTransform* trans) {
  FilterState& s = *filter_base(trans)->state;
  s.missed = false;
  {
    const std::lock_guard lock(s.mutex);
    s.stats = {};
  }
  return GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->start(trans);
}

// --- Metadata -------------------------------------------------------------------------------------------------------

/// True if metadata of this kind holds for the output too: size, orientation and meaning of the picture are the same.
static bool still_holds(GType api) {
  const gchar* const* tags = gst_meta_api_type_get_tags(api);
  for (; tags && *tags; ++tags) {
    const std::string_view tag = *tags;
    if (tag != GST_META_TAG_VIDEO_STR && tag != GST_META_TAG_VIDEO_ORIENTATION_STR &&
        tag != GST_META_TAG_VIDEO_SIZE_STR)
      return false;
  }
  return true;
}

static gboolean transform_meta(GstBaseTransform*, GstBuffer*, GstMeta* meta, GstBuffer*) {
  return still_holds(meta->info->api);
}

static gboolean filter_meta(GstBaseTransform*, GstQuery*, GType api, const GstStructure*) { return still_holds(api); }

// --- Properties -----------------------------------------------------------------------------------------------------

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  FilterState& s = *filter_base(object)->state;
  switch (id) {
    case PROP_N_THREADS: {
      if (is_too_late(object, pspec)) return;
      const std::lock_guard lock(s.mutex);
      s.threads = g_value_get_int(value);
      break;
    }
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  FilterState& s = *filter_base(object)->state;
  const std::lock_guard lock(s.mutex);
  switch (id) {
    case PROP_N_THREADS:
      g_value_set_int(value, s.threads);
      break;
    case PROP_STATS:
      g_value_take_boxed(value, gst_structure_new("stats", "filtered", G_TYPE_UINT64, guint64{s.stats.filtered},
                                                  "replayed-on-cpu", G_TYPE_UINT64, guint64{s.stats.replayed},
                                                  "busy-ns", G_TYPE_UINT64, guint64{s.stats.busy_ns}, nullptr));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void fq_filter_base_init(FqFilterBase* self) {
  self->state = new FilterState;
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(self), TRUE);
}

static void finalize(GObject* object) {
  delete filter_base(object)->state;
  G_OBJECT_CLASS(fq_filter_base_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  g_object_class_install_property(
      object, PROP_N_THREADS,
      g_param_spec_int("n-threads", "Threads",
                       "CPU: threads that filter a frame at once, 0 = as many as there are cores", 0, kMaxThreads, 0,
                       static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)));
  g_object_class_install_property(
      object, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames since start: filtered, replayed-on-cpu (after a CUDA fault); busy-ns, the time spent "
                         "filtering in ns",
                         GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void fq_filter_base_class_init(FqFilterBaseClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_PICTURE_CAPS));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_PICTURE_CAPS));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  auto* base = FQ_DEVICE_BASE_CLASS(klass);
  base->begin = begin;
  base->end = end_filtering;
  base->drop = drop_taken;
  base->finish = finish_taken;
  klass->parse_caps = parse_caps;
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->start = start;
  trans->query = query;
  trans->sink_event = sink_event;
  trans->decide_allocation = decide_allocation;
  trans->propose_allocation = propose_allocation;
  trans->filter_meta = filter_meta;
  trans->transform_meta = transform_meta;
  trans->submit_input_buffer = submit_input_buffer;
  trans->generate_output = generate_output;
  trans->transform = transform;
  gst_type_mark_as_plugin_api(fq_filter_base_get_type(), static_cast<GstPluginAPIFlags>(0));
}
