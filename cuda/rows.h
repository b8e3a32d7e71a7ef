// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts of rows in a device's memory. No CUDA headers.
#pragma once

#include <cstddef>

namespace framequality::cuda {

/// The distance of rows of this many bytes in memory that this code allocates: whole memory transactions.
inline std::size_t whole_pitch(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Kernels that stream rows read rows that begin at multiples of this.
inline constexpr std::size_t kLoadAlign = 16;

}  // namespace framequality::cuda
