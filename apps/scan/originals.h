// SPDX-License-Identifier: LGPL-2.1-or-later
// Placement of chosen photographs in a folder: unchanged, never encoded again.
#pragma once

#include "apps/scan/options.h"

#include <string>

namespace framequality::apps::scan {

/// Puts the photograph at `path`, whole or not at all, replacing any file there; a link there is replaced,
/// never followed. Copies share their blocks where the file system can, and keep time and permissions; symbolic links
/// lead to the absolute path. A source already at `path` is kept. Blocks while it copies. Throws
/// std::runtime_error with both paths and the reason.
void place_original(const std::string& source, const std::string& path, Originals how);

/// The local file of a path or URI; empty if there is none.
std::string local_file(const std::string& name);

}  // namespace framequality::apps::scan
