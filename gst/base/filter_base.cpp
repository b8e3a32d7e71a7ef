// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that change pixels: frames in, filtered frames out, in order, from pools both ways.
#include "gst/base/filter_base.h"

#include "gst/base/stream.h"
#include "gst/memory/dma.h"
#include "gst/memory/kinds.h"
#include "gst/memory/pinned.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"

#include <string_view>

using namespace framequality;

G_DEFINE_ABSTRACT_TYPE(FqFilterBase, fq_filter_base, FQ_TYPE_DEVICE_BASE)

constexpr int kMaxThreads = 256;

// --- Stream ---------------------------------------------------------------------------------------------------------

/// Frames that PictureLayout supports, the same on both sides.
static bool parse_caps(GstCaps* in, GstCaps* out, FilterFormat& format) {
  GstVideoInfo& info = format.in;
  if (!read_info(info, in) || has_separate_fields(info) || !gst_video_info_from_caps(&format.out, out)) return false;
  const std::optional<PictureGeometry> geometry = picture_geometry_of(info);
  if (!geometry) return false;
  format.in_extents = format.out_extents = *geometry;
  format.memory = format.out_memory = memory_of(in);
  return true;
}

static std::unique_ptr<Stream> make_stream(FqDeviceBase* base, GstCaps* in, GstCaps* out) {
  FqFilterBase* self = filter_base(base);
  FqFilterBaseClass* klass = FQ_FILTER_BASE_GET_CLASS(self);
  FilterFormat format;
  if (!klass->parse_caps(in, out, format)) return nullptr;
  format.significant_bits = base->device->significant_bits;
  self->state->format = format;
  return klass->make_stream(self, format, self->state->settings.get().threads);
}

/// The output is in system memory if the input is in DMA buffers.
static GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
  const CapsPtr across = direction == GST_PAD_SINK ? out_of_dma_buffers(caps) : also_in_dma_buffers(caps);
  return GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->transform_caps(trans, direction, across.get(), filter);
}

/// Drains, because earlier and later frames belong to different scenes or times.
static void part(FqFilterBase* self) {
  drain_frames(&self->parent);
  if (Stream* stream = self->parent.device->stream.get()) stream->forget_past();
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  FqFilterBase* self = filter_base(trans);
  switch (GST_EVENT_TYPE(event)) {
    // Events about the stream, which do not separate earlier from later frames.
    case GST_EVENT_TAG:
    case GST_EVENT_TOC:
    case GST_EVENT_SINK_MESSAGE:
    case GST_EVENT_CUSTOM_DOWNSTREAM:
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
      break;
    case GST_EVENT_FLUSH_STOP:  // all frames go then, those pending too
      self->state->missed = false;
      break;
    default:
      if (!(gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED)) break;
      part(self);
  }
  return GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->sink_event(trans, event);
}

static gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  FqFilterBase* self = filter_base(trans);
  if (direction == GST_PAD_SINK && gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED)
    part(self);
  return GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->query(trans, direction, query);
}

static GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont, GstBuffer* buffer) {
  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->submit_input_buffer(trans, is_discont, buffer);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) filter_base(trans)->state->missed = true;
  return flow;
}

/// Never called, but without it GstBaseTransform assumes an in-place element.
static GstFlowReturn transform(GstBaseTransform*, GstBuffer*, GstBuffer*) { return GST_FLOW_NOT_SUPPORTED; }

static gboolean start(GstBaseTransform* trans) {
  const StreamLock streaming(GST_BASE_TRANSFORM_SINK_PAD(trans));
  filter_base(trans)->state->missed = false;
  return GST_BASE_TRANSFORM_CLASS(fq_filter_base_parent_class)->start(trans);
}

// --- Frames ---------------------------------------------------------------------------------------------------------

BufferPtr framequality::make_output(FqFilterBase* self, const FilterFormat& format, GstBuffer* in,
                                    GstFlowReturn& flow) {
  auto* trans = GST_BASE_TRANSFORM_CAST(self);
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(trans);
  GstBuffer* out = nullptr;
  flow = GST_FLOW_FLUSHING;  // without a pool, the pad is shutting down
  if (pool) {
    flow =
        gst_buffer_pool_set_active(pool, TRUE) ? gst_buffer_pool_acquire_buffer(pool, &out, nullptr) : GST_FLOW_ERROR;
    gst_object_unref(pool);
  }
  if (flow == GST_FLOW_ERROR)
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "Out of memory for an output frame");
  if (!out) return nullptr;
  GST_BASE_TRANSFORM_GET_CLASS(trans)->copy_metadata(trans, in, out);
  if (format.out_memory == Memory::kHost) pin_if_recurring(out, self, place_of(&self->parent));
  return BufferPtr(out);
}

// --- Metadata -------------------------------------------------------------------------------------------------------

/// True if metadata of this kind also applies to the output: the image's size, orientation and meaning are the same.
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

static void get_stats(FqFilterBase* self, GValue* value) {
  const WorkStats stats = self->parent.device->stats.get();
  g_value_take_boxed(value, gst_structure_new("stats", "filtered", G_TYPE_UINT64, guint64{stats.done},
                                              "replayed-on-cpu", G_TYPE_UINT64, guint64{stats.replayed}, "busy-ns",
                                              G_TYPE_UINT64, guint64{stats.busy_ns}, nullptr));
}

static void install_properties(FqFilterBaseClass* klass) {
  Properties<FqFilterBase, FilterSettings>::install(
      klass, [](FqFilterBase * self) -> auto& { return self->state->settings; })
      .add(Mutable::kReady, &FilterSettings::threads, "n-threads", "Threads",
           "Filter each frame with this many threads, on the CPU; 0 = one per available core", 0, kMaxThreads)
      .add(g_param_spec_boxed("stats", "Statistics",
                              "Count since start: frames filtered; of these, replayed-on-cpu (after a device's fault); "
                              "busy-ns, the time spent filtering in ns",
                              GST_TYPE_STRUCTURE, kReadable),
           get_stats);
}

static void fq_filter_base_init(FqFilterBase* self) {
  self->state = new FilterState;
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(self), TRUE);
}

static void fq_filter_base_class_init(FqFilterBaseClass* klass) {
  delete_with_instance<&FqFilterBase::state>(klass);
  install_properties(klass);
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_PICTURE_CAPS FQ_DMA_CAPS));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_PICTURE_CAPS));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  auto* base = FQ_DEVICE_BASE_CLASS(klass);
  base->make_stream = make_stream;
  klass->parse_caps = parse_caps;
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->start = start;
  trans->query = query;
  trans->sink_event = sink_event;
  trans->transform_caps = transform_caps;
  trans->decide_allocation = decide_allocation;
  trans->propose_allocation = propose_allocation;
  trans->filter_meta = filter_meta;
  trans->transform_meta = transform_meta;
  trans->submit_input_buffer = submit_input_buffer;
  trans->transform = transform;
  gst_type_mark_as_plugin_api(fq_filter_base_get_type(), static_cast<GstPluginAPIFlags>(0));
}
