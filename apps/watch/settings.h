// SPDX-License-Identifier: LGPL-2.1-or-later
// All that command line and configuration say, checked.
#pragma once

#include "apps/common/meter.h"
#include "apps/watch/secrets.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::watch {

/// What camerawatch and sharpnessmeter do with one camera. Times in ns.
struct WatchSettings {
  std::optional<std::string> watch_for;  ///< flags joined by +; none: all that the element knows
  std::optional<std::uint64_t> hold_time, recovery_time, repeat_interval, learn_time;  ///< none: the element's
  std::optional<double> min_ratio, resume_ratio;
  std::uint64_t stall_time = 10'000'000'000;  ///< without a frame for so long a camera is lost
  MeterOptions meter = recommended_meter();

  /// What camerawatch works best with.
  static MeterOptions recommended_meter();
};

enum class Transport { kAuto, kTcp, kUdp };

struct CameraSettings {
  std::string name;      ///< UTF-8, not empty, no other camera's
  std::string uri;       ///< without user and password; or empty, and
  std::string pipeline;  ///< a description of elements that end in one source pad
  std::string source;    ///< what is watched, for people: without passwords
  std::string user, password;
  std::vector<std::string> doubtful;  ///< parts of the URL that may be of a password that was not percent-encoded
  bool is_ambiguous = false;          ///< there may be such parts
  Transport transport = Transport::kAuto;
  bool verify_tls = true;
  bool is_file = false;   ///< ends
  bool realtime = false;  ///< a file as fast as its times say
  int decoder_threads = 1;
  WatchSettings watch;
};

/// A camera of the configuration that cannot be watched.
struct Rejected {
  std::string name, reason;
};

struct Settings {
  std::string config;                     ///< path of the configuration; empty: none
  std::string listen = "127.0.0.1:9640";  ///< or "none"
  std::vector<std::string> allow_hosts;   ///< names by which the server may be addressed, besides its own
  std::string log, snapshots, baselines;  ///< paths; empty: stdout, no pictures, none kept
  std::uint64_t snapshots_most = 1000, snapshots_most_bytes = 1'000'000'000;
  bool quiet = false, version = false;
  std::vector<CameraSettings> cameras;
  std::vector<Rejected> rejected;
  std::vector<std::string> warnings;  ///< of cameras that are watched all the same
  Secrets secrets;
};

}  // namespace framequality::apps::watch
