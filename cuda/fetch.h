// SPDX-License-Identifier: LGPL-2.1-or-later
// Small frames' way from pinned memory to the device: a kernel that copies.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace framequality::cuda {

/// Beginnings that fetch() takes are multiples of this.
inline constexpr std::size_t kFetchAlign = 16;

/// Where kernels in the current context find these bytes of host memory; null unless one piece of pinned memory holds
/// them all, whoever pinned it. Asking takes 0.1 us.
const std::uint8_t* mapped(const std::uint8_t* bytes, std::size_t count);

/// Queues the copy of bytes that mapped() has found. The copy engine moves large frames as fast, and leaves the
/// processors to others, but takes 4 us to start. Throws Error.
void fetch(std::uint8_t* to, const std::uint8_t* from, std::size_t count, cudaStream_t stream);

}  // namespace framequality::cuda
