// SPDX-License-Identifier: LGPL-2.1-or-later
// Quality of halftones: every method by the same measure.
#pragma once

#include "algorithms/halftone/tone_dependent.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace framequality::tools {

/// Means over the tones of flat patches.
struct Quality {
  std::string method;
  double cost = 0;        ///< against dot patterns; white noise against other white noise
  double anisotropy = 0;  ///< dB
  double tone_error = 0;  ///< the largest, of the evaluated part, as a share of white
};

/// Quality of Floyd-Steinberg, its serpentine variant, the blue noise mask, white noise and every table. tone_step: of
/// the 127 darker tones, every tone_step-th from 1. seed: of the reference patterns; use one not used in training.
std::vector<Quality> evaluate(int tone_step, std::uint64_t seed, int threads,
                              const std::function<void(int, int)>& progress);

}  // namespace framequality::tools
