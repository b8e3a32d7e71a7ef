// SPDX-License-Identifier: LGPL-2.1-or-later
// The program: all cameras, and their reports.
#pragma once

#include "apps/watch/bell.h"
#include "apps/watch/camera.h"
#include "apps/watch/chores.h"
#include "apps/watch/encoder.h"
#include "apps/watch/hosts.h"
#include "apps/watch/log.h"
#include "apps/watch/server.h"
#include "apps/watch/settings.h"
#include "apps/watch/snapshots.h"
#include "apps/watch/status.h"
#include "apps/watch/thumbnails.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framequality::apps::watch {

inline constexpr char kName[] = "framequality-watch";

class Program {
 public:
  /// Throws std::runtime_error if a requested feature is unavailable. `settings` outlives this.
  explicit Program(const Settings& settings);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Runs until a signal, or until all cameras are files that ended. Returns the exit status.
  int run();

 private:
  /// An event waiting to be logged.
  struct Pending {
    Event event;
    bool waits;    ///< for its image
    gint64 until;  ///< µs of g_get_monotonic_time()
  };
  template <int signal>
  void heed();
  void quit();
  int status() const;
  std::string unique_name(const std::string& wanted) const;
  void tick();
  void post_status();
  void take_event(std::size_t camera, Event event);
  void take_picture(std::size_t camera, Owned<GstSample> frame, const Wish& wish);
  void picture_done(std::size_t camera, guint32 wish, const std::string& path, const std::string& error);
  void write_out(std::size_t camera);
  void say(const std::string& text) const;
  void stop();

  const Settings& settings_;
  GMainLoop* loop_;
  std::vector<guint> sources_;
  int signal_ = 0;
  bool reader_left_ = false, snapshots_fail_ = false, status_is_old_ = false;
  Chores chores_;
  Board board_;
  const Hosts hosts_;
  const Bell fresh_;  ///< rings for a new thumbnail
  std::vector<std::shared_ptr<Tap>> taps_;
  Thumbnails thumbnails_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Encoder> encoder_;
  std::vector<std::unique_ptr<Camera>> cameras_;
  std::vector<std::deque<Pending>> pending_;  ///< of each camera, in order
  std::vector<CameraStatus> rejected_;
  std::unique_ptr<Server> server_;
};

}  // namespace framequality::apps::watch
