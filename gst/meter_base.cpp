// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all measuring elements: device choice, frames in, messages and metadata out. Pixels pass untouched.
#include "gst/meter_base.h"

#include "gst/backends.h"
#include "gst/enums.h"
#include "gst/frame.h"
#include "gst/guard.h"
#include "gst/score_meta.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

namespace framequality {

namespace {

struct Settings {
  DeviceChoice device = DeviceChoice::kAuto;
  int cuda_device_id = -1;
  GstClockTime interval = 0;
  bool post_messages = true, attach_meta = true;
};

struct Stats {
  std::uint64_t measured = 0, skipped = 0, replayed = 0, busy_ns = 0;
};

/// Exists from caps to stop: no half-configured stream can be measured.
struct Stream {
  StreamFormat format;
  std::unique_ptr<Measurer> measurer;
  unsigned warned = 0;
};

template <auto free>
struct Free {
  template <class T>
  void operator()(T* p) const {
    free(p);
  }
};
using BufferPtr = std::unique_ptr<GstBuffer, Free<gst_buffer_unref>>;
using StructurePtr = std::unique_ptr<GstStructure, Free<gst_structure_free>>;

}  // namespace

struct MeterState {
  std::mutex mutex;  ///< of the following, up to the blank line
  Settings settings;
  std::optional<Place> place;  ///< chosen on the way to READY
  Stats stats;
  double last_score = 0;

  // State changes and the streaming thread, never at once.
  Settings chosen_for;
  std::optional<Stream> stream;
  std::uint64_t frames = 0;  ///< measured since start
  GstClockTime last_pts = GST_CLOCK_TIME_NONE;
};

}  // namespace framequality

using namespace framequality;

G_DEFINE_ABSTRACT_TYPE(FqMeterBase, fq_meter_base, GST_TYPE_BASE_TRANSFORM)

enum {
  PROP_DEVICE = 1,
  PROP_CUDA_DEVICE_ID,
  PROP_INTERVAL,
  PROP_POST_MESSAGES,
  PROP_ATTACH_META,
  PROP_ACTIVE_DEVICE,
  PROP_LAST_SCORE,
  PROP_STATS
};

static GstElement* element(FqMeterBase* self) { return GST_ELEMENT_CAST(self); }

static GstDebugCategory* category(FqMeterBase* self) { return FQ_METER_BASE_GET_CLASS(self)->category; }

static FqMeterBase* meter(gpointer instance) { return reinterpret_cast<FqMeterBase*>(instance); }

// --- Where ----------------------------------------------------------------------------------------------------------

static void set_place(FqMeterBase* self, std::optional<Place> place) {
  {
    const std::lock_guard lock(self->state->mutex);
    self->state->place = place;
  }
  g_object_notify(G_OBJECT(self), "active-device");
}

