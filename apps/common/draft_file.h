// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace framequality::apps {

/// Makes renames in a folder survive a power failure. Does nothing if the file system does not support it.
/// Throws std::runtime_error with path and reason.
void sync_folder(const std::string& folder);

/// A file being written under another name in its folder; removed unless it is published. Even if the program or the
/// machine crashes, the file that has the name is complete.
class DraftFile {
 public:
  /// Writes `content`. Throws std::runtime_error with path and reason.
  DraftFile(std::string path, std::string_view content);
  /// An empty draft that stays open for append(), locked with flock(); its name meanwhile is `prefix` and
  /// six characters. Throws as above.
  static DraftFile open(std::string path, std::string_view prefix);
  ~DraftFile();
  DraftFile(DraftFile&& other) noexcept;
  DraftFile& operator=(DraftFile&& other) = delete;
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  /// Only for an open one. Throws std::runtime_error with path and reason.
  void append(std::string_view content);
  /// Renames it to its path, replacing any file there, once its data are on the disk. Throws std::runtime_error with
  /// path and reason.
  void publish();
  /// The same, but never replaces a file: returns false if the path exists.
  bool publish_new();
  /// As publish(), but leaves sync_folder() to the caller, for example after many files.
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
