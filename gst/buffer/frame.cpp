// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's video formats and buffers as the layouts and frames that backends read.
#include "gst/buffer/frame.h"

#include "gst/memory/dma.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace framequality {

namespace {

/// True if the format's samples are bytes or 16-bit words of 8...16 bits, equal in the first `count` components.
bool has_plain_samples(const GstVideoFormatInfo& f, int count) {
  if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX(&f) || GST_VIDEO_FORMAT_INFO_IS_TILED(&f) ||
      GST_VIDEO_FORMAT_INFO_HAS_PALETTE(&f) ||
      (!GST_VIDEO_FORMAT_INFO_IS_RGB(&f) && !GST_VIDEO_FORMAT_INFO_IS_YUV(&f) && !GST_VIDEO_FORMAT_INFO_IS_GRAY(&f)))
    return false;
  const unsigned depth = f.depth[0], bytes = depth > 8 ? 2 : 1;
  if (depth < 8 || depth > 16) return false;
  for (int c = 0; c < count; ++c)
    if (f.depth[c] != depth || f.shift[c] != f.shift[0] || f.shift[c] + depth > 8 * bytes ||
        f.pixel_stride[c] < static_cast<int>(bytes) || f.plane[c] > 2)
      return false;
  return true;
}

bool is_big_endian(const GstVideoFormatInfo& f) {
  // Formats that others unpack to are in host order and carry no flag.
  return f.depth[0] > 8 &&
         (f.unpack_format == f.format ? G_BYTE_ORDER == G_BIG_ENDIAN : !(f.flags & GST_VIDEO_FORMAT_FLAG_LE));
}

}  // namespace

std::optional<PixelLayout> layout_of(const GstVideoFormatInfo& f) {
  PixelLayout l;
  if (f.format == GST_VIDEO_FORMAT_GRAY10_LE32) {
    l.kind = PixelLayout::Kind::kGray10x3;
    l.depth = 10;
    l.word_bytes = 2;
    l.pixel_stride = 2;
    return l;
  }
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(&f)) l.kind = PixelLayout::Kind::kRgb;
  if (!has_plain_samples(f, l.components())) return std::nullopt;
  l.depth = static_cast<std::uint8_t>(f.depth[0]);
  l.word_bytes = l.depth > 8 ? 2 : 1;
  l.shift = static_cast<std::uint8_t>(f.shift[0]);
  l.pixel_stride = static_cast<std::uint8_t>(f.pixel_stride[0]);
  l.big_endian = is_big_endian(f);
  for (int c = 0; c < l.components(); ++c) {
    if (f.pixel_stride[c] != l.pixel_stride || f.w_sub[c] != 0 || f.h_sub[c] != 0) return std::nullopt;
    l.plane[c] = static_cast<std::uint8_t>(f.plane[c]);
    l.offset[c] = static_cast<std::uint8_t>(f.poffset[c]);
  }
  return l;
}

namespace {

/// A mosaic's layout from its name: the order of its colours, then nothing for 8 bits, or depth and byte order.
std::optional<PixelLayout> layout_of_mosaic(const std::string& name) {
  constexpr std::string_view kOrders[] = {"rggb", "grbg", "gbrg", "bggr"};  // bit 0: column of R, bit 1: its row
  const auto order = std::find(std::begin(kOrders), std::end(kOrders), name.substr(0, 4));
  if (order == std::end(kOrders)) return std::nullopt;
  const auto at = static_cast<unsigned>(order - kOrders);
  const std::string depth = name.substr(4);
  PixelLayout l;
  l.kind = PixelLayout::Kind::kBayer;
  if (!depth.empty()) {
    if (depth != "10le" && depth != "12le" && depth != "14le" && depth != "16le" && depth != "10be" &&
        depth != "12be" && depth != "14be" && depth != "16be")
      return std::nullopt;
    l.depth = static_cast<std::uint8_t>(std::stoi(depth));
    l.word_bytes = 2;
    l.big_endian = depth.ends_with("be");
  }
  l.pixel_stride = static_cast<std::uint8_t>(2 * l.word_bytes);
  const auto row = static_cast<std::uint8_t>(at >> 1), red = static_cast<std::uint8_t>((at & 1) * l.word_bytes);
  l.plane[0] = l.plane[1] = row;
  l.plane[2] = static_cast<std::uint8_t>(1 - row);
  l.offset[0] = red;
  l.offset[1] = l.offset[2] = static_cast<std::uint8_t>(l.word_bytes - red);
  return l;
}

}  // namespace

