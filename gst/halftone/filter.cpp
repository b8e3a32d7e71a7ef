// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning to greys and to colours, for FilterStream.
#include "gst/halftone/filter.h"

#include "gst/memory/dma.h"
#include "gst/memory/kinds.h"
#include "gst/object/guard.h"

#include <optional>

namespace framequality {

namespace {

/// Sets the output to packed numbers, for which GStreamer has no format.
void set_packed(FilterFormat& format, std::size_t row) {
  const int width = GST_VIDEO_INFO_WIDTH(&format.in), height = GST_VIDEO_INFO_HEIGHT(&format.in);
  gst_video_info_set_format(&format.out, GST_VIDEO_FORMAT_ENCODED, static_cast<guint>(width),
                            static_cast<guint>(height));
  format.out.stride[0] = static_cast<gint>(row);
  format.out.size = row * static_cast<gsize>(height);
}

/// Sets the layout of frames, and returns the bytes of an output row; 0 if they cannot be halftoned.
std::size_t parse_output(GstCaps* out, FilterFormat& format) {
  const int width = GST_VIDEO_INFO_WIDTH(&format.in);
  const GstStructure* s = gst_caps_get_structure(out, 0);
  const auto pixels = static_cast<std::size_t>(width);
  if (gst_structure_has_name(s, "video/x-mono")) {
    set_packed(format, halftone::target_row_bytes(width, true));
  } else if (gst_structure_has_name(s, "video/x-indexed")) {
    int bits = 0;
    const char* palette = gst_structure_get_string(s, "palette");
    if (!gst_structure_get_int(s, "bits", &bits) || !palette) return 0;
    format.pixels = palette;
    set_packed(format, (pixels * static_cast<std::size_t>(bits) + 7) / 8);
  } else {
    if (!gst_video_info_from_caps(&format.out, out)) return 0;
    return pixels * static_cast<std::size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&format.out, 0));
  }
  return static_cast<std::size_t>(format.out.stride[0]);
}

}  // namespace

halftone::Light light_of(const GstVideoInfo& info) {
  switch (GST_VIDEO_INFO_COLORIMETRY(&info).transfer) {
    case GST_VIDEO_TRANSFER_GAMMA10:
      return halftone::Light::kCode;
    case GST_VIDEO_TRANSFER_SRGB:
      return halftone::Light::kSrgb;
    case GST_VIDEO_TRANSFER_BT709:
    case GST_VIDEO_TRANSFER_BT601:
    case GST_VIDEO_TRANSFER_BT2020_10:
    case GST_VIDEO_TRANSFER_BT2020_12:
      return halftone::Light::kBt709;
    default:
      return GST_VIDEO_INFO_IS_YUV(&info) ? halftone::Light::kBt709 : halftone::Light::kSrgb;
  }
}

halftone::ToneSettings tone_of(const GstVideoInfo& info, const HalftoneRequest& request) {
  halftone::ToneSettings tone = request.settings.tone;
  tone.limited = GST_VIDEO_INFO_COLORIMETRY(&info).range == GST_VIDEO_COLOR_RANGE_16_235;
  tone.light = request.linear ? light_of(info) : halftone::Light::kCode;
  return tone;
}

halftone::Matrix matrix_of(const GstVideoInfo& info) {
  switch (GST_VIDEO_INFO_COLORIMETRY(&info).matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709:
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:
      return halftone::Matrix::kBt709;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      return halftone::Matrix::kBt2020;
    default:
      return halftone::Matrix::kBt601;
  }
}

std::optional<PictureGeometry> colour_geometry_of(const GstVideoInfo& info) {
  std::optional<PictureLayout> layout = colour_layout_of(*info.finfo);
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  if (!layout || width <= 0 || height <= 0) return std::nullopt;
  return PictureGeometry{width, height, *layout};
}

bool is_colour(const FilterFormat& format) {
  return !format.pixels.empty() || (GST_VIDEO_INFO_FORMAT(&format.out) != GST_VIDEO_FORMAT_ENCODED &&
                                    GST_VIDEO_INFO_FORMAT(&format.out) != GST_VIDEO_FORMAT_GRAY8);
}

bool parse_halftone_caps(GstCaps* in, GstCaps* out, FilterFormat& format) {
  GstVideoInfo& info = format.in;
  if (!read_info(info, in) || has_separate_fields(info)) return false;
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  if (width <= 0 || height <= 0) return false;
  const std::size_t row = parse_output(out, format);
  if (row == 0) return false;
  if (is_colour(format)) {
    const std::optional<PictureGeometry> geometry = colour_geometry_of(info);
    if (!geometry) return false;
    format.in_extents = *geometry;
  } else {
    const std::optional<PixelLayout> layout = layout_of(*info.finfo);
    if (!layout) return false;
    format.in_extents = Geometry{width, height, *layout};
  }
  format.out_extents.plane[0] = {row, height};
  format.out_extents.count = 1;
  format.memory = memory_of(in);
  return true;
}

halftone::ColourSettings colour_settings(const FilterFormat& format, const HalftoneRequest& request) {
  halftone::ColourSettings settings;
  settings.matrix = matrix_of(format.in);
  settings.palette = request.colours();
  if (!format.pixels.empty()) {
    settings.output = halftone::ColourOutput::kCodes;
    settings.palette = halftone::parse_palette(format.pixels);
  } else if (GST_VIDEO_INFO_FORMAT(&format.out) == GST_VIDEO_FORMAT_RGBx) {
    settings.output = halftone::ColourOutput::kRgbx;
  }
  if (settings.palette.count == 0)
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                       "palette=custom needs the colours of the display: set palette-colors, such as "
                       "\"#000000,#ffffff,#ff0000\", or palette-file");
  return settings;
}

}  // namespace framequality
