// SPDX-License-Identifier: LGPL-2.1-or-later
// The host side of the device twin of the denoisers: transfers frames both ways, one launch per pass.
#include "cuda/denoise/filter.h"

#include "cuda/denoise/device_filter.h"
#include "cuda/device.h"
#include "cuda/range.h"

#include <algorithm>
#include <stdexcept>

namespace framequality::cuda {

using denoise::Pass;
using denoise::Passes;
using denoise::Settings;
using denoise::Source;

namespace {

constexpr int kMostPasses = 3, kMostFields = 2;

/// Planes by their treatment, bit p for plane p.
struct Work {
  unsigned filtered = 0;  ///< some of its components are filtered
  unsigned whole = 0;     ///< kernels write all of its bytes
};
Work work_of(const PictureGeometry& geometry, const Passes& passes) {
  std::size_t written[3] = {};
  for (int i = 0; i < passes.count; ++i)
    for (int k = 0; k < passes.pass[i].count; ++k) {
      const int c = passes.pass[i].component[k];
      written[geometry.layout.component[c].plane] +=
          static_cast<std::size_t>(geometry.width_of(c)) * geometry.layout.word_bytes;
    }
  Work work;
  for (unsigned p = 0; p < geometry.layout.planes; ++p) {
    work.filtered |= (written[p] > 0 ? 1u : 0u) << p;
    work.whole |= (written[p] == geometry.row_bytes(static_cast<int>(p)) ? 1u : 0u) << p;
  }
  return work;
}

/// Queues the copy of a plane within the device. Rows may have either order in memory.
void copy_plane(cudaStream_t stream, const Canvas& to, const Frame& from, int p, const PlaneSize& size) {
  const auto rows = static_cast<std::size_t>(size.rows);
  if (rows == 0 || size.row_bytes == 0) return;
  const auto copy = [&](int first, std::size_t count, std::ptrdiff_t to_step, std::ptrdiff_t from_step) {
    // A single row's stride is meaningless.
    const auto pitch = [&](std::ptrdiff_t step) {
      return count == 1 ? size.row_bytes : static_cast<std::size_t>(step);
    };
    check(cudaMemcpy2DAsync(to.plane[p] + first * to.stride[p], pitch(to_step), from.plane[p] + first * from.stride[p],
                            pitch(from_step), size.row_bytes, count, cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpy2DAsync");
  };
  if (to.stride[p] > 0 && from.stride[p] > 0)
    copy(0, rows, to.stride[p], from.stride[p]);
  else if (to.stride[p] < 0 && from.stride[p] < 0)
    copy(size.rows - 1, rows, -to.stride[p], -from.stride[p]);
  else
    for (int y = 0; y < size.rows; ++y) copy(y, 1, 0, 0);
}

}  // namespace

DeviceDenoiser::DeviceDenoiser(const PictureGeometry& geometry, int id, int depth, bool takes_tensor)
    : geometry_(geometry),
      id_(make_current(id)),
      takes_tensor_(takes_tensor),
      capability_(capability()),
      upload_(plane_sizes(geometry), id),
      download_(plane_sizes(geometry), id),
      slots_(depth) {}

// The slots wait for the device.
DeviceDenoiser::~DeviceDenoiser() {
  if (id_ >= 0) (void)cudaSetDevice(id_);
}

/// Memory for one more host frame: the least recently used one. No pending frame depends on it,
/// so no wait is needed.
DeviceDenoiser::Uploaded& DeviceDenoiser::room() {
  const std::uint64_t collected = submitted_ - slots_.pending();
  Uploaded* oldest = nullptr;
  for (const auto& u : uploaded_)
    if (u->last_use <= collected && (!oldest || u->last_use < oldest->last_use)) oldest = u.get();
  return oldest ? *oldest : *uploaded_.emplace_back(std::make_unique<Uploaded>());
}

/// Puts the host frames of a window into frames_, as they will be on the device when the slot's stream gets there.
void DeviceDenoiser::bring(Slot& slot, std::span<const Source> window, unsigned planes) {
  const cudaStream_t stream = slot.stream.get();
  const bool is_shared = window.size() > 1;
  const auto find = [&](const Source& source) {
    const auto at = std::find_if(uploaded_.begin(), uploaded_.end(), [&](const auto& u) {
      return is_shared && u->serial == source.serial && u->planes != 0 && (u->planes & planes) == planes;
    });
    return at == uploaded_.end() ? nullptr : at->get();
  };
  for (const Source& source : window)
    if (Uploaded* const u = find(source)) u->last_use = submitted_ + 1;  // protects it from reuse below
  for (const Source& source : window) {
    Uploaded* u = find(source);
    if (u) {
      check(cudaStreamWaitEvent(stream, u->arrived.get(), 0), "cudaStreamWaitEvent");
    } else {
      u = &room();
      u->planes = 0;
      u->last_use = submitted_ + 1;
      u->frame = upload_(u->memory, stream, source.frame, planes);
      check(cudaEventRecord(u->arrived.get(), stream), "cudaEventRecord");
      u->serial = source.serial;
      u->planes = is_shared ? planes : 0;
    }
    frames_.push_back(u->frame);
  }
}

/// One pass over the frames in frames_.
DenoiseJob DeviceDenoiser::job_for(std::size_t center, const Canvas& target, const Settings& settings, const Pass& pass,
                                   int fields) const {
  DenoiseJob job;
  job.layout = geometry_.layout;
  job.frames = static_cast<int>(frames_.size());
  job.center = static_cast<int>(center);
  job.count = pass.count;
  job.width = geometry_.width_of(pass.component[0]);
  job.height = geometry_.height_of(pass.component[0]);
  job.fields = fields;
  job.patch_radius = settings.patch_radius;
  job.search_radius = settings.search_radius;
  job.border = settings.border;
  job.center_weight = settings.center;
  const double sigma = denoise::estimates(settings, pass) ? 1 : settings.sigma;
  job.weights = denoise::weights_of(pass.range, sigma, rule_of(settings, pass, geometry_.layout.depth).samples,
                                    geometry_.layout.depth, settings.spatial);
  for (int k = 0; k < pass.count; ++k) {
    const int c = pass.component[k];
    const PictureLayout::Component& at = geometry_.layout.component[c];
    for (std::size_t f = 0; f < frames_.size(); ++f)
      // Only read, despite the type.
      job.source[f][k] = {const_cast<std::uint8_t*>(frames_[f].plane[at.plane]) + at.offset,
                          frames_[f].stride[at.plane]};
    job.out[k] = {target.plane[at.plane] + at.offset, target.stride[at.plane]};
    job.unrounded[k] = target.unrounded[c];
    job.pixel_stride[k] = at.pixel_stride;
  }
  return job;
}

/// Queues the kernels that filter frame `center` of frames_ into `target`, all on the device.
void DeviceDenoiser::launch(Slot& slot, std::size_t center, const Canvas& target, const Settings& settings,
                            int fields) {
  const cudaStream_t stream = slot.stream.get();
  const Passes passes = denoise::passes_of(geometry_.layout, settings);
  const Work work = work_of(geometry_, passes);
  for (int p = 0; p < geometry_.layout.planes; ++p) {
    const bool is_read = frames_[center].plane[p] != nullptr;
    if (is_read && !(work.whole >> p & 1)) copy_plane(stream, target, frames_[center], p, download_.size(p));
  }
  DenoiseJob jobs[kMostPasses];
  std::size_t blocks = 0;
  for (int i = 0; i < passes.count; ++i) {
    jobs[i] = job_for(center, target, settings, passes.pass[i], fields);
    if (denoise::estimates(settings, passes.pass[i])) blocks = std::max(blocks, noise_blocks(jobs[i]));
  }
  // Planes without any block have weights too.
  slot.blocks.reserve(blocks);
  slot.weights.reserve(kMostPasses * kMostFields);
  for (int i = 0; i < passes.count; ++i) {
    DenoiseJob& job = jobs[i];
    if (denoise::estimates(settings, passes.pass[i])) {
      denoise::Weights* const weights = slot.weights.get() + i * kMostFields;
      launch_noise(job, rule_of(settings, passes.pass[i], geometry_.layout.depth), slot.blocks.get(), weights, stream);
      job.estimated = weights;
    }
    if (takes_tensor_ && suits_tensor_denoise(job, capability_))
      launch_tensor_denoise(job, capability_, stream);
    else
      launch_denoise(job, stream);
  }
}

void DeviceDenoiser::submit(const denoise::Task& task) {
  const Range range("submit denoise");
  const auto& [window, center, out, settings, fields] = task;
  if (window.size() > kMaxWindow || center >= window.size() || fields < 1 || fields > 2)
    throw std::invalid_argument("cuda denoiser: no such window");
  Slot& slot = slots_.next();
  make_current(id_);
  const cudaStream_t stream = slot.stream.get();
  const SyncOnThrow sync(stream);
  const unsigned filtered = work_of(geometry_, denoise::passes_of(geometry_.layout, settings)).filtered;
  frames_.clear();
  slot.out = out;
  if (out.memory == Memory::kCuda) {
    for (const Source& source : window) frames_.push_back(source.frame);
    slot.wait_for(window[center].frame);
    launch(slot, center, out, settings, fields);
  } else {
    bring(slot, window, filtered);
    launch(slot, center, download_.prepare(slot.result, stream, out), settings, fields);
    download_(slot.result, stream, out, filtered);
  }
  check(cudaEventRecord(slot.done.get(), stream), "cudaEventRecord");
  slots_.take();
  ++submitted_;
  if (out.memory == Memory::kCuda) return;
  // While the device works. Planes that it does not read are copied on the host.
  const Frame& from = window[center].frame;
  for (int p = 0; p < geometry_.layout.planes; ++p)
    if (!(filtered >> p & 1))
      copy_rows(download_.copy_threads(), out.plane[p], out.stride[p], from.plane[p], from.stride[p],
                download_.size(p));
}

void DeviceDenoiser::collect() {
  const Range range("wait for denoise");
  Slot& slot = slots_.give();
  make_current(id_);
  slot.wait();
  if (slot.out.memory != Memory::kCuda) download_.finish(slot.result, slot.out);
}

double DeviceDenoiser::time_kernels(std::span<const Source> window, std::size_t center, const Canvas& out,
                                    const Settings& settings, int count) {
  Slot& slot = slots_.next();
  make_current(id_);
  const cudaStream_t stream = slot.stream.get();
  frames_.clear();
  for (const Source& source : window) frames_.push_back(source.frame);
  const Event start = make_event(cudaEventDefault), stop = make_event(cudaEventDefault);
  check(cudaEventRecord(start.get(), stream), "cudaEventRecord");
  for (int i = 0; i < count; ++i) launch(slot, center, out, settings, 1);
  check(cudaEventRecord(stop.get(), stream), "cudaEventRecord");
  check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float ms;
  check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
  return ms * 1e-3 / count;
}

std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry& geometry, int id, int depth) {
  return std::make_unique<DeviceDenoiser>(geometry, id, depth);
}

}  // namespace framequality::cuda
