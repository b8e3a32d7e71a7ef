// SPDX-License-Identifier: LGPL-2.1-or-later
// Folders among the inputs: the images and videos in them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::scan {

/// The file extensions, in lower case and without the dot, that GStreamer's type finders have for images and
/// videos, and some that they lack. GStreamer must be initialised.
std::set<std::string, std::less<>> media_extensions();

/// Number of files of folders that were left out, by extension in lower case with its dot.
using Skipped = std::map<std::string, std::size_t>;

/// The counts in one line, the most frequent kinds first; empty if there are none.
std::string skipped_text(const Skipped& skipped);

/// Each name of a folder replaced by the files with one of these extensions in it and in the folders below, in natural
/// order. Hidden files and folders are left out, links to folders are not followed. Everything else, and a folder that
/// cannot be read or has no such files, is kept as it is. Counts the files left out, except hidden ones.
std::vector<std::string> without_folders(const std::vector<std::string>& names,
                                         const std::set<std::string, std::less<>>& extensions,
                                         Skipped* skipped = nullptr);

/// Why without_folders() kept a folder; empty if it is not one.
std::string folder_error(const std::string& name);

}  // namespace framequality::apps::scan
