// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as image files.
#pragma once

#include "apps/common/raster.h"

#include <string>

namespace framequality::apps {

/// A frame as a PNG file, lossless but for the conversion from YUV: gray or RGB, of 8 bits, or of 16 if the frame has
/// more than 8. `exif`: a block as exif_of() makes, or empty. Colours that are not those of ordinary screens (BT.2020,
/// HLG, PQ) are said in a cICP chunk. Memory of any kind; turned and shaped as raster_of() does. Throws
/// std::runtime_error with the reason.
std::string png_of(GstSample* sample, const View& view = {}, const std::string& exif = "");

/// A frame as a JPEG file, of 8 bits; else as png_of(). `quality`: 1...100; from 90 on chroma has full size.
std::string jpeg_of(GstSample* sample, const View& view, int quality, const std::string& exif = "");

/// The same with the best quality from 85 down that has at most so many bytes; the lowest there is where none has.
std::string jpeg_within(GstSample* sample, const View& view, std::size_t bytes);

}  // namespace framequality::apps
