// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's measurement as pipelines see it: when one is due, its fields, its message and its metadata.
#include "gst/base/measurement.h"

#include "gst/object/guard.h"
#include "gst/object/score_meta.h"
#include "gst/object/segment.h"
#include "gst/object/structure.h"

#include <utility>

namespace framequality {

void Warnings::once(FqMeterBase* self, unsigned which, const std::string& text) {
  if (said_ >> which & 1u) return;
  said_ |= 1u << which;
  post(GST_ELEMENT_CAST(self), GST_MESSAGE_WARNING, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text});
}

bool is_due(FqMeterBase* self, GstClockTime interval, GstClockTime pts) {
  GstClockTime& last = self->state->last_pts;
  if (!GST_CLOCK_TIME_IS_VALID(pts)) return true;
  if (interval > 0 && GST_CLOCK_TIME_IS_VALID(last) && pts >= last && pts - last < interval) return false;
  last = pts;
  return true;
}

StructurePtr start_result(FqMeterBase* self, const StreamFormat& format, GstBuffer* buffer) {
  StructurePtr fields(gst_structure_new_empty(FQ_METER_BASE_GET_CLASS(self)->message_name));
  set_times(fields.get(), segment_of(GST_BASE_TRANSFORM_CAST(self)), GST_BUFFER_PTS(buffer));
  gst_structure_set(fields.get(), "duration", G_TYPE_UINT64, guint64{GST_BUFFER_DURATION(buffer)}, "frame",
                    G_TYPE_UINT64, guint64{0}, "width", G_TYPE_UINT,
                    static_cast<guint>(GST_VIDEO_INFO_WIDTH(&format.info)), "height", G_TYPE_UINT,
                    static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&format.info)), nullptr);
  return fields;
}

void finish_result(FqMeterBase* self, GstStructure* result, double score, const Place& place) {
  MeterState& s = *self->state;
  gst_structure_set(result, "frame", G_TYPE_UINT64, guint64{s.frames++}, "device", G_TYPE_STRING, place.backend->name,
                    nullptr);
  s.last_score.change([&](double& last) { last = score; });
}

BufferPtr attach_result(FqMeterBase* self, BufferPtr buffer, const GstStructure* result) {
  buffer.reset(make_header_writable(buffer.release()));
  set_score_meta(buffer.get(), FQ_METER_BASE_GET_CLASS(self)->meta_name, result);
  return buffer;
}

void post_result(FqMeterBase* self, StructurePtr result) {
  gst_element_post_message(GST_ELEMENT_CAST(self), gst_message_new_element(GST_OBJECT(self), result.release()));
}

}  // namespace framequality
