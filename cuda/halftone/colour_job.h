// SPDX-License-Identifier: LGPL-2.1-or-later
// Parameters of a launch that halftones to a palette, and the function that launches.
#pragma once

#include "algorithms/halftone/colour_codes.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace framequality::cuda {

/// One frame. Everything that is pointed to is device memory.
struct ColourJob {
  Frame frame;
  PictureLayout layout;
  const std::int32_t* table = nullptr;       ///< halftone::make_device_table()
  const std::uint16_t* mask = nullptr;       ///< ranks
  const halftone::Mixture* mixed = nullptr;  ///< by node
  std::uint8_t* out = nullptr;               ///< row 0 of the Target
  std::ptrdiff_t out_stride = 0;             ///< bytes, may be negative
  int width = 0, height = 0;                 ///< of all fields; not empty
  int fields = 1;                            ///< field f: rows y with y mod fields = f
  int strength = halftone::kFullStrength;
  int pixel_bits = 24;  ///< halftone::pixel_bits()
};

/// Blue noise. One launch. Throws Error.
void launch_colour_noise(const ColourJob& job, cudaStream_t stream);

}  // namespace framequality::cuda
