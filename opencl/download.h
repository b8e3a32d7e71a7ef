// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfer of filtered frames back to host memory.
#pragma once

#include "algorithms/picture.h"
#include "opencl/context.h"
#include "opencl/upload.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace framequality::opencl {

/// Copies rows between host planes, which do not overlap.
void copy_rows(std::uint8_t* to, std::ptrdiff_t to_stride, const std::uint8_t* from, std::ptrdiff_t from_stride,
               const PlaneSize& size);

/// Copies frames of one geometry from a device. A Memory holds the buffers for one frame in flight.
class Download {
 public:
  struct Memory {
    Buffer pixels;                  ///< rows, plane after plane
    std::shared_ptr<void> staging;  ///< the same on the host; null: the device shares the host's memory
  };

  Download(const Context& context, std::span<const PlaneSize> planes);

  /// Memory for a frame. Allocates.
  Memory memory(cl_command_queue queue) const;

  /// Where kernels write: row 0 of each plane, aligned to 128, and bytes from row to row. They may also write
  /// between the rows.
  Placed placed(const Memory& memory) const;

  /// Queues the copies to the host of the planes p with bit p set in `planes`. Throws Error. Returns their last event.
  Event operator()(const Memory& memory, cl_command_queue queue, const Canvas& out, unsigned planes) const;
  /// Call it after that event: copies the staging memory to `out`. Writes no byte between rows.
  void finish(const Memory& memory, const Canvas& out, unsigned planes) const;

  const PlaneSize& size(int plane) const { return size_[plane]; }

 private:
  void read(const Memory& memory, cl_command_queue queue, const Canvas& out, int plane) const;

  const Context& context_;
  int planes_ = 0;
  PlaneSize size_[3];
  std::size_t pitch_[3] = {}, offset_[3] = {};  ///< of planes in Memory
  std::size_t bytes_ = 0;                       ///< size of Memory
};

}  // namespace framequality::opencl
