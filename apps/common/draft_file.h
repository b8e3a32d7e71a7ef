// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace framequality::apps {

/// A file being written under another name in its folder; gone again unless it is published.
class DraftFile {
 public:
  /// Writes it. Throws std::runtime_error with path and reason.
  DraftFile(std::string path, std::string_view content);
  ~DraftFile();
  DraftFile(DraftFile&& other) noexcept;
  DraftFile& operator=(DraftFile&& other) = delete;
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  /// Gives it its name, in place of a file that has it. Throws std::runtime_error with path and reason.
  void publish();

 private:
  std::string path_, draft_;
};

}  // namespace framequality::apps
