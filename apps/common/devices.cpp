// SPDX-License-Identifier: LGPL-2.1-or-later
// List of the devices that the meter can measure on, with their speed.
#include "apps/common/devices.h"

#include "apps/common/element.h"
#include "apps/common/message.h"
#include "apps/common/owned.h"
#include "apps/common/text.h"

#include <cstdio>
#include <string>

namespace framequality::apps {

namespace {

constexpr int kWarmUp = 20, kTimed = 100;
constexpr GstClockTime kPatience = 60 * GST_SECOND;

struct Listed {
  std::string backend, title, reason;
  int id = 0;
  bool usable = false;

  /// A driver's text may not be UTF-8.
  static std::string word(const GstStructure* s, const char* field) {
    const gchar* text = gst_structure_get_string(s, field);
    return text ? printable(text) : "";
  }
  explicit Listed(const GstStructure* s)
      : backend(word(s, "backend")), title(word(s, "title")), reason(word(s, "reason")) {
    gboolean is_usable = FALSE;
    gst_structure_get_int(s, "id", &id);
    gst_structure_get_boolean(s, "usable", &is_usable);
    usable = is_usable;
  }
};

/// Number of frames that a meter has measured, and the time spent on them.
struct Work {
  guint64 frames = 0, ns = 0;
  explicit Work(GstElement* meter) {
    GstStructure* stats = nullptr;
    g_object_get(meter, "stats", &stats, nullptr);
    gst_structure_get_uint64(stats, "measured", &frames);
    gst_structure_get_uint64(stats, "busy-ns", &ns);
    gst_structure_free(stats);
  }
};

/// Mean time in which the meter measures a frame of 1920x1080 in the memory that it offers its source, in microseconds;
/// negative if it fails, with the reason in `fault`.
double microseconds(const Listed& device, std::string& fault) {
  const Owned<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  GstElement* source = make_element("videotestsrc");
  GstElement* filter = make_element("capsfilter");
  GstElement* meter = make_own_element("sharpnessmeter");
  GstElement* sink = make_element("fakesink");
  g_object_set(source, "num-buffers", kWarmUp + kTimed, nullptr);
  gst_util_set_object_arg(G_OBJECT(source), "pattern", "white");
  gst_util_set_object_arg(G_OBJECT(filter), "caps", "video/x-raw,format=GRAY8,width=1920,height=1080,framerate=30/1");
  gst_util_set_object_arg(G_OBJECT(meter), "device", device.backend.c_str());
  if (device.backend == "cuda") g_object_set(meter, "cuda-device-id", device.id, nullptr);
  if (device.backend == "opencl") g_object_set(meter, "opencl-device", std::to_string(device.id).c_str(), nullptr);
  g_object_set(meter, "post-messages", FALSE, nullptr);
  gst_bin_add_many(GST_BIN(pipeline.get()), source, filter, meter, sink, nullptr);
  gst_element_link_many(source, filter, meter, sink, nullptr);
  // The costs of the first frames, such as compiling and pinning, are over by then.
  struct Begin {
    GstElement* meter;
    int frames = 0;
    guint64 ns = 0;
  } begin{meter};
  const Owned<GstPad> pad(gst_element_get_static_pad(meter, "sink"));
  gst_pad_add_probe(
      pad.get(), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo*, gpointer user) {
        auto& b = *static_cast<Begin*>(user);
        if (b.frames++ == kWarmUp) b.ns = Work(b.meter).ns;
        return GST_PAD_PROBE_OK;
      },
      &begin, nullptr);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Owned<GstMessage> end(gst_bus_timed_pop_filtered(
      bus.get(), kPatience, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  const bool is_done = end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS;
  const Work all(meter);
  if (!is_done) fault = end ? printable(complaint_of(end.get()).text) : "it did not respond for a minute";
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return is_done ? static_cast<double>(all.ns - begin.ns) / kTimed / 1000 : -1;
}

}  // namespace

int print_devices() {
  const Owned<GstElement> meter(GST_ELEMENT(gst_object_ref_sink(make_own_element("sharpnessmeter"))));
  GstStructure* found = nullptr;
  g_signal_emit_by_name(meter.get(), "list-devices", &found);
  const Owned<GstStructure> devices(found);
  const GValue* const list = gst_structure_get_value(devices.get(), "devices");
  for (guint i = 0; i < gst_value_array_get_size(list); ++i) {
    const Listed device(static_cast<const GstStructure*>(g_value_get_boxed(gst_value_array_get_value(list, i))));
    std::string name = device.backend == "cpu" ? device.backend : device.backend + ":" + std::to_string(device.id);
    if (!device.title.empty()) name += " (" + device.title + ")";
    std::string fault = device.reason;
    const double us = device.usable ? microseconds(device, fault) : -1;
    if (us >= 0)
      std::printf("%s: usable, %.0f us per frame of 1920x1080\n", name.c_str(), us);
    else
      std::printf("%s: not usable: %s\n", name.c_str(), fault.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace framequality::apps
