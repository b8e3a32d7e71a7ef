// SPDX-License-Identifier: LGPL-2.1-or-later
// Fields that several messages and metadata have, and a frame's times.
#pragma once

#include <gst/gst.h>

namespace framequality {

/// True for a segment that times can be counted in. One that is played backwards must have an end, behind its offset:
/// GStreamer takes any from upstream, and then calls it a critical fault to ask it for a time.
inline bool counts_time(const GstSegment& segment) {
  if (segment.format != GST_FORMAT_TIME) return false;
  if (segment.rate > 0) return true;
  guint64 stop = segment.stop;
  if (stop == GST_CLOCK_TIME_NONE && segment.duration != GST_CLOCK_TIME_NONE) stop = segment.start + segment.duration;
  return stop != GST_CLOCK_TIME_NONE && stop >= segment.offset;
}

/// Running time of a frame; GST_CLOCK_TIME_NONE if it has no timestamp, is outside the segment, or that does not count
/// in time.
inline GstClockTime running_time_of(const GstSegment& segment, GstClockTime pts) {
  return counts_time(segment) ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
}

/// Sets timestamp, stream-time and running-time of a frame; the latter two are GST_CLOCK_TIME_NONE in a segment that
/// does not count in time.
inline void set_times(GstStructure* s, const GstSegment& segment, GstClockTime pts) {
  const bool timed = counts_time(segment);
  const guint64 none = GST_CLOCK_TIME_NONE;
  gst_structure_set(s, "timestamp", G_TYPE_UINT64, guint64{pts}, "stream-time", G_TYPE_UINT64,
                    timed ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts) : none, "running-time",
                    G_TYPE_UINT64, guint64{running_time_of(segment, pts)}, nullptr);
}

/// Sets a field to a GST_TYPE_ARRAY of these numbers. type, set: of one of them.
template <class T, class Range>
void set_array(GstStructure* s, const char* field, GType type, void (*set)(GValue*, T), const Range& numbers) {
  GValue array = G_VALUE_INIT, item = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&item, type);
  for (const T v : numbers) {
    set(&item, v);
    gst_value_array_append_value(&array, &item);
  }
  gst_structure_take_value(s, field, &array);
}

}  // namespace framequality
