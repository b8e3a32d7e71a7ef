// SPDX-License-Identifier: LGPL-2.1-or-later
// Files in folders that others may have written to.
#pragma once

#include <cstdint>
#include <string>

namespace framequality::apps {

/// An ordinary file, open for reading. Only the last part of the path may be somebody else's: a symbolic link there
/// is not followed, and anything other than a file is refused without waiting.
class PlainFile {
 public:
  /// Throws std::runtime_error with the reason.
  explicit PlainFile(const std::string& path);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::uint64_t size() const { return size_; }  ///< bytes, when it was opened
  /// Fills `buffer`, unless the file ends; returns the number of bytes. Throws std::runtime_error with
  /// the reason.
  std::size_t read(std::string& buffer) const;

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace framequality::apps
