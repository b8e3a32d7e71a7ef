// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of halftone as the user gives them, and the resulting caps.
#include "gst/halftone/request.h"

#include "gst/memory/dma.h"
#include "gst/object/owned.h"

namespace framequality {

namespace {

constexpr const char* kRaw = "video/x-raw";

/// The frames of `caps`, but in the formats and the memory of `formats`.
GstCaps* in_other_formats(GstCaps* caps, const char* from, GstCaps* formats) {
  GstCaps* result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* given = gst_caps_get_structure(caps, i);
    if (!gst_structure_has_name(given, from)) continue;
    for (guint k = 0; k < gst_caps_get_size(formats); ++k) {
      const GstStructure* wanted = gst_caps_get_structure(formats, k);
      GstStructure* s = gst_structure_copy(given);
      gst_structure_set_name(s, gst_structure_get_name(wanted));
      gst_structure_remove_fields(s, "format", "colorimetry", "chroma-site", "bits", "palette", nullptr);
      for (const char* field : {"format", "bits", "palette"})
        if (const GValue* value = gst_structure_get_value(wanted, field)) gst_structure_set_value(s, field, value);
      result = gst_caps_merge_structure_full(result, s, gst_caps_features_copy(gst_caps_get_features(formats, k)));
    }
  }
  return result;
}

/// All formats that a request can make.
GstCaps* formats_of(const HalftoneRequest& request) {
  if (!request.is_colour())
    return gst_caps_from_string(request.settings.packed ? FQ_PACKED_CAPS : GST_VIDEO_CAPS_MAKE("GRAY8"));
  if (!request.settings.packed) return gst_caps_from_string(GST_VIDEO_CAPS_MAKE("{ RGB, RGBx }"));
  GstCaps* caps = gst_caps_from_string(FQ_INDEXED_CAPS);
  const halftone::Palette palette = request.colours();
  gst_caps_set_simple(caps, "bits", G_TYPE_INT, palette.bits(), "palette", G_TYPE_STRING,
                      halftone::text_of(palette).c_str(), nullptr);
  return caps;
}

}  // namespace

GstCaps* halftone_output_caps(GstCaps* in, const HalftoneRequest& request) {
  const CapsPtr formats(formats_of(request));
  return in_other_formats(in, kRaw, formats.get());
}

GstCaps* halftone_input_caps(GstCaps* out, const HalftoneRequest& request) {
  const CapsPtr formats(formats_of(request)), in(gst_caps_from_string(FQ_LUMA_CAPS)),
      possible(gst_caps_intersect_full(out, formats.get(), GST_CAPS_INTERSECT_FIRST));
  return in_other_formats(possible.get(), gst_structure_get_name(gst_caps_get_structure(formats.get(), 0)), in.get());
}

}  // namespace framequality
