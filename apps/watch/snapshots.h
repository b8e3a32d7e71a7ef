// SPDX-License-Identifier: LGPL-2.1-or-later
// A folder of images that never grows beyond its bounds.
#pragma once

#include <glib.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace framequality::apps::watch {

/// Holds the pictures of changes of state that were written last: gate-20261123T010203.456Z-defocused.jpg. Removes only
/// what it wrote itself, now or in an earlier run: files that are called so and say in a comment of the JPEG that they
/// are from here. That comment also numbers them: clocks, and so times in names and of files, may go back.
class Snapshots {
 public:
  /// Makes the folder if it is not there, and finds what is in it. Throws std::runtime_error with path and reason.
  Snapshots(std::string folder, std::uint64_t most, std::uint64_t most_bytes);

  /// Writes a picture, those that were written first make room. Its path. Throws std::runtime_error with path and
  /// reason. From any thread.
  std::string save(std::string_view camera, gint64 time, std::string_view state, std::string_view jpeg);

 private:
  /// Sorted as they were written. Those of versions that gave no numbers have 0; they go by the time in the name.
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
