// SPDX-License-Identifier: LGPL-2.1-or-later
// Guess at the padding of rows, from the size of a buffer without GstVideoMeta.
#include "gst/buffer/padding.h"

#include "gst/buffer/frame.h"

#include <algorithm>
#include <array>

namespace framequality {

namespace {

struct Planes {
  std::array<gsize, GST_VIDEO_MAX_PLANES> stride{}, offset{};
};

/// Lays out rows without gaps; returns the size.
gsize lay_out_tight(const GstVideoInfo& info, Planes& planes) {
  const PlaneExtents extents(info);
  gsize size = 0;
  for (std::size_t p = 0; p < extents.count; ++p) {
    planes.stride[p] = extents.plane[p].row_bytes;
    planes.offset[p] = size;
    size += extents.plane[p].row_bytes * static_cast<gsize>(extents.plane[p].rows);
  }
  return size;
}

/// Lays out as GStreamer with all rows longer in proportion; false if no strides give this size.
bool lay_out_wider(const GstVideoInfo& info, gsize size, Planes& planes) {
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const gsize stride = static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&info, p)),
                offset = GST_VIDEO_INFO_PLANE_OFFSET(&info, p);
    if (stride * size % info.size != 0 || offset * size % info.size != 0) return false;
    planes.stride[p] = stride * size / info.size;
    planes.offset[p] = offset * size / info.size;
  }
  return true;
}

std::string list(const std::array<gsize, GST_VIDEO_MAX_PLANES>& numbers, guint count) {
  std::string text = "\"<";
  for (guint p = 0; p < count; ++p) text.append(p > 0 ? "," : "").append(std::to_string(numbers[p]));
  return text.append(">\"");
}

}  // namespace

std::string padding_hint(const GstVideoInfo& info, gsize size) {
  if (GST_VIDEO_FORMAT_INFO_IS_TILED(info.finfo) || GST_VIDEO_FORMAT_INFO_HAS_PALETTE(info.finfo)) return {};
  Planes planes;
  // Twice the size more likely means two frames.
  const bool lies_so = size < info.size ? lay_out_tight(info, planes) == size
                                        : size > info.size && size < 2 * info.size && lay_out_wider(info, size, planes);
  if (!lies_so) return {};
  std::string format = GST_VIDEO_INFO_NAME(&info);
  for (char& c : format) c = c == '_' ? '-' : g_ascii_tolower(c);
  const guint count = GST_VIDEO_INFO_N_PLANES(&info);
  const auto number = [](gsize n) { return std::to_string(n); };
  return "They have no GstVideoMeta, so rows are read without padding. If rows begin every " +
         number(planes.stride[0]) + " bytes, not every " + std::to_string(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0)) +
         ", make the source add a GstVideoMeta, or put rawvideoparse format=" + format +
         " width=" + std::to_string(GST_VIDEO_INFO_WIDTH(&info)) +
         " height=" + std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + " plane-strides=" + list(planes.stride, count) +
         " plane-offsets=" + list(planes.offset, count) + " frame-size=" + number(size) + " upstream";
}

}  // namespace framequality
