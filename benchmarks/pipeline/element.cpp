// SPDX-License-Identifier: LGPL-2.1-or-later
// A whole pipeline for benchmarks: a source, one of this build's elements, fakesink.
#include "benchmarks/pipeline/element.h"

#include "algorithms/sharpness/score.h"
#include "cpu/sharpness/meter.h"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <sys/resource.h>

GST_ELEMENT_REGISTER_DECLARE(nlmeans)
GST_ELEMENT_REGISTER_DECLARE(patchbilateral)
GST_ELEMENT_REGISTER_DECLARE(camerawatch)
GST_ELEMENT_REGISTER_DECLARE(sharpnessmeter)

namespace framequality::bench {

using namespace sharpness;

namespace {

GstElement* make(const char* factory) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (!element) throw std::runtime_error(std::string("no element ") + factory);
  return element;
}

void set(GstElement* element, const std::string& name, const std::string& value) {
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str()))
    throw std::runtime_error("this element has no property " + name);
  gst_util_set_object_arg(G_OBJECT(element), name.c_str(), value.c_str());
}

GstBusSyncReply drop_results(GstBus*, GstMessage* message, gpointer) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT) return GST_BUS_PASS;
  gst_message_unref(message);
  return GST_BUS_DROP;
}

/// A bin of a launch line that counts the frames it makes.
GstElement* make_upstream(const std::string& line, SourceState& state) {
  GError* error = nullptr;
  // Pads that are linked later, as those of a demuxer, would be taken for the bin's own: its end is named.
  GstElement* bin = gst_parse_bin_from_description_full((line + " ! capsfilter name=end").c_str(), FALSE, nullptr,
                                                        GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!bin) {
    const std::string text = error->message;
    g_error_free(error);
    throw std::runtime_error(text);
  }
  GstElement* end = gst_bin_get_by_name(GST_BIN(bin), "end");
  GstPad* pad = gst_element_get_static_pad(end, "src");
  const auto count = [](GstPad*, GstPadProbeInfo*, gpointer source) {
    static_cast<SourceState*>(source)->frames.fetch_add(1, std::memory_order_relaxed);
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, &state, nullptr);
  gst_element_add_pad(bin, gst_ghost_pad_new("src", pad));
  gst_object_unref(pad);
  gst_object_unref(end);
  return bin;
}

}  // namespace

void start_gstreamer() {
  gst_init(nullptr, nullptr);
  if (!GST_ELEMENT_REGISTER(camerawatch, nullptr) || !GST_ELEMENT_REGISTER(nlmeans, nullptr) ||
      !GST_ELEMENT_REGISTER(patchbilateral, nullptr) || !GST_ELEMENT_REGISTER(sharpnessmeter, nullptr))
    throw std::runtime_error("cannot register the elements");
}

ElementPipeline::ElementPipeline(const PipelineOptions& options) : pipeline_(gst_pipeline_new(nullptr)) {
  const auto add = [&](GstElement* element) {
    gst_bin_add(GST_BIN(pipeline_.get()), element);
    return element;
  };
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus_.get(), drop_results, nullptr, nullptr);
  GstElement* last = add(options.upstream.empty() ? make_frame_source(options.source, state_)
                                                  : make_upstream(options.upstream, *state_));
  if (!options.device.empty()) {
    element_ = add(make(options.element.c_str()));
    set(element_, "device", options.device);
    // Not there in versions that measure one frame at a time.
    if (options.in_flight > 0 || g_object_class_find_property(G_OBJECT_GET_CLASS(element_), "in-flight"))
      set(element_, "in-flight", std::to_string(options.in_flight));
    for (const std::string& property : options.properties) {
      const std::size_t equals = property.find('=');
      if (equals == std::string::npos) throw std::runtime_error("not name=value: " + property);
      set(element_, property.substr(0, equals), property.substr(equals + 1));
    }
    if (!gst_element_link(last, element_)) throw std::runtime_error("cannot link the source to " + options.element);
    last = element_;
  }
  if (!options.downstream.empty()) {
    GstElement* downstream = add(make(options.downstream.c_str()));
    if (!gst_element_link(last, downstream)) throw std::runtime_error("cannot link " + options.downstream);
    last = downstream;
  }
  sink_ = add(make("fakesink"));
  g_object_set(sink_, "sync", FALSE, "enable-last-sample", FALSE, nullptr);
  if (!gst_element_link(last, sink_)) throw std::runtime_error("cannot link the sink");
}

ElementPipeline::~ElementPipeline() {
  state_->core = -1;  // GStreamer gives the thread to the next pipeline
  resume();
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

void ElementPipeline::hold() {
  state_->is_held = true;
  wait_until([&] { return state_->is_idle.load(); }, "the stream does not rest");
}

void ElementPipeline::resume() noexcept {
  state_->is_held = false;
  state_->is_held.notify_all();
}

void ElementPipeline::play() {
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  wait_until([&] { return frames() > 0; }, "no frame came");
}

bool ElementPipeline::ends_within(double seconds) {
  const auto timeout = static_cast<GstClockTime>(seconds * 1e9);
  constexpr auto kEnds = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  GstMessage* message = gst_bus_timed_pop_filtered(bus_.get(), timeout, kEnds);
  if (!message) return false;
  std::string text;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gchar* detail = nullptr;
    gst_message_parse_error(message, &error, &detail);
    text = error->message;
    // "Internal data stream error." says nothing; the last line of the detail does.
    const char* last = detail ? std::strrchr(detail, '\n') : nullptr;
    if (last) text += std::string(" [") + (last + 1) + "]";
    g_error_free(error);
    g_free(detail);
  }
  gst_message_unref(message);
  if (!text.empty()) throw std::runtime_error(text);
  return true;
}

void ElementPipeline::wait(double seconds) {
  if (ends_within(seconds)) throw std::runtime_error("the stream ended");
}

void ElementPipeline::wait_until(const std::function<bool()>& is_so, const char* if_not) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!is_so()) {
    wait(0.0002);
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(if_not);
  }
}

double ElementPipeline::last_score() const {
  gdouble score = 0;
  if (element_) g_object_get(element_, "last-score", &score, nullptr);
  return score;
}

double expected_score(const SourceOptions& source) {
  const Geometry geometry{source.width, source.height, {}};
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  Frame frame;
  frame.plane[0] = source.luma->data();
  frame.stride[0] = source.width;
  const auto meter = cpu::make_meter(geometry);
  meter->submit({frame, plan});
  return finish(*plan, meter->collect()).score;
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace framequality::bench
