// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element makes of the latency that upstream reports, and whether a live pipeline can live with it.
#pragma once

#include "tests/element/rig.h"

#include <ostream>

namespace framequality::test {

struct Latency {
  bool live;
  GstClockTime least, most;
  bool operator==(const Latency&) const = default;
};
inline std::ostream& operator<<(std::ostream& to, const Latency& l) {
  return to << (l.live ? "live " : "not live ") << l.least << " to " << l.most;
}

/// What the element answers when upstream answers as given.
inline Latency latency(GstHarness* harness, Latency upstream = {false, 0, GST_CLOCK_TIME_NONE}) {
  GstPad* source = harness->srcpad;
  const gulong probe = gst_pad_add_probe(
      source, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
      [](GstPad*, GstPadProbeInfo* info, gpointer from) {
        GstQuery* query = gst_pad_probe_info_get_query(info);
        if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return GST_PAD_PROBE_OK;
        const auto* l = static_cast<Latency*>(from);
        gst_query_set_latency(query, l->live, l->least, l->most);
        return GST_PAD_PROBE_HANDLED;
      },
      &upstream, nullptr);
  GstQuery* query = gst_query_new_latency();
  EXPECT_TRUE(gst_pad_peer_query(harness->sinkpad, query));
  gboolean live = FALSE;
  Latency answer{};
  gst_query_parse_latency(query, &live, &answer.least, &answer.most);
  answer.live = live;
  gst_query_unref(query);
  gst_pad_remove_probe(source, probe);
  return answer;
}

/// Runs a live pipeline to its end; its sink `s` must render `frames` frames and drop none as late.
inline Heard expect_never_late(const std::string& launch, std::uint64_t frames) {
  const ElementPtr pipeline = pipeline_of(launch);
  const ElementPtr sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "s"));
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  Heard heard;
  while (!heard.eos && heard.errors.empty()) {
    const MessagePtr message(gst_bus_timed_pop(bus.get(), 10 * GST_SECOND));
    EXPECT_TRUE(message) << "no EOS";
    if (!message) break;
    heard.add(message.get());
    // As every application with a live pipeline has to.
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_LATENCY) gst_bin_recalculate_latency(GST_BIN(pipeline.get()));
  }
  GstStructure* stats = nullptr;
  g_object_get(sink.get(), "stats", &stats, nullptr);
  const StructurePtr owned(stats);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  EXPECT_EQ(count(stats, "rendered"), frames);
  EXPECT_EQ(count(stats, "dropped"), 0u);
  return heard;
}

}  // namespace framequality::test
