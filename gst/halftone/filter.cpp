// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning as a FilterStream does it, and the caps of what it reads and writes.
#include "gst/halftone/filter.h"

#include "gst/memory/dma.h"
#include "gst/memory/kinds.h"

#include <optional>

namespace framequality {

namespace {

constexpr const char* kRaw = "video/x-raw";
constexpr const char* kPacked = "video/x-mono";

/// The frames of `caps`, but in the formats and the memory of `formats`.
GstCaps* in_other_formats(GstCaps* caps, const char* from, const char* to, const char* formats) {
  GstCaps* result = gst_caps_new_empty();
  GstCaps* all = gst_caps_from_string(formats);
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* given = gst_caps_get_structure(caps, i);
    if (!gst_structure_has_name(given, from)) continue;
    for (guint k = 0; k < gst_caps_get_size(all); ++k) {
      GstStructure* s = gst_structure_copy(given);
      gst_structure_set_name(s, to);
      gst_structure_remove_fields(s, "format", "colorimetry", "chroma-site", nullptr);
      if (const GValue* format = gst_structure_get_value(gst_caps_get_structure(all, k), "format"))
        gst_structure_set_value(s, "format", format);
      result = gst_caps_merge_structure_full(result, s, gst_caps_features_copy(gst_caps_get_features(all, k)));
    }
  }
  gst_caps_unref(all);
  return result;
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

bool parse_halftone_caps(GstCaps* in, GstCaps* out, FilterFormat& format) {
  GstVideoInfo& info = format.in;
  if (!read_info(info, in) || has_separate_fields(info)) return false;
  const std::optional<PixelLayout> layout = layout_of(*info.finfo);
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  if (!layout || width <= 0 || height <= 0) return false;
  const bool packed = gst_structure_has_name(gst_caps_get_structure(out, 0), kPacked);
  const std::size_t row = halftone::target_row_bytes(width, packed);
  if (packed) {
    gst_video_info_set_format(&format.out, GST_VIDEO_FORMAT_ENCODED, static_cast<guint>(width),
                              static_cast<guint>(height));
    format.out.stride[0] = static_cast<gint>(row);
    format.out.size = row * static_cast<gsize>(height);
  } else if (!gst_video_info_from_caps(&format.out, out)) {
    return false;
  }
  format.in_extents = Geometry{width, height, *layout};
  format.out_extents.plane[0] = {row, height};
  format.out_extents.count = 1;
  format.memory = memory_of(in);
  return true;
}

GstCaps* halftone_output_caps(GstCaps* in, bool packed) {
  return packed ? in_other_formats(in, kRaw, kPacked, FQ_PACKED_CAPS)
                : in_other_formats(in, kRaw, kRaw, GST_VIDEO_CAPS_MAKE("GRAY8"));
}

GstCaps* halftone_input_caps(GstCaps* out, bool packed) {
  GstCaps* allowed = gst_caps_from_string(packed ? FQ_PACKED_CAPS : GST_VIDEO_CAPS_MAKE("GRAY8"));
  GstCaps* possible = gst_caps_intersect_full(out, allowed, GST_CAPS_INTERSECT_FIRST);
  GstCaps* in = in_other_formats(possible, packed ? kPacked : kRaw, kRaw, FQ_LUMA_CAPS);
  gst_caps_unref(allowed);
  gst_caps_unref(possible);
  return in;
}

}  // namespace framequality
