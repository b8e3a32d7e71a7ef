// SPDX-License-Identifier: LGPL-2.1-or-later
// Events of cameras, and their form in the log: one line of JSON each.
#pragma once

#include <glib.h>

#include <cstdint>
#include <optional>
#include <string>

namespace framequality::apps::watch {

/// The numbers from camerawatch; only finite ones are known.
struct Figures {
  std::optional<double> score, baseline, ratio, noise, mean;
};

struct Event {
  gint64 time = 0;  ///< µs since 1970
  std::string camera, state, previous, reason;
  bool repeated = false;
  std::optional<std::uint64_t> duration;  ///< ns since it began; at its end, how long it lasted
  Figures figures;
  std::string snapshot;  ///< a file's path; empty: none
  guint32 picture = 0;   ///< seqnum of its request; 0: none
};

/// "2026-11-23T01:02:03.456Z"; `time`: µs since 1970.
std::string utc(gint64 time);

/// One line, including its end.
std::string json_line(const Event& event);

}  // namespace framequality::apps::watch
