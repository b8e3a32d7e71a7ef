// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of files to scan: its sources, this run's part of it, and the names of their images.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::scan {

/// One entry of the list.
struct Input {
  std::string address;  ///< as given: a path, any bytes, or a URI
  std::string name;     ///< the same for output: without passwords of a URI
  std::string base;     ///< begins the names of its images; unique in the whole list
  std::string file;     ///< its name in the export if it is a photograph itself; unique too
};

/// Part `index` (1...count) of a list split into `count` parts.
struct Shard {
  int index = 1, count = 1;
};

/// Reads a list of names to its end. Throws UsageError as soon as it holds anything invalid: it may be endless, and
/// a name with a NUL in it would be read as the folder that its beginning names.
std::string read_list(std::istream& from, bool null);

/// The names in a list, one per line, or each ended by a NUL if `null` is true. Empty ones are left out.
std::vector<std::string> split_list(std::string_view list, bool null);

/// The entries of the shard: every count-th from the index-th on, so that each entry is in exactly one. Photographs
/// keep their file names in the export, with priority for those that already lie there.
std::vector<Input> choose_inputs(const std::vector<std::string>& addresses, const Shard& shard,
                                 const std::string& export_dir = "");

}  // namespace framequality::apps::scan
