// SPDX-License-Identifier: LGPL-2.1-or-later
// DMA buffers that an OpenCL device reads by itself. No OpenCL headers.
#pragma once

#include <cstddef>
#include <memory>

namespace framequality::opencl {

/// As Backend::import(), if the device has cl_khr_external_memory_dma_buf or cl_arm_import_memory_dma_buf and has
/// been found to read these buffers right: its first frames are compared with what the CPU reads, and one difference
/// ends the use of that extension for this context, as does a failure before that. At most 256 buffers of a process are
/// imported at a time. Any thread.
std::shared_ptr<void> import_dma_buffer(int fd, std::size_t bytes, const std::shared_ptr<void>& known, int id) noexcept;

}  // namespace framequality::opencl
