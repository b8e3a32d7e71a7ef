// SPDX-License-Identifier: LGPL-2.1-or-later
// Floyd-Steinberg on a GPU as it was published: a launch for each wave of strips; no CUDA headers.
#pragma once

#include <cstdint>
#include <vector>

namespace framequality::published {

// The picture is cut into strips of rows, one block each, and into columns of tiles: a wave is the tiles that depend on
// no other of the same wave, that is tile c - 2 s of strip s, and each wave is a launch. Inside a tile a thread has a
// row and is two columns behind the thread above it, with a barrier after each column; errors between rows are in
// shared memory, those between tiles in device memory.

struct Diffused {
  double kernel_seconds = 0;         ///< of one picture in device memory
  double seconds = 0;                ///< the same with the way there and back, from and to pinned memory
  std::vector<std::uint8_t> pixels;  ///< grey codes without gaps
};

/// Halftones packed 8-bit pixels on the current device, `repeats` times after once to warm up. strip_rows: 16...512, a
/// multiple of 16. Throws cuda::Error.
Diffused floyd_steinberg(const std::vector<std::uint8_t>& pixels, int width, int height, int strip_rows, int repeats);

}  // namespace framequality::published
