// SPDX-License-Identifier: LGPL-2.1-or-later
// One camera: its pipeline, reconnection and reports.
#pragma once

#include "apps/watch/backoff.h"
#include "apps/watch/chores.h"
#include "apps/watch/events.h"
#include "apps/watch/settings.h"
#include "apps/watch/status.h"
#include "apps/watch/stream.h"
#include "apps/watch/tap.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace framequality::apps::watch {

/// Connects, detects that frames have stopped, and reconnects. Measuring and learning elements stay when the source
/// is replaced, so nothing that was learned is lost. In the main thread; it needs the default main context to run.
class Camera {
 public:
  struct Outlet {
    std::function<void(Event event)> happened;  ///< main thread
    Tap::OnPicture picture;                     ///< any thread
    bool pictures_of_events = false;            ///< an event's `picture` announces its image
  };
  /// `baseline`: a file that stores learned values, or empty. Throws std::runtime_error if an element is missing.
  Camera(const CameraSettings& settings, const std::string& baseline, std::uint64_t seed, const Secrets& secrets,
         Chores& chores, Outlet outlet);
  ~Camera() = default;
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  void start();
  /// Call it about once a second.
  void tick();
  /// True if a file has ended, and whether too early.
  bool is_over() const { return phase_ == Phase::kOver; }
  bool has_failed() const { return failed_; }
  CameraStatus status() const;
  const std::shared_ptr<Tap>& tap() const { return tap_; }

 private:
  enum class Phase { kWaiting, kConnecting, kRunning, kOver };
  void connect();
  void take_news(Event event);
  void fail(const std::string& reason);
  void begin_running();
  void lose(const std::string& reason);
  void end();
  void emit(Event event);
  void enter(const std::string& state, const std::string& reason, gint64 since);
  void remember_figures();

  const CameraSettings settings_;
  const Secrets& secrets_;
  const Outlet outlet_;
  const std::shared_ptr<Tap> tap_;
  Phase phase_ = Phase::kWaiting;
  bool failed_ = false, was_lost_ = false;
  Backoff backoff_;
  gint64 due_ = 0, begun_ = 0, lost_since_ = 0, lost_told_ = 0;  ///< µs of g_get_monotonic_time()
  std::uint64_t frames_before_ = 0, reconnects_ = 0;

  // Shown in the status.
  std::string state_ = "connecting", reason_;
  std::string condition_reason_;  ///< of the last condition, not masked
  gint64 since_ = 0;
  Figures figures_;
  std::deque<std::pair<gint64, double>> history_;
  int ticks_ = 0;
  struct Count {
    gint64 time;
    std::uint64_t frames;
  };
  std::deque<Count> counts_;  ///< of the last seconds

  Stream stream_;  ///< the last: it goes first, and calls no more
};

}  // namespace framequality::apps::watch
