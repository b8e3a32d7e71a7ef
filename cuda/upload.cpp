// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfer of host frames to the device: by DMA or a kernel in place, or through pinned memory.
#include "cuda/upload.h"

#include "cuda/fetch.h"
#include "cuda/range.h"
#include "host/log.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace framequality::cuda {
namespace {

constexpr std::size_t kWaste = 8;  // rows are copied with their gaps if those are at most an eighth of them
// Frames that are not pinned are copied to pinned memory in pieces, so that DMA overlaps the copying, one thread per
// 2 MiB. Measured on an H200 host of 16 cores: 1080p 171 us by one thread, 136 by two; 2160p 775 by one,
// 386 by four; 8192x8192 BGR 27 ms by one, 5 by eight, best with larger pieces.
constexpr std::size_t kPieceBytes = 1 << 19, kManyBytes = 1 << 22, kThreadedBytes = 1 << 21;

// Up to here a kernel copies pinned bytes faster than the copy engine: consecutive frames of 640x480 take 19.6 us
// instead of 23.0, on an H200. At 1280x720 it is no faster, and with two in flight slower, 25.0 instead of 19.7.
constexpr std::size_t kFetchBytes = 1 << 19;

}  // namespace

bool is_pinned(const std::uint8_t* bytes, std::size_t count) {
  for (const std::uint8_t* p : {bytes, bytes + count - 1}) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    if (attributes.type != cudaMemoryTypeHost) return false;
  }
  return true;
}

Upload::Upload(std::span<const PlaneSize> planes, int id) : id_(id), planes_(static_cast<int>(planes.size())) {
  for (int p = 0; p < planes_; ++p) {
    size_[p] = planes[static_cast<std::size_t>(p)];
    const std::size_t row = size_[p].row_bytes;
    pitch_[p] = whole_pitch(row);
    offset_[p] = bytes_;
    bytes_ += whole_pitch(row + row / kWaste) * static_cast<std::size_t>(size_[p].rows);
  }
  if (bytes_ >= kThreadedBytes && id_ >= 0) copy_threads_ = CopyThreads::get();
}

Upload::Upload(const Geometry& geometry, int id, bool fetches) : Upload(plane_sizes(geometry), id) {
  fetches_ = fetches;
}

Frame Upload::operator()(Memory& memory, cudaStream_t stream, const Frame& frame, int first_row, int last_row) const {
  const Range range("upload");
  Frame ours;
  ours.memory = framequality::Memory::kCuda;
  for (int p = 0; p < planes_; ++p) bring({memory, stream, frame, first_row, last_row}, p, ours);
  return ours;
}

Frame Upload::operator()(Memory& memory, cudaStream_t stream, const Frame& frame, unsigned planes) const {
  const Range range("upload");
  Frame ours;
  ours.memory = framequality::Memory::kCuda;
  for (int p = 0; p < planes_; ++p)
    if (planes >> p & 1) bring({memory, stream, frame, 0, size_[p].rows}, p, ours);
  return ours;
}

