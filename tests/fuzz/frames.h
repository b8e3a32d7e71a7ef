// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps and buffers as a careless or hostile neighbour sends them.
#pragma once

#include "tests/fuzz/dice.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace framequality::fuzz {

inline const std::vector<GstVideoFormat>& raw_formats() {
  static const std::vector<GstVideoFormat> all = [] {
    guint count = 0;
    const GstVideoFormat* formats = gst_video_formats_raw(&count);
    return std::vector<GstVideoFormat>(formats, formats + count);
  }();
  return all;
}

/// Caps of raw video, of a format that the template of `pad` has, mostly. Fixed.
inline GstCaps* random_caps(Dice& dice, GstPad* pad) {
  if (dice.one_in(40))
    return gst_caps_from_string(
        dice.of({"video/x-raw", "audio/x-raw,rate=8000,channels=1", "image/jpeg", "video/x-raw,format=NV12",
                 "video/x-raw,format=GRAY8,width=0,height=0,framerate=0/1"}));
  GstCaps* own = gst_pad_get_pad_template_caps(pad);
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  for (int tries = 0; tries < 30; ++tries) {
    format = dice.of(raw_formats());
    GstCaps* one =
        gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string(format), nullptr);
    const bool fits = gst_caps_can_intersect(own, one);
    gst_caps_unref(one);
    if (fits || dice.one_in(40)) break;
  }
  gst_caps_unref(own);
  const auto side = [&] {
    return dice.one_in(3) ? dice.small(1, 9) : dice.one_in(12) ? dice.small(200, 700) : dice.small(3, 130);
  };
  GstCaps* caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string(format),
                                      "width", G_TYPE_INT, side(), "height", G_TYPE_INT, side(), nullptr);
  if (!dice.one_in(5)) {
    const auto [n, d] = dice.of({std::pair(30, 1), std::pair(0, 1), std::pair(1, 1), std::pair(30000, 1001),
                                 std::pair(1, 100000), std::pair(G_MAXINT, 1), std::pair(1, G_MAXINT)});
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, n, d, nullptr);
  }
  if (dice.one_in(4))
    gst_caps_set_simple(caps, "interlace-mode", G_TYPE_STRING,
                        dice.of({"progressive", "interleaved", "mixed", "fields", "alternate"}), nullptr);
  if (dice.one_in(4))
    gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING,
                        dice.of({"bt601", "bt709", "bt2020", "1:1:0:0", "2:4:7:1", "sRGB", "0:0:0:0", "nonsense"}),
                        nullptr);
  if (dice.one_in(6))
    gst_caps_set_simple(caps, "pixel-aspect-ratio", GST_TYPE_FRACTION, dice.small(1, 60), dice.small(1, 60), nullptr);
  if (dice.one_in(10)) {
    GstStructure* mosaic = gst_caps_get_structure(caps, 0);
    gst_structure_set_name(mosaic, "video/x-bayer");
    gst_structure_set(mosaic, "format", G_TYPE_STRING,
                      dice.of({"bggr", "gbrg", "grbg", "rggb", "bggr10le", "rggb12be", "grbg16le", "gbrg14le", "x"}),
                      nullptr);
  }
  return caps;
}

/// The same in another size, a smaller one mostly, as after a switch of cameras or of a stream's resolution.
inline GstCaps* resized_caps(Dice& dice, GstCaps* caps) {
  GstCaps* resized = gst_caps_copy(caps);
  for (const char* side : {"width", "height"}) {
    int length = 1;
    gst_structure_get_int(gst_caps_get_structure(caps, 0), side, &length);
    gst_caps_set_simple(resized, side, G_TYPE_INT,
                        dice.one_in(3) ? dice.small(16, 400) : dice.small(1, std::max(1, length)), nullptr);
  }
  return resized;
}

inline bool info_of(GstCaps* caps, GstVideoInfo& info) {
  if (!caps || !gst_video_info_from_caps(&info, caps)) return false;
  // GStreamer does not know how large a mosaic is.
  if (gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-bayer"))
    info.size = static_cast<gsize>(GST_ROUND_UP_4(GST_VIDEO_INFO_WIDTH(&info))) *
                static_cast<gsize>(GST_VIDEO_INFO_HEIGHT(&info)) * 2;
  return true;
}

/// Bytes of exactly this size, so that a sanitizer sees what reads or writes beyond.
inline GstMemory* memory_of(Dice& dice, gsize size, bool writable) {
  auto* bytes = static_cast<std::uint8_t*>(g_malloc(std::max<gsize>(size, 1)));
  const std::uint64_t pattern = dice.word();
  for (gsize i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i * 2654435761u + pattern) >> 5);
  return gst_memory_new_wrapped(writable ? static_cast<GstMemoryFlags>(0) : GST_MEMORY_FLAG_READONLY, bytes,
                                std::max<gsize>(size, 1), 0, size, bytes, g_free);
}

