// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that compute on a device: its place, CUDA context, and number of frames in flight.
#include "gst/base/device_base.h"

#include "gst/base/device_choice.h"
#include "gst/base/placement.h"
#include "gst/base/stream.h"
#include "gst/buffer/frame.h"
#include "gst/buffer/significant_bits.h"
#include "gst/memory/dma.h"
#include "gst/memory/kinds.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"

#include <algorithm>
#include <string>
#include <utility>

using namespace framequality;

G_DEFINE_ABSTRACT_TYPE(FqDeviceBase, fq_device_base, GST_TYPE_BASE_TRANSFORM)

// --- Latency --------------------------------------------------------------------------------------------------------

bool framequality::has_frame_rate(const GstVideoInfo& info) {
  // With a variable one, the info has the highest.
  return GST_VIDEO_INFO_FPS_N(&info) > 0 && !GST_VIDEO_INFO_FLAG_IS_SET(&info, GST_VIDEO_FLAG_VARIABLE_FPS);
}

int framequality::frames_in_flight(FqDeviceBase* self, const GstVideoInfo& info) {
  // Frames are held back for the duration of this many frames, which needs a fixed frame rate. The CPU works in this
  // very thread, where holding frames back would gain nothing; but the latency must not change with every move.
  const DeviceState& d = *self->device;
  return has_frame_rate(info) && (d.weighs || !is_cpu(*place_of(self).backend)) ? d.chosen_for.in_flight : 0;
}

void framequality::set_latency(FqDeviceBase* self, const GstVideoInfo& info, int frames) {
  GstClockTime latency = 0;
  if (frames > 0 && has_frame_rate(info))
    latency = gst_util_uint64_scale(static_cast<guint64>(frames) * GST_SECOND,
                                    static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&info)),
                                    static_cast<guint64>(GST_VIDEO_INFO_FPS_N(&info)));
  {
    const std::lock_guard lock(self->device->mutex);
    if (latency == std::exchange(self->device->latency, latency)) return;
  }
  gst_element_post_message(element(self), gst_message_new_latency(GST_OBJECT(self)));
}

// --- Stream ---------------------------------------------------------------------------------------------------------

GstFlowReturn framequality::push_frame(FqDeviceBase* self, BufferPtr buffer) {
  GstSegment& segment = GST_BASE_TRANSFORM_CAST(self)->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer.get()), duration = GST_BUFFER_DURATION(buffer.get());
  GST_OBJECT_LOCK(self);  // as segment_of()
  if (segment.format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID(pts))
    segment.position = pts + (GST_CLOCK_TIME_IS_VALID(duration) ? duration : 0);
  GST_OBJECT_UNLOCK(self);
  return gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), buffer.release());
}

GstFlowReturn framequality::drain_frames(FqDeviceBase* self) noexcept {
  DeviceState& d = *self->device;
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && d.stream) {
    BufferPtr buffer;
    const bool failed = !guard(element(self), false, [&] {
      buffer = d.stream->finish();
      return true;
    });
    if (!failed && !buffer) return GST_FLOW_OK;
    GST_CAT_LOG_OBJECT(category(self), self, "pushing a held frame first");
    d.broken = failed;
    flow = failed ? GST_FLOW_ERROR : push_frame(self, std::move(buffer));
  }
  if (d.stream) d.stream->drop();
  return flow;
}

/// Makes a stream for these caps and the current significant bits; false if the caps are not supported.
static bool make_stream(FqDeviceBase* self, GstCaps* in, GstCaps* out) {
  DeviceState& d = *self->device;
  d.significant_bits = d.settings.get().significant_bits;
  d.wants_pool = d.renegotiates = false;
  begin_weighing(self, memory_of(in));
  d.stream = FQ_DEVICE_BASE_GET_CLASS(self)->make_stream(self, in, out);
  if (!d.stream) return false;
  d.stream->tell_latency();
  GST_CAT_DEBUG_OBJECT(category(self), self,
                       "new stream: %" GST_PTR_FORMAT ", %d frames in flight, %u significant bits",
                       static_cast<void*>(in), d.stream->in_flight(), d.significant_bits);
  return true;
}

static gboolean set_caps(GstBaseTransform* trans, GstCaps* in, GstCaps* out) {
  FqDeviceBase* self = device_base(trans);
  DeviceState& d = *self->device;
  CapsPtr& failed = d.failed;
  // Pads repeat the caps with every event and frame that follows: one error is enough.
  if (failed && gst_caps_is_equal(failed.get(), in)) return FALSE;
  drain_frames(self);  // new caps do not always come with a caps event
  d.stream.reset();
  if (d.broken) return FALSE;
  failed.reset(gst_caps_ref(in));
  return guard(element(self), FALSE, [&]() -> gboolean {
    if (!make_stream(self, in, out)) {
      GST_CAT_WARNING_OBJECT(category(self), self, "unsupported caps: %" GST_PTR_FORMAT, static_cast<void*>(in));
      return FALSE;
    }
    failed.reset();
    return TRUE;
  });
}

static GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  FqDeviceBase* self = device_base(trans);
  DeviceState& d = *self->device;
  *out = nullptr;
  BufferPtr buffer(std::exchange(trans->queued_buf, nullptr));
  // Errors during an event have been posted already.
  if (d.broken) return GST_FLOW_ERROR;
  const GstFlowReturn flow = guard(element(self), GST_FLOW_ERROR, [&] {
    return d.stream ? d.stream->take(std::move(buffer), out) : GST_FLOW_NOT_NEGOTIATED;
  });
  // One error is enough: a following EOS must not meet the same frames again.
  if (flow == GST_FLOW_ERROR && d.stream) d.stream->drop();
  return flow;
}

/// Works in the CUDA context of this buffer's memory from now on, which may differ from the last buffer's.
static GstFlowReturn follow_context(FqDeviceBase* self, GstBuffer* buffer) {
  DeviceState& d = *self->device;
  if (!d.stream || d.stream->memory() == Memory::kHost || d.broken) return GST_FLOW_OK;
  const GstFlowReturn flow = guard(element(self), GST_FLOW_ERROR, [&] {
    if (d.context.owns(buffer)) return GST_FLOW_OK;
    const GstFlowReturn drained = drain_frames(self);
    if (drained != GST_FLOW_OK) return drained;
    std::unique_ptr<Stream> stream = std::move(d.stream);  // one that cannot change has no worker: it is released
    stream->change_context(buffer);
    d.stream = std::move(stream);
    return GST_FLOW_OK;
  });
  if (flow == GST_FLOW_ERROR && d.stream) d.stream->drop();
  return flow;
}

/// Applies the requested significant bits from now on.
static GstFlowReturn follow_significant_bits(FqDeviceBase* self) {
  DeviceState& d = *self->device;
  if (!d.stream || d.broken || d.settings.get().significant_bits == d.significant_bits) return GST_FLOW_OK;
  const GstFlowReturn drained = drain_frames(self);
  if (drained != GST_FLOW_OK) return drained;
  d.stream.reset();
  return guard(element(self), GST_FLOW_ERROR, [&] {
    const CapsPtr in(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(self)));
    const CapsPtr out(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SRC_PAD(self)));
    // Without caps, the pads are shutting down.
    return in && out && make_stream(self, in.get(), out.get()) ? GST_FLOW_OK : GST_FLOW_FLUSHING;
  });
}

static GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont, GstBuffer* buffer) {
  // Between frames: an event's receiver may send caps into this element at once.
  if (std::exchange(device_base(trans)->device->renegotiates, false)) gst_base_transform_reconfigure_sink(trans);
  GstFlowReturn flow = follow_significant_bits(device_base(trans));
  if (flow == GST_FLOW_OK) flow = follow_context(device_base(trans), buffer);
  if (flow == GST_FLOW_OK)
    return GST_BASE_TRANSFORM_CLASS(fq_device_base_parent_class)->submit_input_buffer(trans, is_discont, buffer);
  gst_buffer_unref(buffer);
  return flow;
}

/// Why frames of these caps are refused and what to put upstream instead; empty where "not among the offered caps"
/// is sufficient.
static std::string refusal_of(GstBaseTransform* trans, GstCaps* caps) {
  if (!gst_caps_is_fixed(caps)) return {};
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  const bool is_mosaic = gst_structure_has_name(s, "video/x-bayer");
  const bool is_dma = gst_caps_features_contains(gst_caps_get_features(caps, 0), FQ_DMA_FEATURE);
  if (!is_mosaic && !is_dma) return {};
  const CapsPtr taken(gst_pad_get_pad_template_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
  if (gst_caps_is_subset(caps, taken.get())) return {};
  if (is_dma) {
    std::string layout = FQ_DMA_FEATURE;
    for (const char* field : {"format", "drm-format"})
      if (const gchar* text = gst_structure_get_string(s, field))
        layout.append(", ").append(field).append("=").append(text);
    return "Cannot read frames in DMA buffers whose layout is driver-specific or unknown (" + layout +
           "). Request video/x-raw without (memory:DMABuf) upstream, which v4l2src io-mode=dmabuf delivers without a "
           "copy, or convert: vapostproc ! video/x-raw, or glupload ! gldownload";
  }
  const gchar* format = gst_structure_get_string(s, "format");
  const CapsPtr any_mosaic(gst_caps_new_empty_simple("video/x-bayer"));
  const std::string what =
      std::string("Frames are a Bayer mosaic (video/x-bayer, format=") + (format ? format : "unknown");
  return gst_caps_can_intersect(taken.get(), any_mosaic.get())
             ? what + ") of an unsupported format or size: gst-inspect-1.0 lists the supported ones"
             : what + "), which is not supported here: put bayer2rgb upstream";
}

/// Accepts caps that will be refused, so that set_caps() can post the reason.
static gboolean accept_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps) {
  return (direction == GST_PAD_SINK && !refusal_of(trans, caps).empty()) ||
         GST_BASE_TRANSFORM_CLASS(fq_device_base_parent_class)->accept_caps(trans, direction, caps);
}

