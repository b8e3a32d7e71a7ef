// SPDX-License-Identifier: LGPL-2.1-or-later
// The source of a pipeline's frames: one video stream, decoded.
#include "apps/watch/source.h"

#include "apps/common/element.h"
#include "apps/common/packages.h"
#include "apps/common/text.h"

#include <gio/gio.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace framequality::apps::watch {

namespace {

constexpr guint kLatency = 200;                                // ms that packets may arrive out of order
constexpr guint64 kTcpSilence = guint64{10} * G_USEC_PER_SEC;  // after this, a server counts as dead
constexpr guint kHttpSilence = 10;                             // s

bool has(GstElement* element, const char* property) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
}

void set_text(GstElement* element, const char* property, const std::string& text) {
  if (!text.empty() && has(element, property)) g_object_set(element, property, text.c_str(), nullptr);
}

/// Selects video: sound, and the metadata that some cameras send, are not requested.
gboolean is_video(GstElement*, guint, GstCaps* caps, gpointer) {
  const gchar* media = gst_structure_get_string(gst_caps_get_structure(caps, 0), "media");
  return !media || std::string_view(media) == "video";
}

void set_up(GstElement*, GstElement* source, gpointer data) {
  const auto& camera = *static_cast<const CameraSettings*>(data);
  const gchar* type = G_OBJECT_TYPE_NAME(source);
  set_text(source, "user-id", camera.user);
  set_text(source, "user-pw", camera.password);
  if (std::string_view(type) == "GstRTSPSrc") {
    g_object_set(source, "latency", kLatency, "tcp-timeout", kTcpSilence, nullptr);
    if (camera.transport != Transport::kAuto)
      gst_util_set_object_arg(G_OBJECT(source), "protocols",
                              camera.transport == Transport::kTcp ? "tcp" : "udp-mcast+udp");
    if (!camera.verify_tls) g_object_set(source, "tls-validation-flags", GTlsCertificateFlags(0), nullptr);
    g_signal_connect(source, "select-stream", G_CALLBACK(is_video), nullptr);
  } else if (std::string_view(type) == "GstSoupHTTPSrc") {
    g_object_set(source, "timeout", kHttpSilence, "ssl-strict", gboolean{camera.verify_tls}, nullptr);
  }
}

struct Inner {
  int decoder_threads;
  std::shared_ptr<Connections> connections;
};

/// With many small streams, decoder threads would cost more than they gain.
void set_up_inner(GstBin*, GstBin*, GstElement* element, gpointer data) {
  const auto& inner = *static_cast<const Inner*>(data);
  if (std::string_view(G_OBJECT_TYPE_NAME(element)) == "GstRTSPSrc") Connections::follow(element, inner.connections);
  // JPEGs over HTTP: without this the demuxer waits for other streams until some megabytes have arrived.
  if (std::string_view(G_OBJECT_TYPE_NAME(element)) == "GstMultipartDemux")
    g_object_set(element, "single-stream", TRUE, nullptr);
  const gchar* klass = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
  if (!klass || std::string_view(klass).find("Decoder") == std::string_view::npos) return;
  const std::string count = std::to_string(inner.decoder_threads);
  for (const char* property : {"max-threads", "threads", "n-threads"})
    if (has(element, property)) gst_util_set_object_arg(G_OBJECT(element), property, count.c_str());
}

void on_pad(GstElement*, GstPad* pad, gpointer bin) {
  const Owned<GstPad> src(gst_element_get_static_pad(GST_ELEMENT(bin), "src"));
  const Owned<GstPad> target(gst_ghost_pad_get_target(GST_GHOST_PAD(src.get())));
  // A second video stream stays unlinked, and so undecoded.
  if (!target) gst_ghost_pad_set_target(GST_GHOST_PAD(src.get()), pad);
}

void on_no_more_pads(GstElement* decoder, gpointer bin) {
  const Owned<GstPad> src(gst_element_get_static_pad(GST_ELEMENT(bin), "src"));
  const Owned<GstPad> target(gst_ghost_pad_get_target(GST_GHOST_PAD(src.get())));
  if (!target) GST_ELEMENT_ERROR(decoder, STREAM, WRONG_TYPE, ("it has no video"), (nullptr));
}

/// Downstream elements outlive the stream, so they must not see its end.
GstPadProbeReturn keep_end(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_EOS) return GST_PAD_PROBE_OK;
  const Owned<GstElement> bin(gst_pad_get_parent_element(pad));
  if (bin)
    gst_element_post_message(bin.get(),
                             gst_message_new_application(GST_OBJECT(bin.get()), gst_structure_new_empty(kEndMessage)));
  return GST_PAD_PROBE_DROP;
}

