// SPDX-License-Identifier: LGPL-2.1-or-later
// Extent of the bytes that a meter of BLIINDS-II reads of a frame.
#include "gst/bliindsmeter/input.h"

#include <algorithm>
#include <cmath>

namespace framequality {

namespace {

/// With an identity matrix, Y is red, as in GStreamer's own conversion.
bliinds::RedOfYuv red_of(const GstVideoInfo& info, const PixelLayout& y) {
  const PictureLayout::Component v = component_of(*info.finfo, 2);
  bliinds::RedOfYuv red;
  red.v = y;
  red.v.plane[0] = v.plane;
  red.v.offset[0] = v.offset;
  red.v.pixel_stride = v.pixel_stride;
  red.x_shift = v.x_shift;
  red.y_shift = v.y_shift;
  gint zero[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, zero, scale);
  // Samples may have fewer bits than the format.
  const int fewer = static_cast<int>(info.finfo->depth[0]) - y.depth;
  for (int c = 0; c < 3; ++c) {
    zero[c] >>= fewer;
    scale[c] >>= fewer;
  }
  double kr = 0, kb = 0;
  const bool has_matrix = gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb);
  const double white = std::ldexp((1 << y.depth) - 1, bliinds::kRedBits);
  red.y_gain = static_cast<std::int32_t>(std::lround(white / scale[0]));
  red.v_gain = has_matrix ? static_cast<std::int32_t>(std::lround(2 * (1 - kr) * white / scale[2])) : 0;
  red.y_zero = zero[0];
  red.v_zero = zero[2];
  return red;
}

}  // namespace

bliinds::Input input_of(const GstVideoInfo& info, const Geometry& geometry) {
  if (!GST_VIDEO_INFO_IS_YUV(&info)) return geometry;
  return {geometry, red_of(info, geometry.layout)};
}

PlaneExtents extents_of(const bliinds::Input& input, bliinds::Channel channel) {
  if (input.geometry.layout.kind == PixelLayout::Kind::kBayer) return input.geometry;
  PlaneExtents extents;
  for (int p = 0; p < 3; ++p) {
    const auto [row_bytes, rows] = bliinds::channel_extent(input, channel, p);
    if (row_bytes == 0) continue;
    extents.count = static_cast<std::size_t>(p) + 1;
    // Whole pixels, because the check of significant bits reads all components.
    const std::size_t whole =
        p < input.geometry.layout.planes() ? input.geometry.layout.row_bytes(p, input.geometry.width) : std::size_t{0};
    extents.plane[static_cast<std::size_t>(p)] = {std::max(row_bytes, whole), rows};
  }
  return extents;
}

}  // namespace framequality
