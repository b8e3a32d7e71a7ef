// SPDX-License-Identifier: LGPL-2.1-or-later
// Pads at a chain's ends.
#include "tests/fuzz/chain.h"

#include <gst/video/video.h>

#include <cstdio>
#include <cstdlib>

namespace framequality::fuzz {

Chain::Chain(const std::vector<const char*>& factories, Dice dice) : dice_(dice), pipeline_(gst_pipeline_new(nullptr)) {
  for (const char* factory : factories) {
    GstElement* element = gst_element_factory_make(factory, nullptr);
    if (!element) {
      std::fprintf(stderr, "fuzz: no element %s\n", factory);
      std::exit(2);
    }
    gst_bin_add(GST_BIN(pipeline_), element);
    if (!elements_.empty()) gst_element_link(elements_.back(), element);
    elements_.push_back(element);
  }
  source_ = gst_pad_new("source", GST_PAD_SRC);
  sink_ = gst_pad_new("sink", GST_PAD_SINK);
  for (GstPad* pad : {source_, sink_}) {
    gst_object_ref_sink(pad);
    g_object_set_data(G_OBJECT(pad), "chain", this);
  }
  gst_pad_set_chain_function(sink_, take);
  gst_pad_set_event_function(sink_, hear);
  gst_pad_set_query_function(sink_, answer);
  gst_pad_set_event_function(source_, hear);
  first_ = gst_element_get_static_pad(elements_.front(), "sink");
  GstPad* last = gst_element_get_static_pad(elements_.back(), "src");
  gst_pad_link_full(source_, first_, GST_PAD_LINK_CHECK_NOTHING);
  gst_pad_link_full(last, sink_, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref(last);
  gst_pad_set_active(sink_, TRUE);
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  gst_pad_set_active(source_, TRUE);
}

Chain::~Chain() {
  gst_pad_set_active(source_, FALSE);
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_pad_set_active(sink_, FALSE);
  for (GstPad* pad : {source_, sink_, first_}) gst_object_unref(pad);
  gst_object_unref(pipeline_);
  for (GstBuffer* buffer : taken) gst_buffer_unref(buffer);
}

Chain& Chain::of(GstPad* pad) { return *static_cast<Chain*>(g_object_get_data(G_OBJECT(pad), "chain")); }

GstFlowReturn Chain::take(GstPad* pad, GstObject*, GstBuffer* buffer) {
  Chain& chain = of(pad);
  if (chain.polite) {
    chain.taken.push_back(buffer);
    return GST_FLOW_OK;
  }
  // What was pushed must be whole: every byte is looked at.
  GstMapInfo map;
  if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
    volatile unsigned sum = 0;
    for (gsize i = 0; i < map.size; ++i) sum = sum + map.data[i];
    gst_buffer_unmap(buffer, &map);
  }
  gst_buffer_unref(buffer);
  Dice& dice = chain.dice_;
  return dice.one_in(25) ? dice.of({GST_FLOW_EOS, GST_FLOW_FLUSHING, GST_FLOW_ERROR, GST_FLOW_NOT_NEGOTIATED,
                                    GST_FLOW_NOT_LINKED, GST_FLOW_CUSTOM_ERROR})
                         : GST_FLOW_OK;
}

gboolean Chain::hear(GstPad* pad, GstObject*, GstEvent* event) {
  Chain& chain = of(pad);
  const bool refuses =
      !chain.polite && pad == chain.sink_ && GST_EVENT_TYPE(event) == GST_EVENT_CAPS && chain.rare_.one_in(20);
  gst_event_unref(event);
  return !refuses;
}

gboolean Chain::answer(GstPad* pad, GstObject* parent, GstQuery* query) {
  Chain& chain = of(pad);
  if (!chain.polite && GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) {
    const std::uint64_t how = chain.asked_.fetch_add(0x9e3779b97f4a7c15u);
    if (how & 1U << 20) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    if ((how >> 21 & 3) == 0)
      gst_query_add_allocation_meta(query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
    if (how >> 32 & 1) gst_query_add_allocation_pool(query, nullptr, static_cast<guint>(how >> 44), how >> 60, 0);
    // As an application that ends the stream from within.
    if ((how >> 23 & 63) == 0) gst_pad_push_event(chain.source_, gst_event_new_eos());
    return (how >> 30 & 3) != 0;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    gst_query_set_caps_result(query, GST_CAPS_ANY);
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_set_accept_caps_result(query, TRUE);
    return TRUE;
  }
  return gst_pad_query_default(pad, parent, query);
}

}  // namespace framequality::fuzz
