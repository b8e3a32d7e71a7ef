/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of the framequality elements as GStreamer applications read them: names of messages, metas and fields, and a
 * reader. Needs GStreamer's headers and library, not libframequality. */
#ifndef FRAMEQUALITY_META_H
#define FRAMEQUALITY_META_H

#include <gst/gst.h>

/* Structures of element messages on the bus. */
#define FQ_MESSAGE_SHARPNESS "sharpnessmeter"
#define FQ_MESSAGE_BLIINDS "bliindsmeter"
#define FQ_MESSAGE_FOCUS "focuscontroller"
#define FQ_MESSAGE_GATE "sharpnessgate"
#define FQ_MESSAGE_WATCH "camerawatch"

/* Custom metas on buffers, which have the fields of the message. */
#define FQ_META_SHARPNESS "GstSharpnessMeta"
#define FQ_META_BLIINDS "GstBliindsMeta"

/* Fields; docs/elements has all of them. */
#define FQ_FIELD_SCORE "score"                   /* double; bliinds: 0 (best) to 99 (worst) */
#define FQ_FIELD_METRIC "metric"                 /* string */
#define FQ_FIELD_DEVICE "device"                 /* string: "cpu", "cuda" or "opencl" */
#define FQ_FIELD_FRAME "frame"                   /* guint64: number of the measured frame, from 0 */
#define FQ_FIELD_TIMESTAMP "timestamp"           /* guint64: buffer timestamp, ns */
#define FQ_FIELD_STREAM_TIME "stream-time"       /* guint64, ns */
#define FQ_FIELD_RUNNING_TIME "running-time"     /* guint64, ns */
#define FQ_FIELD_ZONE_COLUMNS "zone-columns"     /* guint; with zones */
#define FQ_FIELD_ZONE_ROWS "zone-rows"           /* guint; with zones */
#define FQ_FIELD_ZONES "zones"                   /* GST_TYPE_ARRAY of double, row by row; with zones */
#define FQ_FIELD_NOISE "noise"                   /* double, grey levels; with statistics */
#define FQ_FIELD_MEAN "mean"                     /* double, grey levels; with statistics */
#define FQ_FIELD_CLIPPED_BLACK "clipped-black"   /* double, 0...1; with statistics */
#define FQ_FIELD_CLIPPED_WHITE "clipped-white"   /* double, 0...1; with statistics */
#define FQ_FIELD_BLUR "blur"                     /* string: flat, sharp, defocus, motion; with statistics */
#define FQ_FIELD_ANISOTROPY "anisotropy"         /* double, 0...1; with statistics */
#define FQ_FIELD_BLUR_ANGLE "blur-angle"         /* double, degrees; with statistics */
#define FQ_FIELD_SHARPEST_ZONES "sharpest-zones" /* double; with zones */
#define FQ_FIELD_DAMAGED "damaged"               /* gboolean: decoded from incomplete data; with detect-damage */

/* Fields of a buffer's meta of this name, owned by the buffer; NULL if it has none. */
static inline const GstStructure* fq_meta_fields(GstBuffer* buffer, const char* meta) {
  GstCustomMeta* custom;
  /* Before GStreamer knows the name, no buffer can have the meta. */
  if (!gst_meta_get_info(meta)) return NULL;
  custom = gst_buffer_get_custom_meta(buffer, meta);
  return custom ? gst_custom_meta_get_structure(custom) : NULL;
}

/* Fields of an element message of this structure name, owned by the message; NULL for any other message. */
static inline const GstStructure* fq_message_fields(GstMessage* message, const char* name) {
  const GstStructure* fields =
      GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT ? gst_message_get_structure(message) : NULL;
  return fields && gst_structure_has_name(fields, name) ? fields : NULL;
}

/* Stores a field of type double; FALSE if there is none. */
static inline gboolean fq_field(const GstStructure* fields, const char* field, double* value) {
  return fields != NULL && gst_structure_get_double(fields, field, value);
}

/* Stores the score that sharpnessmeter attached to a buffer; returns FALSE if there is none. */
static inline gboolean fq_sharpness(GstBuffer* buffer, double* score) {
  return fq_field(fq_meta_fields(buffer, FQ_META_SHARPNESS), FQ_FIELD_SCORE, score);
}

#endif
