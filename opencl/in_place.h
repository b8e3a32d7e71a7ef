// SPDX-License-Identifier: LGPL-2.1-or-later
// Pinned host memory as a buffer.
#pragma once

#include "opencl/context.h"

#include <cstddef>
#include <cstdint>

namespace framequality::opencl {

/// Memory that was pinned in a context, and where in it a byte is. None: no buffer.
struct InPlace {
  cl_mem buffer = nullptr;
  std::size_t offset = 0, bytes = 0;  ///< bytes: of all of it
};
InPlace find_pinned(const std::uint8_t* data, const Context& context);

}  // namespace framequality::opencl
