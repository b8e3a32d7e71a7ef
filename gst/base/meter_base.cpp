// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all measuring elements: frames in, messages and metadata out. Pixels pass untouched.
#include "gst/base/meter_base.h"

#include "gst/base/stream.h"
#include "gst/buffer/frame.h"
#include "gst/memory/allocation.h"
#include "gst/memory/dma.h"
#include "gst/memory/kinds.h"
#include "gst/memory/pinned.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"

using namespace framequality;

G_DEFINE_ABSTRACT_TYPE(FqMeterBase, fq_meter_base, FQ_TYPE_DEVICE_BASE)

// --- Stream ---------------------------------------------------------------------------------------------------------

static FqMeterBase* meter(gpointer instance) { return static_cast<FqMeterBase*>(instance); }

static std::unique_ptr<Stream> make_stream(FqDeviceBase* base, GstCaps* in, GstCaps*) {
  StreamFormat format;
  GstVideoInfo& info = format.info;
  const std::optional<PixelLayout> layout = frame_layout_of(in, &info);
  if (!layout || has_separate_fields(info)) return nullptr;
  const int cell = layout->cell();
  format.geometry = {GST_VIDEO_INFO_WIDTH(&info) / cell, GST_VIDEO_INFO_HEIGHT(&info) / cell,
                     with_significant_bits(*layout, base->device->significant_bits)};
  format.memory = memory_of(in);
  return FQ_METER_BASE_GET_CLASS(base)->make_stream(meter(base), format);
}

/// Forwards downstream's offer, so that buffers also go there uncopied; its pools only have to
/// be larger by the frames in flight.
static gboolean propose_allocation(GstBaseTransform* trans, GstQuery*, GstQuery* query) {
  const gboolean answered = gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(trans), query);
  const Stream* stream = device_base(trans)->device->stream.get();
  if (!stream) return answered;
  DeviceState& d = *device_base(trans)->device;
  const Place place = place_of(device_base(trans));
  if (is_cpu(*place.backend) && !d.weighs) return answered;
  const auto held = static_cast<guint>(stream->in_flight());
  reserve_held_buffers(query, held);
  if (stream->memory() != Memory::kHost) return answered;
  if (is_cpu(*place.backend)) {
    d.wants_pool = wants_pool(query);
    return answered;
  }
  d.wants_pool = false;
  offer_pinned_pool(query, held + 1, place, static_cast<guint>(GST_VIDEO_INFO_SIZE(&stream->info())));
  return TRUE;
}

/// Earlier measurements do not apply to these frames.
static gboolean set_caps(GstBaseTransform* trans, GstCaps* in, GstCaps* out) {
  meter(trans)->state->last_pts = GST_CLOCK_TIME_NONE;
  return GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->set_caps(trans, in, out);
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP) meter(trans)->state->last_pts = GST_CLOCK_TIME_NONE;
  return GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->sink_event(trans, event);
}

static gboolean start(GstBaseTransform* trans) {
  MeterState& s = *meter(trans)->state;
  const StreamLock streaming(GST_BASE_TRANSFORM_SINK_PAD(trans));
  s.frames = 0;
  s.last_pts = GST_CLOCK_TIME_NONE;
  s.last_score.change([](double& score) { score = 0; });
  return GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->start(trans);
}

// --- Properties -----------------------------------------------------------------------------------------------------

static void get_last_score(FqMeterBase* self, GValue* value) {
  g_value_set_double(value, self->state->last_score.get());
}

static void get_stats(FqMeterBase* self, GValue* value) {
  const WorkStats stats = self->parent.device->stats.get();
  g_value_take_boxed(value, gst_structure_new("stats", "measured", G_TYPE_UINT64, guint64{stats.done}, "skipped",
                                              G_TYPE_UINT64, guint64{stats.skipped}, "replayed-on-cpu", G_TYPE_UINT64,
                                              guint64{stats.replayed}, "moves", G_TYPE_UINT64, guint64{stats.moves},
                                              "busy-ns", G_TYPE_UINT64, guint64{stats.busy_ns}, nullptr));
}

static void install_properties(FqMeterBaseClass* klass) {
  using S = MeterSettings;
  Properties<FqMeterBase, S>::install(
      klass, [](FqMeterBase * self) -> auto& { return self->state->settings; })
      .add_time(&S::interval, "interval", "Interval",
                "Measure at most one frame per this time, in ns, by timestamp; 0 = measure every frame. Frames in "
                "between pass without message or metadata",
                0)
      .add(&S::post_messages, "post-messages", "Post messages", "Post an element message for each measured frame")
      .add(&S::attach_meta, "attach-meta", "Attach metadata",
           "Attach the result to each measured buffer as metadata; false = pass buffers unchanged")
      .add(g_param_spec_double("last-score", "Last score",
                               "Report the score of the last measured frame; 0 before the first", -G_MAXDOUBLE,
                               G_MAXDOUBLE, 0, kReadable),
           get_last_score)
      .add(g_param_spec_boxed("stats", "Statistics",
                              "Count since start: frames measured, skipped (by interval, or not measurable), "
                              "replayed-on-cpu (after a device's fault); moves between the CPU and a device, with "
                              "device=auto; busy-ns, the time spent measuring in ns",
                              GST_TYPE_STRUCTURE, kReadable),
           get_stats);
}

static void fq_meter_base_init(FqMeterBase* self) {
  self->state = new MeterState;
  // Pixels must not change; MeterStream gives buffers a new header when they get metadata. Allocation
  // queries go straight downstream.
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}

static void fq_meter_base_class_init(FqMeterBaseClass* klass) {
  delete_with_instance<&FqMeterBase::state>(klass);
  install_properties(klass);
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE(
      "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_LUMA_CAPS FQ_DMA_CAPS ";" FQ_BAYER_CAPS));
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE(
      "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_LUMA_CAPS FQ_DMA_CAPS ";" FQ_BAYER_CAPS));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  auto* base = FQ_DEVICE_BASE_CLASS(klass);
  base->make_stream = make_stream;
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->start = start;
  trans->set_caps = set_caps;
  trans->propose_allocation = propose_allocation;
  trans->sink_event = sink_event;
  gst_type_mark_as_plugin_api(fq_meter_base_get_type(), static_cast<GstPluginAPIFlags>(0));
}
