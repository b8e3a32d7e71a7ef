// SPDX-License-Identifier: LGPL-2.1-or-later
// Fields shared by several messages and metadata.
#pragma once

#include "gst/object/segment.h"

#include <gst/gst.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <string>

namespace framequality {

/// Sets timestamp, stream-time and running-time of a frame; the latter two are GST_CLOCK_TIME_NONE in a segment that
/// does not count in time.
inline void set_times(GstStructure* s, const GstSegment& segment, GstClockTime pts) {
  const bool timed = counts_time(segment);
  const guint64 none = GST_CLOCK_TIME_NONE;
  gst_structure_set(s, "timestamp", G_TYPE_UINT64, guint64{pts}, "stream-time", G_TYPE_UINT64,
                    timed ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts) : none, "running-time",
                    G_TYPE_UINT64, guint64{running_time_of(segment, pts)}, nullptr);
}

// Reading of structures of other elements, whose fields may hold anything.

/// A finite double; NaN if the value is something else.
inline double number_of(const GValue* value) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const double number = value && G_VALUE_HOLDS_DOUBLE(value) ? g_value_get_double(value) : kNone;
  return std::isfinite(number) ? number : kNone;
}
inline double number_in(const GstStructure* s, const char* field) {
  return number_of(gst_structure_get_value(s, field));
}
/// Empty if the field is not a string.
inline std::string string_in(const GstStructure* s, const char* field) {
  const char* text = gst_structure_get_string(s, field);
  return text ? text : "";
}

/// Sets a field to a GST_TYPE_ARRAY of these numbers. type, set: of one of them.
template <class T, class Range>
void set_array(GstStructure* s, const char* field, GType type, void (*set)(GValue*, T), const Range& numbers) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(std::size(numbers)));
  for (const T v : numbers) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, type);
    set(&item, v);
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(s, field, &array);
}

}  // namespace framequality
