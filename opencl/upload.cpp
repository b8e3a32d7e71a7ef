// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/upload.h"

#include "opencl/in_place.h"

#include <algorithm>
#include <cstdlib>

namespace framequality::opencl {
namespace {

constexpr std::size_t kWaste = 8;   // rows are copied with their gaps if those are at most an eighth of them
constexpr std::size_t kSlack = 64;  // the widest load past the last row

std::size_t aligned(std::size_t bytes) { return (bytes + 127) / 128 * 128; }

/// Rows of a frame, in host memory or, with an import, in a DMA buffer, that are copied to a buffer.
struct Rows {
  cl_command_queue queue;
  cl_mem to;
  const Import* import;
  const std::uint8_t* lowest;

  /// Queues the copy of `bytes` from lowest[skip] to byte `at`.
  void copy(std::size_t at, std::size_t skip, std::size_t bytes) const {
    if (import)
      check(api().clEnqueueCopyBuffer(queue, import->get(), to, import->offset_of(lowest) + skip, at, bytes, 0, nullptr,
                                      nullptr),
            "clEnqueueCopyBuffer");
    else
      check(api().clEnqueueWriteBuffer(queue, to, CL_FALSE, at, bytes, lowest + skip, 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
  }
  /// Queues the copy of rows of `bytes`, `step` apart, to byte `at`, `pitch` apart.
  void copy(std::size_t at, std::size_t pitch, std::size_t step, std::size_t bytes, std::size_t rows) const {
    const std::size_t into[3] = {at, 0, 0}, from[3] = {import ? import->offset_of(lowest) : 0, 0, 0};
    const std::size_t region[3] = {bytes, rows, 1};
    if (import)
      check(api().clEnqueueCopyBufferRect(queue, import->get(), to, from, into, region, step, 0, pitch, 0, 0, nullptr,
                                          nullptr),
            "clEnqueueCopyBufferRect");
    else
      check(api().clEnqueueWriteBufferRect(queue, to, CL_FALSE, into, from, region, pitch, 0, step, 0, lowest, 0,
                                           nullptr, nullptr),
            "clEnqueueWriteBufferRect");
  }
};

}  // namespace

Upload::Upload(const Context& context, std::span<const PlaneSize> planes)
    : context_(context), planes_(static_cast<int>(planes.size())) {
  for (int p = 0; p < planes_; ++p) {
    size_[p] = planes[static_cast<std::size_t>(p)];
    pitch_[p] = aligned(size_[p].row_bytes);
    offset_[p] = bytes_;
    bytes_ += aligned(size_[p].row_bytes + size_[p].row_bytes / kWaste) * static_cast<std::size_t>(size_[p].rows);
  }
  bytes_ += kSlack;
}

Upload::Upload(const Context& context, const Geometry& geometry) : Upload(context, plane_sizes(geometry)) {}

Upload::Memory Upload::memory(cl_command_queue queue) const {
  Memory made{context_.buffer(bytes_)};
  const cl_uint zero = 0;  // data after the rows are read, but not used
  check(api().clEnqueueFillBuffer(queue, made.pixels.get(), &zero, sizeof zero, 0, bytes_ / 4 * 4, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  return made;
}

Placed Upload::operator()(const Memory& memory, cl_command_queue queue, const Frame& frame, int first_row, int last_row,
                          unsigned planes) const {
  Placed placed;
  if (frame.memory == framequality::Memory::kDma
          ? use_import(queue, frame, placed)
          : context_.device().shares_memory && use_in_place(queue, frame, placed))
    return placed;
  placed.buffer = memory.pixels.get();
  for (int p = 0; p < planes_; ++p)
    if (planes >> p & 1) bring(memory, queue, frame, p, first_row, last_row, placed);
  return placed;
}

void Upload::release(cl_command_queue queue, const Placed& placed) {
  if (placed.import) placed.import->release(queue);
}

void Upload::acquire(cl_command_queue queue, const Placed& placed) {
  if (placed.import) placed.import->acquire(queue);
}

/// Sets where a plane lies in a buffer. Returns false if kernels cannot read it there.
bool Upload::place(int p, std::ptrdiff_t distance, const InPlace& at, Placed& placed) const {
  const auto stride = static_cast<cl_long>(distance);
  const auto first = static_cast<cl_long>(at.offset), last = first + stride * (size_[p].rows - 1);
  const auto row = static_cast<cl_long>(aligned(size_[p].row_bytes));
  placed.origin[p] = first;
  placed.pitch[p] = stride;
  return stride % static_cast<cl_long>(kLoadAlign) == 0 && at.offset % kLoadAlign == 0 && std::min(first, last) >= 0 &&
         std::max(first, last) + row <= static_cast<cl_long>(at.bytes);
}

/// If the whole frame lies in one region that the device reads, kernels use that; tells the device that the host has
/// written it, so that older cached data are invalid.
bool Upload::use_in_place(cl_command_queue queue, const Frame& frame, Placed& placed) const {
  InPlace region;
  for (int p = 0; p < planes_; ++p) {
    if (size_[p].row_bytes == 0 || size_[p].rows == 0) continue;
    const InPlace found = find_pinned(frame.plane[p], context_);
    if (!found.buffer || (region.buffer && region.buffer != found.buffer)) return false;
    region = found;
    if (!place(p, frame.stride[p], found, placed)) return false;
  }
  if (!region.buffer) return false;
  placed.buffer = region.buffer;
  cl_int code;
  void* const data = api().clEnqueueMapBuffer(queue, region.buffer, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                              region.bytes, 0, nullptr, nullptr, &code);
  check(code, "clEnqueueMapBuffer");
  check(api().clEnqueueUnmapMemObject(queue, region.buffer, data, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
  return true;
}

/// If the whole frame lies in one DMA buffer where kernels can read it, they use that; else the device copies it.
bool Upload::use_import(cl_command_queue queue, const Frame& frame, Placed& placed) const {
  const Import* whole = nullptr;
  for (int p = 0; p < planes_; ++p) {
    if (size_[p].row_bytes == 0 || size_[p].rows == 0) continue;
    const Import& import = Import::of(frame.import[p], context_);
    if (whole && whole != &import) return false;
    whole = &import;
    if (!place(p, frame.stride[p], {import.get(), import.offset_of(frame.plane[p]), import.bytes()}, placed))
      return false;
  }
  if (!whole) return false;
  placed.buffer = whole->get();
  placed.import = whole;
  acquire(queue, placed);
  return true;
}

/// Queues the copies of a plane's rows and stores their future location in `placed`.
void Upload::bring(const Memory& memory, cl_command_queue queue, const Frame& frame, int p, int first_row, int last_row,
                   Placed& placed) const {
  const std::size_t bytes = size_[p].row_bytes;
  last_row = std::min(last_row, size_[p].rows);
  const std::ptrdiff_t stride = frame.stride[p];
  const auto step = static_cast<std::size_t>(std::abs(stride));
  placed.origin[p] = static_cast<cl_long>(offset_[p]);
  placed.pitch[p] = static_cast<cl_long>(pitch_[p]);
  if (bytes == 0 || last_row <= first_row) return;
  const auto rows = static_cast<std::size_t>(last_row - first_row);
  // Rows in memory order: the lowest address is that of the last one if strides are negative.
  const bool is_upward = stride < 0;
  const auto top = static_cast<std::size_t>(is_upward ? size_[p].rows - last_row : first_row);
  const std::uint8_t* const lowest = frame.plane[p] + (is_upward ? last_row - 1 : first_row) * stride;
  const Import* const import =
      frame.memory == framequality::Memory::kDma ? &Import::of(frame.import[p], context_) : nullptr;
  const Rows from{queue, memory.pixels.get(), import, lowest};
  if (import) import->acquire(queue);
  std::size_t pitch = pitch_[p];
  if (step >= bytes && step % kLoadAlign == 0 && step <= bytes + bytes / kWaste) {
    pitch = step;
    from.copy(offset_[p] + top * pitch, 0, (rows - 1) * step + bytes);
  } else if (step >= bytes || rows == 1) {
    from.copy(offset_[p] + top * pitch, pitch, std::max(step, bytes), bytes, rows);
  } else {  // overlapping rows
    for (std::size_t y = 0; y < rows; ++y) from.copy(offset_[p] + (top + y) * pitch, y * step, bytes);
  }
  if (import) import->release(queue);
  placed.pitch[p] = static_cast<cl_long>(is_upward ? 0 - pitch : pitch);
  if (is_upward) placed.origin[p] += static_cast<cl_long>(pitch * (static_cast<std::size_t>(size_[p].rows) - 1));
}

}  // namespace framequality::opencl
