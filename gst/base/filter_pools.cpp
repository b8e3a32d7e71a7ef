// SPDX-License-Identifier: LGPL-2.1-or-later
// Output buffers of a filtering element, and its offer to upstream for its input.
#include "gst/base/filter_base.h"
#include "gst/base/stream.h"
#include "gst/memory/allocation.h"
#include "gst/memory/dma.h"
#include "gst/memory/kinds.h"
#include "gst/memory/pinned.h"

#include <algorithm>

namespace framequality {

namespace {

GstBaseTransformClass* parent_class() {
  return GST_BASE_TRANSFORM_CLASS(g_type_class_peek_parent(g_type_class_peek(FQ_TYPE_FILTER_BASE)));
}

/// Completes our query: it gets a large enough pool, and announces strides if downstream reads them.
void complete_pool(GstQuery* query, const GstVideoInfo& info, bool strides) {
  GstBufferPool* pool = nullptr;
  guint size = 0, min = 0, max = 0;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  const bool raw = GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_ENCODED;
  if (!pool) pool = raw ? gst_video_buffer_pool_new() : gst_buffer_pool_new();
  size = std::max(size, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)));
  // A GstVideoMeta has no planes if GStreamer has no name for the pixels.
  if (strides && raw && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META)) {
    GstCaps* caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, min, max);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_set_config(pool, config);
  }
  set_first_pool(query, pool, size, min, max);
  gst_object_unref(pool);
}

}  // namespace

gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query) {
  FqFilterBase* self = filter_base(trans);
  DeviceState& d = *self->parent.device;
  if (!d.stream) return FALSE;
  const FilterFormat& format = self->state->format;
  const bool strides = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  // Outputs that are being written while downstream holds as many as it wants.
  const auto written = static_cast<guint>(d.stream->in_flight()) + 1;
  reserve_held_buffers(query, written);
  if (format.out_memory != Memory::kHost)
    d.context.offer_pool(query, written);
  else
    offer_pinned_pool(query, written, place_of(&self->parent), static_cast<guint>(GST_VIDEO_INFO_SIZE(&format.out)));
  complete_pool(query, format.out, strides);
  return parent_class()->decide_allocation(trans, query);
}

gboolean propose_allocation(GstBaseTransform* trans, GstQuery* decided, GstQuery* query) {
  FqFilterBase* self = filter_base(trans);
  DeviceState& d = *self->parent.device;
  if (!d.stream || !parent_class()->propose_allocation(trans, decided, query)) return FALSE;
  if (!d.stream) return FALSE;  // downstream may end the stream while it answers
  const guint held = d.stream->most_held();
  if (!gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  if (caps && memory_of(caps) != Memory::kHost) {
    if (need_pool && d.stream->memory() != Memory::kHost) d.context.offer_pool(query, held);
  } else if (d.stream->memory() == Memory::kHost) {
    offer_pinned_pool(query, held, place_of(&self->parent));
  }
  // An upstream with its own pool still has to know how many of its buffers stay here.
  GstVideoInfo info;
  if (gst_query_get_n_allocation_pools(query) == 0 && held > 1 && caps && read_info(info, caps))
    gst_query_add_allocation_pool(query, nullptr, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), held, 0);
  return TRUE;
}

}  // namespace framequality
