// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints the score of every frame from sharpnessmeter's bus messages, through GStreamer's C API.
// Build it alone: g++ score_app.cpp -o score_app $(pkg-config --cflags --libs gstreamer-1.0)
#include <gst/gst.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

constexpr const char* kSource =
    "videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420,width=320,height=240";

// Prints a message of sharpnessmeter; ignores those of other elements.
void print_score(GstMessage* message) {
  const GstStructure* fields = gst_message_get_structure(message);
  if (fields == nullptr || !gst_structure_has_name(fields, "sharpnessmeter")) return;
  guint64 frame = 0;
  guint64 timestamp = GST_CLOCK_TIME_NONE;  // ns
  double score = 0;
  const char* metric = gst_structure_get_string(fields, "metric");
  gst_structure_get(fields, "frame", G_TYPE_UINT64, &frame, "timestamp", G_TYPE_UINT64, &timestamp, "score",
                    G_TYPE_DOUBLE, &score, nullptr);
  // 17 digits preserve the score exactly.
  std::printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %s %.17g\n", frame, timestamp, metric, score);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const std::string source = argc > 1 ? argv[1] : kSource;
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch((source + " ! sharpnessmeter ! fakesink").c_str(), &error);
  if (error != nullptr) {
    std::fprintf(stderr, "%s\n", error->message);
    g_clear_error(&error);
    if (pipeline != nullptr) gst_object_unref(pipeline);
    return 1;
  }

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  int status = -1;
  while (status < 0) {
    const std::unique_ptr<GstMessage, decltype(&gst_message_unref)> message(
        gst_bus_timed_pop_filtered(
            bus, GST_CLOCK_TIME_NONE,
            static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR)),
        &gst_message_unref);
    switch (GST_MESSAGE_TYPE(message.get())) {
      case GST_MESSAGE_ELEMENT:
        print_score(message.get());
        break;
      case GST_MESSAGE_ERROR:
        gst_message_parse_error(message.get(), &error, nullptr);
        std::fprintf(stderr, "%s: %s\n", GST_MESSAGE_SRC_NAME(message.get()), error->message);
        g_clear_error(&error);
        status = 1;
        break;
      default:  // end of stream
        status = 0;
    }
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  return status;
}
