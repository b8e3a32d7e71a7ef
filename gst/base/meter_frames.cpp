// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames on their way through a measuring element: in, measured, out in order, and again on the CPU if CUDA fails.
#include "gst/base/backends.h"
#include "gst/base/meter_state.h"
#include "gst/buffer/pinned_pool.h"
#include "gst/object/score_meta.h"

#include <chrono>
#include <utility>

namespace framequality {

namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t ns_since(Clock::time_point begin) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
}

/// Frame i of those in flight, the oldest first.
Held& held(MeterStream& stream, std::size_t i) { return stream.held[(stream.oldest + i) % stream.held.size()]; }

void forget_oldest(MeterStream& stream) {
  held(stream, 0).clear();
  stream.oldest = (stream.oldest + 1) % stream.held.size();
  --stream.count;
}

/// Leaves CUDA for good after a fault. What is in flight will be measured on the CPU. Throws the fault where frames
/// cannot be measured there, or the user asked for CUDA alone.
void fall_back(FqMeterBase* self, const StreamFormat& format, const cuda::Error& fault) {
  MeterState& s = *self->state;
  leave_cuda(&self->parent, format.on_device, fault, "Measuring goes on on the CPU, with the same numbers");
  if (!s.stream) return;
  s.stream->measurer->move_to_cpu();
  for (std::size_t i = 0; i < s.stream->count; ++i) held(*s.stream, i).replayed = true;
  s.stream->in_flight = 0;
  set_latency(&self->parent, format.info, 0);
}

/// A measurer at the chosen place; with device=auto on the CPU if CUDA fails.
std::unique_ptr<Measurer> make_measurer(FqMeterBase* self, const StreamFormat& format, int in_flight) {
  FqMeterBaseClass* klass = FQ_METER_BASE_GET_CLASS(self);
  const Place place = place_of(&self->parent);
  // A frame in GPU memory is measured in its own context, which Scope has made current.
  const Place where = format.on_device ? Place{true, -1} : place;
  return with_recovery([&] { return klass->make_measurer(self, format, where, in_flight + 1); },
                       [&](const cuda::Error& fault) {
                         fall_back(self, format, fault);
                         return klass->make_measurer(self, format, Place{}, 1);
                       });
}

/// True if a frame of this time is to be measured: the first since start, flush or segment, and those `interval`
/// after the last. Time that runs backwards starts anew.
bool is_due(MeterState& s, GstClockTime interval, GstClockTime pts) {
  if (!GST_CLOCK_TIME_IS_VALID(pts)) return true;
  if (interval > 0 && GST_CLOCK_TIME_IS_VALID(s.last_pts) && pts >= s.last_pts && pts - s.last_pts < interval)
    return false;
  s.last_pts = pts;
  return true;
}

/// The fields that all results share, but for score and device; `frame` is set when it leaves.
StructurePtr start_result(FqMeterBase* self, const MeterStream& stream, GstBuffer* buffer) {
  const GstSegment& segment = GST_BASE_TRANSFORM_CAST(self)->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const bool timed = segment.format == GST_FORMAT_TIME;
  const guint64 stream_time = timed ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
  const guint64 running_time =
      timed ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
  return StructurePtr(
      gst_structure_new(FQ_METER_BASE_GET_CLASS(self)->message_name, "timestamp", G_TYPE_UINT64, guint64{pts},
                        "stream-time", G_TYPE_UINT64, stream_time, "running-time", G_TYPE_UINT64, running_time,
                        "duration", G_TYPE_UINT64, guint64{GST_BUFFER_DURATION(buffer)}, "frame", G_TYPE_UINT64,
                        guint64{0}, "width", G_TYPE_UINT, static_cast<guint>(stream.format.geometry.width), "height",
                        G_TYPE_UINT, static_cast<guint>(stream.format.geometry.height), nullptr));
}

