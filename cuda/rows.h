// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts of rows in a device's memory. No CUDA headers.
#pragma once

#include <cstddef>

namespace framequality::cuda {

/// The row pitch for this many bytes in memory allocated here: whole memory transactions.
inline std::size_t whole_pitch(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Alignment of rows for kernels that stream them.
inline constexpr std::size_t kLoadAlign = 16;

}  // namespace framequality::cuda
