// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames on their way through a filtering element: in, filtered, out in order.
#pragma once

#include "algorithms/ring.h"
#include "gst/base/filter_base.h"
#include "gst/base/stream.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace framequality {

/// A frame to filter: its neighbouring frames, inputs and output.
struct FilterWindow {
  std::array<NumberedFrame, 2 * kMaxRadius + 1> frames;
  std::size_t count = 0, center = 0;
  Canvas out;
  int fields = 1;  ///< 2: two interleaved fields, separate images

  std::span<const NumberedFrame> window() const { return std::span(frames).first(count); }
};

/// Kind: the part specific to each filtering element, made from (Element*, const FilterFormat&, int threads),
/// threads being of the CPU, 0 for all cores:
///   Task, Settings      of its worker, whose results are void
///   make(place, depth)  a worker, as Session requires it
///   settings()          the current options
///   task(window, settings)
template <class Kind>
class FilterStream final : public Stream {
 public:
  /// radius: frames before and after one that its output depends on, 0...kMaxRadius.
  template <class Element>
  FilterStream(Element* element, const FilterFormat& format, int threads, int radius)
      : Stream(&element->parent.parent, format.in, format.memory, radius, "Filtering", ""),
        format_(format),
        kind_(element, format, threads),
        session_(*this, where(), in_flight() + 1,
                 [this](const Place& place, int depth) { return kind_.make(place, depth); }) {}

  /// Pushes frames itself: GstBaseTransform would mark the next one that it pushes as discontinuous, which with frames
  /// held back is not the one that arrived so.
  GstFlowReturn take(BufferPtr buffer, GstBuffer**) override {
    if (!buffer) return GST_FLOW_OK;
    bool& missed = filter()->state->missed;
    const bool follows_gap = std::exchange(missed, false);
    if (follows_gap || GST_BUFFER_IS_DISCONT(buffer.get())) {
      const GstFlowReturn drained = drain_frames(element());
      if (drained != GST_FLOW_OK) {
        missed = true;  // reported with the next frame if upstream continues
        return drained;
      }
      forget_past();
    }
    hold(std::move(buffer), follows_gap);
    while (submitted_ + static_cast<std::uint64_t>(radius()) < taken()) {
      const GstFlowReturn flow = submit_next();
      if (flow == GST_FLOW_OK) continue;
      drop();  // no buffer was available for it
      missed = true;
      return flow;
    }
    GstFlowReturn flow = GST_FLOW_OK;
    while (flow == GST_FLOW_OK && submitted_ - finished_ > static_cast<std::uint64_t>(in_flight()))
      flow = push_frame(element(), finish_oldest());
    return flow;
  }

  /// The frames after the last ones taken are missing.
  BufferPtr finish() override {
    while (submitted_ < taken() && submitted_ - finished_ <= static_cast<std::uint64_t>(in_flight())) {
      if (submit_next() == GST_FLOW_OK) continue;
      drop();  // the pad is shutting down
      return nullptr;
    }
    return finished_ < submitted_ ? finish_oldest() : nullptr;
  }

  void drop() noexcept override {
    session_.drop();
    first_ = finished_ = submitted_ = taken() + 1;  // the number of a frame that was not taken is not reused
    while (!frames_.empty()) frames_.pop().clear();
    frames_.next().clear();
  }

  /// Releases frames that have left and are kept for later ones.
  void forget_past() override {
    for (; first_ < finished_; ++first_) frames_.pop().clear();
  }

