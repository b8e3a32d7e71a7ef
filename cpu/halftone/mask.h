// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning by the blue-noise mask: pixel values are compared with those at which levels begin.
#pragma once

#include "algorithms/halftone/filter.h"
#include "cpu/halftone/bands.h"
#include "cpu/halftone/kernels.h"
#include "cpu/line_vector.h"
#include "cpu/workers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace framequality::cpu {

/// Everything is allocated in the constructor: at most 480 KiB and three bytes for each column and thread.
class MaskComparison {
 public:
  MaskComparison(const PixelLayout& layout, int width, const HalftoneKernels& kernels, int threads);

  /// Whether frames are compared in place, without computing luma first.
  bool is_direct() const { return is_direct_; }

  /// threads: how many of the workers take part.
  void run(const ToneSource& source, const halftone::Target& out, const halftone::Settings& settings, Workers& workers,
           int threads);

 private:
  /// A row buffer of one thread.
  struct Scratch {
    std::vector<std::uint8_t> codes, out;
  };
  /// The inputs of the table.
  struct Basis {
    halftone::ToneSettings tone;
    int levels, strength;
    bool operator==(const Basis&) const = default;
  };
  template <class Code>
  void fill(const std::int16_t* tones, const Basis& basis);

  const HalftoneKernels& kernels_;
  const bool is_direct_, words_;
  const int depth_, shift_;  ///< position of a value's bits in a sample
  std::optional<Basis> basis_;
  LineVector<std::uint8_t> last_below_;  ///< for each row of the mask, MaskedRow::last_below
  std::vector<Scratch> scratch_;
};

}  // namespace framequality::cpu
