// SPDX-License-Identifier: LGPL-2.1-or-later
// The records of an archive, from all folders that framequality-scan --output wrote.
#pragma once

#include "apps/common/record.h"

#include <map>
#include <string>
#include <vector>

namespace framequality::apps::merge {

/// A file of the archive.
struct Entry {
  Record record;  ///< without options, which are the archive's, and without its curve
  std::string folder;
  std::string name;  ///< of the record in the folder

  std::string record_path() const { return folder + '/' + name; }
  std::string table_path() const { return folder + '/' + record.table; }
};

struct Archive {
  std::map<std::string, std::string> options;  ///< values are JSON
  std::string unit;                            ///< of the scores
  std::vector<Entry> entries;                  ///< in natural order of the files' names, each file once
  std::vector<std::string> programs;           ///< versions that wrote it, sorted

  std::size_t failed() const;
};

/// Reads all records of these folders. Throws std::runtime_error if there are none or invalid ones, if options differ,
/// and if a file has two records of different times or tables.
Archive read_archive(const std::vector<std::string>& folders);

/// Files with errors and their reasons, as CSV.
std::string error_list(const Archive& archive);

}  // namespace framequality::apps::merge
