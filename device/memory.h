// SPDX-License-Identifier: LGPL-2.1-or-later
// Kinds of memory that hold a frame's pixels.
#pragma once

#include <cstdint>

namespace framequality {

enum class Memory : std::uint8_t {
  kHost,
  kCuda,  ///< of a CUDA device
  kDma,   ///< a DMA buffer of the kernel that a device has imported: Backend::import()
};

}  // namespace framequality
