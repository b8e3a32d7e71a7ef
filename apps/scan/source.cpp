// SPDX-License-Identifier: LGPL-2.1-or-later
// The source of a scan's frames: a file or URI, standard input, or a photograph that GStreamer does not decode.
#include "apps/scan/source.h"

#include "apps/common/element.h"
#include "apps/common/uri.h"

#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace framequality::apps::scan {

namespace {

GstElement* feed_of(std::optional<Still>& still) {
  if (!still) {
    GstElement* feed = make_element("fdsrc");
    g_object_set(feed, "fd", STDIN_FILENO, nullptr);
    return feed;
  }
  GstElement* feed = make_element("appsrc");
  gst_util_set_object_arg(G_OBJECT(feed), "format", "time");
  g_object_set(feed, "caps", still->caps.get(), nullptr);
  GST_BUFFER_PTS(still->data.get()) = 0;
  return feed;
}

}  // namespace

GstElement* add_source(GstBin* pipeline, const std::string& name, std::optional<Still>& still) {
  if (!still && name != kStandardInput) {
    GstElement* source = make_element("uridecodebin");
    g_object_set(source, "uri", uri_of(name).c_str(), nullptr);
    gst_bin_add(pipeline, source);
    return source;
  }
  GstElement *feed = feed_of(still), *source = make_element("decodebin");
  gst_bin_add_many(pipeline, feed, source, nullptr);
  if (!gst_element_link(feed, source)) throw std::runtime_error("the decoder cannot be linked");
  if (still) {
    // It keeps the buffer until the pipeline runs.
    GstFlowReturn pushed = GST_FLOW_OK;
    g_signal_emit_by_name(feed, "push-buffer", still->data.get(), &pushed);
    g_signal_emit_by_name(feed, "end-of-stream", &pushed);
  }
  return source;
}

}  // namespace framequality::apps::scan
