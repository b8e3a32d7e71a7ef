// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of a frame of any layout as tones for colour halftoning.
#pragma once

#include "algorithms/halftone/colour_filter.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace framequality::cpu {

/// Tables from pixel values to tones: made when settings change, read by all threads.
class ColourCodes {
 public:
  explicit ColourCodes(const PictureLayout& layout) : layout_(layout) {}

  void prepare(const halftone::ColourSettings& settings);
  /// Tones of a row. rows: the row of each component.
  void read(const std::uint8_t* const* rows, int width, halftone::Triple* tones) const;

 private:
  struct Basis {
    halftone::ToneSettings tone;
    halftone::Matrix matrix;
    bool operator==(const Basis&) const = default;
  };
  std::uint32_t code(const std::uint8_t* row, int c, int x) const;
  void read_bytes(const std::uint8_t* const* rows, int width, halftone::Triple* tones) const;
  void read_yuv(const std::uint8_t* const* rows, int width, halftone::Triple* tones) const;

  PictureLayout layout_;
  std::optional<Basis> basis_;
  std::vector<std::int32_t> table_;           ///< algorithms/halftone/colour_codes.h
  std::vector<halftone::Triple> channel_[3];  ///< by code: the tone in its field, of gray in all of them
};

}  // namespace framequality::cpu
