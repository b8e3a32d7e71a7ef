// SPDX-License-Identifier: LGPL-2.1-or-later
// Files in folders that others may have written to.
#pragma once

#include <cstdint>
#include <string>

namespace framequality::apps {

/// An ordinary file, open for reading. Of the path's parts only the last may be somebody else's: a symbolic link there
/// is not followed, and what is no file is not waited for.
class PlainFile {
 public:
  /// Throws std::runtime_error with the reason.
  explicit PlainFile(const std::string& path);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::uint64_t size() const { return size_; }  ///< bytes, when it was opened
  /// As much as there is room for in `buffer`, unless the file ends; the count of bytes. Throws std::runtime_error with
  /// the reason.
  std::size_t read(std::string& buffer) const;

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace framequality::apps
