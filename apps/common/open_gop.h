// SPDX-License-Identifier: LGPL-2.1-or-later
// H.265 streams that begin in an open GOP, for libav's decoder.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <span>

namespace framequality::apps {

/// The nal_unit_type of an access unit's frame (H.265, table 7-1); -1: none was found. length_size: bytes before each
/// NAL unit that say how long it is, 1...4; 0: start codes are before them.
int h265_frame_type(std::span<const std::uint8_t> unit, int length_size);

/// True for CRA and BLA: keyframes followed by frames that refer to earlier ones, which are missing where decoding
/// begins.
bool is_open_keyframe(int frame_type);

/// Whether libav's decoders in this GStreamer lose frames after such a keyframe if several threads decode a frame each;
/// others are then decoded wrongly, without an error. Seen with 1.26, the more threads the more often; not with 1.22.
bool loses_frames();

/// If `loses`, has the threads of an avdec_h265 decode parts of one frame as soon as it begins at such a keyframe.
void mend_h265(GstElement* avdec_h265, bool loses = loses_frames());

}  // namespace framequality::apps
