// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of colour halftones: from tones to palette indices, and from those to output pixels.
#pragma once

#include "algorithms/halftone/colour.h"
#include "algorithms/halftone/colour_filter.h"

#include <cstdint>

namespace framequality::cpu {

/// Rows diffused together, each kColourSkew columns behind the one above, to keep a core busy while it waits for one
/// row's errors.
inline constexpr int kColourRows = 4, kColourSkew = 2;

/// A group of rows in progress.
struct ColourGroup {
  int rows;  ///< 1...kColourRows
  int width;
  const halftone::Triple* tones[kColourRows];
  std::uint8_t* colours[kColourRows];  ///< palette indices
  /// Kept errors of the row above the group and of its rows; columns -1 and width are the bias.
  halftone::Triple* kept[kColourRows + 1];
};

/// Steps t0...t1-1: row r is at column t - kColourSkew * r.
void diffuse_colours(const ColourGroup& group, const halftone::ColourChoice& choice, int strength, int t0, int t1);

/// One row of serpentine order. kept: as in floyd_steinberg_row().
void diffuse_serpentine(const halftone::Triple* tones, int width, int y, const halftone::ColourChoice& choice,
                        int strength, halftone::Triple* kept, std::uint8_t* colours);

/// Converts a row of palette indices to the output format of the settings.
void write_colours(const std::uint8_t* colours, int width, const halftone::ColourSettings& settings, std::uint8_t* out);

}  // namespace framequality::cpu
