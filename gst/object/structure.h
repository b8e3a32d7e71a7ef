// SPDX-License-Identifier: LGPL-2.1-or-later
// Arrays as fields of messages and metadata.
#pragma once

#include <gst/gst.h>

namespace framequality {

/// Sets a field to a GST_TYPE_ARRAY of these numbers. type, set: of one of them.
template <class T, class Range>
void set_array(GstStructure* s, const char* field, GType type, void (*set)(GValue*, T), const Range& numbers) {
  GValue array = G_VALUE_INIT, item = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&item, type);
  for (const T v : numbers) {
    set(&item, v);
    gst_value_array_append_value(&array, &item);
  }
  gst_structure_take_value(s, field, &array);
}

}  // namespace framequality
