// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes of colour halftones as files.
#pragma once

#include "algorithms/halftone/palette.h"

#include <string>

namespace framequality {

/// The palette in a text file: a colour on each line, as halftone::parse_palette() reads it; blank lines are skipped.
/// Throws std::invalid_argument that says what is wrong.
halftone::Palette load_palette(const std::string& location);

}  // namespace framequality
