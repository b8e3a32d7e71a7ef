// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of one format on their way through an element that works on a device.
#include "gst/base/stream.h"

#include "gst/base/placement.h"
#include "gst/buffer/padding.h"
#include "gst/memory/pinned.h"

#include <utility>

namespace framequality {

Stream::Stream(FqDeviceBase* element, const GstVideoInfo& info, Memory memory, int radius, const char* what,
               const char* promise)
    : element_(element),
      info_(info),
      memory_(memory),
      in_flight_(frames_in_flight(element, info)),
      radius_(radius),
      what_(what),
      promise_(promise),
      significant_bits_(framequality::element(element), info, element->device->significant_bits) {
  DeviceState& d = *element->device;
  if (memory != Memory::kHost) d.context.ensure(framequality::element(element), d.chosen_for.cuda_device_id);
}

void Stream::tell_latency() { set_latency(element_, info_, in_flight_ + radius_); }

void Stream::prepare_to_read(GstBuffer* buffer) {
  if (!warned_of_padding_ && memory_ == Memory::kHost && gst_buffer_get_size(buffer) > GST_VIDEO_INFO_SIZE(&info_) &&
      !gst_buffer_get_video_meta(buffer))
    warn_of_padding(gst_buffer_get_size(buffer));
  if (memory_ != Memory::kHost)
    CudaContext::finish_writes(buffer);
  else
    pin_if_recurring(buffer, element_, place_of(element_), element_->device->weighs);
}

DmaImport Stream::import_frame(GstBuffer* buffer, const PlaneExtents& extents, const Place* device) const {
  if (!device || memory_ != Memory::kHost || significant_bits_.is_due()) return {};
  return import_planes(info_, extents, buffer, *device);
}

void Stream::warn_of_padding(gsize size) {
  const std::string hint = padding_hint(info_, size);
  warned_of_padding_ = !hint.empty();
  if (warned_of_padding_)
    post(framequality::element(element_), GST_MESSAGE_WARNING,
         {GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Frames of these caps have " + std::to_string(GST_VIDEO_INFO_SIZE(&info_)) + " bytes, but the buffers have " +
              std::to_string(size) + ". " + hint});
}

Place Stream::where() const {
  const Place chosen = place_of(element_);
  if (memory_ == Memory::kHost) return chosen;
  for (const Backend* backend : backends())
    if (backend->memory == memory_) return {backend};
  return chosen;
}

std::optional<Prospect> Stream::prospect() const {
  return memory_ == Memory::kHost ? prospect_of(element_) : std::nullopt;
}

bool Stream::enter() { return element_->device->context.push(); }

void Stream::leave() noexcept { CudaContext::pop(); }

Place Stream::fall_back(const Error& fault, const Place& failed) {
  const Place next = leave_device(element_, memory_, fault, failed, what_, promise_);
  in_flight_ = 0;
  tell_latency();
  return next;
}

void Stream::moved(const Place& to) {
  count_move(element_, to);
  // The CPU's offer to upstream is not what a device reads fastest. Ask once: pinned memory is equally good
  // for the CPU, and stays.
  if (!std::exchange(has_moved_, true)) element_->device->renegotiates = element_->device->wants_pool;
}

void Stream::stays(const std::string& reason) {
  stay_on_cpu(element_, reason);
  in_flight_ = 0;
  tell_latency();
}

void Stream::count_done(bool replayed) {
  element_->device->stats.change([&](WorkStats& stats) {
    ++stats.done;
    if (replayed) ++stats.replayed;
  });
}

void Stream::count_skipped() {
  element_->device->stats.change([](WorkStats& stats) { ++stats.skipped; });
}

Stream::Busy::~Busy() {
  const auto ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_).count());
  stream_.element_->device->stats.change([&](WorkStats& stats) { stats.busy_ns += ns; });
}

}  // namespace framequality
