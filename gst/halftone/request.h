// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of halftone as the user gives them, and the resulting caps.
#pragma once

#include "algorithms/halftone/filter.h"
#include "algorithms/halftone/palette.h"
#include "gst/buffer/frame.h"

#include <string>

// One bit per pixel, 1 for white, the highest bit of a byte leftmost, rows padded to whole bytes.
#define FQ_PACKED_CAPS                                                                                    \
  "video/x-mono, format = (string) MSB, width = " GST_VIDEO_SIZE_RANGE ", height = " GST_VIDEO_SIZE_RANGE \
  ", framerate = " GST_VIDEO_FPS_RANGE
// Numbers of a palette's colours, packed the same way; palette: text_of() it.
#define FQ_INDEXED_CAPS                                                                             \
  "video/x-indexed, format = (string) MSB, bits = (int) { 1, 2, 4 }, width = " GST_VIDEO_SIZE_RANGE \
  ", height = " GST_VIDEO_SIZE_RANGE ", framerate = " GST_VIDEO_FPS_RANGE

namespace framequality {

/// Values of the property `palette`; those from kFirstNamed on are named_palettes().
enum class PaletteChoice { kNone = 0, kCustom = 1, kFirstNamed = 2 };

/// User-facing settings; caps determine the rest: settings.packed, tone.limited and tone.light.
struct HalftoneRequest {
  halftone::Settings settings;
  bool linear = false;  ///< errors are diffused in linear light
  PaletteChoice palette = PaletteChoice::kNone;
  std::string palette_colors;  ///< as parse_palette() reads it, or empty
  std::string palette_file;    ///< as load_palette() reads it, or empty: at most one of the two is not
  halftone::Palette custom;    ///< what it is
  bool absolute = false;       ///< not ColourBasis::relative

  bool is_colour() const { return palette != PaletteChoice::kNone; }
  /// The requested palette; without colours if there is none, or if a custom one is still missing.
  halftone::Palette colours() const {
    if (palette == PaletteChoice::kNone) return {};
    if (palette == PaletteChoice::kCustom) return custom;
    return halftone::named_palettes()[static_cast<std::size_t>(palette) - 2].palette;
  }
};

/// Caps of the images that frames become, in system memory. Owned by the caller.
GstCaps* halftone_output_caps(GstCaps* in, const HalftoneRequest& request);

/// Caps of the frames that can become these images. Owned by the caller.
GstCaps* halftone_input_caps(GstCaps* out, const HalftoneRequest& request);

}  // namespace framequality
