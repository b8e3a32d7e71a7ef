// SPDX-License-Identifier: LGPL-2.1-or-later
// YUV4MPEG2 files as FFmpeg writes them, for GStreamer's decoder.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace framequality::apps {

/// Bytes of a stream header that y4mdec reads (GStreamer 1.22 to 1.26); it fails if there are more.
inline constexpr std::size_t kMostYuv4mpegHeader = 80;

/// The stream header, without its newline, less the fields that are meant for applications (those with X), if it is
/// longer than y4mdec reads. FFmpeg adds XYSCSS and XCOLORRANGE.
std::string shorter_yuv4mpeg_header(std::string_view header);

/// The chroma field of a stream header if y4mdec misreads it, as "420p10" (samples of more than 8 bits, alpha, gray);
/// empty if it reads it. decodes_gray: it does, and then 4:1:1 too.
std::string misread_yuv4mpeg_chroma(std::string_view header, bool decodes_gray);

/// Shortens the stream header that a y4mdec gets, posts an error instead of frames that it would misread
/// (GStreamer 1.22 takes 10 bits for 8, 1.26 loses half of each row), and has it pushed into, whose first frame may
/// otherwise come before decodebin is ready for it (GStreamer 1.28).
void mend_yuv4mpeg(GstElement* y4mdec);

}  // namespace framequality::apps
