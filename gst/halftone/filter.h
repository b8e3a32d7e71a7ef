// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone::Filter as a PixelFilter, and the caps of what it reads and writes.
#pragma once

#include "algorithms/halftone/filter.h"
#include "gst/base/filter_base.h"

#include <functional>
#include <memory>

// One bit per pixel, 1 for white, the highest bit of a byte leftmost, rows padded to whole bytes.
#define FQ_PACKED_CAPS                                                                                    \
  "video/x-mono, format = (string) MSB, width = " GST_VIDEO_SIZE_RANGE ", height = " GST_VIDEO_SIZE_RANGE \
  ", framerate = " GST_VIDEO_FPS_RANGE

namespace framequality {

/// What the user asks for; caps say the rest: settings.packed, tone.limited and tone.light.
struct HalftoneWish {
  halftone::Settings settings;
  bool linear = false;  ///< errors are diffused in linear light
};

/// wish: asked for with every frame; streaming thread. Otherwise as FqFilterBaseClass::make_filter.
std::unique_ptr<PixelFilter> make_halftoner(const FilterFormat& format, const Place& place, int depth, int threads,
                                            std::function<HalftoneWish()> wish);

/// FqFilterBaseClass::parse_caps.
bool parse_halftone_caps(GstCaps* in, GstCaps* out, FilterFormat& format);

/// Caps of the pictures that frames become: GRAY8 in system memory, or one bit per pixel. Owned by the caller.
GstCaps* halftone_output_caps(GstCaps* in, bool packed);

/// Caps of the frames that become such pictures. Owned by the caller.
GstCaps* halftone_input_caps(GstCaps* out, bool packed);

}  // namespace framequality
