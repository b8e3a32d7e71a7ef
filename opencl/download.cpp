// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/download.h"

#include "opencl/pinned.h"

#include <cstring>

namespace framequality::opencl {
namespace {

constexpr std::size_t kAlign = 128;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

void copy_rows(std::uint8_t* to, std::ptrdiff_t to_stride, const std::uint8_t* from, std::ptrdiff_t from_stride,
               const PlaneSize& size) {
  if (size.row_bytes == 0) return;
  for (std::ptrdiff_t y = 0; y < size.rows; ++y)
    std::memcpy(to + y * to_stride, from + y * from_stride, size.row_bytes);
}

Download::Download(const Context& context, std::span<const PlaneSize> planes)
    : context_(context), planes_(static_cast<int>(planes.size())) {
  for (int p = 0; p < planes_; ++p) {
    size_[p] = planes[static_cast<std::size_t>(p)];
    pitch_[p] = aligned(size_[p].row_bytes);
    offset_[p] = bytes_;
    bytes_ += pitch_[p] * static_cast<std::size_t>(size_[p].rows);
  }
}

Download::Memory Download::memory(cl_command_queue queue) const {
  Memory made{context_.buffer(bytes_), bytes_ > 0 ? allocate(bytes_, context_.id()) : nullptr};
  const cl_uint zero = 0;  // gaps between rows are copied to the staging memory too
  if (bytes_ > 0)
    check(api().clEnqueueFillBuffer(queue, made.pixels.get(), &zero, sizeof zero, 0, bytes_, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
  return made;
}

Placed Download::placed(const Memory& memory) const {
  Placed placed;
  placed.buffer = memory.pixels.get();
  for (int p = 0; p < planes_; ++p) {
    placed.origin[p] = static_cast<cl_long>(offset_[p]);
    placed.pitch[p] = static_cast<cl_long>(pitch_[p]);
  }
  return placed;
}

/// Queues the copy of a plane to its destination.
void Download::read(const Memory& memory, cl_command_queue queue, const Canvas& out, int p) const {
  const auto bytes = size_[p].row_bytes, rows = static_cast<std::size_t>(size_[p].rows);
  const std::ptrdiff_t stride = out.stride[p];
  if (stride < 0) {  // the device's rows cannot have this order
    for (std::size_t y = 0; y < rows; ++y)
      check(api().clEnqueueReadBuffer(queue, memory.pixels.get(), CL_FALSE, offset_[p] + y * pitch_[p], bytes,
                                      out.plane[p] + static_cast<std::ptrdiff_t>(y) * stride, 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    return;
  }
  const std::size_t from[3] = {offset_[p], 0, 0}, to[3] = {0, 0, 0}, region[3] = {bytes, rows, 1};
  // A single row's stride is meaningless.
  check(api().clEnqueueReadBufferRect(queue, memory.pixels.get(), CL_FALSE, from, to, region, pitch_[p], 0,
                                      rows == 1 ? bytes : static_cast<std::size_t>(stride), 0, out.plane[p], 0, nullptr,
                                      nullptr),
        "clEnqueueReadBufferRect");
}

Event Download::operator()(const Memory& memory, cl_command_queue queue, const Canvas& out, unsigned planes) const {
  for (int p = 0; p < planes_; ++p) {
    if (!(planes >> p & 1) || size_[p].row_bytes == 0 || size_[p].rows == 0) continue;
    if (!memory.staging) {
      read(memory, queue, out, p);
      continue;
    }
    const std::size_t bytes = pitch_[p] * static_cast<std::size_t>(size_[p].rows);
    check(api().clEnqueueReadBuffer(queue, memory.pixels.get(), CL_FALSE, offset_[p], bytes,
                                    static_cast<std::uint8_t*>(memory.staging.get()) + offset_[p], 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  cl_event done = nullptr;
  check(api().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &done), "clEnqueueMarkerWithWaitList");
  return Event(done);
}

void Download::finish(const Memory& memory, const Canvas& out, unsigned planes) const {
  if (!memory.staging) return;
  const auto* const from = static_cast<const std::uint8_t*>(memory.staging.get());
  for (int p = 0; p < planes_; ++p)
    if (planes >> p & 1)
      copy_rows(out.plane[p], out.stride[p], from + offset_[p], static_cast<std::ptrdiff_t>(pitch_[p]), size_[p]);
}

}  // namespace framequality::opencl
