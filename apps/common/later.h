// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls to be made from the main loop.
#pragma once

#include <glib.h>

#include <functional>
#include <mutex>
#include <vector>

namespace framequality::apps {

/// Runs `what` in the default main context, when that has nothing more urgent to do. Any thread.
guint call_later(std::function<void()> what);

/// The same for calls that must not be made once their object is gone. Destroyed in the main thread.
class LaterCalls {
 public:
  LaterCalls() = default;
  ~LaterCalls() { drop(); }
  LaterCalls(const LaterCalls&) = delete;
  LaterCalls& operator=(const LaterCalls&) = delete;

  /// Adds a call. Any thread.
  void add(std::function<void()> what);
  /// Drops all calls that were not made yet. Main thread.
  void drop();

 private:
  std::mutex mutex_;
  std::vector<guint> all_;
};

}  // namespace framequality::apps
