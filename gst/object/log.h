// SPDX-License-Identifier: LGPL-2.1-or-later
// Debug categories: one for each element, and `framequality` for the engine, which also turns on those of the elements.
#pragma once

#include <gst/gst.h>

namespace framequality {

/// An element's category, for its class_init. If the user sets no level for it, but one for `framequality`, it gets
/// that one: GST_DEBUG=framequality:5 shows everything except per-frame lines. From then on, the engine's lines go to
/// the category `framequality`.
GstDebugCategory* debug_category(const char* name, const char* description);

}  // namespace framequality