static void choose_place(FqMeterBase* self) {
  MeterState& s = *self->state;
  Settings settings;
  bool chosen;
  {
    const std::lock_guard lock(s.mutex);
    settings = s.settings;
    chosen = s.place.has_value();
  }
  if (chosen && settings.device == s.chosen_for.device && settings.cuda_device_id == s.chosen_for.cuda_device_id)
    return;
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

/// A measurer at the chosen place; with device=auto on the CPU if CUDA fails.
static std::unique_ptr<Measurer> make_measurer(FqMeterBase* self, const StreamFormat& format);

/// Leaves CUDA for good after a fault; rethrows it where the user asked for CUDA alone.
static void fall_back(FqMeterBase* self, const StreamFormat& format, const cuda::Error& fault) {
  if (self->state->chosen_for.device != DeviceChoice::kAuto) throw element_error(fault);
  const ElementError e = element_error(fault);
  post(element(self), GST_MESSAGE_WARNING,
       {e.domain, e.code, std::string(e.what()) + ". Measuring goes on on the CPU, with the same numbers"});
  set_place(self, Place{});
  if (self->state->stream) {
    // The old one goes first: nothing of a dead context outlives this line.
    self->state->stream->measurer.reset();
    self->state->stream->measurer = make_measurer(self, format);
  }
}

static std::unique_ptr<Measurer> make_measurer(FqMeterBase* self, const StreamFormat& format) {
  FqMeterBaseClass* klass = FQ_METER_BASE_GET_CLASS(self);
  const Place place = self->state->place.value_or(Place{});
  return with_recovery([&] { return klass->make_measurer(self, format, place); },
                       [&](const cuda::Error& fault) {
                         fall_back(self, format, fault);
                         return klass->make_measurer(self, format, Place{});
                       });
}

// --- Frames ---------------------------------------------------------------------------------------------------------

/// True if a frame of this time is to be measured: the first since start, flush or segment, and those `interval`
/// after the last. Time that runs backwards starts anew.
static bool is_due(MeterState& s, GstClockTime interval, GstClockTime pts) {
  if (!GST_CLOCK_TIME_IS_VALID(pts)) return true;
  if (interval > 0 && GST_CLOCK_TIME_IS_VALID(s.last_pts) && pts >= s.last_pts && pts - s.last_pts < interval)
    return false;
  s.last_pts = pts;
  return true;
}

/// The fields that all results share, but for score and device.
static StructurePtr start_result(FqMeterBase* self, const Stream& stream, GstBuffer* buffer) {
  const GstSegment& segment = GST_BASE_TRANSFORM_CAST(self)->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const bool timed = segment.format == GST_FORMAT_TIME;
  const guint64 stream_time = timed ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
  const guint64 running_time =
      timed ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
  return StructurePtr(gst_structure_new(
      FQ_METER_BASE_GET_CLASS(self)->message_name, "timestamp", G_TYPE_UINT64, guint64{pts}, "stream-time",
      G_TYPE_UINT64, stream_time, "running-time", G_TYPE_UINT64, running_time, "duration", G_TYPE_UINT64,
      guint64{GST_BUFFER_DURATION(buffer)}, "frame", G_TYPE_UINT64, guint64{self->state->frames}, "width", G_TYPE_UINT,
      static_cast<guint>(stream.format.geometry.width), "height", G_TYPE_UINT,
      static_cast<guint>(stream.format.geometry.height), nullptr));
}

/// Measures a frame; it comes back with its metadata.
static BufferPtr measure(FqMeterBase* self, const Settings& settings, BufferPtr buffer) {
  MeterState& s = *self->state;
  Stream& stream = *s.stream;
  const auto begin = std::chrono::steady_clock::now();
  StructurePtr result = start_result(self, stream, buffer.get());
  double score = 0;
  bool replayed = false;
  {
    const MappedFrame mapped(stream.format.info, stream.format.geometry.layout, buffer.get());
    const auto once = [&] {
      stream.measurer->submit(mapped.frame(), buffer.get());
      return stream.measurer->collect(result.get());
    };
    score = with_recovery(once, [&](const cuda::Error& fault) {
      fall_back(self, stream.format, fault);
      replayed = true;
      return once();
    });
  }
  gst_structure_set(result.get(), "device", G_TYPE_STRING, s.place.value_or(Place{}).name(), nullptr);
  ++s.frames;
  {
    const std::lock_guard lock(s.mutex);
    s.last_score = score;
    ++s.stats.measured;
    s.stats.replayed += replayed;
    s.stats.busy_ns +=
        static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  }
  if (settings.attach_meta) {
    buffer.reset(make_header_writable(buffer.release()));
    set_score_meta(buffer.get(), FQ_METER_BASE_GET_CLASS(self)->meta_name, result.get());
    stream.measurer->annotate(buffer.get());
  }
  if (settings.post_messages)
    gst_element_post_message(element(self), gst_message_new_element(GST_OBJECT(self), result.release()));
  return buffer;
}

static GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  FqMeterBase* self = meter(trans);
  MeterState& s = *self->state;
  BufferPtr buffer(std::exchange(trans->queued_buf, nullptr));
  *out = nullptr;
  if (!buffer) return GST_FLOW_OK;
  return guard(element(self), GST_FLOW_ERROR, [&] {
    if (!s.stream) return GST_FLOW_NOT_NEGOTIATED;
    Settings settings;
    {
      const std::lock_guard lock(s.mutex);
      settings = s.settings;
    }
    if (is_due(s, settings.interval, GST_BUFFER_PTS(buffer.get()))) {
      buffer = measure(self, settings, std::move(buffer));
    } else {
      const std::lock_guard lock(s.mutex);
      ++s.stats.skipped;
    }
    *out = buffer.release();
    return GST_FLOW_OK;
  });
}