std::optional<PixelLayout> frame_layout_of(GstCaps* caps, GstVideoInfo* info) {
  if (!read_info(*info, caps)) return std::nullopt;
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  if (!gst_structure_has_name(s, "video/x-bayer")) return layout_of(*info->finfo);
  const char* name = gst_structure_get_string(s, "format");
  const std::optional<PixelLayout> layout = layout_of_mosaic(name ? name : "");
  const int width = GST_VIDEO_INFO_WIDTH(info), height = GST_VIDEO_INFO_HEIGHT(info);
  if (!layout || width < 2 || height < 2 || width > G_MAXINT / 4) return std::nullopt;
  info->finfo = gst_video_format_get_info(GST_VIDEO_FORMAT_ENCODED);
  info->interlace_mode = GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
  info->stride[0] = GST_ROUND_UP_4(width) * layout->word_bytes;
  info->offset[0] = 0;
  info->size = static_cast<gsize>(info->stride[0]) * static_cast<gsize>(height);
  return layout;
}

PictureLayout::Component component_of(const GstVideoFormatInfo& f, int c) {
  const unsigned word_bytes = f.depth[0] > 8 ? 2 : 1;
  unsigned offset = f.poffset[c];
  // GStreamer 1.22 gives V's offset in 16-bit semi-planar formats in words.
  if (offset % word_bytes != 0) offset *= word_bytes;
  // It swaps U and V in VYUY, and has offset 0 for Y, U and V of Y212 and Y216, which are packed as YUY2.
  if (f.format == GST_VIDEO_FORMAT_VYUY && c > 0) offset = c == 1 ? 2 : 0;
  if (c > 0 && f.plane[c] == f.plane[0] && f.poffset[c] == f.poffset[0]) offset = (c == 1 ? 1 : 3) * word_bytes;
  return {static_cast<std::uint8_t>(f.plane[c]), static_cast<std::uint8_t>(offset),
          static_cast<std::uint8_t>(f.pixel_stride[c]), static_cast<std::uint8_t>(f.w_sub[c]),
          static_cast<std::uint8_t>(f.h_sub[c])};
}

std::optional<PictureLayout> colour_layout_of(const GstVideoFormatInfo& f) {
  PictureLayout l;
  l.components = GST_VIDEO_FORMAT_INFO_IS_GRAY(&f) ? 1 : 3;
  if (f.format == GST_VIDEO_FORMAT_GRAY10_LE32 || !has_plain_samples(f, l.components)) return std::nullopt;
  l.planes = 0;
  l.is_rgb = GST_VIDEO_FORMAT_INFO_IS_RGB(&f);
  l.depth = static_cast<std::uint8_t>(f.depth[0]);
  l.word_bytes = l.depth > 8 ? 2 : 1;
  l.big_endian = is_big_endian(f);
  l.shift = static_cast<std::uint8_t>(f.shift[0]);
  for (int c = 0; c < l.components; ++c) {
    l.component[c] = component_of(f, c);
    l.planes = std::max(l.planes, static_cast<std::uint8_t>(f.plane[c] + 1));
  }
  return l;
}

std::optional<PictureLayout> picture_layout_of(const GstVideoFormatInfo& f) {
  const std::optional<PictureLayout> l = colour_layout_of(f);
  if (!l || l->planes != GST_VIDEO_FORMAT_INFO_N_PLANES(&f)) return std::nullopt;
  unsigned written = 0;  // bit p: plane p holds a component
  for (int c = 0; c < l->components; ++c) {
    written |= 1u << f.plane[c];
    for (int other = 0; other < c; ++other)
      if (f.plane[other] == f.plane[c] && f.poffset[other] == f.poffset[c]) return std::nullopt;
  }
  if (written != (1u << l->planes) - 1) return std::nullopt;
  return l;
}

std::optional<PictureGeometry> picture_geometry_of(const GstVideoInfo& info) {
  const std::optional<PictureLayout> layout = picture_layout_of(*info.finfo);
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  if (!layout || width <= 0 || height <= 0) return std::nullopt;
  return PictureGeometry{width, height, *layout};
}

bool has_separate_fields(const GstVideoInfo& info) {
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&info);
  return mode == GST_VIDEO_INTERLACE_MODE_FIELDS || mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE;
}

bool is_interlaced(const GstVideoInfo& info, GstBuffer* buffer) {
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&info);
  return mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED ||
         (mode == GST_VIDEO_INTERLACE_MODE_MIXED && GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED));
}

}  // namespace framequality
