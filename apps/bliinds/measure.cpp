// SPDX-License-Identifier: LGPL-2.1-or-later
// Every frame of a picture or video that GStreamer can decode, measured by the element bliindsmeter.
#include "apps/bliinds/measure.h"

#include "apps/common/contexts.h"
#include "apps/common/decoding.h"
#include "apps/common/element.h"
#include "apps/common/message.h"
#include "apps/common/owned.h"
#include "apps/common/uri.h"

#include <iostream>
#include <memory>
#include <stdexcept>

namespace framequality::tools {

using namespace apps;

namespace {

constexpr char kElement[] = "bliindsmeter";
constexpr char kNothing[] = "no-video";  // message: the file has been looked through
constexpr int kInFlight = 2;             // CUDA: the next frames are copied while one is measured

/// A meter with these options, floating.
GstElement* make_meter(const MeasureOptions& options) {
  GstElement* meter = make_own_element(kElement);
  gst_util_set_object_arg(G_OBJECT(meter), "channel", options.channel.c_str());
  gst_util_set_object_arg(G_OBJECT(meter), "device", options.device.c_str());
  g_object_set(meter, "model-location", options.model.c_str(), "interval", guint64{options.interval}, "features", TRUE,
               "attach-meta", FALSE, "in-flight", kInFlight, nullptr);
  return meter;
}

/// Links the first picture that uridecodebin finds; others, of another angle, stay unlinked.
void link_video(GstElement*, GstPad* pad, gpointer to) {
  const Owned<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(to), "sink"));
  if (!gst_pad_is_linked(sink.get())) gst_pad_link(pad, sink.get());
}

/// Says on the bus that no picture will come: some files make uridecodebin neither an error nor a pad.
void end_without_video(GstElement* source, gpointer to) {
  const Owned<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(to), "sink"));
  if (!gst_pad_is_linked(sink.get()))
    gst_element_post_message(source,
                             gst_message_new_application(GST_OBJECT(source), gst_structure_new_empty(kNothing)));
}

/// uridecodebin, videoconvert, caps of system memory, the meter, fakesink.
Owned<GstElement> make_pipeline(const char* uri, const MeasureOptions& options) {
  Owned<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  GstBin* bin = GST_BIN(pipeline.get());
  const auto add = [&](GstElement* element) {
    gst_bin_add(bin, element);
    return element;
  };
  GstElement* source = add(make_element("uridecodebin"));
  GstElement* convert = add(make_element("videoconvert"));
  GstElement* filter = add(make_element("capsfilter"));
  GstElement* meter = add(make_meter(options));
  GstElement* sink = add(make_element("fakesink"));
  // Of any features: libav's decoders also make format:Interlaced, and uridecodebin wants all that a decoder makes.
  const Owned<GstCaps> video(gst_caps_from_string("video/x-raw(ANY)"));
  g_object_set(source, "uri", uri, "caps", video.get(), "expose-all-streams", FALSE, nullptr);
  gst_util_set_object_arg(G_OBJECT(filter), "caps", "video/x-raw");
  g_object_set(sink, "sync", FALSE, nullptr);
  gst_element_link_many(convert, filter, meter, sink, nullptr);
  g_signal_connect(source, "pad-added", G_CALLBACK(link_video), convert);
  g_signal_connect(source, "no-more-pads", G_CALLBACK(end_without_video), convert);
  return pipeline;
}

Measured measured_in(const GstStructure* s) {
  Measured m{};
  gst_structure_get(s, "frame", G_TYPE_UINT64, &m.frame, "score", G_TYPE_DOUBLE, &m.score, "raw-score", G_TYPE_DOUBLE,
                    &m.raw, nullptr);
  const GValue* array = gst_structure_get_value(s, "features");
  for (guint i = 0; i < m.features.size(); ++i) m.features[i] = g_value_get_double(gst_value_array_get_value(array, i));
  return m;
}

/// Reads the bus to the end of the stream; the number of frames.
std::size_t run(GstBus* bus, Decoding& decoding, const std::string& file,
                const std::function<void(const Measured&)>& each) {
  constexpr auto kWanted = static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_APPLICATION | GST_MESSAGE_EOS |
                                                       GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  for (std::size_t frames = 0;;) {
    const Owned<GstMessage> message(gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, kWanted));
    switch (GST_MESSAGE_TYPE(message.get())) {
      case GST_MESSAGE_ELEMENT:
        decoding.hear(message.get());
        if (!gst_message_has_name(message.get(), kElement)) break;
        each(measured_in(gst_message_get_structure(message.get())));
        ++frames;
        break;
      case GST_MESSAGE_WARNING:
        std::cerr << file << ": warning: " << complaint_of(message.get()).text << '\n';
        break;
      case GST_MESSAGE_ERROR:
        throw std::runtime_error(decoding.reason(message.get()));
      case GST_MESSAGE_APPLICATION:
        if (gst_message_has_name(message.get(), kNothing)) throw std::runtime_error("no picture or video in it");
        break;
      default:
        return frames;
    }
  }
}

}  // namespace

void require_meter(const MeasureOptions& options) {
  const Owned<GstElement> meter(GST_ELEMENT(gst_object_ref_sink(make_meter(options))));
  try_device(meter.get());
}

void measure(const std::string& file, const MeasureOptions& options, const std::function<void(const Measured&)>& each) {
  const std::string uri = uri_of(file);
  Decoding decoding;
  const Owned<GstElement> pipeline = make_pipeline(uri.c_str(), options);
  decoding.watch(pipeline.get());
  const Owned<GstBus> bus(gst_element_get_bus(pipeline.get()));
  share_contexts_of(bus.get());
  // However this ends, nothing goes on behind it.
  const auto stop = [](GstElement* p) { gst_element_set_state(p, GST_STATE_NULL); };
  const std::unique_ptr<GstElement, decltype(stop)> running(pipeline.get(), stop);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  if (run(bus.get(), decoding, file, each) == 0) throw std::runtime_error("no frame of it could be measured");
}

}  // namespace framequality::tools
