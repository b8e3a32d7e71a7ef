// SPDX-License-Identifier: LGPL-2.1-or-later
// A folder of images with bounded size.
#pragma once

#include <glib.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace framequality::apps::watch {

/// Keeps the newest images of state changes: gate-20261123T010203.456Z-defocused.jpg. Removes only
/// files that it wrote itself, now or in an earlier run: those with names of this form and a mark in a comment of the
/// JPEG. That comment also numbers them, because clocks, and so times in names and of files, may go back.
class Snapshots {
 public:
  /// Makes the folder if it is missing, and lists its files. Throws std::runtime_error with path and reason.
  Snapshots(std::string folder, std::uint64_t most, std::uint64_t most_bytes);

  /// Writes an image, after removing the oldest to make room. Returns its path. Throws std::runtime_error with path and
  /// reason. From any thread.
  std::string save(std::string_view camera, gint64 time, std::string_view state, std::string_view jpeg);

 private:
  /// In the order of writing. Files of versions without numbers have 0 and are sorted by the time in their name.
  struct File {
    std::uint64_t number;
    std::string time, name;
    std::uint64_t bytes;
    auto operator<=>(const File&) const = default;
  };
  void find();
  void make_room(std::uint64_t bytes);
  void remove(const File& file);

  const std::string folder_;
  const std::uint64_t most_, most_bytes_;
  std::mutex mutex_;
  std::set<File> files_;
  std::uint64_t bytes_ = 0, last_number_ = 0;
};

}  // namespace framequality::apps::watch
