// SPDX-License-Identifier: LGPL-2.1-or-later
// The small images of the live page: made on request, and at most once a second.
#pragma once

#include <glib.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framequality::apps::watch {

/// One image per camera. From any thread; nothing blocks.
class Thumbnails {
 public:
  /// Requests an image of a camera, which arrives later through put(), or never.
  using Ask = std::function<void(std::size_t camera)>;
  /// `fresh` is called, in the thread of put(), when a new image may be awaited.
  Thumbnails(std::size_t cameras, Ask ask, std::function<void()> fresh)
      : ask_(std::move(ask)), fresh_(std::move(fresh)), images_(cameras) {}

  /// A JPEG, at most about a second old if the camera has frames; else its last one, or empty. None while one is being
  /// made: ask again. A camera that does not deliver within two seconds is not waited for until it does. `now`: µs
  /// of g_get_monotonic_time().
  std::optional<std::string> get(std::size_t camera, bool has_frames, gint64 now);
  /// Stores an image; an empty one means that none could be made.
  void put(std::size_t camera, std::string jpeg, gint64 now);

 private:
  struct Image {
    std::string jpeg;
    gint64 made = 0;               ///< 0: never
    gint64 wanted = 0, asked = 0;  ///< 0: not since the last one was made; first and last time
  };
  const Ask ask_;
  const std::function<void()> fresh_;
  std::mutex mutex_;
  std::vector<Image> images_;
};

}  // namespace framequality::apps::watch
