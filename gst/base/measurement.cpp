// SPDX-License-Identifier: LGPL-2.1-or-later
// The measurement of a frame for pipelines: when it is due, its fields, its message and its metadata.
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

GstStructure* start_meta(FqMeterBase* self, GstBuffer* buffer) {
  return start_score_meta(buffer, FQ_METER_BASE_GET_CLASS(self)->meta_name);
}

StructurePtr start_message(FqMeterBase* self) {
  return StructurePtr(gst_structure_new_empty(FQ_METER_BASE_GET_CLASS(self)->message_name));
}

StructurePtr message_of(FqMeterBase* self, const GstStructure* meta) {
  StructurePtr message(gst_structure_copy(meta));
  gst_structure_set_name(message.get(), FQ_METER_BASE_GET_CLASS(self)->message_name);
  return message;
}

void set_frame(FqMeterBase* self, GstStructure* result, const StreamFormat& format, GstBuffer* buffer) {
  // A segment's event drives out the frames before it: it is theirs still.
  set_times(result, segment_of(GST_BASE_TRANSFORM_CAST(self)), GST_BUFFER_PTS(buffer));
  gst_structure_set(result, "duration", G_TYPE_UINT64, guint64{GST_BUFFER_DURATION(buffer)}, "frame", G_TYPE_UINT64,
                    guint64{self->state->frames}, "width", G_TYPE_UINT,
                    static_cast<guint>(GST_VIDEO_INFO_WIDTH(&format.info)), "height", G_TYPE_UINT,
                    static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&format.info)), nullptr);
}

void set_device(GstStructure* result, const Place& place) {
  gst_structure_set(result, "device", G_TYPE_STRING, place.backend->name, nullptr);
}

void count_result(FqMeterBase* self, double score) {
  ++self->state->frames;
  self->state->last_score.change([&](double& last) { last = score; });
}

void post_result(FqMeterBase* self, StructurePtr result) {
  gst_element_post_message(GST_ELEMENT_CAST(self), gst_message_new_element(GST_OBJECT(self), result.release()));
}

}  // namespace framequality
