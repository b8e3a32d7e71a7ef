// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading of an autofocus search's result from focuscontroller's event.
#include "gst/sharpnessoverlay/curve.h"

#include "gst/object/structure.h"

#include <algorithm>
#include <cmath>

namespace framequality::overlay {

namespace {

std::vector<Curve::Point> points_of(const GstStructure* fields) {
  const GValue *positions = gst_structure_get_value(fields, "positions"),
               *scores = gst_structure_get_value(fields, "scores");
  if (!positions || !scores || !GST_VALUE_HOLDS_ARRAY(positions) || !GST_VALUE_HOLDS_ARRAY(scores)) return {};
  const guint count = gst_value_array_get_size(positions);
  if (count > kMostSamples || count != gst_value_array_get_size(scores)) return {};
  std::vector<Curve::Point> points;
  points.reserve(count);
  for (guint i = 0; i < count; ++i) {
    const Curve::Point point{number_of(gst_value_array_get_value(positions, i)),
                             number_of(gst_value_array_get_value(scores, i))};
    if (!std::isnan(point.position) && !std::isnan(point.score)) points.push_back(point);
  }
  const auto by_position = [](const Curve::Point& a, const Curve::Point& b) { return a.position < b.position; };
  std::stable_sort(points.begin(), points.end(), by_position);
  return points;
}

}  // namespace

std::optional<Curve> curve_in(GstEvent* event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_CUSTOM_DOWNSTREAM_STICKY || !gst_event_has_name(event, "focuscontroller"))
    return {};
  const GstStructure* fields = gst_event_get_structure(event);
  const char* state = gst_structure_get_string(fields, "state");
  const bool failed = g_strcmp0(state, "failed") == 0;
  if (!failed && g_strcmp0(state, "focused") != 0) return {};
  const double error = number_in(fields, "error");
  return Curve{.points = points_of(fields),
               .top = number_in(fields, "top"),
               .error = !std::isnan(error) ? std::max(0.0, error) : 0,
               .failed = failed};
}

}  // namespace framequality::overlay
