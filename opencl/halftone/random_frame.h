// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame of random bytes, on which programs for halftoning prove themselves.
#pragma once

#include "algorithms/plane_size.h"
#include "algorithms/split_mix.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framequality::opencl {

class RandomFrame {
 public:
  /// Planes of these sizes, with gaps between their rows. The same for the same seed.
  RandomFrame(std::span<const PlaneSize> sizes, std::uint64_t seed) {
    constexpr std::size_t kGap = 5;
    SplitMix random(seed);
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      const std::size_t stride = sizes[p].row_bytes + kGap;
      bytes_[p].resize(stride * static_cast<std::size_t>(sizes[p].rows));
      for (std::uint8_t& b : bytes_[p]) b = static_cast<std::uint8_t>(random.next() >> 56);
      frame_.plane[p] = bytes_[p].data();
      frame_.stride[p] = static_cast<std::ptrdiff_t>(stride);
    }
  }
  RandomFrame(const RandomFrame&) = delete;
  RandomFrame& operator=(const RandomFrame&) = delete;

  const Frame& get() const { return frame_; }

 private:
  std::vector<std::uint8_t> bytes_[3];
  Frame frame_;
};

}  // namespace framequality::opencl
