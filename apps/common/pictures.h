// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as picture files.
#pragma once

#include "apps/common/owned.h"

#include <string>

namespace framequality::apps {

/// A frame as a PNG file, lossless: gray formats as 8 or 16 bit gray, everything else as 8 bit RGB. Memory of any kind.
/// Throws std::runtime_error with the reason.
std::string png_of(GstSample* sample);

/// A frame as a JPEG file of square pixels, at most `longest` pixels long and high, never larger than the frame.
std::string jpeg_of(GstSample* sample, int longest);

}  // namespace framequality::apps