/// The buffer's memory belongs to another CUDA context than the last one's: measures in that one from now on.
GstFlowReturn change_context(FqMeterBase* self, GstBuffer* buffer) {
  MeterState& s = *self->state;
  const GstFlowReturn flow = drain_frames(&self->parent);
  if (flow != GST_FLOW_OK) return flow;
  std::unique_ptr<MeterStream> stream = std::move(s.stream);  // gone for good if what follows fails
  {
    const CudaContext::Scope scope(device(self).context);
    stream->measurer.reset();
  }
  device(self).context.adopt(buffer);
  const CudaContext::Scope scope(device(self).context);
  stream->measurer = make_measurer(self, stream->format, stream->in_flight);
  s.stream = std::move(stream);
  return GST_FLOW_OK;
}

/// Begins to measure a frame in its place among those in flight. One that cannot be measured has no result then.
void submit(FqMeterBase* self, Held& frame) {
  MeterState& s = *self->state;
  MeterStream& stream = *s.stream;
  const StreamFormat& format = stream.format;
  GstBuffer* buffer = frame.buffer.get();
  const Place place = place_of(&self->parent);
  if (format.on_device)
    CudaContext::finish_writes(buffer);
  else if (place.cuda)
    pin_if_recurring(buffer, self, place.id);
  frame.mapped.emplace(format.info, format.geometry.layout, buffer, format.on_device);
  frame.result = start_result(self, stream, buffer);
  const CudaContext::Scope scope(device(self).context);
  const auto once = [&] { return stream.measurer->submit(frame.mapped->frame(), buffer); };
  const bool submitted = with_recovery(once, [&](const cuda::Error& fault) {
    fall_back(self, format, fault);
    frame.replayed = true;
    return once();
  });
  if (submitted) return;
  frame.mapped.reset();
  frame.result.reset();
}

/// Takes a frame in: it is being measured, or waits its turn unmeasured.
void take(FqMeterBase* self, const MeterSettings& settings, BufferPtr buffer) {
  MeterState& s = *self->state;
  MeterStream& stream = *s.stream;
  const auto begin = Clock::now();
  Held& frame = held(stream, stream.count);
  frame.clear();  // of one that failed
  const bool due = is_due(s, settings.interval, GST_BUFFER_PTS(buffer.get()));
  frame.buffer = std::move(buffer);
  frame.post_message = settings.post_messages;
  frame.attach_meta = settings.attach_meta;
  if (due) submit(self, frame);
  ++stream.count;
  const std::lock_guard lock(s.mutex);
  if (frame.result)
    s.stats.busy_ns += ns_since(begin);
  else
    ++s.stats.skipped;
}

/// Waits for the score of the oldest frame; the frame with its metadata.
BufferPtr finish_oldest(FqMeterBase* self) {
  MeterState& s = *self->state;
  MeterStream& stream = *s.stream;
  Held& frame = held(stream, 0);
  if (!frame.result) {
    BufferPtr buffer = std::move(frame.buffer);
    forget_oldest(stream);
    return buffer;
  }
  const auto begin = Clock::now();
  double score = 0;
  {
    const CudaContext::Scope scope(device(self).context);
    const auto collect = [&] { return stream.measurer->collect(frame.result.get()); };
    score = with_recovery(collect, [&](const cuda::Error& fault) {
      fall_back(self, stream.format, fault);
      return collect();
    });
  }
  frame.mapped.reset();
  gst_structure_set(frame.result.get(), "frame", G_TYPE_UINT64, guint64{s.frames}, "device", G_TYPE_STRING,
                    place_of(&self->parent).name(), nullptr);
  ++s.frames;
  {
    const std::lock_guard lock(s.mutex);
    s.last_score = score;
    ++s.stats.measured;
    s.stats.replayed += frame.replayed;
    s.stats.busy_ns += ns_since(begin);
  }
  BufferPtr buffer = std::move(frame.buffer);
  if (frame.attach_meta) {
    buffer.reset(make_header_writable(buffer.release()));
    set_score_meta(buffer.get(), FQ_METER_BASE_GET_CLASS(self)->meta_name, frame.result.get());
    stream.measurer->annotate(buffer.get());
  }
  if (frame.post_message)
    gst_element_post_message(element(self), gst_message_new_element(GST_OBJECT(self), frame.result.release()));
  forget_oldest(stream);
  return buffer;
}

}  // namespace