  void change_context(GstBuffer* buffer) override {
    forget_past();
    session_.rebuild([&] { element()->device->context.adopt(buffer); });
    // Output buffers in GPU memory must also come from the new context.
    if (format_.out_memory != Memory::kHost) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM_CAST(element()));
  }

 private:
  /// A frame from its arrival until no other frame depends on it.
  struct Taken {
    BufferPtr in, out;  ///< out: from submission until it leaves
    std::optional<MappedPicture> source;
    std::optional<MappedCanvas> target;
    bool follows_gap = false;  ///< frames are missing before it
    FilterWindow window;       ///< from submission on, as the next two
    typename Kind::Settings settings;
    typename Kind::Task task;

    void clear() {
      source.reset();
      target.reset();
      in.reset();
      out.reset();
    }
  };

  /// A device was to read frames around the oldest one in their DMA buffers.
  void needs_host_memory() override {
    Taken& frame = at(finished_);
    const std::span read_frames = std::span(frame.window.frames).first(frame.window.count);
    if (std::ranges::none_of(read_frames, [](const auto& read) { return read.frame.memory == Memory::kDma; })) return;
    for (NumberedFrame& read : read_frames) {
      Taken& other = at(read.serial);
      if (other.source->frame().memory == Memory::kDma)
        other.source.emplace(format_.in, format_.in_extents, other.in.get(), format_.memory);
      read.frame = other.source->frame();
    }
    frame.task = kind_.task(frame.window, frame.settings);
  }

  FqFilterBase* filter() const { return reinterpret_cast<FqFilterBase*>(element()); }
  std::uint64_t taken() const { return first_ + frames_.size(); }
  Taken& at(std::uint64_t serial) { return frames_[serial - first_]; }

  void hold(BufferPtr buffer, bool follows_gap) {
    Taken& frame = frames_.next();
    frame.clear();  // contents of a failed one
    frame.in = std::move(buffer);
    frame.follows_gap = follows_gap;
    prepare_to_read(frame.in.get());
    if (DmaImport import = import_frame(frame.in.get(), format_.in_extents, session_.device()))
      frame.source.emplace(format_.in, format_.in_extents, frame.in.get(), std::move(import));
    else
      frame.source.emplace(format_.in, format_.in_extents, frame.in.get(), format_.memory);
    look(frame.source->frame());
    frames_.push();
  }

  /// Starts filtering the next frame, from those around it that are available.
  GstFlowReturn submit_next() {
    Taken& frame = at(submitted_);
    GstFlowReturn flow = GST_FLOW_OK;
    frame.out = make_output(filter(), format_, frame.in.get(), flow);
    if (!frame.out) return flow;
    const Busy busy(*this);
    if (frame.follows_gap) GST_BUFFER_FLAG_SET(frame.out.get(), GST_BUFFER_FLAG_DISCONT);
    frame.target.emplace(format_.out, format_.out_extents, frame.out.get(), format_.out_memory);

    FilterWindow& window = frame.window;
    const auto around = static_cast<std::uint64_t>(radius());
    const std::uint64_t begin = std::max(first_, submitted_ - std::min(submitted_, around));
    const std::uint64_t end = std::min(taken(), submitted_ + around + 1);
    window.count = 0;
    for (std::uint64_t i = begin; i < end; ++i) window.frames[window.count++] = {at(i).source->frame(), i};
    window.center = submitted_ - begin;
    window.out = frame.target->canvas();
    window.fields = is_interlaced(format_.in, frame.in.get()) ? 2 : 1;
    frame.settings = kind_.settings();
    frame.task = kind_.task(window, frame.settings);
    session_.submit(frame.task);
    ++submitted_;
    return GST_FLOW_OK;
  }

  /// Waits until the oldest frame is complete; returns its buffer.
  BufferPtr finish_oldest() {
    Taken& frame = at(finished_);
    {
      const Busy busy(*this);
      session_.collect(frame.task);
    }
    frame.target.reset();
    BufferPtr out = std::move(frame.out);
    count_done(session_.replayed());
    ++finished_;
    for (; first_ + static_cast<std::uint64_t>(radius()) < finished_; ++first_) frames_.pop().clear();
    return out;
  }

  FilterFormat format_;
  Kind kind_;
  Ring<Taken> frames_{kMaxInFlight + 2 * kMaxRadius + 1};
  /// Serial numbers: of the oldest frame held, the next to leave, the next to be submitted.
  std::uint64_t first_ = 0, finished_ = 0, submitted_ = 0;
  Session<typename Kind::Task, void> session_;  ///< last, so that the device is done before frames go
};

}  // namespace framequality
