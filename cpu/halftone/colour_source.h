// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of a frame of any layout as the tones that colour halftoning works on.
#pragma once

#include "algorithms/halftone/colour_filter.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace framequality::cpu {

/// What turns codes into tones: made when settings change, read by all threads.
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
  /// Parts of a sample of chroma in green and in red or blue, in 1/kPart of a tone.
  struct Chroma {
    std::int32_t green, other;
  };
  bool is_yuv() const { return layout_.components == 3 && !layout_.is_rgb; }
  int depth() const { return layout_.depth > 12 ? 12 : layout_.depth; }
  std::uint32_t code(const std::uint8_t* row, int c, int x) const;
  void fill_yuv(const Basis& basis);
  void read_bytes(const std::uint8_t* const* rows, int width, halftone::Triple* tones) const;
  void read_yuv(const std::uint8_t* const* rows, int width, halftone::Triple* tones) const;

  PictureLayout layout_;
  std::optional<Basis> basis_;
  std::vector<halftone::Triple> channel_[3];  ///< by code: the tone in its field, of gray in all of them
  std::vector<std::int32_t> luma_;            ///< by code
  std::vector<Chroma> chroma_[2];             ///< of U and V, by code
  std::vector<std::uint16_t> light_;          ///< by tone of a code, 0...kFull
};

}  // namespace framequality::cpu
