// SPDX-License-Identifier: LGPL-2.1-or-later
// Files as GStreamer wants them named.
#pragma once

#include <string>

namespace framequality::apps {

/// The URI of a path or URI. Throws std::runtime_error with the reason if there is nothing to read.
std::string uri_of(const std::string& name);

/// A path or URI as it is shown and written: a URI without passwords, everything else as it is.
std::string shown_name(const std::string& name);

}  // namespace framequality::apps
