// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's times within its segment.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include <algorithm>
#include <cstdint>

namespace framequality {

/// The segment of an element's stream, as it is now. A pad that is activated makes it undefined from another thread,
/// under the object's lock: who looks at it twice may see two.
inline GstSegment segment_of(GstBaseTransform* trans) {
  GST_OBJECT_LOCK(trans);
  const GstSegment segment = trans->segment;
  GST_OBJECT_UNLOCK(trans);
  return segment;
}

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

/// A time without a sign as one with; the end of time is that of the type.
inline std::int64_t signed_time(guint64 time) { return static_cast<std::int64_t>(std::min<guint64>(time, G_MAXINT64)); }

/// time + duration, of which none is negative, at most the end of time.
inline std::int64_t later_by(std::int64_t time, std::int64_t duration) {
  return time > G_MAXINT64 - duration ? G_MAXINT64 : time + duration;
}

}  // namespace framequality
