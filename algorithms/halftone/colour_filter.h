// SPDX-License-Identifier: LGPL-2.1-or-later
// Interface of the filters that halftone to the colours of a palette: frames in, colours or their numbers out.
#pragma once

#include "algorithms/halftone/colour.h"
#include "algorithms/halftone/filter.h"
#include "algorithms/halftone/tone.h"
#include "algorithms/picture.h"
#include "algorithms/worker.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace framequality::halftone {

/// The matrix from Y, U and V to R, G and B.
enum class Matrix : std::uint8_t { kBt601, kBt709, kBt2020 };

enum class ColourOutput : std::uint8_t {
  kCodes,  ///< PaletteColour::code, Palette::bits() each, the highest bits leftmost, rows padded to bytes with 0
  kRgb,    ///< the colours as the eye sees them, three bytes
  kRgbx    ///< the same with a fourth byte, 255
};

/// Settings for one frame; they may differ between frames.
struct ColourSettings {
  Palette palette;
  Method method = Method::kFloydSteinberg;  ///< or kBlueNoise
  ColourOutput output = ColourOutput::kRgb;
  ToneSettings tone;               ///< of each channel; tone.light: kCode unless `linear`
  bool linear = false;             ///< colours are mixed as light, not as pixel values
  bool relative = true;            ///< as ColourBasis::relative
  bool serpentine = false;         ///< of Floyd-Steinberg: on one core
  int strength = kFullStrength;    ///< as Settings::strength
  Matrix matrix = Matrix::kBt709;  ///< of frames of Y, U and V
  bool operator==(const ColourSettings&) const = default;
};

/// Whether these settings are supported.
inline bool valid(const ColourSettings& s) {
  return s.palette.count >= 2 && s.palette.count <= kMostColours && s.method != Method::kToneDependent &&
         s.strength >= 0 && s.strength <= kFullStrength;
}

/// Bits that a pixel of a Target may have.
inline constexpr std::array kPixelBits = {1, 2, 4, 24, 32};

inline int pixel_bits(const ColourSettings& s) {
  if (s.output == ColourOutput::kCodes) return s.palette.bits();
  return s.output == ColourOutput::kRgb ? 24 : 32;
}
/// Its place among kPixelBits.
inline std::size_t result_of(const ColourSettings& s) {
  return static_cast<std::size_t>(std::ranges::find(kPixelBits, pixel_bits(s)) - kPixelBits.begin());
}

/// Bytes of a row of a Target.
inline std::size_t row_bytes_of(int width, int bits) {
  return width > 0 ? (static_cast<std::size_t>(width) * static_cast<std::size_t>(bits) + 7) / 8 : 0;
}
inline std::size_t target_row_bytes(int width, const ColourSettings& s) { return row_bytes_of(width, pixel_bits(s)); }

/// Halftones a frame into `out`, which may not overlap it. Samples of chroma stand for all pixels that they cover; of
/// samples of more than 12 bits, the upper 12 count. valid(settings) holds.
struct ColourTask {
  Frame frame;
  Target out;
  ColourSettings settings;
  int fields = 1;  ///< as Task::fields
};

/// Bit-identical on every twin, with any number of threads. Made for a PictureGeometry, whose layout may leave out
/// planes of alpha.
using ColourFilter = Worker<ColourTask, void>;

}  // namespace framequality::halftone
