// SPDX-License-Identifier: LGPL-2.1-or-later
// Boxes of detected objects on a buffer.
#include "gst/sharpnessmeter/detections.h"

#if FQ_HAVE_ANALYTICS
#include <gst/analytics/gstanalyticsobjectdetectionmtd.h>
#endif

#include <algorithm>

namespace framequality {

std::size_t read_detections(GstBuffer* buffer, std::size_t most, std::vector<Detection>& found) {
  found.clear();
  std::size_t count = 0;
#if FQ_HAVE_ANALYTICS
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(buffer);
  if (!meta) return 0;
  gpointer at = nullptr;
  GstAnalyticsMtd object;
  while (gst_analytics_relation_meta_iterate(meta, &at, gst_analytics_od_mtd_get_mtd_type(), &object)) {
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat confidence = 0;
    if (!gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &confidence)) continue;
    if (count++ >= most) continue;
    found.push_back({object.id, gst_analytics_od_mtd_get_obj_type(&object), confidence, {x, y, width, height}});
  }
#else
  (void)buffer, (void)most;
#endif
  return count;
}

void set_detections(GstStructure* result, std::span<const Detection> found, std::span<const double> scores) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Detection& d = found[i];
    const gchar* label = d.label ? g_quark_to_string(d.label) : "";
    GValue item = G_VALUE_INIT;
    g_value_init(&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed(
        &item, gst_structure_new("detection", "id", G_TYPE_UINT, d.id, "label", G_TYPE_STRING, label, "confidence",
                                 G_TYPE_DOUBLE, double{d.confidence}, "x", G_TYPE_INT, static_cast<gint>(d.box.x), "y",
                                 G_TYPE_INT, static_cast<gint>(d.box.y), "width", G_TYPE_INT,
                                 static_cast<gint>(d.box.width), "height", G_TYPE_INT, static_cast<gint>(d.box.height),
                                 "score", G_TYPE_DOUBLE, scores[i], nullptr));
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(result, "detections", &array);
}

}  // namespace framequality
