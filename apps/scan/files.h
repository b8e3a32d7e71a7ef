// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of files to scan: where it comes from, which part of it is ours, what their images are called.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::scan {

/// One entry of the list.
struct Input {
  std::string address;  ///< as given: a path, any bytes, or a URI
  std::string name;     ///< the same for people and files: without passwords of a URI
  std::string base;     ///< begins the names of its pictures; different for every entry of the whole list
  std::string file;     ///< what it is called in the export if it is a picture itself; different for every entry too
};

/// Part `index` (1...count) of a list that has so many parts.
struct Shard {
  int index = 1, count = 1;
};

/// A list of names, to its end. Throws UsageError as soon as it holds what no such list can: it is endless perhaps, and
/// a name with a NUL in it would be taken for the folder that its beginning names.
std::string read_list(std::istream& from, bool null);

/// The names in a list, one in each line, or each ended by a NUL where `null` says so. Empty ones are left out.
std::vector<std::string> split_list(std::string_view list, bool null);

/// The entries of the shard: every count-th from the index-th on, so that each entry is in exactly one shard. Pictures
/// keep the names of their files in the export, those that lie there already before all others.
std::vector<Input> choose_inputs(const std::vector<std::string>& addresses, const Shard& shard,
                                 const std::string& export_dir = "");

}  // namespace framequality::apps::scan
