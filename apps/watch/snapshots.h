// SPDX-License-Identifier: LGPL-2.1-or-later
// A folder of pictures that never grows beyond its bounds.
#pragma once

#include <glib.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace framequality::apps::watch {

/// Holds the newest pictures of changes of state: gate-20261123T010203.456Z-defocused.jpg. Removes only what it wrote
/// itself, now or in an earlier run: files that are called so and say in a comment of the JPEG that they are from here.
class Snapshots {
 public:
  /// Makes the folder if it is not there, and finds what is in it. Throws std::runtime_error with path and reason.
  Snapshots(std::string folder, std::uint64_t most, std::uint64_t most_bytes);

  /// Writes a picture, the oldest ones go first. Its path. Throws std::runtime_error with path and reason. From any
  /// thread.
  std::string save(std::string_view camera, gint64 time, std::string_view state, std::string_view jpeg);

 private:
  struct File {
    std::string time, name;  ///< time: as in the name, which sorts
    std::uint64_t bytes;
    bool operator<(const File& other) const { return time != other.time ? time < other.time : name < other.name; }
  };
  void find();
  void make_room(std::uint64_t bytes);
  void remove(const File& file);

  const std::string folder_;
  const std::uint64_t most_, most_bytes_;
  std::mutex mutex_;
  std::set<File> files_;
  std::uint64_t bytes_ = 0;
};

}  // namespace framequality::apps::watch