/// Caps pass unchanged, but frames in GPU memory can only be used on a GPU. System memory is requested where it is
/// available: some decoders would prefer DMA buffers, which may be slow to read.
static GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
  DeviceState& d = *device_base(trans)->device;
  const DeviceSettings settings = d.settings.get();
  const Wish wish = wish_of(device_base(trans), settings, unsupported_reason(device_base(trans)));
  std::optional<Place> place;  // the place, if it is settled
  {
    const std::lock_guard lock(d.mutex);
    if (!d.weighs) place = d.place;
  }
  auto is_read = [&](Memory memory) {
    const auto all = backends();
    return memory == Memory::kHost || std::any_of(all.begin(), all.end(), [&](const Backend* backend) {
             return backend->memory == memory && (place ? backend == place->backend : may_choose(wish, *backend));
           });
  };
  GstCaps* result = gst_caps_copy(caps);
  gst_caps_filter_and_map_in_place(
      result,
      [](GstCapsFeatures* features, GstStructure*, gpointer read) -> gboolean {
        return (*static_cast<decltype(is_read)*>(read))(memory_of(features));
      },
      &is_read);
  if (!filter) return result;
  GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(result);
  return direction == GST_PAD_SRC ? prefer_system_memory(filtered) : filtered;
}

static gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  FqDeviceBase* self = device_base(trans);
  DeviceState& d = *self->device;
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && d.context.answer(element(self), query)) return TRUE;
  // A DRAIN query means that upstream wants its buffers back.
  if (direction == GST_PAD_SINK && gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED)
    drain_frames(self);
  if (!GST_BASE_TRANSFORM_CLASS(fq_device_base_parent_class)->query(trans, direction, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) {
    gboolean live;
    GstClockTime least, most;
    gst_query_parse_latency(query, &live, &least, &most);
    const std::lock_guard lock(d.mutex);
    gst_query_set_latency(query, live, least + d.latency, GST_CLOCK_TIME_IS_VALID(most) ? most + d.latency : most);
  }
  return TRUE;
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  FqDeviceBase* self = device_base(trans);
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_STOP) {
    if (self->device->stream) self->device->stream->drop();
    self->device->broken = false;
  } else if (gst_event_type_get_flags(type) & GST_EVENT_TYPE_SERIALIZED) {
    drain_frames(self);
  }
  if (type == GST_EVENT_CAPS) {
    GstCaps* caps;
    gst_event_parse_caps(event, &caps);
    const std::string refusal = refusal_of(trans, caps);
    if (!refusal.empty()) {
      post(element(self), GST_MESSAGE_ERROR, {GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, refusal});
      gst_event_unref(event);
      return FALSE;
    }
  }
  return GST_BASE_TRANSFORM_CLASS(fq_device_base_parent_class)->sink_event(trans, event);
}

static gboolean start(GstBaseTransform* trans) {
  DeviceState& d = *device_base(trans)->device;
  const StreamLock streaming(GST_BASE_TRANSFORM_SINK_PAD(trans));
  d.failed.reset();
  d.broken = false;
  d.stats.change([](WorkStats& stats) { stats = {}; });
  return TRUE;
}

static gboolean stop(GstBaseTransform* trans) {
  FqDeviceBase* self = device_base(trans);
  const StreamLock streaming(GST_BASE_TRANSFORM_SINK_PAD(trans));
  self->device->stream.reset();
  const std::lock_guard lock(self->device->mutex);
  self->device->latency = 0;
  return TRUE;
}

static void set_context(GstElement* e, GstContext* context) {
  DeviceState& d = *device_base(e)->device;
  d.context.set(e, context, d.settings.get().cuda_device_id);
  GST_ELEMENT_CLASS(fq_device_base_parent_class)->set_context(e, context);
}

