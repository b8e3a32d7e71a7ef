// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of the device twin of halftoning: brings frames there and back, one launch for each.
#include "cuda/halftone.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/tables.h"
#include "cuda/device_halftone.h"

#include <algorithm>
#include <span>
#include <stdexcept>

namespace framequality::cuda {

using namespace halftone;

namespace {

Download download_of(const Geometry& geometry, bool packed, int id) {
  const PlaneSize size{target_row_bytes(geometry.width, packed), geometry.height};
  return {std::span(&size, 1), id};
}

Canvas canvas_of(const Target& target) {
  Canvas canvas;
  canvas.plane[0] = target.row0;
  canvas.stride[0] = target.stride;
  canvas.on_device = target.on_device;
  return canvas;
}

}  // namespace

DeviceHalftone::DeviceHalftone(const Geometry& geometry, int id, int depth)
    : geometry_(geometry),
      id_(make_current(id)),
      upload_(geometry, id),
      download_{download_of(geometry, false, id), download_of(geometry, true, id)},
      slots_(depth) {
  mask_.reserve(std::size(kBlueNoiseMask));
  check(cudaMemcpy(mask_.get(), kBlueNoiseMask, sizeof kBlueNoiseMask, cudaMemcpyHostToDevice), "cudaMemcpy");
  const std::size_t codes = std::size_t{1} << geometry_.layout.depth;
  for (Slot& slot : slots_.all()) {
    slot.tones.reserve(codes);
    slot.staged_tones.reserve(codes);
    slot.ticket.reserve(1);
    check(cudaMemset(slot.ticket.get(), 0, sizeof(unsigned)), "cudaMemset");
    fill_tones({slot.staged_tones.get(), codes}, geometry_.layout.depth, slot.tone_settings);
    check(cudaMemcpy(slot.tones.get(), slot.staged_tones.get(), codes * sizeof(std::int16_t), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    std::copy(std::begin(kDotPattern), std::end(kDotPattern), slot.swaths.pattern);
  }
  // Not all of that waits for the device, and the slots' streams do not wait for the default stream.
  check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
}

// The slots then wait for the device.
DeviceHalftone::~DeviceHalftone() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
}

/// Has the slot's table of tones be that of these settings when its stream gets there.
void DeviceHalftone::bring_tones(Slot& slot, const ToneSettings& settings) {
  if (settings == slot.tone_settings) return;
  const std::size_t codes = std::size_t{1} << geometry_.layout.depth;
  fill_tones({slot.staged_tones.get(), codes}, geometry_.layout.depth, settings);
  slot.tone_settings = settings;
  check(cudaMemcpyAsync(slot.tones.get(), slot.staged_tones.get(), codes * sizeof(std::int16_t), cudaMemcpyHostToDevice,
                        slot.stream.get()),
        "cudaMemcpyAsync");
}

void DeviceHalftone::diffuse_strips(Slot& slot, const HalftoneJob& job) {
  constexpr unsigned kTags = 0xffff;
  HalftoneJob most = job;
  most.fields = 2;  // never fewer strips than those of one field
  const std::size_t words = floyd_steinberg_words(most);
  // Words whose tag is 0 are of no frame; after so many frames tags come round again.
  if (slot.words.reserve(words) || slot.tag == kTags) {
    check(cudaMemsetAsync(slot.words.get(), 0, words * sizeof(unsigned long long), slot.stream.get()),
          "cudaMemsetAsync");
    slot.tag = 0;
  }
  launch_floyd_steinberg(job, {slot.words.get(), ++slot.tag, slot.ticket.get(), slot.tickets}, slot.stream.get());
  slot.tickets += static_cast<unsigned>(floyd_steinberg_strips(job));
}

void DeviceHalftone::diffuse_swaths(Slot& slot, const HalftoneJob& job, const Settings& settings) {
  HalftoneJob most = job;
  most.fields = 2;
  slot.sums.reserve(swath_words(most));
  slot.swaths.table = table_of(settings.swath_rows, settings.delay);
  slot.swaths.sums = slot.sums.get();
  launch_tone_dependent(job, slot.swaths, slot.stream.get());
}

/// Queues the kernels that make a frame into `target`, all on the device.
void DeviceHalftone::launch(Slot& slot, const Frame& frame, const Target& target, const Settings& settings,
                            int fields) {
  bring_tones(slot, settings.tone);
  HalftoneJob job;
  job.frame = frame;
  job.layout = geometry_.layout;
  job.tones = slot.tones.get();
  job.width = geometry_.width;
  job.height = geometry_.height;
  job.fields = fields;
  job.levels = settings.levels;
  job.strength = settings.strength;
  job.out = target.row0;
  job.out_stride = target.stride;
  if (settings.packed) {
    const std::size_t pitch = whole_pitch(static_cast<std::size_t>(geometry_.width));
    slot.codes.reserve(pitch * static_cast<std::size_t>(geometry_.height));
    job.out = slot.codes.get();
    job.out_stride = static_cast<std::ptrdiff_t>(pitch);
  }
  switch (settings.method) {
    case Method::kFloydSteinberg:
      diffuse_strips(slot, job);
      break;
    case Method::kToneDependent:
      diffuse_swaths(slot, job, settings);
      break;
    case Method::kBlueNoise:
      launch_blue_noise(job, mask_.get(), slot.stream.get());
      break;
  }
  if (settings.packed)
    launch_pack(job.out, job.out_stride, job.width, job.height, target.row0, target.stride, slot.stream.get());
}

void DeviceHalftone::submit(const Frame& frame, const Target& out, const Settings& settings, int fields) {
  if (!valid(settings) || frame.on_device != out.on_device || (fields != 1 && fields != 2))
    throw std::invalid_argument("cuda halftone: not a frame or settings of this filter");
  if (settings.serpentine && settings.method == Method::kFloydSteinberg)
    throw std::invalid_argument("cuda halftone: serpentine Floyd-Steinberg is the CPU's alone");
  Slot& slot = slots_.next();
  make_current(id_);
  const cudaStream_t stream = slot.stream.get();
  const Settled settled(stream);
  slot.out = out;
  slot.packed = settings.packed;
  if (geometry_.width > 0 && geometry_.height > 0) {
    if (out.on_device) {
      slot.wait_for_default_stream();
      launch(slot, frame, out, settings, fields);
    } else {
      const Download& download = download_[settings.packed ? 1 : 0];
      const Frame ours = upload_(slot.host, stream, frame, 0, geometry_.height);
      const Canvas& canvas = download.prepare(slot.result, canvas_of(out));
      launch(slot, ours, {canvas.plane[0], canvas.stride[0], true}, settings, fields);
      download(slot.result, stream, canvas_of(out), 1);
    }
  }
  check(cudaEventRecord(slot.done.get(), stream), "cudaEventRecord");
  slots_.take();
}

void DeviceHalftone::collect() {
  Slot& slot = slots_.give();
  make_current(id_);
  slot.wait();
  if (!slot.out.on_device && geometry_.width > 0 && geometry_.height > 0)
    download_[slot.packed ? 1 : 0].finish(slot.result, canvas_of(slot.out));
}

double DeviceHalftone::time_kernels(const Frame& frame, const Target& out, const Settings& settings, int count) {
  if (slots_.pending() > 0) throw std::logic_error("cuda halftone: a frame is pending");
  make_current(id_);
  auto& slots = slots_.all();
  const Event start = make_event(cudaEventDefault), stop = make_event(cudaEventDefault);
  const cudaStream_t first = slots[0].stream.get();
  check(cudaEventRecord(start.get(), first), "cudaEventRecord");
  for (Slot& slot : slots) check(cudaStreamWaitEvent(slot.stream.get(), start.get(), 0), "cudaStreamWaitEvent");
  for (int i = 0; i < count; ++i) launch(slots[static_cast<std::size_t>(i) % slots.size()], frame, out, settings, 1);
  for (Slot& slot : slots) {
    check(cudaEventRecord(slot.begun.get(), slot.stream.get()), "cudaEventRecord");
    check(cudaStreamWaitEvent(first, slot.begun.get(), 0), "cudaStreamWaitEvent");
  }
  check(cudaEventRecord(stop.get(), first), "cudaEventRecord");
  check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float ms;
  check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
  return ms * 1e-3 / count;
}

std::unique_ptr<Filter> make_halftone(const Geometry& geometry, int id, int depth) {
  return std::make_unique<DeviceHalftone>(geometry, id, depth);
}

}  // namespace framequality::cuda
