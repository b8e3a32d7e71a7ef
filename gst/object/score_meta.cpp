// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores as metadata on buffers, without touching or copying pixels.
#include "gst/object/score_meta.h"

namespace framequality {

void register_score_meta(const char* name) {
  if (gst_meta_get_info(name)) return;
  static const gchar* no_tags[] = {nullptr};
  gst_meta_register_custom(name, no_tags, nullptr, nullptr, nullptr);
}

const GstStructure* score_fields(GstBuffer* buffer, const char* name) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, name);
  return meta ? gst_custom_meta_get_structure(meta) : nullptr;
}

GstBuffer* make_header_writable(GstBuffer* buffer) {
  if (gst_buffer_is_writable(buffer)) return buffer;
  GstBuffer* header = gst_buffer_new();
  constexpr auto kAllButMemory = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META;
  gst_buffer_copy_into(header, buffer, static_cast<GstBufferCopyFlags>(kAllButMemory), 0, static_cast<gsize>(-1));
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count; ++i) gst_buffer_append_memory(header, gst_buffer_get_memory(buffer, i));
  // A pool must not reclaim the buffer, and reuse its memory, while this header is in use.
  gst_buffer_add_parent_buffer_meta(header, buffer);
  gst_buffer_unref(buffer);
  return header;
}

GstStructure* start_score_meta(GstBuffer* buffer, const char* name) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, name);
  if (!meta) return gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, name));
  GstStructure* fields = gst_custom_meta_get_structure(meta);
  gst_structure_remove_all_fields(fields);
  return fields;
}

void set_roi_param(GstVideoRegionOfInterestMeta* roi, GstStructure* param) {
  for (GList* at = roi->params; at;) {
    GList* next = at->next;
    auto* old = static_cast<GstStructure*>(at->data);
    if (gst_structure_has_name(old, gst_structure_get_name(param))) {
      roi->params = g_list_delete_link(roi->params, at);
      gst_structure_free(old);
    }
    at = next;
  }
  gst_video_region_of_interest_meta_add_param(roi, param);
}

}  // namespace framequality