static GstStateChangeReturn change_state(GstElement* e, GstStateChange transition) {
  FqDeviceBase* self = device_base(e);
  if (transition == GST_STATE_CHANGE_NULL_TO_READY || transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    const bool ok = guard(e, false, [&] {
      choose_place(self);
      return true;
    });
    if (!ok) return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result = GST_ELEMENT_CLASS(fq_device_base_parent_class)->change_state(e, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    set_place(self, std::nullopt);
    self->device->context.clear();
  }
  return result;
}

// --- Properties -----------------------------------------------------------------------------------------------------

static void get_active_device(FqDeviceBase* self, GValue* value) {
  const std::lock_guard lock(self->device->mutex);
  g_value_set_string(value, self->device->place ? self->device->place->backend->name : "");
}

/// All devices of all backends. Starts their drivers, and tests each device.
static GstStructure* list_devices(FqDeviceBase*) {
  GValue list = G_VALUE_INIT;
  gst_value_array_init(&list, 0);
  for (const Backend* backend : backends())
    for (int id = 0; id < devices_of(*backend); ++id) {
      const Device found = backend->find({.id = id});
      GValue value = G_VALUE_INIT;
      g_value_init(&value, GST_TYPE_STRUCTURE);
      g_value_take_boxed(
          &value, gst_structure_new("device", "backend", G_TYPE_STRING, backend->name, "id", G_TYPE_INT, id, "title",
                                    G_TYPE_STRING, found.name.c_str(), "usable", G_TYPE_BOOLEAN, found.id >= 0,
                                    "reason", G_TYPE_STRING, found.reason.c_str(), nullptr));
      gst_value_array_append_and_take_value(&list, &value);
    }
  GstStructure* all = gst_structure_new_empty("devices");
  gst_structure_take_value(all, "devices", &list);
  return all;
}

static void install_properties(FqDeviceBaseClass* klass) {
  using S = DeviceSettings;
  Properties<FqDeviceBase, S>::install(
      klass, [](FqDeviceBase * self) -> auto& { return self->device->settings; })
      .add(Mutable::kReady, &S::device, fq_device_choice_get_type(), "device", "Device",
           "Compute on this device; results are the same on all, but for rounding in the denoisers")
      .add(Mutable::kReady, &S::cuda_device_id, "cuda-device-id", "CUDA device",
           "Use the CUDA device with this number; -1 = the first usable one. Ignored with device=cpu and device=opencl",
           -1, G_MAXINT)
      .add(Mutable::kReady, &S::opencl_device, "opencl-device", "OpenCL device",
           "Use this OpenCL device: its number, or part of its platform and name in any case, such as \"intel\"; empty "
           "= the first usable GPU or, with device=opencl, also a CPU with an OpenCL driver")
      .add(Mutable::kReady, &S::in_flight, "in-flight", "Frames in flight",
           "Keep this many frames in flight on a GPU, so that copies and kernels overlap; adds that many frames of "
           "latency. 0 = output each frame before accepting the next, as with device=cpu or without a fixed "
           "frame rate",
           0, kMaxInFlight)
      .add(&S::significant_bits, "significant-bits", "Significant bits", kSignificantBitsText, 0, kMostSignificantBits)
      .add(g_param_spec_string("active-device", "Active device", active_device_text(), "", kReadable),
           get_active_device)
      .accept_if(
          [](FqDeviceBase* self, const S& wanted) { return accepts_significant_bits(self, wanted.significant_bits); });
}

DeviceState::DeviceState() = default;
DeviceState::~DeviceState() = default;

static void fq_device_base_init(FqDeviceBase* self) { self->device = new DeviceState; }

static void fq_device_base_class_init(FqDeviceBaseClass* klass) {
  delete_with_instance<&FqDeviceBase::device>(klass);
  install_properties(klass);
  g_signal_new_class_handler("list-devices", G_TYPE_FROM_CLASS(klass),
                             static_cast<GSignalFlags>(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION), G_CALLBACK(list_devices),
                             nullptr, nullptr, nullptr, GST_TYPE_STRUCTURE, 0);
  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  element->set_context = set_context;
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->start = start;
  trans->stop = stop;
  trans->accept_caps = accept_caps;
  trans->transform_caps = transform_caps;
  trans->set_caps = set_caps;
  trans->query = query;
  trans->sink_event = sink_event;
  trans->submit_input_buffer = submit_input_buffer;
  trans->generate_output = generate_output;
  gst_type_mark_as_plugin_api(fq_device_base_get_type(), static_cast<GstPluginAPIFlags>(0));
}
