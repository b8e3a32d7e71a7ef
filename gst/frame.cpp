// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's video formats and buffers as the layouts and frames that backends read.
#include "gst/frame.h"

#include "gst/guard.h"

#include <cstdlib>
#include <limits>
#include <string>

namespace framequality {

namespace {

// GST_MAP_CUDA of GstCuda, whose headers a build may lack.
constexpr auto kMapCuda = static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_FLAG_LAST << 1);

[[noreturn]] void refuse(const std::string& text) {
  throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, text);
}

std::string size_of(const GstVideoInfo& info) {
  return std::to_string(GST_VIDEO_INFO_WIDTH(&info)) + "x" + std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + " " +
         GST_VIDEO_INFO_NAME(&info);
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
  if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX(&f) || GST_VIDEO_FORMAT_INFO_IS_TILED(&f) ||
      GST_VIDEO_FORMAT_INFO_HAS_PALETTE(&f))
    return std::nullopt;
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(&f))
    l.kind = PixelLayout::Kind::kRgb;
  else if (!GST_VIDEO_FORMAT_INFO_IS_YUV(&f) && !GST_VIDEO_FORMAT_INFO_IS_GRAY(&f))
    return std::nullopt;

  const unsigned depth = f.depth[0], bytes = depth > 8 ? 2 : 1;
  if (depth < 8 || depth > 16) return std::nullopt;
  l.depth = static_cast<std::uint8_t>(depth);
  l.word_bytes = static_cast<std::uint8_t>(bytes);
  l.shift = static_cast<std::uint8_t>(f.shift[0]);
  l.pixel_stride = static_cast<std::uint8_t>(f.pixel_stride[0]);
  // The formats that others unpack to are in host order and carry no flag.
  l.big_endian = bytes == 2 &&
                 (f.unpack_format == f.format ? G_BYTE_ORDER == G_BIG_ENDIAN : !(f.flags & GST_VIDEO_FORMAT_FLAG_LE));
  for (int c = 0; c < l.components(); ++c) {
    if (f.depth[c] != depth || f.shift[c] != l.shift || f.shift[c] + depth > 8 * bytes ||
        f.pixel_stride[c] != l.pixel_stride || f.pixel_stride[c] < static_cast<int>(bytes) || f.w_sub[c] != 0 ||
        f.h_sub[c] != 0 || f.plane[c] > 2)
      return std::nullopt;
    l.plane[c] = static_cast<std::uint8_t>(f.plane[c]);
    l.offset[c] = static_cast<std::uint8_t>(f.poffset[c]);
  }
  return l;
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

MappedFrame::Maps::~Maps() {
  while (count > 0) {
    --count;
    if (meta)
      gst_video_meta_unmap(meta, static_cast<guint>(count), &plane[count]);
    else
      gst_buffer_unmap(buffer, &plane[count]);
  }
}

void MappedFrame::check_size(const GstVideoInfo& info) const {
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  const gsize size = gst_buffer_get_size(maps_.buffer);
  const GstVideoMeta* meta = maps_.meta;
  if (width <= 0 || height <= 0) refuse("The caps say " + size_of(info) + ": there is nothing to measure");
  if (meta) {
    if (meta->format != GST_VIDEO_INFO_FORMAT(&info) || meta->n_planes != GST_VIDEO_INFO_N_PLANES(&info) ||
        meta->width < static_cast<guint>(width) || meta->height < static_cast<guint>(height))
      refuse("The caps say " + size_of(info) + ", but the buffer's GstVideoMeta says " + std::to_string(meta->width) +
             "x" + std::to_string(meta->height) + " " + gst_video_format_to_string(meta->format) + " in " +
             std::to_string(meta->n_planes) + " planes");
  } else if (size < GST_VIDEO_INFO_SIZE(&info)) {
    refuse("A frame of " + size_of(info) + " takes " + std::to_string(GST_VIDEO_INFO_SIZE(&info)) +
           " bytes, but the buffer holds " + std::to_string(size));
  }
}

