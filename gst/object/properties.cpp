// SPDX-License-Identifier: LGPL-2.1-or-later
// The check for changes that come too late.
#include "gst/object/properties.h"

namespace framequality {

bool is_too_late(GObject* object, const GParamSpec* spec) {
  GST_OBJECT_LOCK(object);
  const bool started = GST_STATE(object) > GST_STATE_READY;
  GST_OBJECT_UNLOCK(object);
  if (started)
    g_warning("%s: %s can only be changed in READY or NULL; value kept", GST_OBJECT_NAME(object), spec->name);
  return started;
}

}  // namespace framequality
