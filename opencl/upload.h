// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfer of host frames to the device, or their use in place if the device shares the host's memory.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/plane_size.h"
#include "opencl/context.h"

#include <cstddef>
#include <span>

namespace framequality::opencl {

class Import;
struct InPlace;

/// Alignment and size granularity of rows for kernels that stream them: 16 words.
inline constexpr std::size_t kLoadAlign = 32;

/// A frame in a buffer for kernels: the offset of row 0 of each plane, and bytes from row to row.
struct Placed {
  cl_mem buffer = nullptr;
  cl_long origin[3] = {}, pitch[3] = {};
  const Import* import = nullptr;  ///< that it lies in, acquired until release()
};

/// Copies frames of one geometry to a device. A Memory holds the buffers for one frame in flight.
class Upload {
 public:
  struct Memory {
    Buffer pixels;
  };

  Upload(const Context& context, std::span<const PlaneSize> planes);
  /// For the data that meters read.
  Upload(const Context& context, const Geometry& geometry);

  /// Memory for a frame. Allocates.
  Memory memory(cl_command_queue queue) const;

  /// Queues the copies of rows first_row...last_row-1 of each plane with its bit set in `planes` of a frame in host
  /// memory or in DMA buffers; none where kernels can read it in place. The frame's memory is read until the queue has
  /// got there. Throws Error.
  Placed operator()(const Memory& memory, cl_command_queue queue, const Frame& frame, int first_row, int last_row,
                    unsigned planes = 7) const;
  /// Call it when the frame's kernels are queued. Throws Error.
  static void release(cl_command_queue queue, const Placed& placed);
  /// Before more kernels that read a frame that has been released, which is still valid. Throws Error.
  static void acquire(cl_command_queue queue, const Placed& placed);

 private:
  bool use_in_place(cl_command_queue queue, const Frame& frame, Placed& placed) const;
  bool use_import(cl_command_queue queue, const Frame& frame, Placed& placed) const;
  bool place(int plane, std::ptrdiff_t stride, const InPlace& at, Placed& placed) const;
  void bring(const Memory& memory, cl_command_queue queue, const Frame& frame, int plane, int first_row, int last_row,
             Placed& placed) const;

  const Context& context_;
  int planes_ = 0;
  PlaneSize size_[3];
  std::size_t pitch_[3] = {}, offset_[3] = {};  ///< of planes in Memory
  std::size_t bytes_ = 0;                       ///< of Memory
};

}  // namespace framequality::opencl
