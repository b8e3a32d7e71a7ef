// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as image files.
#pragma once

#include "apps/common/raster.h"

#include <string>

namespace framequality::apps {

/// A frame as a PNG file, lossless but for the conversion from YUV: gray or RGB, of 8 bits, or of 16 if the frame has
/// more than 8. `exif`: a block from exif_of(), or empty. Colours that are not those of ordinary screens (BT.2020,
/// HLG, PQ) are declared in a cICP chunk. Memory of any kind; turned and shaped as by raster_of(). Throws
/// std::runtime_error with the reason.
std::string png_of(GstSample* sample, const View& view = {}, const std::string& exif = "");

/// A frame as a JPEG file, of 8 bits; otherwise as png_of(). `quality`: 1...100; from 90 on chroma has full size.
std::string jpeg_of(GstSample* sample, const View& view, int quality, const std::string& exif = "");

/// The same with the best quality from 85 down that fits this many bytes; the lowest if none does.
std::string jpeg_within(GstSample* sample, const View& view, std::size_t bytes);

}  // namespace framequality::apps
