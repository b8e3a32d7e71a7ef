// SPDX-License-Identifier: LGPL-2.1-or-later
// A plugin by the name and with the elements of NVIDIA's decoders, which says when it is loaded: for JPEG, through
// jpegdec, on two GPUs.
#include <gst/gst.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

int gpu_in(gpointer klass) {
  return GPOINTER_TO_INT(g_type_get_qdata(G_TYPE_FROM_CLASS(klass), g_quark_from_string("gpu")));
}

void get_property(GObject* object, guint, GValue* value, GParamSpec*) {
  g_value_set_uint(value, static_cast<guint>(gpu_in(G_OBJECT_GET_CLASS(object))));
}

void init_class(gpointer klass, gpointer) {
  G_OBJECT_CLASS(klass)->get_property = get_property;
  g_object_class_install_property(G_OBJECT_CLASS(klass), 1,
                                  g_param_spec_uint("cuda-device-id", "GPU", "GPU", 0, G_MAXINT, 0, G_PARAM_READABLE));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "JPEG decoder", "Codec/Decoder/Video/Hardware", "decodes", "nobody");
  for (const char* name : {"sink", "src"}) {
    const bool sink = *name == 's' && name[1] == 'i';
    GstCaps* caps = gst_caps_from_string(sink ? "image/jpeg" : "video/x-raw");
    gst_element_class_add_pad_template(
        element, gst_pad_template_new(name, sink ? GST_PAD_SINK : GST_PAD_SRC, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  }
}

void init(GTypeInstance* instance, gpointer) {
  GstElement* inner = gst_element_factory_make("jpegdec", nullptr);
  gst_bin_add(GST_BIN(instance), inner);
  for (const char* name : {"sink", "src"}) {
    GstPad* pad = gst_element_get_static_pad(inner, name);
    gst_element_add_pad(GST_ELEMENT(instance), gst_ghost_pad_new(name, pad));
    gst_object_unref(pad);
  }
}

gboolean init_plugin(GstPlugin* plugin) {
  if (const char* path = std::getenv("FAKE_NVCODEC_LOG"))
    if (std::FILE* log = std::fopen(path, "a")) {
      std::fprintf(log, "%s\n", g_get_prgname() ? g_get_prgname() : "scanner");
      std::fclose(log);
    }
  int gpu = 0;
  for (const char* name : {"nvjpegdec", "nvjpegdevice1dec"}) {
    GTypeInfo info{};
    info.class_size = sizeof(GstBinClass);
    info.class_init = init_class;
    info.instance_size = sizeof(GstBin);
    info.instance_init = init;
    const GType type =
        g_type_register_static(GST_TYPE_BIN, gpu == 0 ? "FakeNvJpeg" : "FakeNvJpeg1", &info, GTypeFlags(0));
    g_type_set_qdata(type, g_quark_from_string("gpu"), GINT_TO_POINTER(gpu));
    // As there: before all others.
    if (!gst_element_register(plugin, name, GST_RANK_PRIMARY + 100 - static_cast<guint>(gpu), type)) return FALSE;
    ++gpu;
  }
  return TRUE;
}

}  // namespace

#define PACKAGE "framequality"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, nvcodec, "stands for nvcodec", init_plugin, "99.0", "LGPL",
                  "gst-plugins-bad", "framequality")
