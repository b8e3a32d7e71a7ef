// SPDX-License-Identifier: LGPL-2.1-or-later
// Checked settings from command line and configuration.
#pragma once

#include "apps/common/meter.h"
#include "apps/watch/secrets.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::watch {

/// Settings of camerawatch and sharpnessmeter for one camera. Times in ns.
struct WatchSettings {
  std::optional<std::string> watch_for;  ///< flags joined by +; none: all of the element
  std::optional<std::uint64_t> hold_time, recovery_time, repeat_interval, learn_time;  ///< none: the element's
  std::optional<double> min_ratio, resume_ratio;
  std::uint64_t stall_time = 10'000'000'000;  ///< a camera without frames for this long is lost
  MeterOptions meter = recommended_meter();

  /// The meter settings that suit camerawatch best.
  static MeterOptions recommended_meter();
};

enum class Transport { kAuto, kTcp, kUdp };

struct CameraSettings {
  std::string name;      ///< UTF-8, not empty, unique
  std::string uri;       ///< without user and password; or empty, and
  std::string pipeline;  ///< a description of elements that end in one source pad
  std::string source;    ///< the source as displayed: without passwords
  std::string user, password;
  std::vector<std::string> doubtful;  ///< parts of the URL that may belong to a password that was not percent-encoded
  bool is_ambiguous = false;          ///< the URL may contain such parts
  Transport transport = Transport::kAuto;
  bool verify_tls = true;
  bool is_file = false;   ///< ends
  bool realtime = false;  ///< play a file at the speed of its times
  int decoder_threads = 1;
  WatchSettings watch;
};

/// A camera of the configuration that was rejected.
struct Rejected {
  std::string name, reason;
};

struct Settings {
  std::string config;                     ///< path of the configuration; empty: none
  std::string listen = "127.0.0.1:9640";  ///< or "none"
  std::vector<std::string> allow_hosts;   ///< names that clients may use for the server, besides its own
  std::string log, snapshots, baselines;  ///< paths; empty: stdout, no images, not stored
  std::uint64_t snapshots_most = 1000, snapshots_most_bytes = 1'000'000'000;
  bool quiet = false, version = false;
  std::vector<CameraSettings> cameras;
  std::vector<Rejected> rejected;
  std::vector<std::string> warnings;  ///< for cameras that are still watched
  Secrets secrets;
};

}  // namespace framequality::apps::watch
