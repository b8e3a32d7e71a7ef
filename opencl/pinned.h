// SPDX-License-Identifier: LGPL-2.1-or-later
// Host memory that an OpenCL device reads by itself. No OpenCL headers.
#pragma once

#include <cstddef>
#include <memory>

namespace framequality::opencl {

/// Memory that a device with memory of its own reads without a copy on the host (CL_MEM_ALLOC_HOST_PTR, mapped for
/// good); null where the device shares the host's memory, or has none to give. Any thread.
std::shared_ptr<void> allocate(std::size_t bytes, int id) noexcept;

/// Makes memory one that a device which shares the host's memory reads where it lies (CL_MEM_USE_HOST_PTR): false for
/// other devices, and for memory that does not begin at a page. Any thread.
bool pin(void* data, std::size_t bytes, int id) noexcept;
void unpin(void* data, int id) noexcept;

}  // namespace framequality::opencl
