// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames on their way through a filtering element: in, filtered, out in order, and again on the CPU if CUDA fails.
#include "gst/base/filter_state.h"
#include "gst/buffer/pinned_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace framequality {

namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time of its life to busy-ns.
class Busy {
 public:
  explicit Busy(FilterState& state) : state_(state) {}
  ~Busy() {
    const auto ns = std::chrono::nanoseconds(Clock::now() - begin_).count();
    const std::lock_guard lock(state_.mutex);
    state_.stats.busy_ns += static_cast<std::uint64_t>(ns);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  FilterState& state_;
  Clock::time_point begin_ = Clock::now();
};

/// Leaves CUDA for good after a fault. What is in flight will be filtered on the CPU. Throws the fault where frames
/// cannot be filtered there, or the user asked for CUDA alone.
void fall_back(FqFilterBase* self, const FilterFormat& format, const cuda::Error& fault) {
  FilterState& s = *self->state;
  leave_cuda(&self->parent, format.on_device, fault, "Filtering goes on on the CPU");
  if (!s.stream) return;
  s.stream->filter->move_to_cpu();
  for (std::uint64_t i = s.stream->finished; i < s.stream->submitted; ++i) s.stream->at(i).replayed = true;
  s.stream->in_flight = 0;
  set_latency(&self->parent, format.in, s.stream->radius);
}

/// A filter at the chosen place; with device=auto on the CPU if CUDA fails.
std::unique_ptr<PixelFilter> make_filter(FqFilterBase* self, const FilterFormat& format, int in_flight) {
  FqFilterBaseClass* klass = FQ_FILTER_BASE_GET_CLASS(self);
  int threads;
  {
    const std::lock_guard lock(self->state->mutex);
    threads = self->state->threads;
  }
  // A frame in GPU memory is filtered in its own context, which Scope has made current.
  const Place where = format.on_device ? Place{true, -1} : place_of(&self->parent);
  return with_recovery([&] { return klass->make_filter(self, format, where, in_flight + 1, threads); },
                       [&](const cuda::Error& fault) {
                         fall_back(self, format, fault);
                         return klass->make_filter(self, format, Place{}, 1, threads);
                       });
}

/// Takes a frame in.
void take(FqFilterBase* self, BufferPtr buffer, bool follows_gap) {
  FilterStream& stream = *self->state->stream;
  const FilterFormat& format = stream.format;
  TakenFrame& frame = stream.at(stream.taken);
  frame.clear();  // of one that failed
  frame.in = std::move(buffer);
  frame.follows_gap = follows_gap;
  const Place place = place_of(&self->parent);
  if (format.on_device)
    CudaContext::finish_writes(frame.in.get());
  else if (place.cuda)
    pin_if_recurring(frame.in.get(), self, place.id);
  frame.source.emplace(format.in, format.in_extents, frame.in.get(), format.on_device);
  ++stream.taken;
}

/// An output buffer with the metadata of `in`; null and why in `flow` if there is none to be had.
BufferPtr new_output(FqFilterBase* self, GstBuffer* in, GstFlowReturn& flow) {
  auto* trans = GST_BASE_TRANSFORM_CAST(self);
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(trans);
  GstBuffer* out = nullptr;
  flow = GST_FLOW_FLUSHING;  // without a pool the pad is shut down
  if (pool) {
    flow =
        gst_buffer_pool_set_active(pool, TRUE) ? gst_buffer_pool_acquire_buffer(pool, &out, nullptr) : GST_FLOW_ERROR;
    gst_object_unref(pool);
  }
  if (flow == GST_FLOW_ERROR)
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "There is no memory for another frame");
  if (out) GST_BASE_TRANSFORM_GET_CLASS(trans)->copy_metadata(trans, in, out);
  return BufferPtr(out);
}

/// Begins to filter the next frame, made of those around it that are there.
GstFlowReturn submit_next(FqFilterBase* self) {
  FilterState& s = *self->state;
  FilterStream& stream = *s.stream;
  const FilterFormat& format = stream.format;
  const std::uint64_t number = stream.submitted;
  TakenFrame& frame = stream.at(number);
  GstFlowReturn flow = GST_FLOW_OK;
  frame.out = new_output(self, frame.in.get(), flow);
  if (!frame.out) return flow;
  const Busy busy(s);
  if (frame.follows_gap) GST_BUFFER_FLAG_SET(frame.out.get(), GST_BUFFER_FLAG_DISCONT);
  const Place place = place_of(&self->parent);
  if (!format.out_on_device && place.cuda) pin_if_recurring(frame.out.get(), self, place.id);
  frame.target.emplace(format.out, format.out_extents, frame.out.get(), format.out_on_device);

  FilterTask task;
  const auto radius = static_cast<std::uint64_t>(stream.radius);
  const std::uint64_t begin = std::max(stream.first, number - std::min(number, radius));
  const std::uint64_t end = std::min(stream.taken, number + radius + 1);
  for (std::uint64_t i = begin; i < end; ++i) task.frames[task.count++] = {stream.at(i).source->frame(), i};
  task.center = number - begin;
  task.out = frame.target->canvas();
  task.fields = is_interlaced(format.in, frame.in.get()) ? 2 : 1;

  const CudaContext::Scope scope(device(self).context);
  const auto once = [&] { stream.filter->submit(task); };
  with_recovery(once, [&](const cuda::Error& fault) {
    fall_back(self, format, fault);
    frame.replayed = true;
    once();
  });
  ++stream.submitted;
  return GST_FLOW_OK;
}

