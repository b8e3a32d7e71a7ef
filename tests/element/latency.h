// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element makes of the latency that upstream reports.
#pragma once

#include <gst/check/gstharness.h>

#include <gtest/gtest.h>
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

}  // namespace framequality::test
