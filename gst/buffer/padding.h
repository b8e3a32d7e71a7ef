// SPDX-License-Identifier: LGPL-2.1-or-later
// Guess at the padding of rows, from the size of a buffer without GstVideoMeta.
#pragma once

#include <gst/video/video.h>

#include <string>

namespace framequality {

/// Frames of these caps in buffers of `size` bytes without GstVideoMeta are read in GStreamer's default
/// layout. Returns a sentence about how their rows may lie instead, and what to put upstream; empty if the size
/// fits no other row stride.
std::string padding_hint(const GstVideoInfo& info, gsize size);

}  // namespace framequality