/// Waits until the oldest frame is complete; its buffer.
BufferPtr finish_oldest(FqFilterBase* self) {
  FilterState& s = *self->state;
  FilterStream& stream = *s.stream;
  TakenFrame& frame = stream.at(stream.finished);
  {
    const Busy busy(s);
    const CudaContext::Scope scope(device(self).context);
    const auto collect = [&] { stream.filter->collect(); };
    with_recovery(collect, [&](const cuda::Error& fault) {
      fall_back(self, stream.format, fault);
      collect();
    });
  }
  frame.target.reset();
  BufferPtr out = std::move(frame.out);
  {
    const std::lock_guard lock(s.mutex);
    ++s.stats.filtered;
    s.stats.replayed += frame.replayed;
  }
  ++stream.finished;
  for (; stream.first + static_cast<std::uint64_t>(stream.radius) < stream.finished; ++stream.first)
    stream.at(stream.first).clear();
  return out;
}

}  // namespace

void begin_filtering(FqFilterBase* self, const FilterFormat& format) {
  FilterState& s = *self->state;
  FqFilterBaseClass* klass = FQ_FILTER_BASE_GET_CLASS(self);
  auto stream = std::make_unique<FilterStream>();
  stream->format = format;
  stream->in_flight = frames_in_flight(&self->parent, format.in);
  stream->radius = klass->temporal_radius ? klass->temporal_radius(self) : 0;
  if (format.on_device) device(self).context.ensure(element(self), device(self).chosen_for.cuda_device_id);
  const CudaContext::Scope scope(device(self).context);
  stream->filter = make_filter(self, format, stream->in_flight);
  if (!place_of(&self->parent).cuda) stream->in_flight = 0;
  s.stream = std::move(stream);
  set_latency(&self->parent, format.in, s.stream->in_flight + s.stream->radius);
}

GstFlowReturn change_context(FqFilterBase* self, GstBuffer* buffer) {
  const GstFlowReturn flow = drain_frames(&self->parent);
  if (flow != GST_FLOW_OK) return flow;
  const FilterFormat format = self->state->stream->format;
  end_filtering(&self->parent);
  device(self).context.adopt(buffer);
  begin_filtering(self, format);
  // Output buffers in GPU memory have to come from the new context too.
  if (format.out_on_device) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM_CAST(self));
  return GST_FLOW_OK;
}

void forget_past(FqFilterBase* self) {
  if (!self->state->stream) return;
  FilterStream& stream = *self->state->stream;
  for (; stream.first < stream.finished; ++stream.first) stream.at(stream.first).clear();
}

void end_filtering(FqDeviceBase* base) noexcept {
  FqFilterBase* self = filter_base(base);
  FilterState& s = *self->state;
  if (!s.stream) return;
  guard(false, [&] {
    const CudaContext::Scope scope(device(self).context);
    s.stream->filter.reset();
    return true;
  });
  s.stream.reset();
}

void drop_taken(FqDeviceBase* base) noexcept {
  FqFilterBase* self = filter_base(base);
  FilterState& s = *self->state;
  s.missed = false;
  if (!s.stream) return;
  guard(false, [&] {
    const CudaContext::Scope scope(device(self).context);
    s.stream->filter->drop();
    return true;
  });
  FilterStream& stream = *s.stream;
  for (; stream.first <= stream.taken; ++stream.first) stream.at(stream.first).clear();  // also one that was not taken
  stream.first = stream.finished = stream.submitted = stream.taken = stream.taken + 1;
}

BufferPtr finish_taken(FqDeviceBase* base) {
  FqFilterBase* self = filter_base(base);
  if (!self->state->stream) return nullptr;
  FilterStream& stream = *self->state->stream;
  while (stream.submitted < stream.taken &&
         stream.submitted - stream.finished <= static_cast<std::uint64_t>(stream.in_flight)) {
    if (submit_next(self) == GST_FLOW_OK) continue;
    drop_taken(base);  // the pad is shut down
    return nullptr;
  }
  return stream.finished < stream.submitted ? finish_oldest(self) : nullptr;
}

GstFlowReturn filter_queued(FqFilterBase* self) noexcept {
  FilterState& s = *self->state;
  BufferPtr buffer(std::exchange(GST_BASE_TRANSFORM_CAST(self)->queued_buf, nullptr));
  // What failed while an event was on its way has been said.
  if (device(self).broken) return GST_FLOW_ERROR;
  const GstFlowReturn flow = guard(element(self), GST_FLOW_ERROR, [&] {
    if (!s.stream) return GST_FLOW_NOT_NEGOTIATED;
    if (!buffer) return GST_FLOW_OK;
    GstFlowReturn result = GST_FLOW_OK;
    const bool missed = std::exchange(s.missed, false);
    if (missed || GST_BUFFER_IS_DISCONT(buffer.get())) {
      result = drain_frames(&self->parent);
      if (result != GST_FLOW_OK) {
        s.missed = true;  // who goes on nevertheless is told with the next frame
        return result;
      }
      forget_past(self);
    }
    take(self, std::move(buffer), missed);
    FilterStream& stream = *s.stream;
    while (result == GST_FLOW_OK && stream.submitted + static_cast<std::uint64_t>(stream.radius) < stream.taken)
      result = submit_next(self);
    if (result != GST_FLOW_OK) {  // no buffer was to be had for it
      drop_taken(&self->parent);
      s.missed = true;
      return result;
    }
    while (result == GST_FLOW_OK && stream.submitted - stream.finished > static_cast<std::uint64_t>(stream.in_flight))
      result = push_frame(&self->parent, finish_oldest(self));
    return result;
  });
  // One error is enough: an EOS that follows must not meet the same frames again.
  if (flow == GST_FLOW_ERROR) drop_taken(&self->parent);
  return flow;
}

}  // namespace framequality
