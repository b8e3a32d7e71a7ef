// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of one format on their way through an element that works on a device.
#include "gst/base/stream.h"

#include "gst/buffer/pinned_pool.h"

namespace framequality {

Stream::Stream(FqDeviceBase* element, const GstVideoInfo& info, bool on_device, int radius, const char* goes_on)
    : element_(element),
      info_(info),
      on_device_(on_device),
      in_flight_(frames_in_flight(element, info)),
      radius_(radius),
      goes_on_(goes_on) {
  DeviceState& d = *element->device;
  if (on_device) d.context.ensure(framequality::element(element), d.chosen_for.cuda_device_id);
}

void Stream::tell_latency() { set_latency(element_, info_, in_flight_ + radius_); }

void Stream::prepare_to_read(GstBuffer* buffer) {
  const Place place = place_of(element_);
  if (on_device_)
    CudaContext::finish_writes(buffer);
  else if (place.cuda)
    pin_if_recurring(buffer, element_, place.id);
}

void Stream::fall_back(const cuda::Error& fault) {
  leave_cuda(element_, on_device_, fault, goes_on_);
  in_flight_ = 0;
  tell_latency();
}

void Stream::count_done() {
  element_->device->stats.change([&](WorkStats& stats) {
    ++stats.done;
    if (replayed_) ++stats.replayed;
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
