// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's times within its segment.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include <algorithm>
#include <cstdint>

namespace framequality {

/// The current segment of an element's stream. A pad that is activated makes it undefined from another thread,
/// under the object's lock, so two calls may return different ones.
inline GstSegment segment_of(GstBaseTransform* trans) {
  GST_OBJECT_LOCK(trans);
  const GstSegment segment = trans->segment;
  GST_OBJECT_UNLOCK(trans);
  return segment;
}

/// True for a segment in which times can be counted. One that is played backwards must have an end, after its offset:
/// GStreamer accepts any from upstream, and then treats requests for a time as a critical error.
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

/// A time as a signed number; the end of time is that of the type.
inline std::int64_t signed_time(guint64 time) { return static_cast<std::int64_t>(std::min<guint64>(time, G_MAXINT64)); }

/// time + duration, both non-negative, at most the end of time.
inline std::int64_t later_by(std::int64_t time, std::int64_t duration) {
  return time > G_MAXINT64 - duration ? G_MAXINT64 : time + duration;
}

}  // namespace framequality