/// Queues the copies of a plane's rows and stores their future location in `ours`.
void Upload::bring(const Call& call, int p, Frame& ours) const {
  reserve_zeroed(call.memory.pixels, bytes_, call.stream);  // data after the rows are read, but not used
  const int first_row = call.first_row, last_row = call.last_row, height = size_[p].rows;
  const std::size_t bytes = size_[p].row_bytes;
  const std::ptrdiff_t stride = call.frame.stride[p];
  const std::size_t step = static_cast<std::size_t>(std::abs(stride));
  const auto rows = static_cast<std::size_t>(last_row - first_row);
  std::uint8_t* const device = call.memory.pixels.get() + offset_[p];
  ours.plane[p] = device;
  ours.stride[p] = static_cast<std::ptrdiff_t>(pitch_[p]);
  if (bytes == 0 || rows == 0) return;
  const std::uint8_t* const lowest = call.frame.plane[p] + (stride < 0 ? last_row - 1 : first_row) * stride;
  const std::size_t span = (rows - 1) * step + bytes;
  const bool as_it_lies = step % kLoadAlign == 0 && step <= bytes + bytes / kWaste;
  cudaError_t state = cudaErrorInvalidValue;
  const char* way = "row by row, by DMA from pinned memory";
  if (as_it_lies) {
    way = "in one piece from pinned memory";
    // One piece, strides included.
    const int top = stride < 0 ? height - last_row : first_row;
    state = copy(call, device + static_cast<std::size_t>(top) * step, lowest, span);
    if (state == cudaSuccess) {
      ours.stride[p] = stride;
      if (stride < 0) ours.plane[p] = device + static_cast<std::size_t>(height - 1) * step;
    }
  } else if (stride >= 0 && is_pinned(lowest, span)) {
    // A single row's stride is meaningless.
    state = cudaMemcpy2DAsync(device + static_cast<std::size_t>(first_row) * pitch_[p], pitch_[p], lowest,
                              std::max(step, bytes), bytes, rows, cudaMemcpyHostToDevice, call.stream);
  }
  if (state == cudaErrorInvalidValue) {  // also for memory that was pinned in several parts
    (void)cudaGetLastError();
    way = "through pinned memory, piece by piece";
    stage(call, p);
  } else {
    check(state, "copying a frame to the device");
  }
  if (std::exchange(call.memory.way[p], way) != way)
    host::log(host::LogLevel::kDebug, "CUDA: plane %d is copied to the device %s (%zu bytes a row, %zu apart)", p, way,
              bytes, step);
}

/// Queues the copy of contiguous bytes. cudaErrorInvalidValue if they are not all pinned.
cudaError_t Upload::copy(const Call& call, std::uint8_t* to, const std::uint8_t* from, std::size_t count) const {
  if (fetches_ && count <= kFetchBytes && reinterpret_cast<std::uintptr_t>(from) % kFetchAlign == 0)
    if (const std::uint8_t* const near = mapped(from, count)) {
      fetch(to, near, count, call.stream);
      return cudaSuccess;
    }
  if (!is_pinned(from, count)) return cudaErrorInvalidValue;
  return cudaMemcpyAsync(to, from, count, cudaMemcpyHostToDevice, call.stream);
}

/// Copies a plane's rows to pinned memory piece by piece, and queues each piece's transfer to the device.
void Upload::stage(const Call& call, int plane) const {
  Memory& memory = call.memory;
  memory.staging.reserve(bytes_);
  const std::size_t bytes = size_[plane].row_bytes, pitch = pitch_[plane];
  const Frame& frame = call.frame;
  const int first = call.first_row, last = call.last_row;
  const std::size_t all = static_cast<std::size_t>(last - first) * pitch;
  const std::size_t piece = all > kManyBytes ? 2 * kPieceBytes : kPieceBytes;
  const int rows = static_cast<int>(std::max<std::size_t>(1, piece / pitch));
  std::atomic<int> next = first;
  std::atomic<cudaError_t> error = cudaSuccess;
  auto copy = [&] {
    cudaError_t mine = id_ >= 0 ? cudaSetDevice(id_) : cudaSuccess;
    for (int y; mine == cudaSuccess && (y = next.fetch_add(rows)) < last;) {
      const int end = std::min(y + rows, last);
      const std::size_t at = offset_[plane] + static_cast<std::size_t>(y) * pitch;
      std::uint8_t* to = memory.staging.get() + at;
      for (int i = y; i < end; ++i, to += pitch) std::memcpy(to, frame.plane[plane] + i * frame.stride[plane], bytes);
      mine = cudaMemcpyAsync(memory.pixels.get() + at, memory.staging.get() + at,
                             static_cast<std::size_t>(end - y) * pitch, cudaMemcpyHostToDevice, call.stream);
    }
    if (mine != cudaSuccess) error = mine;
  };
  const int helpers = copy_threads_ ? std::min(static_cast<int>(all / kThreadedBytes), copy_threads_->threads()) : 0;
  if (helpers > 0)
    copy_threads_->run(helpers, copy);
  else
    copy();
  check(error, "cudaMemcpyAsync");
}

}  // namespace framequality::cuda
