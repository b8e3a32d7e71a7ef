// SPDX-License-Identifier: LGPL-2.1-or-later
// Chosen files that are images themselves: as they are, never encoded again.
#pragma once

#include "apps/scan/options.h"

#include <string>

namespace framequality::apps::scan {

/// Puts the picture at `path`, whole or not at all, in place of what has that name; a link of that name is replaced,
/// never followed. Copies share their blocks where the file system can, and keep time and permissions; symbolic links
/// lead to the absolute path. A picture that is at `path` already stays. Blocks while it copies. Throws
/// std::runtime_error with both paths and the reason.
void place_original(const std::string& source, const std::string& path, Originals how);

/// The local file of a path or URI; empty if it is none.
std::string local_file(const std::string& name);

}  // namespace framequality::apps::scan
