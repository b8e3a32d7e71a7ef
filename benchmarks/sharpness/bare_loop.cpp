// SPDX-License-Identifier: LGPL-2.1-or-later
// The bare loop: frames to the device, the project's kernel, totals back, and nothing around it. The ceiling for meters
// and pipelines.
#include "benchmarks/sharpness/bare_loop.h"

#include "benchmarks/support/results.h"
#include "cpu/sharpness/meter.h"
#include "cuda/sharpness/meter.h"
#include "tests/support/device_twins.h"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

namespace framequality::bench {

using namespace sharpness;

namespace {

using cuda::check;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Frame frame_at(const std::uint8_t* pixels, const Geometry& geometry, bool on_device) {
  Frame frame;
  frame.plane[0] = pixels;
  frame.stride[0] = std::ptrdiff_t{geometry.layout.pixel_stride} * geometry.width;
  frame.memory = on_device ? Memory::kCuda : Memory::kHost;
  return frame;
}

}  // namespace

Blocks::Blocks(std::span<const std::uint8_t> picture, int count, bool pinned)
    : bytes_(picture.size()), pitch_((bytes_ + 4095) / 4096 * 4096), count_(static_cast<std::size_t>(count)) {
  if (pinned) {
    pinned_.reserve(pitch_ * count_);
    first_ = pinned_.get();
  } else {
    pageable_ = std::make_unique_for_overwrite<std::uint8_t[]>(pitch_ * count_ + 4096);
    first_ = pageable_.get() + (4096 - reinterpret_cast<std::uintptr_t>(pageable_.get()) % 4096);
  }
  for (std::size_t i = 0; i < count_; ++i) std::memcpy(first_ + i * pitch_, picture.data(), bytes_);
}

BareLoop::BareLoop(const Geometry& geometry, const Blocks& blocks, Feed feed, int slots, int id)
    : blocks_(blocks), feed_(feed), plan_(std::make_shared<const Plan>(make_plan(geometry, {}))) {
  const auto reference = cpu::make_meter(geometry);
  reference->submit({frame_at(blocks[0], geometry, false), plan_});
  expected_ = reference->collect()[0];
  if (id < 0 && feed != Feed::kMeter) throw std::logic_error("bare loop: copies need a device");
  if (feed == Feed::kDevice)
    for (std::size_t i = 0; i < blocks.count(); ++i) on_device_.emplace_back(std::span(blocks[i], blocks.bytes()), id);
  slots_.resize(static_cast<std::size_t>(slots));
  meter_ = id < 0 ? cpu::make_meter(geometry) : cuda::make_meter(geometry, id, slots);
  if (feed == Feed::kMeter || feed == Feed::kDevice) return;
  for (Slot& slot : slots_) {
    slot.pixels.reserve(blocks.bytes());
    if (feed == Feed::kStaged) slot.staging.reserve(blocks.bytes());
  }
}

void BareLoop::submit(Slot& slot) {
  const std::size_t turn = turn_++;
  const std::uint8_t* host = blocks_[turn];
  const Geometry& geometry = plan_->geometry;
  slot.pending = true;
  if (feed_ == Feed::kMeter) return meter_->submit({frame_at(host, geometry, false), plan_});
  if (feed_ == Feed::kDevice)
    return meter_->submit({frame_at(on_device_[turn % on_device_.size()].data(), geometry, true), plan_});
  if (feed_ == Feed::kStaged) {
    std::memcpy(slot.staging.get(), host, blocks_.bytes());
    host = slot.staging.get();
  }
  check(cudaMemcpyAsync(slot.pixels.get(), host, blocks_.bytes(), cudaMemcpyHostToDevice, cuda::stream_of(*meter_)),
        "cudaMemcpyAsync");
  cuda::submit_queued(*meter_, frame_at(slot.pixels.get(), geometry, true), plan_);
}

void BareLoop::collect(Slot& slot) {
  if (!slot.pending) return;
  slot.pending = false;
  const std::int64_t total = meter_->collect()[0];
  if (total == expected_) return;
  throw std::runtime_error("bare loop: total " + std::to_string(total) + ", on the CPU " + std::to_string(expected_));
}

void BareLoop::drain() {
  for (std::size_t i = 0; i < slots_.size(); ++i) collect(slots_[(turn_ + i) % slots_.size()]);
}

double BareLoop::frames_per_second(double seconds) {
  const auto next = [&] {
    Slot& slot = slots_[turn_ % slots_.size()];
    collect(slot);
    submit(slot);
  };
  turn_ = 0;
  for (std::size_t i = 0; i < 4 * slots_.size(); ++i) next();
  const auto begin = Clock::now();
  std::size_t frames = 0;
  double passed;
  do {
    next();
    ++frames;
    passed = seconds_since(begin);
  } while (passed < seconds);
  drain();
  return static_cast<double>(frames) / passed;
}

std::vector<double> BareLoop::latencies(double seconds) {
  std::vector<double> all;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    const auto begin = Clock::now();
    submit(slots_[0]);
    collect(slots_[0]);
    all.push_back(seconds_since(begin));
  }
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10));  // warm-up
  return all;
}

double copy_bandwidth(const Blocks& pinned, int id, int rounds) {
  check(cudaSetDevice(id), "cudaSetDevice");
  cuda::DeviceMemory<std::uint8_t> to;
  to.reserve(pinned.bytes());
  const cuda::Stream stream = cuda::make_stream();
  const cuda::Event start = cuda::make_event(cudaEventDefault), stop = cuda::make_event(cudaEventDefault);
  std::vector<double> rates;
  for (int r = 0; r <= rounds; ++r) {
    check(cudaEventRecord(start.get(), stream.get()), "cudaEventRecord");
    for (std::size_t i = 0; i < pinned.count(); ++i)
      check(cudaMemcpyAsync(to.get(), pinned[i], pinned.bytes(), cudaMemcpyHostToDevice, stream.get()),
            "cudaMemcpyAsync");
    check(cudaEventRecord(stop.get(), stream.get()), "cudaEventRecord");
    check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
    float ms;
    check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
    if (r > 0) rates.push_back(static_cast<double>(pinned.bytes() * pinned.count()) / (ms * 1e-3));
  }
  return median(rates);
}

}  // namespace framequality::bench
