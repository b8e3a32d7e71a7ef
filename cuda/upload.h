// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfer of host frames to the device: by DMA or a kernel in place, or through pinned memory.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/plane_size.h"
#include "cuda/copy_threads.h"
#include "cuda/rows.h"
#include "cuda/runtime.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace framequality::cuda {

/// True if DMA can reach these bytes of host memory, whoever pinned them. Takes 0.1 us.
bool is_pinned(const std::uint8_t* bytes, std::size_t count);

/// Copies frames of one geometry to a device. A Memory holds the buffers for one frame in flight.
class Upload {
 public:
  struct Memory {
    PinnedMemory<std::uint8_t> staging;  ///< host frames' rows, plane after plane
    DeviceMemory<std::uint8_t> pixels;   ///< the same on the device
    const char* way[3] = {};             ///< each plane's last route, for the log
  };

  /// Lays out the planes in our own memory. id: as for make_meter().
  Upload(std::span<const PlaneSize> planes, int id);
  /// For the data that meters read. fetches: small pieces are copied by a kernel, which other frames' long kernels may
  /// delay.
  Upload(const Geometry& geometry, int id, bool fetches = false);

  /// Queues the copies of rows first_row...last_row-1 of each plane of a host frame, from which they may still be read
  /// when this returns; returns the future frame on the device. Allocates only if `memory` is new. Throws Error.
  Frame operator()(Memory& memory, cudaStream_t stream, const Frame& frame, int first_row, int last_row) const;
  /// The same for all rows of the planes p with bit p set in `planes`; the others' pointers are null.
  Frame operator()(Memory& memory, cudaStream_t stream, const Frame& frame, unsigned planes) const;

 private:
  /// Parameters of one call.
  struct Call {
    Memory& memory;
    cudaStream_t stream;
    const Frame& frame;
    int first_row, last_row;
  };
  void bring(const Call& call, int plane, Frame& ours) const;
  cudaError_t copy(const Call& call, std::uint8_t* to, const std::uint8_t* from, std::size_t count) const;
  void stage(const Call& call, int plane) const;

  int id_;
  int planes_ = 0;
  PlaneSize size_[3];
  std::size_t pitch_[3] = {};                  ///< of staged planes; 0: nothing of the plane is read
  std::size_t offset_[3] = {};                 ///< of planes in Memory
  std::size_t bytes_ = 0;                      ///< total size of these
  bool fetches_ = false;                       ///< small pieces, by a kernel
  std::shared_ptr<CopyThreads> copy_threads_;  ///< for large frames; may be null
};

}  // namespace framequality::cuda
