// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables for colour halftoning, made from a palette once, on the host, for all devices.
#pragma once

#include "algorithms/halftone/colour.h"
#include "algorithms/halftone/palette.h"

#include <array>
#include <cstdint>
#include <vector>

namespace framequality::halftone {

/// Input of all tables: they change only with it.
struct ColourBasis {
  Palette palette;
  bool linear = false;   ///< tones are proportional to light
  bool relative = true;  ///< black and white of the image become the darkest and the lightest colour of the palette
  bool operator==(const ColourBasis&) const = default;
};

/// Tone of an 8-bit sRGB value, 0...kFull.
int palette_tone(int code, bool linear);

/// Tables of error diffusion.
struct ChoiceTables {
  std::vector<std::uint8_t> nearest;  ///< by cell_of(u + kErrorBias): the colour nearest in OKLab to the cell's middle
  std::array<Triple, kMostColours> minuend{};
  ColourChoice view() const { return {nearest.data(), minuend.data()}; }
};
ChoiceTables make_choice(const ColourBasis& basis);

/// The mixtures of the palette, at every node of the image's tones.
struct GamutTables {
  std::vector<Triple> mapped;  ///< by node_of(tone): the tone that is nearest among all mixtures of the palette
  std::vector<Mixture> mixed;  ///< its mixture, in 1/kWhite
};
GamutTables make_gamut(const ColourBasis& basis);

}  // namespace framequality::halftone
