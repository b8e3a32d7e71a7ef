// SPDX-License-Identifier: LGPL-2.1-or-later
// Measurement of every frame of an image or video that GStreamer can decode, by the element bliindsmeter.
#include "apps/bliinds/measure.h"

#include "apps/common/contexts.h"
#include "apps/common/decoding.h"
#include "apps/common/element.h"
#include "apps/common/message.h"
#include "apps/common/owned.h"
#include "apps/common/program.h"
#include "apps/common/reach.h"
#include "apps/common/threads.h"
#include "apps/common/uri.h"

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace framequality::tools {

using namespace apps;

namespace {

constexpr char kElement[] = "bliindsmeter";
constexpr char kNothing[] = "no-video";  // message: no video stream was found
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

/// Links the first video stream that uridecodebin finds; others, of another angle, stay unlinked.
void link_video(GstElement*, GstPad* pad, gpointer to) {
  const Owned<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(to), "sink"));
  if (!gst_pad_is_linked(sink.get())) gst_pad_link(pad, sink.get());
}

/// Posts that there is no video: for some files, uridecodebin reports neither an error nor a pad.
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
  // Of any features: libav's decoders also output format:Interlaced, and uridecodebin needs caps for all output.
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

struct Stalled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Stream position; any value that changes while frames go through the pipeline.
gint64 place_in(GstElement* pipeline) {
  gint64 position = -1;
  (void)gst_element_query_position(pipeline, GST_FORMAT_TIME, &position);
  return position;
}

bool is_from_meter(GstMessage* message) {
  GstElementFactory* factory = GST_IS_ELEMENT(GST_MESSAGE_SRC(message))
                                   ? gst_element_get_factory(GST_ELEMENT(GST_MESSAGE_SRC(message)))
                                   : nullptr;
  return factory && std::string_view(GST_OBJECT_NAME(factory)) == kElement;
}

/// Reads the bus to the end of the stream; returns the number of frames.
std::size_t run(GstElement* pipeline, Decoding& decoding, const std::string& file, int stall_timeout,
                const std::function<void(const Measured&)>& each) {
  const Owned<GstBus> bus(gst_element_get_bus(pipeline));
  gint64 place = -1;
  int idle_seconds = 0;
  constexpr auto kWanted = static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_APPLICATION | GST_MESSAGE_EOS |
                                                       GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  for (std::size_t frames = 0;;) {
    const Owned<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), GST_SECOND, kWanted));
    if (message) {
      idle_seconds = 0;
    } else {
      // Wait once more: its error may be on its way.
      if (idle_seconds++ > 0 && decoding.has_given_up()) throw std::runtime_error(decoding.emptiness());
      if (stall_timeout == 0 || idle_seconds < stall_timeout) continue;
      // With an interval there may be no message for long.
      if (const gint64 now = place_in(pipeline); std::exchange(place, now) != now) {
        idle_seconds = 0;
        continue;
      }
      throw Stalled("no data for " + std::to_string(stall_timeout) +
                    " s: it is damaged, or its decoder needs a longer --stall-timeout");
    }
    switch (GST_MESSAGE_TYPE(message.get())) {
      case GST_MESSAGE_ELEMENT:
        decoding.hear(message.get());
        if (!gst_message_has_name(message.get(), kElement)) break;
        each(measured_in(gst_message_get_structure(message.get())));
        ++frames;
        break;
      case GST_MESSAGE_WARNING:
        // Decoders warn about every damaged frame, and about sound that nobody decodes.
        if (!is_from_meter(message.get())) break;
        std::cerr << shown_name(file) << ": warning: " << complaint_of(message.get()).text << '\n';
        break;
      case GST_MESSAGE_ERROR:
        if (const std::string why = why_unreachable(message.get()); !why.empty()) throw std::runtime_error(why);
        throw std::runtime_error(decoding.reason(message.get()));
      case GST_MESSAGE_APPLICATION:
        if (gst_message_has_name(message.get(), kNothing)) throw std::runtime_error("it has no image or video");
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
  // However this ends, the pipeline must be stopped.
  struct Reading {
    Decoding decoding;
    Owned<GstElement> pipeline;
    Reading() = default;
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
      if (pipeline) gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    }
  };
  auto reading = std::make_unique<Reading>();
  GstElement* pipeline = (reading->pipeline = make_pipeline(uri.c_str(), options)).get();
  reading->decoding.watch(pipeline);
  share_contexts_of(Owned<GstBus>(gst_element_get_bus(pipeline)).get());
  try {
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    if (run(pipeline, reading->decoding, file, options.stall_timeout, each) == 0)
      throw std::runtime_error("none of its frames could be measured");
  } catch (const Stalled&) {
    // Stops the pipeline, unless it is stuck.
    expect_stuck_threads();
    // Without a thread to wait in, it is abandoned.
    auto* const stuck = reading.release();
    (void)try_detached([stuck] { delete stuck; });
    throw;
  }
}

}  // namespace framequality::tools
