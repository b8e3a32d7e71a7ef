// SPDX-License-Identifier: LGPL-2.1-or-later
// The pipeline of one camera: a replaceable source, and the elements that measure and learn behind it, which
// stays.
#pragma once

#include "apps/common/owned.h"
#include "apps/watch/chores.h"
#include "apps/watch/connections.h"
#include "apps/watch/events.h"
#include "apps/watch/settings.h"
#include "apps/watch/tap.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framequality::apps::watch {

/// source ! videoconvert ! sharpnessmeter ! camerawatch ! fakesink. In the main thread, and no call waits for a source;
/// it needs the default main context to run. After an error of the other elements, the next source gets new ones.
class Stream {
 public:
  /// Called in the main thread; texts are GStreamer's, which may contain passwords.
  struct Outlet {
    std::function<void(Event event)> news;  ///< of camerawatch; with `wants_pictures`, `picture` announces its image
    std::function<void(const std::string& text)> warned;
    std::function<void(const std::string& text)> failed;  ///< no more frames come
    std::function<void()> ended;                          ///< the same
    bool wants_pictures = false;
  };
  /// `settings` and `chores` outlive this. `baseline`: a file that stores learned values, or empty. Throws
  /// std::runtime_error if an element is missing.
  Stream(const CameraSettings& settings, const std::string& baseline, Chores& chores, std::shared_ptr<Tap> tap,
         Outlet outlet);
  ~Stream();  ///< closes, and saves learned values
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Starts connecting a source. Throws std::runtime_error with the reason.
  void open();
  /// Removes the source, which stops as soon as it can.
  void close();
  /// Call about once a second: ends connections of sources that do not stop, and of one whose server sends
  /// too much without describing its streams. Returns the reason in that case, or if the source will give no frame
  /// although it reported no error; else empty.
  std::string tend();
  /// The state seen by camerawatch, empty if none, and its numbers.
  std::pair<std::string, Figures> now() const;

 private:
  class Source;
  static gboolean on_message(GstBus* bus, GstMessage* message, gpointer self);
  static GstBusSyncReply on_sync_message(GstBus* bus, GstMessage* message, gpointer self);
  void make_tail();
  void drop_tail();
  void take(GstMessage* message);

  const CameraSettings& settings_;
  const std::string baseline_;
  Chores& chores_;
  const std::shared_ptr<Tap> tap_;
  const Outlet outlet_;
  Owned<GstElement> pipeline_;
  GstElement *convert_ = nullptr, *meter_ = nullptr, *watcher_ = nullptr;  ///< the pipeline's
  guint bus_watch_ = 0;
  bool tail_is_broken_ = false;
  std::shared_ptr<Source> source_;
  struct Leaving {
    gint64 since;  ///< us of g_get_monotonic_time()
    std::weak_ptr<Connections> connections;
  };
  std::vector<Leaving> leaving_;
  /// Number of sources that are still stopping.
  std::shared_ptr<std::atomic<int>> lingering_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace framequality::apps::watch
