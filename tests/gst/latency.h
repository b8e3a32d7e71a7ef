// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of the latency that an element reports, and of live pipelines that have to live with it.
#pragma once

#include "tests/gst/rig.h"
#include "tests/gst/stepped_clock.h"

#include <ostream>
#include <string>
#include <utility>

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

struct LiveRun {
  Heard heard;
  std::uint64_t rendered, dropped;  ///< frames that its sink `s` showed, and left out as late
};

/// Runs a live pipeline of one streaming thread to its end.
inline LiveRun run_live(const std::string& launch) {
  const ElementPtr pipeline = pipeline_of(launch);
  const ElementPtr sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "s"));
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  SteppedClock clock(pipeline.get());
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  LiveRun run{};
  const gint64 end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
  while (!run.heard.eos && run.heard.errors.empty()) {
    if (g_get_monotonic_time() > end) {
      ADD_FAILURE() << "no EOS: " << launch;
      break;
    }
    clock.step();
    while (const MessagePtr message{gst_bus_pop(bus.get())}) {
      run.heard.add(message.get());
      // As every application with a live pipeline has to.
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_LATENCY) gst_bin_recalculate_latency(GST_BIN(pipeline.get()));
    }
  }
  GstStructure* stats = nullptr;
  g_object_get(sink.get(), "stats", &stats, nullptr);
  const StructurePtr owned(stats);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  run.rendered = count(stats, "rendered");
  run.dropped = count(stats, "dropped");
  return run;
}

/// Runs a live pipeline; its sink must render `frames` frames and drop none as late.
inline Heard expect_never_late(const std::string& launch, std::uint64_t frames) {
  LiveRun run = run_live(launch);
  EXPECT_EQ(run.rendered, frames) << launch;
  EXPECT_EQ(run.dropped, 0u) << launch;
  return std::move(run.heard);
}

}  // namespace framequality::test