void begin_stream(FqMeterBase* self, const StreamFormat& format) {
  MeterState& s = *self->state;
  auto stream = std::make_unique<MeterStream>();
  stream->format = format;
  stream->in_flight = frames_in_flight(&self->parent, format.info);
  if (format.on_device) device(self).context.ensure(element(self), device(self).chosen_for.cuda_device_id);
  const CudaContext::Scope scope(device(self).context);
  stream->measurer = make_measurer(self, format, stream->in_flight);
  if (!place_of(&self->parent).cuda) stream->in_flight = 0;
  s.stream = std::move(stream);
  set_latency(&self->parent, format.info, s.stream->in_flight);
}

void end_stream(FqDeviceBase* base) noexcept {
  FqMeterBase* self = meter(base);
  MeterState& s = *self->state;
  if (!s.stream) return;
  guard(false, [&] {
    const CudaContext::Scope scope(device(self).context);
    s.stream->measurer.reset();
    return true;
  });
  s.stream.reset();
}

void discard_frames(FqDeviceBase* base) noexcept {
  FqMeterBase* self = meter(base);
  MeterState& s = *self->state;
  if (!s.stream) return;
  guard(false, [&] {
    const CudaContext::Scope scope(device(self).context);
    s.stream->measurer->drop();
    return true;
  });
  while (s.stream->count > 0) forget_oldest(*s.stream);
  held(*s.stream, 0).clear();  // the one that could not be submitted, if any
}

BufferPtr finish_frame(FqDeviceBase* base) {
  const MeterState& s = *meter(base)->state;
  return s.stream && s.stream->count > 0 ? finish_oldest(meter(base)) : nullptr;
}

GstFlowReturn generate_frame(FqMeterBase* self, GstBuffer** out) noexcept {
  MeterState& s = *self->state;
  *out = nullptr;
  BufferPtr buffer(std::exchange(GST_BASE_TRANSFORM_CAST(self)->queued_buf, nullptr));
  // What failed while an event was on its way has been said.
  if (device(self).broken) return GST_FLOW_ERROR;
  const GstFlowReturn flow = guard(element(self), GST_FLOW_ERROR, [&] {
    if (!s.stream) return GST_FLOW_NOT_NEGOTIATED;
    // GstBaseTransform gives the flag to the next buffer that leaves through here. That must be this one, and now: if
    // an event drove it out later, the flag would go to another one as well.
    const bool discont = buffer && GST_BUFFER_IS_DISCONT(buffer.get());
    if (buffer) {
      GstFlowReturn drained = GST_FLOW_OK;
      if (discont) drained = drain_frames(&self->parent);
      if (drained == GST_FLOW_OK && s.stream->format.on_device && !device(self).context.owns(buffer.get()))
        drained = change_context(self, buffer.get());
      if (drained != GST_FLOW_OK) return drained;
      MeterSettings settings;
      {
        const std::lock_guard lock(s.mutex);
        settings = s.settings;
      }
      take(self, settings, std::move(buffer));
    }
    const int behind = discont ? 0 : s.stream->in_flight;
    if (s.stream->count > static_cast<std::size_t>(behind)) *out = finish_oldest(self).release();
    return GST_FLOW_OK;
  });
  // One error is enough: an EOS that follows must not meet the same frames again.
  if (flow == GST_FLOW_ERROR) discard_frames(&self->parent);
  return flow;
}

}  // namespace framequality
