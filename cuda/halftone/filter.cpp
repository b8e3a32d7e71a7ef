// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of the device twin of halftoning: transfers frames both ways.
#include "cuda/halftone/filter.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/tables.h"
#include "cuda/halftone/device_filter.h"
#include "cuda/range.h"

#include <span>
#include <stdexcept>

namespace framequality::cuda {

using namespace halftone;

namespace {

Download download_of(const Geometry& geometry, bool packed, int id) {
  const PlaneSize size{target_row_bytes(geometry.width, packed), geometry.height};
  return {std::span(&size, 1), id};
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
  pattern_.reserve(std::size(kDotPattern));
  check(cudaMemcpy(pattern_.get(), kDotPattern, sizeof kDotPattern, cudaMemcpyHostToDevice), "cudaMemcpy");
  const std::size_t codes = std::size_t{1} << geometry_.layout.depth;
  for (Slot& slot : slots_.all()) {
    slot.tones.reserve(codes);
    slot.staged_tones.reserve(codes);
    slot.ticket.reserve(1);
    fill_tones({slot.staged_tones.get(), codes}, geometry_.layout.depth, slot.tone_settings);
    check(cudaMemcpy(slot.tones.get(), slot.staged_tones.get(), codes * sizeof(std::int16_t), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
  // Not all of these calls wait for the device, and the slots' streams do not wait for the default stream.
  check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
}

// The slots wait for the device.
DeviceHalftone::~DeviceHalftone() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
}

/// Makes the slot's table of tones match these settings by the time its stream gets there.
void DeviceHalftone::bring_tones(Slot& slot, const ToneSettings& settings) {
  if (settings == slot.tone_settings) return;
  const std::size_t codes = std::size_t{1} << geometry_.layout.depth;
  fill_tones({slot.staged_tones.get(), codes}, geometry_.layout.depth, settings);
  slot.tone_settings = settings;
  copy_async(slot.tones, slot.staged_tones, codes, slot.stream.get());
}

void DeviceHalftone::diffuse(Slot& slot, const HalftoneJob& job, const Settings& settings) {
  const bool is_swaths = settings.method == Method::kToneDependent;
  const ToneTable& table = *find_table(settings.swath_rows);
  Wavefront wave = is_swaths ? tone_dependent_wavefront(job, table) : floyd_steinberg_wavefront(job);
  HalftoneJob most = job;
  most.fields = 2;  // never needs fewer strips than one field
  const cudaStream_t stream = slot.stream.get();
  // Strips read beyond the ends of their lines, but do not use the data.
  reserve_zeroed(slot.terms, wave.term_vectors(most), stream);
  reserve_zeroed(slot.words, wave.level_words(most), stream);
  reserve_zeroed(slot.lines, wave.all_line_vectors(most), stream);
  wave.terms = slot.terms.get();
  wave.words = slot.words.get();
  wave.lines = slot.lines.get();
  wave.ticket = slot.ticket.get();
  launch_arrange(job, wave, is_swaths ? pattern_.get() : nullptr, stream);
  if (is_swaths)
    launch_tone_dependent(job, wave, table, stream);
  else
    launch_floyd_steinberg(job, wave, stream);
  launch_deliver(job, wave, stream);
}

/// Queues the kernels that halftone a frame into `target`, all on the device.
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
  job.packed = settings.packed;
  if (settings.method == Method::kBlueNoise)
    launch_blue_noise(job, mask_.get(), slot.stream.get());
  else
    diffuse(slot, job, settings);
}

void DeviceHalftone::submit(const halftone::Task& task) {
  const Range range("submit halftone");
  const auto& [frame, out, settings, fields] = task;
  if (!valid(settings) || (out.memory == Memory::kCuda && frame.memory != Memory::kCuda) ||
      (fields != 1 && fields != 2))
    throw std::invalid_argument("cuda halftone: not a frame or settings of this filter");
  if (settings.serpentine && settings.method == Method::kFloydSteinberg)
    throw std::invalid_argument("cuda halftone: serpentine Floyd-Steinberg is the CPU's alone");
  Slot& slot = slots_.next();
  make_current(id_);
  const cudaStream_t stream = slot.stream.get();
  const SyncOnThrow sync(stream);
  slot.out = out;
  slot.packed = settings.packed;
  if (geometry_.width > 0 && geometry_.height > 0) {
    if (frame.memory == Memory::kCuda) slot.wait_for(frame);
    const Frame ours = frame.memory == Memory::kCuda ? frame : upload_(slot.host, stream, frame, 0, geometry_.height);
    if (out.memory == Memory::kCuda) {
      launch(slot, ours, out, settings, fields);
    } else {
      const Download& download = download_[settings.packed ? 1 : 0];
      const Canvas& canvas = download.prepare(slot.result, stream, canvas_of(out));
      launch(slot, ours, {canvas.plane[0], canvas.stride[0], Memory::kCuda}, settings, fields);
      download(slot.result, stream, canvas_of(out), 1);
    }
  }
  check(cudaEventRecord(slot.done.get(), stream), "cudaEventRecord");
  slots_.take();
}

void DeviceHalftone::collect() {
  const Range range("wait for halftone");
  Slot& slot = slots_.give();
  make_current(id_);
  slot.wait();
  if (slot.out.memory != Memory::kCuda && geometry_.width > 0 && geometry_.height > 0)
    download_[slot.packed ? 1 : 0].finish(slot.result, canvas_of(slot.out));
}

double DeviceHalftone::time_kernels(const Frame& frame, const Target& out, const Settings& settings, int count) {
  make_current(id_);
  return mean_seconds(slots_, count, [&](Slot& slot) { launch(slot, frame, out, settings, 1); });
}

std::unique_ptr<Filter> make_halftone(const Geometry& geometry, int id, int depth) {
  return std::make_unique<DeviceHalftone>(geometry, id, depth);
}

}  // namespace framequality::cuda
