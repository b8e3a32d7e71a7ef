// SPDX-License-Identifier: LGPL-2.1-or-later
// Host memory that an OpenCL device reads directly. No OpenCL headers.
#pragma once

#include <cstddef>
#include <memory>

namespace framequality::opencl {

/// Host memory that a device with separate memory reads without a copy on the host (CL_MEM_ALLOC_HOST_PTR, mapped
/// permanently); null if the device shares the host's memory, or has none left. Any thread.
std::shared_ptr<void> allocate(std::size_t bytes, int id) noexcept;

/// Lets a device that shares the host's memory read this memory in place (CL_MEM_USE_HOST_PTR): false for
/// other devices, and for memory that is not page-aligned. Any thread.
bool pin(void* data, std::size_t bytes, int id) noexcept;
void unpin(void* data, int id) noexcept;

}  // namespace framequality::opencl
