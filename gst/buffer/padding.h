// SPDX-License-Identifier: LGPL-2.1-or-later
// Guess at the padding of rows, from the size of a buffer without GstVideoMeta.
#pragma once

#include <gst/video/video.h>

#include <string>

namespace framequality {

/// Frames of these caps come in buffers of `size` bytes that have no GstVideoMeta, so that they are read as GStreamer
/// lays them out. A sentence that says how their rows may lie instead, and what to put upstream then; empty if the size
/// is that of no other distance of rows.
std::string padding_hint(const GstVideoInfo& info, gsize size);

}  // namespace framequality
