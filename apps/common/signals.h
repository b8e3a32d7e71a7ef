// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests to end.
#pragma once

#include <glib.h>

#include <functional>
#include <thread>

namespace framequality::apps {

/// Waits for SIGINT, SIGTERM and SIGHUP in a thread of its own, so that they work whatever the main loop waits
/// for. A signal that was ignored when the program started stays ignored. The second of a kind ends the program at
/// once.
class Signals {
 public:
  /// Called with the first of each kind, in that thread.
  explicit Signals(std::function<void(int signal)> came);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void watch(int signal);

  const std::function<void(int)> came_;
  GMainContext* const context_;
  GMainLoop* const loop_;
  std::thread thread_;
};

}  // namespace framequality::apps
