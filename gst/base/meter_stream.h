// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames on their way through a measuring element: in, measured, out in order with their scores.
#pragma once

#include "algorithms/ring.h"
#include "gst/base/measurement.h"
#include "gst/base/stream.h"
#include "gst/buffer/frame.h"
#include "gst/object/score_meta.h"

#include <memory>
#include <optional>
#include <utility>

namespace framequality {

/// Kind: the part specific to each measuring element, made from (Element*, const StreamFormat&):
///   Task, Result        of its worker; Task has a Frame `frame`
///   Notes               data kept for a frame until it is measured, besides the task
///   make(place, depth)  a worker, as Session requires it; also called in another thread
///   prepare(buffer, task, notes)  fills both, except task.frame, with the current options; false: the
///                       frame cannot be measured and passes without a score. May throw ElementError
///   is_other_work()     optional: true if what prepare() saw last may cost more or less than what it saw before
///   extents(task)       what is read of the frame's planes
///   Report              has a `score`, and what the next two want of a frame that is measured
///   report(task, notes, result)  a Report
///   describe(task, notes, report, fields)  adds the element's own fields to those of message and meta
///   annotate(task, notes, report, buffer)  adds what a frame gets beside the meta; buffer is writable
template <class Kind>
class MeterStream final : public Stream {
 public:
  template <class Element>
  MeterStream(Element* element, const StreamFormat& format)
      : Stream(&element->parent.parent, format.info, format.memory, 0, "Measuring", ", with the same results"),
        format_(format),
        kind_(element, format),
        session_(
            *this, where(), in_flight() + 1, [this](const Place& place, int depth) { return kind_.make(place, depth); },
            prospect()) {}

  GstFlowReturn take(BufferPtr buffer, GstBuffer** out) override {
    // GstBaseTransform gives the flag to the next buffer that leaves through here, which must be this one, now: if
    // an event drove it out later, another one would get the flag as well.
    const bool discont = buffer && GST_BUFFER_IS_DISCONT(buffer.get());
    GstFlowReturn flow = GST_FLOW_OK;
    if (discont) flow = drain_frames(element());
    if (flow != GST_FLOW_OK) return flow;
    if (buffer) hold(std::move(buffer));
    const int held_back = discont || !session_.overlaps() ? 0 : in_flight();
    if (held_.size() > static_cast<std::size_t>(held_back)) *out = finish().release();
    return GST_FLOW_OK;
  }

  BufferPtr finish() override {
    if (held_.empty()) return nullptr;
    Held& held = held_.front();
    StructurePtr message = held.measured ? finish_measuring(held) : nullptr;
    BufferPtr buffer = std::move(held.buffer);
    held_.pop().clear();
    // Last, because events from a synchronous bus handler drain the held frames.
    if (message) post_result(meter(), std::move(message));
    return buffer;
  }

  void drop() noexcept override {
    session_.drop();
    while (!held_.empty()) held_.pop().clear();
    held_.next().clear();  // contents of one that could not be taken
  }

 private:
  /// A frame between chain and push.
  struct Held {
    BufferPtr buffer;
    bool measured = false;                ///< false: the frame passes unmeasured
    std::optional<MappedPicture> mapped;  ///< of `buffer`
    typename Kind::Task task;
    typename Kind::Notes notes;
    MeterSettings outputs;  ///< as they were when the frame arrived

    void clear() {
      task = {};
      mapped.reset();
      measured = false;
      buffer.reset();
    }
  };

  void change_context(GstBuffer* buffer) override {
    session_.rebuild([&] { element()->device->context.adopt(buffer); });
  }

  /// A device was to read the oldest frame in its DMA buffer.
  void needs_host_memory() override {
    Held& held = held_.front();
    if (held.task.frame.memory != Memory::kDma) return;
    held.mapped.emplace(format_.info, kind_.extents(held.task), held.buffer.get(), memory());
    held.task.frame = held.mapped->frame();
  }

  FqMeterBase* meter() const { return reinterpret_cast<FqMeterBase*>(element()); }

  /// Returns the frame's message, if it is to have one.
  StructurePtr finish_measuring(Held& held) {
    const Busy busy(*this);
    const typename Kind::Report report = kind_.report(held.task, held.notes, session_.collect(held.task));
    held.mapped.reset();
    StructurePtr message;
    if (held.outputs.attach_meta) {
      held.buffer.reset(make_header_writable(held.buffer.release()));
      GstStructure* meta = start_meta(meter(), held.buffer.get());
      describe(held, report, meta);
      kind_.annotate(held.task, held.notes, report, held.buffer.get());
      if (held.outputs.post_messages) message = message_of(meter(), meta);
    } else if (held.outputs.post_messages) {
      message = start_message(meter());
      describe(held, report, message.get());
    }
    count_result(meter(), report.score);
    count_done(session_.replayed());
    return message;
  }
  void describe(const Held& held, const typename Kind::Report& report, GstStructure* result) {
    set_frame(meter(), result, format_, held.buffer.get());
    kind_.describe(held.task, held.notes, report, result);
    set_device(result, session_.place());
  }

  /// Holds a frame, which is being measured, or waits its turn unmeasured.
  void hold(BufferPtr buffer) {
    Held& held = held_.next();
    held.clear();  // contents of a failed one
    held.buffer = std::move(buffer);
    held.outputs = meter()->state->settings.get();
    if (is_due(meter(), held.outputs.interval, GST_BUFFER_PTS(held.buffer.get()))) begin(held);
    held_.push();
    if (!held.measured) count_skipped();
  }

  void begin(Held& held) {
    const Busy busy(*this);
    GstBuffer* buffer = held.buffer.get();
    prepare_to_read(buffer);
    if (!kind_.prepare(buffer, held.task, held.notes)) return;
    if constexpr (requires { kind_.is_other_work(); })
      if (kind_.is_other_work()) session_.renew();
    const PlaneExtents extents = kind_.extents(held.task);
    if (DmaImport import = import_frame(buffer, extents, session_.device()))
      held.mapped.emplace(format_.info, extents, buffer, std::move(import));
    else
      held.mapped.emplace(format_.info, extents, buffer, memory());
    held.task.frame = held.mapped->frame();
    look(held.task.frame);
    session_.submit(held.task);
    held.measured = true;
  }

  StreamFormat format_;
  Kind kind_;
  Ring<Held> held_{kMaxInFlight + 1};
  Session<typename Kind::Task, typename Kind::Result> session_;  ///< last, so that the device is done before frames go
};

}  // namespace framequality
