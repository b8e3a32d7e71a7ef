// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning by the blue-noise mask: codes are compared with the codes at which levels begin.
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

/// Everything is allocated when it is made: at most 480 KiB and three bytes for each column and thread.
class MaskComparison {
 public:
  MaskComparison(const PixelLayout& layout, int width, const HalftoneKernels& kernels, int threads);

  /// Whether frames are compared as they lie, with no row of luma made first.
  bool is_direct() const { return is_direct_; }

  /// threads: of the workers, that take part.
  void run(const ToneSource& source, const halftone::Target& out, const halftone::Settings& settings, Workers& workers,
           int threads);

 private:
  /// Of one thread: a row.
  struct Scratch {
    std::vector<std::uint8_t> codes, out;
  };
  /// What the table depends on.
  struct Basis {
    halftone::ToneSettings tone;
    int levels, strength;
    bool operator==(const Basis&) const = default;
  };
  template <class Code>
  void fill(const std::int16_t* tones, const Basis& basis);

  const HalftoneKernels& kernels_;
  const bool is_direct_, words_;
  const int depth_, shift_;  ///< where a code's bits lie in a sample
  std::optional<Basis> basis_;
  LineVector<std::uint8_t> last_below_;  ///< for each row of the mask, MaskedRow::last_below
  std::vector<Scratch> scratch_;
};

}  // namespace framequality::cpu
