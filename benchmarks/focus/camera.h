// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera without a lens: an image becomes a noisy 8-bit frame, and that is measured.
#pragma once

#include "benchmarks/focus/score_table.h"
#include "cpu/sharpness/meter.h"

#include <memory>
#include <span>

namespace framequality::bench {

class Camera {
 public:
  explicit Camera(std::uint64_t seed);

  /// Mean and standard deviation of the score of so many frames (one without noise). plane: 1/256 codes, which are
  /// scaled by `contrast` about 128 first.
  Expected measure(std::span<const std::uint16_t> plane, double contrast, double sigma, int frames);

 private:
  void expose(std::span<const std::uint16_t> plane, double contrast, double sigma);

  std::shared_ptr<const sharpness::Plan> plan_;
  std::unique_ptr<sharpness::Meter> meter_;
  Pixels frame_;
  std::uint64_t at_;  ///< in the noise
};

}  // namespace framequality::bench
