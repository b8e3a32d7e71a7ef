// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of the image that a search looks at.
#include "gst/focuscontroller/subject.h"

#include "gst/object/guard.h"
#include "gst/object/structure.h"

#include <gst/video/gstvideometa.h>

#include <algorithm>

namespace framequality {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text);
}

/// The region that sharpnessmeter divides into zones, pixels.
struct Grid {
  double x = 0, y = 0, width = 0, height = 0;
  guint columns = 1, rows = 1;

  explicit Grid(const GstStructure* fields) {
    guint w = 0, h = 0;
    gst_structure_get(fields, "width", G_TYPE_UINT, &w, "height", G_TYPE_UINT, &h, nullptr);
    width = w, height = h;
    gst_structure_get(fields, "zone-columns", G_TYPE_UINT, &columns, "zone-rows", G_TYPE_UINT, &rows, nullptr);
    const GValue* roi = gst_structure_get_value(fields, "roi");
    if (!roi || !GST_VALUE_HOLDS_ARRAY(roi) || gst_value_array_get_size(roi) != 4) return;
    double* const ends[] = {&x, &y, &width, &height};
    for (guint i = 0; i < 4; ++i)
      if (const GValue* v = gst_value_array_get_value(roi, i); G_VALUE_HOLDS_INT(v)) *ends[i] = g_value_get_int(v);
  }

  /// Adds the zones whose centres lie in the box, or the one that has its centre.
  void add_under(const GstVideoRegionOfInterestMeta& box, std::vector<guint>& zones) const {
    const double left = box.x, right = left + box.w, top = box.y, bottom = top + box.h;
    const std::size_t before = zones.size();
    for (guint row = 0; row < rows; ++row)
      for (guint column = 0; column < columns; ++column) {
        const double cx = x + (column + 0.5) * width / columns, cy = y + (row + 0.5) * height / rows;
        if (cx >= left && cx < right && cy >= top && cy < bottom) zones.push_back(row * columns + column);
      }
    if (zones.size() > before || !(width > 0 && height > 0)) return;
    const double column = ((left + right) / 2 - x) / width * columns, row = ((top + bottom) / 2 - y) / height * rows;
    if (column >= 0 && column < columns && row >= 0 && row < rows)
      zones.push_back(static_cast<guint>(row) * columns + static_cast<guint>(column));
  }
};

}  // namespace

Subject::Subject(const std::string& text) : text_(text) {
  constexpr char kZone[] = "zone:", kBoxes[] = "boxes";
  int end = 0;
  if (text.empty()) return;
  if (text.starts_with(kZone)) {
    kind_ = Kind::kZone;
    if (sscanf(text.c_str() + sizeof kZone - 1, "%u,%u%n", &column_, &row_, &end) == 2 &&
        text.size() == sizeof kZone - 1 + static_cast<std::size_t>(end))
      return;
  } else if (text == kBoxes || text.starts_with(std::string(kBoxes) + ":")) {
    kind_ = Kind::kBoxes;
    if (text != kBoxes) label_ = text.substr(sizeof kBoxes);
    return;
  }
  refuse("subject=" + text + ": use zone:COLUMN,ROW, boxes or boxes:LABEL, or nothing for the whole frame");
}

std::vector<guint> Subject::zones_in(GstBuffer* buffer, const GstStructure* fields) const {
  std::vector<guint> zones;
  if (kind_ == Kind::kFrame) return zones;
  const Grid grid(fields);
  const bool has_zone =
      kind_ == Kind::kBoxes ? grid.columns * grid.rows > 1 : column_ < grid.columns && row_ < grid.rows;
  if (!has_zone)
    refuse("subject=" + text_ + ": sharpnessmeter measures " + std::to_string(grid.columns) + "x" +
           std::to_string(grid.rows) + " zones: set its zone-columns and zone-rows");
  if (kind_ == Kind::kZone) return {row_ * grid.columns + column_};
  gpointer at = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto& box = *reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const gchar* label = box.roi_type ? g_quark_to_string(box.roi_type) : "";
    if (label_.empty() || label_ == label) grid.add_under(box, zones);
  }
  std::sort(zones.begin(), zones.end());
  zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
  return zones;
}

std::optional<double> score_of_zones(const GstStructure* fields, std::span<const guint> zones) {
  const GValue* scores = gst_structure_get_value(fields, "zones");
  if (!scores || !GST_VALUE_HOLDS_ARRAY(scores)) return {};
  double sum = 0;
  for (const guint zone : zones) {
    if (zone >= gst_value_array_get_size(scores)) return {};
    sum += number_of(gst_value_array_get_value(scores, zone));
  }
  const double mean = sum / static_cast<double>(zones.size());
  return std::isfinite(mean) ? std::optional(mean) : std::nullopt;
}

}  // namespace framequality
