// SPDX-License-Identifier: LGPL-2.1-or-later
// The small pictures of the live page: made when they are asked for, and at most once a second.
#pragma once

#include <glib.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace framequality::apps::watch {

/// One for each camera. From any thread.
class Thumbnails {
 public:
  /// Asks for a picture of a camera, which comes later through put(), or never.
  using Ask = std::function<void(std::size_t camera)>;
  Thumbnails(std::size_t cameras, Ask ask) : ask_(std::move(ask)), pictures_(cameras) {}

  /// A JPEG, at most about a second old if the camera has frames; else its last one, or empty. Waits for it.
  std::string get(std::size_t camera, bool has_frames);
  /// An empty one says that none could be made.
  void put(std::size_t camera, std::string jpeg);
  /// Nobody waits any more.
  void close();

 private:
  struct Picture {
    std::string jpeg;
    gint64 made = 0, asked = 0;  ///< µs of g_get_monotonic_time(); 0: never
  };
  const Ask ask_;
  std::mutex mutex_;
  std::condition_variable fresh_;
  std::vector<Picture> pictures_;
  bool closed_ = false;
};

}  // namespace framequality::apps::watch
