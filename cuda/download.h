// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfer of filtered frames back to host memory: by DMA in place, or through pinned memory.
#pragma once

#include "algorithms/picture.h"
#include "cuda/copy_threads.h"
#include "cuda/runtime.h"
#include "cuda/upload.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace framequality::cuda {

/// Copies rows between host planes, which do not overlap; large ones with the help of copy_threads, which may be null.
void copy_rows(CopyThreads* copy_threads, std::uint8_t* to, std::ptrdiff_t to_stride, const std::uint8_t* from,
               std::ptrdiff_t from_stride, const PlaneSize& size);

/// Copies frames of one geometry from a device. A Memory holds the buffers for one frame in flight.
class Download {
 public:
  struct Memory {
    DeviceMemory<std::uint8_t> pixels;   ///< rows, plane after plane
    PinnedMemory<std::uint8_t> staging;  ///< the same on the host
    bool staged[3] = {};                 ///< planes that finish() has to copy
    Canvas ours;                         ///< the frame in `pixels`
  };

  /// Lays out the planes in our own memory. id: as for make_meter().
  Download(std::span<const PlaneSize> planes, int id);

  /// The device memory in which `stream` writes the frame for `out`, a canvas in host memory. Allocates only
  /// if `memory` is new. Throws Error.
  Canvas& prepare(Memory& memory, cudaStream_t stream, const Canvas& out) const;
  /// Queues the copies to the host of planes p with bit p set in `planes`. Writes no byte between rows. Allocates only
  /// if `memory` is new. Throws Error.
  void operator()(Memory& memory, cudaStream_t stream, const Canvas& out, unsigned planes) const;
  /// Call it afterwards: copies to `out` what DMA could not.
  void finish(Memory& memory, const Canvas& out) const;

  const PlaneSize& size(int plane) const { return size_[plane]; }
  CopyThreads* copy_threads() const { return copy_threads_.get(); }

 private:
  int id_;
  int planes_ = 0;
  PlaneSize size_[3];
  std::size_t offset_[3] = {};                 ///< of planes in Memory
  std::size_t bytes_ = 0;                      ///< total size of these
  std::shared_ptr<CopyThreads> copy_threads_;  ///< for large frames; may be null
};

}  // namespace framequality::cuda