/// A GstVideoMeta that puts planes where it likes, or where they are.
inline void add_meta(Dice& dice, GstBuffer* buffer, const GstVideoInfo& info) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  guint planes = GST_VIDEO_INFO_N_PLANES(&info);
  for (guint p = 0; p < planes; ++p) {
    offset[p] = GST_VIDEO_INFO_PLANE_OFFSET(&info, p);
    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
  }
  GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&info);
  guint width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
        height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info));
  while (!dice.one_in(3)) {
    const guint p = static_cast<guint>(dice.in(0, std::max(1U, planes) - 1));
    switch (dice.small(0, 7)) {
      case 0:
        offset[p] += static_cast<gsize>(dice.in(0, 33));
        break;
      case 1:
        offset[p] = static_cast<gsize>(dice.in(0, static_cast<std::int64_t>(2 * info.size + 9)));
        break;
      case 2:
        stride[p] = stride[p] % 100000 + dice.small(-40, 40);
        break;
      case 3:
        stride[p] = dice.of({0, -1, 1, -(stride[p] % 100000), G_MAXINT, G_MININT, 7});
        break;
      case 4:
        if (dice.one_in(4)) planes = static_cast<guint>(dice.in(1, GST_VIDEO_MAX_PLANES));
        break;
      case 5:
        if (dice.one_in(4)) format = dice.of(raw_formats());
        break;
      case 6:
        if (dice.one_in(3)) width = static_cast<guint>(dice.in(1, 900));
        break;
      default:
        if (dice.one_in(3)) height = static_cast<guint>(dice.in(1, 900));
    }
  }
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, planes, offset, stride);
}

/// When a frame is, and for how long; mostly a little after the one before.
inline void set_times(Dice& dice, GstBuffer* buffer, GstClockTime& time) {
  constexpr GstClockTime kLast = GST_CLOCK_TIME_NONE - 1, kHalf = G_MAXINT64;
  switch (dice.small(0, 19)) {
    case 0:
      break;
    case 1:
      GST_BUFFER_PTS(buffer) = dice.word();
      break;
    case 2:
      time = static_cast<GstClockTime>(dice.in(0, 1000)) * GST_SECOND;
      GST_BUFFER_PTS(buffer) = time;
      break;
    case 3:
      GST_BUFFER_PTS(buffer) =
          dice.of({kLast, kHalf, kHalf + 1, GstClockTime{0}}) - static_cast<GstClockTime>(dice.in(0, 1));
      break;
    default:
      GST_BUFFER_PTS(buffer) = time += static_cast<GstClockTime>(dice.in(0, 80)) * GST_MSECOND;
  }
  GST_BUFFER_DURATION(buffer) =
      dice.one_in(4) ? GST_CLOCK_TIME_NONE
      : dice.one_in(12)
          ? dice.of({GstClockTime{0}, GstClockTime{1}, kHalf, kHalf + 1, kLast, GstClockTime{dice.word()}})
          : 40 * GST_MSECOND;
}

/// A frame of these caps. is_calm: whole, its planes where the caps say.
inline GstBuffer* random_frame(Dice& dice, const GstVideoInfo* info, GstClockTime& time, bool is_calm) {
  GstBuffer* buffer = gst_buffer_new();
  gsize size = info ? info->size : static_cast<gsize>(dice.in(0, 5000));
  if (!is_calm) {
    if (dice.one_in(4)) size = static_cast<gsize>(dice.in(0, static_cast<std::int64_t>(size + size / 2 + 64)));
    if (dice.one_in(8)) size += static_cast<gsize>(dice.in(-9, 4096)) < size ? static_cast<gsize>(dice.in(0, 4096)) : 0;
  }
  const bool writable = !dice.one_in(5);
  const int parts = dice.one_in(4) ? dice.small(2, 5) : 1;
  for (int left = parts; left > 0 && size > 0; --left) {
    const gsize part = left == 1 ? size : static_cast<gsize>(dice.in(1, static_cast<std::int64_t>(size)));
    gst_buffer_append_memory(buffer, memory_of(dice, part, writable));
    size -= part;
  }
  if (info && !is_calm && dice.one_in(2)) add_meta(dice, buffer, *info);
  set_times(dice, buffer, time);
  if (dice.one_in(6)) GST_BUFFER_FLAG_SET(buffer, 1U << dice.small(4, 20));
  return buffer;
}

/// A frame with nothing odd about it, the same each time.
inline GstBuffer* clean_frame(const GstVideoInfo& info, int number) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; ++i)
    map.data[i] = static_cast<std::uint8_t>((i * 37 + (i / 64) * (i / 64) + static_cast<gsize>(number) * 11) >> 1);
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * 40 * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
  return buffer;
}

}  // namespace framequality::fuzz