// --- Stream ---------------------------------------------------------------------------------------------------------

static gboolean set_caps(GstBaseTransform* trans, GstCaps* in, GstCaps*) {
  FqMeterBase* self = meter(trans);
  return guard(element(self), FALSE, [&]() -> gboolean {
    self->state->stream.reset();
    Stream stream;
    GstVideoInfo& info = stream.format.info;
    if (!gst_video_info_from_caps(&info, in)) return FALSE;
    const std::optional<PixelLayout> layout = layout_of(*info.finfo);
    const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&info);
    if (!layout || mode == GST_VIDEO_INTERLACE_MODE_FIELDS || mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE) {
      GST_CAT_WARNING_OBJECT(category(self), self, "not supported: %" GST_PTR_FORMAT, static_cast<void*>(in));
      return FALSE;
    }
    stream.format.geometry = {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), *layout};
    stream.measurer = make_measurer(self, stream.format);
    self->state->stream = std::move(stream);
    return TRUE;
  });
}

static gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  // Every frame has left with its score before the next is taken, so nothing is pending here.
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT || GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    meter(trans)->state->last_pts = GST_CLOCK_TIME_NONE;
  return GST_BASE_TRANSFORM_CLASS(fq_meter_base_parent_class)->sink_event(trans, event);
}

static gboolean start(GstBaseTransform* trans) {
  MeterState& s = *meter(trans)->state;
  s.frames = 0;
  s.last_pts = GST_CLOCK_TIME_NONE;
  const std::lock_guard lock(s.mutex);
  s.stats = {};
  s.last_score = 0;
  return TRUE;
}

static gboolean stop(GstBaseTransform* trans) {
  meter(trans)->state->stream.reset();
  return TRUE;
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
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) set_place(self, std::nullopt);
  return result;
}

void fq_meter_base_warn_once(FqMeterBase* self, unsigned which, const char* text) {
  Stream& stream = *self->state->stream;
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
  if (chosen && (id == PROP_DEVICE || id == PROP_CUDA_DEVICE_ID)) {
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
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  auto* trans = GST_BASE_TRANSFORM_CLASS(klass);
  trans->start = start;
  trans->stop = stop;
  trans->set_caps = set_caps;
  trans->sink_event = sink_event;
  trans->generate_output = generate_output;

  constexpr auto kReady =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  constexpr auto kPlaying =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  constexpr auto kRead = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      object, PROP_DEVICE,
      g_param_spec_enum("device", "Device", "Where to measure; the scores are the same bit for bit",
                        device_choice_get_type(), static_cast<int>(DeviceChoice::kAuto), kReady));
  g_object_class_install_property(
      object, PROP_CUDA_DEVICE_ID,
      g_param_spec_int("cuda-device-id", "CUDA device", "CUDA device number, -1 = the first usable one", -1, G_MAXINT,
                       -1, kReady));
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
      g_param_spec_boxed("stats", "Statistics",
                         "Frames since start: measured, skipped (by interval), replayed-on-cpu (after a CUDA fault); "
                         "busy-ns, the time spent measuring in ns",
                         GST_TYPE_STRUCTURE, kRead));
  gst_type_mark_as_plugin_api(fq_meter_base_get_type(), static_cast<GstPluginAPIFlags>(0));
  gst_type_mark_as_plugin_api(device_choice_get_type(), static_cast<GstPluginAPIFlags>(0));
}
