// SPDX-License-Identifier: LGPL-2.1-or-later
// Host memory that the GPU's copy engine reads directly; no CUDA headers.
#pragma once

#include <cstddef>

namespace framequality::cuda {

/// Page-locks existing host memory, through device `id`, for all devices and contexts of the process;
/// false if the driver refuses (memory of some devices, no GPU, limits). The memory must stay allocated until
/// unpin(). Takes about 0.1 ms for each MiB, so it only pays for memory that is copied from several times. Any thread.
bool pin(void* data, std::size_t bytes, int id) noexcept;

/// Reverses pin(). No copy may be reading the memory.
void unpin(void* data, int id) noexcept;

}  // namespace framequality::cuda
