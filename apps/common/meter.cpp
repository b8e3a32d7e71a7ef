// SPDX-License-Identifier: LGPL-2.1-or-later
// Creation and setup of the measuring element, as any application would do it.
#include "apps/common/meter.h"

#include "apps/common/element.h"
#include "apps/common/program.h"

#include <vector>

namespace framequality::apps {

namespace {

constexpr char kElement[] = "sharpnessmeter";

/// Sets an enum property by nick; the element itself knows the valid ones.
void set_choice(GstElement* meter, const char* property, const std::string& nick) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(meter), property);
  GEnumClass* choices = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::vector<std::string> nicks;
  for (guint i = 0; i < choices->n_values; ++i) nicks.emplace_back(choices->values[i].value_nick);
  g_object_set(meter, property, choices->values[choice(std::string("--") + property, nick, nicks)].value, nullptr);
}

}  // namespace

GstElement* make_meter(const MeterOptions& options) {
  GstElement* meter = make_own_element(kElement);
  const Owned<GstElement> owner(GST_ELEMENT(gst_object_ref(meter)));
  set_choice(meter, "metric", options.metric);
  set_choice(meter, "prefilter", options.prefilter);
  set_choice(meter, "normalize", options.normalize);
  set_choice(meter, "device", options.device);
  g_object_set(meter, "noise-correction", gboolean{options.noise_correction}, "statistics",
               gboolean{options.statistics}, "displacement", gboolean{options.displacement}, "cuda-device-id",
               options.cuda_device_id, "opencl-device", options.opencl_device.c_str(), "downscale", options.downscale,
               "significant-bits", static_cast<guint>(options.significant_bits), "zone-columns", options.zone_columns,
               "zone-rows", options.zone_rows, "interval", guint64{options.interval}, "post-messages", FALSE, nullptr);
  if (options.roi) {
    const auto& [x, y, w, h] = *options.roi;
    const std::string roi =
        '<' + std::to_string(x) + ',' + std::to_string(y) + ',' + std::to_string(w) + ',' + std::to_string(h) + '>';
    gst_util_set_object_arg(G_OBJECT(meter), "roi", roi.c_str());
  }
  return meter;
}

MeterFacts try_meter(const MeterOptions& options) {
  const Owned<GstElement> meter(GST_ELEMENT(gst_object_ref_sink(make_meter(options))));
  MeterFacts facts;
  if (options.device != "auto") facts.device = try_device(meter.get());
  const Owned<GstPlugin> plugin(
      gst_plugin_feature_get_plugin(GST_PLUGIN_FEATURE(gst_element_get_factory(meter.get()))));
  if (plugin) facts.plugin_version = gst_plugin_get_version(plugin.get());
  return facts;
}

}  // namespace framequality::apps
