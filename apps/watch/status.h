// SPDX-License-Identifier: LGPL-2.1-or-later
// Status of all cameras, and the documents served from it.
#pragma once

#include "apps/watch/events.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framequality::apps::watch {

struct CameraStatus {
  std::string name, source, state, reason;
  gint64 since = 0;  ///< µs since 1970: start of the state
  Figures figures;
  std::optional<double> frame_rate, last_frame_age;  ///< s
  std::uint64_t frames = 0, reconnects = 0;
  int width = 0, height = 0;                       ///< 0: not known
  std::vector<std::pair<gint64, double>> history;  ///< s since 1970, score; the oldest first
};

struct Status {
  gint64 time = 0;  ///< µs since 1970
  gint64 made = 0;  ///< µs of g_get_monotonic_time()
  std::vector<CameraStatus> cameras;
};

/// The document of /status.json.
std::string status_json(const Status& status);

/// The document of /metrics: OpenMetrics 1.0.
std::string open_metrics(const Status& status);

/// Passes the newest status from the main loop to readers in any thread.
class Board {
 public:
  void post(Status status) {
    auto fresh = std::make_shared<const Status>(std::move(status));
    const std::lock_guard lock(mutex_);
    status_.swap(fresh);
  }
  /// Never null.
  std::shared_ptr<const Status> status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Status> status_ = std::make_shared<const Status>();
};

}  // namespace framequality::apps::watch