MappedFrame::MappedFrame(const GstVideoInfo& info, const PixelLayout& layout, GstBuffer* buffer, bool on_device)
    : maps_(buffer, on_device ? kMapCuda : GST_MAP_READ) {
  if (on_device && !maps_.meta) refuse("A frame in GPU memory has no GstVideoMeta, so its strides are not known");
  check_size(info);
  frame_.on_device = on_device;
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  for (int p = 0; p < layout.planes(); ++p) {
    const gsize row = layout.row_bytes(p, width);
    const gssize stride = maps_.meta ? map_meta_plane(p) : GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
    const gsize step = static_cast<gsize>(std::abs(stride));
    const auto where = [&] { return "Plane " + std::to_string(p) + " of a frame of " + size_of(info); };
    if (height > 1 && step < row)
      refuse(where() + " has rows of " + std::to_string(row) + " bytes, but its stride is " + std::to_string(stride));
    if (static_cast<gsize>(height - 1) > (std::numeric_limits<gsize>::max() / 2 - row) / std::max<gsize>(step, 1))
      refuse(where() + " is too large: stride " + std::to_string(stride));
    const gsize span = static_cast<gsize>(height - 1) * step;
    if (!maps_.meta) map_plain_plane(info, p, span + row);
    frame_.stride[p] = stride;

    // A map function of the meta's own may hand out other memory than the buffer's: it answers for its size.
    const auto begin = reinterpret_cast<std::uintptr_t>(maps_.plane[p].data), end = begin + maps_.plane[p].size;
    const auto first = reinterpret_cast<std::uintptr_t>(frame_.plane[p]);
    if (maps_.meta && (first < begin || first >= end)) continue;
    const gsize before = first - begin, after = end - first;
    if (stride < 0 ? before < span || after < row : after < span + row)
      refuse(where() + " takes " + std::to_string(span + row) + " bytes at stride " + std::to_string(stride) +
             ", but the buffer holds " + std::to_string(stride < 0 ? std::min(before, span) + after : after) +
             " there");
  }
}

gssize MappedFrame::map_meta_plane(int plane) {
  GstVideoMeta* meta = maps_.meta;
  const gsize size = gst_buffer_get_size(maps_.buffer);
  if (meta->offset[plane] >= size)
    refuse("GstVideoMeta puts plane " + std::to_string(plane) + " at byte " + std::to_string(meta->offset[plane]) +
           ", but the buffer holds " + std::to_string(size));
  gpointer data = nullptr;
  gint stride = 0;
  if (!gst_video_meta_map(meta, static_cast<guint>(plane), &maps_.plane[plane], &data, &stride, maps_.flags))
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                       "Plane " + std::to_string(plane) + " of a buffer could not be mapped for reading");
  ++maps_.count;
  frame_.plane[plane] = static_cast<const std::uint8_t*>(data);
  return stride;
}

void MappedFrame::map_plain_plane(const GstVideoInfo& info, int plane, gsize needed) {
  const gsize offset = GST_VIDEO_INFO_PLANE_OFFSET(&info, plane);
  guint first = 0, count = 0;
  gsize skip = 0;
  // Only the memories that hold the plane: mapping all of a buffer made of several would copy it.
  if (!gst_buffer_find_memory(maps_.buffer, offset, needed, &first, &count, &skip))
    refuse("Plane " + std::to_string(plane) + " takes " + std::to_string(needed) + " bytes at " +
           std::to_string(offset) + ", but the buffer holds " + std::to_string(gst_buffer_get_size(maps_.buffer)));
  if (!gst_buffer_map_range(maps_.buffer, first, static_cast<gint>(count), &maps_.plane[plane], maps_.flags))
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                       "Plane " + std::to_string(plane) + " of a buffer could not be mapped for reading");
  ++maps_.count;
  frame_.plane[plane] = maps_.plane[plane].data + skip;
}

}  // namespace framequality
