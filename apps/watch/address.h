// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a camera's video comes from.
#pragma once

#include "apps/watch/settings.h"

#include <string>
#include <string_view>

namespace framequality::apps::watch {

/// Sets source, URI, user, password and whether it ends, of a URL, a path or /dev/videoN. User and password go out of
/// the URL, so that nothing that shows it shows them. Throws std::runtime_error with the reason, which may hold
/// passwords.
void set_address(CameraSettings& camera, const std::string& address);

/// A name for who gave none: the host and the path of a URL, the file's name without its extension.
std::string name_of(const CameraSettings& camera);

/// The name as the beginning of a file's name, and no other's: characters that could mean something to anybody are
/// replaced, and then a number tells names apart.
std::string file_name_of(std::string_view name);

}  // namespace framequality::apps::watch
