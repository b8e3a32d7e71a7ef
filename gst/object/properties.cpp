// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks for changes that come too late, and for times in a wrong unit.
#include "gst/object/properties.h"

namespace framequality {

bool is_too_late(GObject* object, const GParamSpec* spec) {
  GST_OBJECT_LOCK(object);
  const bool started = GST_STATE(object) > GST_STATE_READY;
  GST_OBJECT_UNLOCK(object);
  if (started)
    g_warning("%s: %s can only be changed in state READY or NULL; keeping the old value", GST_OBJECT_NAME(object),
              spec->name);
  return started;
}

void warn_if_tiny(GObject* object, const char* property, guint64 time) {
  if (time == 0 || time >= GST_MSECOND) return;
  g_warning("%s: %s=%" G_GUINT64_FORMAT " is in nanoseconds: 1 ms is 1000000, 1 s is 1000000000",
            GST_OBJECT_NAME(object), property, time);
}

}  // namespace framequality
