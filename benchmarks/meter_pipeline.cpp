// SPDX-License-Identifier: LGPL-2.1-or-later
// A whole pipeline for benchmarks: frame source, sharpnessmeter, fakesink.
#include "benchmarks/meter_pipeline.h"

#include "algorithms/score.h"
#include "cpu/backend.h"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <sys/resource.h>

GST_ELEMENT_REGISTER_DECLARE(sharpnessmeter)

namespace framequality::bench {
namespace {

GstElement* make(const char* factory) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (!element) throw std::runtime_error(std::string("no element ") + factory);
  return element;
}

void set(GstElement* element, const std::string& name, const std::string& value) {
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str()))
    throw std::runtime_error("this sharpnessmeter has no property " + name);
  gst_util_set_object_arg(G_OBJECT(element), name.c_str(), value.c_str());
}

GstBusSyncReply drop_results(GstBus*, GstMessage* message, gpointer) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT) return GST_BUS_PASS;
  gst_message_unref(message);
  return GST_BUS_DROP;
}

}  // namespace

void start_gstreamer() {
  gst_init(nullptr, nullptr);
  if (!GST_ELEMENT_REGISTER(sharpnessmeter, nullptr)) throw std::runtime_error("cannot register sharpnessmeter");
}

MeterPipeline::MeterPipeline(const PipelineOptions& options) : pipeline_(gst_pipeline_new(nullptr)) {
  const auto add = [&](GstElement* element) {
    gst_bin_add(GST_BIN(pipeline_.get()), element);
    return element;
  };
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus_.get(), drop_results, nullptr, nullptr);
  GstElement* last = add(make_frame_source(options.source, state_));
  if (!options.device.empty()) {
    meter_ = add(make("sharpnessmeter"));
    set(meter_, "device", options.device);
    // Not there in versions that measure one frame at a time.
    if (options.in_flight > 0 || g_object_class_find_property(G_OBJECT_GET_CLASS(meter_), "in-flight"))
      set(meter_, "in-flight", std::to_string(options.in_flight));
    for (const std::string& property : options.properties) {
      const std::size_t equals = property.find('=');
      if (equals == std::string::npos) throw std::runtime_error("not name=value: " + property);
      set(meter_, property.substr(0, equals), property.substr(equals + 1));
    }
    if (!gst_element_link(last, meter_)) throw std::runtime_error("cannot link source and meter");
    last = meter_;
  }
  GstElement* sink = add(make("fakesink"));
  g_object_set(sink, "sync", FALSE, "enable-last-sample", FALSE, nullptr);
  if (!gst_element_link(last, sink)) throw std::runtime_error("cannot link the sink");
}

MeterPipeline::~MeterPipeline() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

void MeterPipeline::play() {
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  constexpr double kPatience = 60;
  const auto begin = std::chrono::steady_clock::now();
  do {
    wait(0.001);
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > kPatience)
      throw std::runtime_error("no frame came");
  } while (frames() == 0);
}

void MeterPipeline::wait(double seconds) {
  const auto timeout = static_cast<GstClockTime>(seconds * 1e9);
  constexpr auto kEnds = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  GstMessage* message = gst_bus_timed_pop_filtered(bus_.get(), timeout, kEnds);
  if (!message) return;
  std::string text = "the stream ended";
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
  throw std::runtime_error(text);
}

double MeterPipeline::last_score() const {
  gdouble score = 0;
  if (meter_) g_object_get(meter_, "last-score", &score, nullptr);
  return score;
}

double expected_score(const SourceOptions& source) {
  const Geometry geometry{source.width, source.height, {}};
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, {}));
  Frame frame;
  frame.plane[0] = source.luma->data();
  frame.stride[0] = source.width;
  const auto meter = cpu::make_meter(geometry);
  meter->submit(frame, plan);
  return finish(*plan, meter->collect(), 0).score;
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
