// SPDX-License-Identifier: LGPL-2.1-or-later
// Creation of elements by name.
#pragma once

#include <gst/gst.h>

#include <string>

namespace framequality::apps {

/// An element from GStreamer; floating. Throws std::runtime_error if it is not installed.
GstElement* make_element(const char* factory);

/// An element of this project's plugin, even if GStreamer does not find it; floating. Throws std::runtime_error.
GstElement* make_own_element(const char* factory);

/// Brings a meter to READY and back to check that it works, and returns the device that it uses, cpu or cuda; the
/// context made for that is kept for all others (contexts.h). Throws std::runtime_error with the reason.
std::string try_device(GstElement* meter);

}  // namespace framequality::apps
