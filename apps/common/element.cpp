// SPDX-License-Identifier: LGPL-2.1-or-later
// Creation of elements by name.
#include "apps/common/element.h"

#include "apps/common/contexts.h"
#include "apps/common/message.h"
#include "apps/common/owned.h"
#include "apps/common/packages.h"
#include "apps/common/text.h"

#include <stdexcept>

namespace framequality::apps {

GstElement* make_element(const char* factory) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (!element)
    throw std::runtime_error(std::string("GStreamer has no element ") + factory +
                             install_hint({std::string("element-") + factory}));
  return element;
}

GstElement* make_own_element(const char* factory) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (!element && gst_registry_scan_path(gst_registry_get(), FQ_PLUGIN_DIR))
    element = gst_element_factory_make(factory, nullptr);
  if (!element)
    throw std::runtime_error(
        std::string("GStreamer cannot find the element '") + factory +
        "': install the plugin framequality, or set GST_PLUGIN_PATH to the folder of libgstframequality.so");
  return element;
}

std::string try_device(GstElement* meter) {
  const Owned<GstBus> bus(gst_bus_new());
  int gpu = -1;
  g_object_get(meter, "cuda-device-id", &gpu, nullptr);
  // Its context is shared by all later meters and decoders.
  share_contexts_of(bus.get(), gpu);
  gst_element_set_bus(meter, bus.get());
  const bool ready = gst_element_set_state(meter, GST_STATE_READY) != GST_STATE_CHANGE_FAILURE;
  gchar* device = nullptr;
  g_object_get(meter, "active-device", &device, nullptr);
  std::string used = device ? device : "";
  g_free(device);
  gst_element_set_state(meter, GST_STATE_NULL);
  gst_element_set_bus(meter, nullptr);
  if (ready) return used;
  const Owned<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  throw std::runtime_error(message ? printable(complaint_of(message.get()).text) : "the meter failed to start");
}

}  // namespace framequality::apps
