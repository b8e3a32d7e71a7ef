// SPDX-License-Identifier: LGPL-2.1-or-later
// Pads of elements that use others' measurements.
#pragma once

#include <gst/gst.h>

namespace framequality {

/// Gives the class an always pad `sink` and one `src`, of any caps in any memory; for class_init.
inline void add_pads_of_any_caps(GstElementClass* klass) {
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  gst_element_class_add_static_pad_template(klass, &sink);
  gst_element_class_add_static_pad_template(klass, &src);
}

}  // namespace framequality
