// SPDX-License-Identifier: LGPL-2.1-or-later
// An application thread sets and reads every property while frames flow: what ThreadSanitizer is to look at.
#include <gst/gst.h>

#include <atomic>
#include <cstdio>

namespace {

std::atomic<guint> scores{0};

/// Counts scores where they are posted: they do not pass through the bus, which slow readers let grow.
GstBusSyncReply count(GstBus*, GstMessage* message, gpointer) {
  if (!gst_message_has_name(message, "sharpnessmeter")) return GST_BUS_PASS;
  ++scores;
  gst_message_unref(message);
  return GST_BUS_DROP;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(
      "videotestsrc pattern=ball num-buffers=400 ! video/x-raw,format=GRAY8,width=160,height=120 ! tee name=t "
      "t. ! queue ! sharpnessmeter name=meter ! queue ! sharpnessmeter metric=entropy ! fakesink sync=false "
      "t. ! queue ! sharpnessmeter ! sharpnessgate name=gate ! fakesink sync=false",
      &error);
  if (pipeline == nullptr || error != nullptr) {
    std::fprintf(stderr, "%s\n", error != nullptr ? error->message : "no pipeline");
    return 1;
  }
  GstElement* meter = gst_bin_get_by_name(GST_BIN(pipeline), "meter");
  GstElement* gate = gst_bin_get_by_name(GST_BIN(pipeline), "gate");
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, count, nullptr, nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);

  const char* const modes[] = {"threshold", "relative", "best-of"};
  const char* const metrics[] = {"tenengrad", "entropy", "laplacian-variance", "vollath-f4"};
  const gint64 until = g_get_monotonic_time() + 60 * G_TIME_SPAN_SECOND;
  bool ended = false;
  bool failed = false;
  for (guint i = 0; !ended && !failed; ++i) {
    gst_util_set_object_arg(G_OBJECT(meter), "metric", metrics[i % 4]);
    gst_util_set_object_arg(G_OBJECT(meter), "prefilter", i % 3 == 0 ? "binomial5" : "none");
    gst_util_set_object_arg(G_OBJECT(meter), "roi", i % 5 == 0 ? "<10,10,40,40>" : "<>");
    g_object_set(meter, "zone-columns", 1 + i % 4, "zone-rows", 1 + i % 3, "roi-meta", i % 2 == 0, nullptr);
    gst_util_set_object_arg(G_OBJECT(gate), "mode", modes[i / 8 % 3]);
    gst_util_set_object_arg(G_OBJECT(gate), "action", i / 4 % 2 == 0 ? "drop" : "mark");
    g_object_set(gate, "min-score", 2000.0 + i % 9 * 20, "resume-score", 2100.0, "min-ratio", 0.9 + i % 3 * 0.05,
                 "max-ratio", i % 4 * 1.01, "window-frames", static_cast<gint>(i % 6), "window-time",
                 guint64{100} * GST_MSECOND, nullptr);
    double last = 0;
    gchar* device = nullptr;
    GstStructure* stats = nullptr;
    g_object_get(meter, "last-score", &last, "active-device", &device, "stats", &stats, nullptr);
    g_free(device);
    if (stats != nullptr) gst_structure_free(stats);
    g_object_get(gate, "stats", &stats, nullptr);
    if (stats != nullptr) gst_structure_free(stats);
    GstMessage* message = gst_bus_timed_pop(bus, GST_MSECOND / 5);
    ended = message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    failed = g_get_monotonic_time() > until || (message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR);
    if (message != nullptr) gst_message_unref(message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(gate);
  gst_object_unref(meter);
  gst_object_unref(pipeline);
  std::printf("%u scores%s\n", scores.load(), failed ? ", an error or out of time" : "");
  return !failed && scores == 3 * 400 ? 0 : 1;
}
