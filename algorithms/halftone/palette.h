// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes of colour halftones: the colours of a panel as the eye sees them, and the panel's number for each.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace framequality::halftone {

inline constexpr int kMostColours = 16;

struct PaletteColour {
  std::uint8_t red = 0, green = 0, blue = 0;  ///< sRGB, as the eye sees the panel
  std::uint8_t code = 0;                      ///< number that stands for it in packed frames, 0...15
  bool operator==(const PaletteColour&) const = default;
};

struct Palette {
  int count = 0;  ///< 2...kMostColours; 0: none
  std::array<PaletteColour, kMostColours> colour{};

  std::span<const PaletteColour> colours() const { return std::span(colour).first(static_cast<std::size_t>(count)); }
  /// Bits of a pixel in packed frames: the fewest of 1, 2 and 4 that hold every code.
  int bits() const {
    int most = 0;
    for (const PaletteColour& c : colours()) most = c.code > most ? c.code : most;
    return most < 2 ? 1 : most < 4 ? 2 : 4;
  }
  bool operator==(const Palette&) const = default;
};

struct NamedPalette {
  const char* name;
  const char* summary;  ///< one line, such as "black, white, red"
  Palette palette;
};

/// Palettes of common panels. The list is append-only: its index plus 2 is the value of the element's property.
/// docs/halftoning.md says where the colours come from.
std::span<const NamedPalette> named_palettes();

/// Reads "#rrggbb" colours separated by commas, each optionally followed by "=" and its code; the default is its place
/// in the list, from 0. Throws std::invalid_argument, which says what is wrong, if there are fewer than 2 colours or
/// more than kMostColours, or if two colours or two codes are the same.
Palette parse_palette(std::string_view text);
/// The palette as text: parse_palette() of it is the same palette.
std::string text_of(const Palette& palette);

}  // namespace framequality::halftone
