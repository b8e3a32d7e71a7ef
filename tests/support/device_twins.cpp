// SPDX-License-Identifier: LGPL-2.1-or-later
// Ways into the device twins past their interfaces, for tests and benchmarks.
#include "tests/support/device_twins.h"

#include "cuda/denoise/device_filter.h"
#include "cuda/sharpness/device_meter.h"

#include <stdexcept>
#include <utility>

namespace framequality::cuda {

namespace {

DeviceMeter& device_meter(sharpness::Meter& meter) {
  auto* found = dynamic_cast<DeviceMeter*>(&meter);
  if (!found) throw std::logic_error("not a CUDA meter");
  return *found;
}

}  // namespace

double kernel_seconds(sharpness::Meter& meter, std::span<const Frame> frames,
                      std::shared_ptr<const sharpness::Plan> plan, int repeats) {
  DeviceMeter& timed = device_meter(meter);
  timed.time_kernel(frames, plan, 1);
  return timed.time_kernel(frames, std::move(plan), repeats);
}

CUstream_st* stream_of(sharpness::Meter& meter) { return device_meter(meter).stream(); }

void submit_queued(sharpness::Meter& meter, const Frame& frame, std::shared_ptr<const sharpness::Plan> plan) {
  device_meter(meter).submit_queued(frame, std::move(plan));
}

std::unique_ptr<denoise::Filter> make_general_denoiser(const PictureGeometry& geometry, int id, int depth) {
  return std::make_unique<DeviceDenoiser>(geometry, id, depth, false);
}

}  // namespace framequality::cuda
