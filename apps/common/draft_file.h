// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace framequality::apps {

/// What is renamed in a folder is there after a power failure too. Where a file system knows no such thing, does
/// nothing. Throws std::runtime_error with path and reason.
void sync_folder(const std::string& folder);

/// A file being written under another name in its folder; gone again unless it is published. Whatever ends the program
/// or the machine, the file that has the name is a whole one.
class DraftFile {
 public:
  /// Writes it. Throws std::runtime_error with path and reason.
  DraftFile(std::string path, std::string_view content);
  /// An empty one that stays open for append(), and locked with flock() while it is a draft; it is called `prefix` and
  /// six characters meanwhile. Throws as above.
  static DraftFile open(std::string path, std::string_view prefix);
  ~DraftFile();
  DraftFile(DraftFile&& other) noexcept;
  DraftFile& operator=(DraftFile&& other) = delete;
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  /// Only of an open one. Throws std::runtime_error with path and reason.
  void append(std::string_view content);
  /// Gives it its name, in place of a file that has it, once its data are on the disk. Throws std::runtime_error with
  /// path and reason.
  void publish();
  /// The same unless something has the name, which is never replaced: false then.
  bool publish_new();
  /// As publish(), and the caller calls sync_folder(), after many of them perhaps.
  void publish_unsynced();

 private:
  explicit DraftFile(std::string path);
  void create(std::string name);
  void close_file();
  std::string folder() const;

  std::string path_, draft_;
  int descriptor_ = -1;
};

}  // namespace framequality::apps
