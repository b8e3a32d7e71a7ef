// SPDX-License-Identifier: LGPL-2.1-or-later
// The source of a camera's video.
#pragma once

#include "apps/watch/settings.h"

#include <string>
#include <string_view>

namespace framequality::apps::watch {

/// Sets source, URI, user, password and whether it ends, from a URL, a path or /dev/videoN. User and password are
/// removed from the URL, so that it never shows them. Throws std::runtime_error with the reason, which may hold
/// passwords.
void set_address(CameraSettings& camera, const std::string& address);

/// The default name of a camera: the host and the path of a URL, the file's name without its extension.
std::string name_of(const CameraSettings& camera);

/// A unique beginning of a file's name, made from the name: special characters are
/// replaced, and then a number distinguishes equal results.
std::string file_name_of(std::string_view name);

}  // namespace framequality::apps::watch
