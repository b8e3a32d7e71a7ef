// SPDX-License-Identifier: LGPL-2.1-or-later
// File names as the URIs that GStreamer needs.
#pragma once

#include <string>

namespace framequality::apps {

/// The URI of a path or URI. Throws std::runtime_error with the reason if the path cannot be read.
std::string uri_of(const std::string& name);

/// A path or URI for display and output: a URI without passwords, everything else unchanged.
std::string shown_name(const std::string& name);

}  // namespace framequality::apps