/// JPEGs over HTTP have no timestamps: use the time of arrival.
GstPadProbeReturn give_time(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  if (GST_BUFFER_PTS_IS_VALID(GST_PAD_PROBE_INFO_BUFFER(info))) return GST_PAD_PROBE_OK;
  const Owned<GstElement> bin(gst_pad_get_parent_element(pad));
  GstEvent* event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (!bin || !event) {
    if (event) gst_event_unref(event);
    return GST_PAD_PROBE_OK;
  }
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event, &segment);
  const GstClockTime now = gst_element_get_current_running_time(bin.get());
  if (segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID(now)) {
    GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
    GST_BUFFER_PTS(buffer) = gst_segment_position_from_running_time(segment, GST_FORMAT_TIME, now);
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
  }
  gst_event_unref(event);
  return GST_PAD_PROBE_OK;
}

GstElement* described(const std::string& description) {
  GError* error = nullptr;
  // Encoded data or other media find nothing to link to.
  const std::string whole = description + " ! capsfilter caps=\"video/x-raw(ANY)\" name=framequality-end";
  const std::unique_ptr<GstParseContext, decltype(&gst_parse_context_free)> context(gst_parse_context_new(),
                                                                                    gst_parse_context_free);
  GstElement* bin =
      gst_parse_bin_from_description_full(whole.c_str(), FALSE, context.get(), GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (bin && !error) return bin;
  std::vector<std::string> missing;
  gchar** names = gst_parse_context_get_missing_elements(context.get());
  for (gchar** name = names; name && *name; ++name) missing.push_back(std::string("element-") + *name);
  g_strfreev(names);
  const std::string reason = (error ? error->message : "the description cannot be parsed") + install_hint(missing);
  g_clear_error(&error);
  if (bin) gst_object_unref(bin);
  throw std::runtime_error(printable(reason));
}

GstElement* decoded(const CameraSettings& camera, GstElement* bin) {
  GstElement* decoder = make_element("uridecodebin");
  const Owned<GstCaps> video(gst_caps_from_string("video/x-raw(ANY)"));
  g_object_set(decoder, "uri", camera.uri.c_str(), "caps", video.get(), "expose-all-streams", FALSE, nullptr);
  g_signal_connect_data(
      decoder, "source-setup", G_CALLBACK(set_up), new CameraSettings(camera),
      [](gpointer data, GClosure*) { delete static_cast<CameraSettings*>(data); }, GConnectFlags(0));
  g_signal_connect(decoder, "pad-added", G_CALLBACK(on_pad), bin);
  g_signal_connect(decoder, "no-more-pads", G_CALLBACK(on_no_more_pads), bin);
  return decoder;
}

}  // namespace

Owned<GstElement> make_source(const CameraSettings& camera, const std::shared_ptr<Connections>& connections) {
  Owned<GstElement> bin(GST_ELEMENT(gst_object_ref_sink(gst_bin_new(nullptr))));
  // State changes inside must not change the pipeline's state.
  g_object_set(bin.get(), "async-handling", TRUE, nullptr);
  g_signal_connect_data(
      bin.get(), "deep-element-added", G_CALLBACK(set_up_inner), new Inner{camera.decoder_threads, connections},
      [](gpointer data, GClosure*) { delete static_cast<Inner*>(data); }, GConnectFlags(0));
  GstPad* src = nullptr;
  if (camera.pipeline.empty()) {
    src = gst_ghost_pad_new_no_target("src", GST_PAD_SRC);
    gst_element_add_pad(bin.get(), src);
    gst_bin_add(GST_BIN(bin.get()), decoded(camera, bin.get()));
  } else {
    GstElement* inner = described(camera.pipeline);
    gst_bin_add(GST_BIN(bin.get()), inner);
    const Owned<GstElement> end(gst_bin_get_by_name(GST_BIN(inner), "framequality-end"));
    const Owned<GstPad> last(gst_element_get_static_pad(end.get(), "src"));
    GstPad* middle = gst_ghost_pad_new("src", last.get());
    gst_element_add_pad(inner, middle);
    src = gst_ghost_pad_new("src", middle);
    gst_element_add_pad(bin.get(), src);
  }
  gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, keep_end, nullptr, nullptr);
  gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_BUFFER, give_time, nullptr, nullptr);
  return bin;
}

void check_description(const std::string& description) {
  const Owned<GstElement> bin(GST_ELEMENT(gst_object_ref_sink(described(description))));
}

}  // namespace framequality::apps::watch
