// SPDX-License-Identifier: LGPL-2.1-or-later
// Pinned host memory as a buffer.
#pragma once

#include "opencl/context.h"

#include <cstddef>
#include <cstdint>

namespace framequality::opencl {

/// Memory pinned in a context, and a byte's offset in it. Default: no buffer.
struct InPlace {
  cl_mem buffer = nullptr;
  std::size_t offset = 0, bytes = 0;  ///< bytes: of the whole memory
};
InPlace find_pinned(const std::uint8_t* data, const Context& context);

}  // namespace framequality::opencl
