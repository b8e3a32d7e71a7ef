// SPDX-License-Identifier: LGPL-2.1-or-later
// Debug categories: one for each element, and `framequality` for the engine, which also turns on those of the elements.
#pragma once

#include <gst/gst.h>

namespace framequality {

/// An element's category, for its class_init. Where the user names no level for it, but one for `framequality`, it has
/// that one: GST_DEBUG=framequality:5 asks for everything that is not of every frame. The engine's lines go to the
/// category `framequality` from then on.
GstDebugCategory* debug_category(const char* name, const char* description);

}  // namespace framequality
