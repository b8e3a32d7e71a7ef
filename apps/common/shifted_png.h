// SPDX-License-Identifier: LGPL-2.1-or-later
// PNG images of 16 bits without alpha, as GStreamer 1.22 decodes them.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <span>

namespace framequality::apps {

/// Whether a PNG file has red, green and blue of 16 bits, and no alpha. begin: at least its first 26 bytes.
bool is_deep_rgb(std::span<const std::uint8_t> begin);

/// Whether the ARGB64 samples of an opaque image lie one too far: 65535 in each place of red, but not of alpha. False
/// if the image's blue is 65535 nearly everywhere, as both look alike then.
bool is_shifted_argb64(std::span<const std::uint16_t> samples);

/// Moves them back. The last one is lost, and becomes that of the pixel before.
void shift_back(std::span<std::uint16_t> samples);

/// Moves the samples of a pngdec's images where they belong (GStreamer 1.22 decodes 16-bit RGB one sample too far).
void mend_png(GstElement* pngdec);

}  // namespace framequality::apps
