// SPDX-License-Identifier: LGPL-2.1-or-later
// Begin and end of frames for a sharpnessgate, and the time of those that were dropped.
#include "algorithms/saturate.h"
#include "gst/object/segment.h"
#include "gst/sharpnessgate/stream.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framequality {

GstClockTime frame_duration_of(GstCaps* caps) {
  gint n = 0, d = 1;
  const bool is_known = !gst_caps_is_empty(caps) && !gst_caps_is_any(caps) &&
                        gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &n, &d) && n > 0;
  return is_known ? gst_util_uint64_scale_int(GST_SECOND, d, n) : GST_CLOCK_TIME_NONE;
}

void GateStream::Lost::add(GstClockTime pts, GstClockTime duration) {
  const bool is_known = GST_CLOCK_TIME_IS_VALID(duration) && duration <= GST_CLOCK_TIME_NONE - 1 - pts;
  const GstClockTime until = is_known ? pts + duration : pts;
  if (is_empty() || until >= end) is_open = !is_known;
  begin = is_empty() ? pts : std::min(begin, pts);
  end = std::max(end, until);
}

void GateStream::Lost::close_at(GstClockTime pts) {
  if (is_empty() || !is_open) return;
  end = std::max(end, pts);
  is_open = false;
}

std::optional<std::int64_t> GateStream::running_time(GstClockTime pts) const {
  if (!counts_time(segment_) || !GST_CLOCK_TIME_IS_VALID(pts)) return std::nullopt;
  guint64 time;
  const int sign = gst_segment_to_running_time_full(&segment_, GST_FORMAT_TIME, pts, &time);
  if (sign == 0) return std::nullopt;
  return sign * signed_time(time);
}

GateStream::Moment GateStream::moment_of(GstBuffer* buffer) {
  Moment m{expected_, expected_, GST_CLOCK_TIME_NONE, GST_BUFFER_DURATION(buffer)};
  if (!GST_CLOCK_TIME_IS_VALID(m.duration)) m.duration = frame_duration_;
  if (const auto time = running_time(GST_BUFFER_PTS(buffer))) {
    m.begin = m.end = *time;
    m.pts = GST_BUFFER_PTS(buffer);
    if (settings_.mode != GateMode::kRelative) lost_.close_at(m.pts);  // else by the frame that waits
    behind_.close_at(m.pts);
  } else if (!GST_CLOCK_TIME_IS_VALID(m.duration) && settings_.window.frames == 0 &&
             settings_.mode != GateMode::kThreshold) {
    warn_once(warned_timeless_,
              "Frames have neither timestamps nor a frame rate, so a time window never ends: set window-frames on "
              "sharpnessgate");
  }
  if (GST_CLOCK_TIME_IS_VALID(m.duration)) {
    const double rate = std::abs(segment_.rate);
    const bool is_plain = segment_.format != GST_FORMAT_TIME || rate == 1;
    const std::int64_t length =
        is_plain ? signed_time(m.duration) : saturated<std::int64_t>(static_cast<double>(m.duration) / rate);
    m.end = later_by(m.begin, length);
  }
  expected_ = m.end;
  return m;
}

}  // namespace framequality
