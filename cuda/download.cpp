// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfer of filtered frames back to host memory: by DMA in place, or through pinned memory.
#include "cuda/download.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace framequality::cuda {
namespace {

constexpr std::size_t kPieceBytes = 1 << 19, kBytesPerThread = 1 << 21;  // as in upload.cpp

std::size_t step_of(const Canvas& canvas, int p) { return static_cast<std::size_t>(std::abs(canvas.stride[p])); }

/// The first byte of a plane in memory: that of its last row if strides are negative.
std::uint8_t* lowest(const Canvas& canvas, int p, int rows) {
  return canvas.plane[p] + (canvas.stride[p] < 0 ? (rows - 1) * canvas.stride[p] : 0);
}

}  // namespace

void copy_rows(CopyThreads* copy_threads, std::uint8_t* to, std::ptrdiff_t to_stride, const std::uint8_t* from,
               std::ptrdiff_t from_stride, const PlaneSize& size) {
  const std::size_t all = size.row_bytes * static_cast<std::size_t>(size.rows);
  if (all == 0) return;
  const int rows = static_cast<int>(std::max<std::size_t>(1, kPieceBytes / size.row_bytes));
  std::atomic<int> next = 0;
  auto copy = [&] {
    for (int y; (y = next.fetch_add(rows)) < size.rows;)
      for (int i = y; i < std::min(y + rows, size.rows); ++i)
        std::memcpy(to + i * to_stride, from + i * from_stride, size.row_bytes);
  };
  const int helpers = copy_threads ? std::min(static_cast<int>(all / kBytesPerThread), copy_threads->threads()) : 0;
  if (helpers > 0)
    copy_threads->run(helpers, copy);
  else
    copy();
}

Download::Download(std::span<const PlaneSize> planes, int id) : id_(id), planes_(static_cast<int>(planes.size())) {
  for (int p = 0; p < planes_; ++p) {
    size_[p] = planes[static_cast<std::size_t>(p)];
    offset_[p] = bytes_;
    bytes_ += whole_pitch(size_[p].row_bytes) * static_cast<std::size_t>(size_[p].rows);
  }
  if (bytes_ >= kBytesPerThread && id_ >= 0) copy_threads_ = CopyThreads::get();
}

// Rows have the canvas's order in memory, without gaps if it has none: one plain copy then suffices.
Canvas& Download::prepare(Memory& memory, cudaStream_t stream, const Canvas& out) const {
  reserve_zeroed(memory.pixels, bytes_, stream);  // gaps after rows are copied too
  memory.ours = out;
  memory.ours.memory = framequality::Memory::kCuda;
  for (int p = 0; p < planes_; ++p) {
    const std::size_t bytes = size_[p].row_bytes;
    const auto pitch = static_cast<std::ptrdiff_t>(step_of(out, p) == bytes ? bytes : whole_pitch(bytes));
    memory.ours.stride[p] = out.stride[p] < 0 ? -pitch : pitch;
    memory.ours.plane[p] = memory.pixels.get() + offset_[p] + (out.stride[p] < 0 ? (size_[p].rows - 1) * pitch : 0);
  }
  return memory.ours;
}

void Download::operator()(Memory& memory, cudaStream_t stream, const Canvas& out, unsigned planes) const {
  for (int p = 0; p < planes_; ++p) {
    memory.staged[p] = false;
    const std::size_t bytes = size_[p].row_bytes, pitch = step_of(memory.ours, p);
    const auto rows = static_cast<std::size_t>(size_[p].rows);
    if (!(planes >> p & 1) || bytes == 0 || rows == 0) continue;
    const std::uint8_t* const from = memory.pixels.get() + offset_[p];
    std::uint8_t* const to = lowest(out, p, size_[p].rows);
    // A single row's stride is meaningless.
    const std::size_t step = std::max(step_of(out, p), bytes);
    cudaError_t state = cudaErrorInvalidValue;
    if (!is_pinned(to, (rows - 1) * step + bytes)) {
      // To be staged.
    } else if (step == pitch && step == bytes) {
      state = cudaMemcpyAsync(to, from, rows * bytes, cudaMemcpyDeviceToHost, stream);
    } else {
      state = cudaMemcpy2DAsync(to, step, from, pitch, bytes, rows, cudaMemcpyDeviceToHost, stream);
    }
    if (state == cudaErrorInvalidValue) {  // also for memory that was pinned in several parts
      (void)cudaGetLastError();
      memory.staging.reserve(bytes_);
      memory.staged[p] = true;
      state = cudaMemcpyAsync(memory.staging.get() + offset_[p], from, rows * pitch, cudaMemcpyDeviceToHost, stream);
    }
    check(state, "copying a frame from the device");
  }
}

void Download::finish(Memory& memory, const Canvas& out) const {
  for (int p = 0; p < planes_; ++p) {
    if (!memory.staged[p]) continue;
    const std::uint8_t* const from = memory.staging.get() + (memory.ours.plane[p] - memory.pixels.get());
    copy_rows(copy_threads_.get(), out.plane[p], out.stride[p], from, memory.ours.stride[p], size_[p]);
  }
}

}  // namespace framequality::cuda
