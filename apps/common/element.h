// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements by name.
#pragma once

#include <gst/gst.h>

#include <string>

namespace framequality::apps {

/// An element of GStreamer's; floating. Throws std::runtime_error if it is not installed.
GstElement* make_element(const char* factory);

/// An element of this project's plugin, also where GStreamer does not look for it; floating. Throws std::runtime_error.
GstElement* make_own_element(const char* factory);

/// Brings a meter to READY and back to see that it works, and gives the device that it works on, cpu or cuda; the
/// context that it makes for that is kept for all others (contexts.h). Throws std::runtime_error with the reason.
std::string try_device(GstElement* meter);

}  // namespace framequality::apps
