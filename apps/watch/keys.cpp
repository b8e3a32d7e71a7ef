// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of keys of framequality-watch: options of its command line and keys of its configuration file.
#include "apps/watch/keys.h"

#include "apps/watch/hosts.h"
#include "apps/watch/states.h"

#include <algorithm>
#include <array>
#include <limits>

namespace framequality::apps::watch {

namespace {

constexpr int kMaxThreads = 64, kMaxSnapshots = 1'000'000;

/// Adds names to the list: one per option on the command line.
Setter hosts(std::vector<std::string>& hosts) {
  const auto set = [&hosts](const Value& value) {
    const std::vector<std::string> names = to_texts(value);
    if (names.empty() || !std::all_of(names.begin(), names.end(), [](const auto& name) { return host_name(name); }))
      return false;
    hosts.insert(hosts.end(), names.begin(), names.end());
    return true;
  };
  return {Kind::kTexts, "host names without a port, such as cameras.example.org", set};
}

Setter conditions(std::optional<std::string>& flags) {
  const std::vector<std::string> known(kConditions.begin(), kConditions.end());
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  const auto set = [&flags](const Value& value) {
    const std::vector<std::string> names = to_texts(value);
    if (names.empty() || !std::all_of(names.begin(), names.end(), is_condition)) return false;
    flags.emplace();
    for (const std::string& name : names) *flags += (flags->empty() ? "" : "+") + name;
    return true;
  };
  return {Kind::kTexts, "a list of " + all, set, known};
}

Setter ratio(std::optional<double>& ratio) {
  const auto set = [&ratio](const Value& value) {
    const auto number = to_number(value);
    if (!number || !(*number >= 0 && *number <= 1)) return false;
    ratio = *number;
    return true;
  };
  return {Kind::kNumber, "a number from 0 to 1", set};
}

Setter roi(std::optional<std::array<int, 4>>& target) {
  const auto set = [&target](const Value& value) {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
    if (!list || list->size() != 4) return false;
    std::array<int, 4> roi{};
    for (std::size_t i = 0; i < roi.size(); ++i) {
      if ((*list)[i] < (i < 2 ? 0 : 1) || (*list)[i] > std::numeric_limits<int>::max()) return false;
      roi[i] = static_cast<int>((*list)[i]);
    }
    target = roi;
    return true;
  };
  return {Kind::kText, "[X, Y, WIDTH, HEIGHT] in pixels", set};
}

}  // namespace

MeterOptions WatchSettings::recommended_meter() {
  MeterOptions meter;
  meter.metric = "mean-square-frequency";
  meter.prefilter = "binomial5";
  meter.noise_correction = true;
  meter.statistics = true;
  meter.zone_columns = 16;
  meter.zone_rows = 9;
  meter.interval = 200'000'000;
  return meter;
}

// One line per row.
// clang-format off
std::vector<Key> program_keys(Settings& s) {
  return {
      {"config", 'c', "FILE.toml", "Read cameras and settings from this file", anything(s.config, Kind::kPath), Where::kCommandLine},
      {"listen", 0, "none|ADDRESS:PORT", "Serve the page at this address (default 127.0.0.1:9640); none: do not serve it", text(s.listen).as("ADDRESS:PORT or none")},
      {"allow-hosts", 0, "", "Accept requests to these host names too", hosts(s.allow_hosts), Where::kFile},
      {"allow-host", 0, "HOST", "Accept requests to this host name too; may be given several times", hosts(s.allow_hosts), Where::kCommandLine},
      {"log", 0, "FILE", "Append the events to this file (default stdout); SIGHUP reopens it", path(s.log)},
      {"snapshots", 0, "DIR", "Write a JPEG to this folder whenever a camera's state changes", path(s.snapshots)},
      {"snapshots-most", 0, "N", "Keep at most this many snapshots; delete the oldest first (default 1000)", count(s.snapshots_most, 1, kMaxSnapshots)},
      {"snapshots-most-bytes", 0, "N", "Keep at most this many bytes of snapshots (default 1000000000)", count(s.snapshots_most_bytes, 1, std::numeric_limits<std::int64_t>::max()).as("a whole number from 1")},
      {"baselines", 0, "DIR", "Keep the cameras' baselines in this folder", path(s.baselines)},
      {"quiet", 'q', "", "Print errors only on stderr", flag(s.quiet)},
      {"version", 0, "", "Print the version and exit", flag(s.version), Where::kCommandLine},
  };
}

std::vector<Key> camera_keys(CameraSettings& c) {
  WatchSettings& w = c.watch;
  return {
      {"watch-for", 0, "", "Report only these conditions (default: all)", conditions(w.watch_for), Where::kFile},
      {"hold-time", 0, "SECONDS", "Report a fault only after it has lasted this long (default 10)", seconds_from(0, w.hold_time)},
      {"recovery-time", 0, "SECONDS", "Report a recovery only after the fault has been gone this long (default 5)", seconds_from(0, w.recovery_time)},
      {"repeat-interval", 0, "SECONDS", "Repeat the report of a fault that lasts after this time (default 60); 0: never", seconds_from(0, w.repeat_interval)},
      {"learn-time", 0, "SECONDS", "Learn a camera's usual sharpness for this long (default 60)", seconds_from(0, w.learn_time)},
      {"stall-time", 0, "", "Report a camera as lost after this time without a frame (default 10)", seconds_from(1, w.stall_time), Where::kFile},
      {"interval", 0, "SECONDS", "Measure at most one frame per this time (default 0.2); 0: every frame", seconds_from(0, w.meter.interval)},
      {"min-ratio", 0, "", "Report a camera as defocused below this share of its usual sharpness (default 0.6)", ratio(w.min_ratio), Where::kFile},
      {"resume-ratio", 0, "", "Report it as recovered from this share on (default 0.75)", ratio(w.resume_ratio), Where::kFile},
      {"roi", 0, "", "Measure only this region (default: the frame)", roi(w.meter.roi), Where::kFile},
      {"significant-bits", 0, "", "Use this many bits of each 16-bit word (default: as the format says)", count(w.meter.significant_bits, 9, 16), Where::kFile},
      {"device", 0, kDevices, "Measure on this device (default auto); scores are the same on all", word(w.meter.device, kDevices)},
      {"transport", 0, "", "Receive RTP this way (default auto: UDP, then TCP)", word(c.transport, "auto|tcp|udp"), Where::kFile},
      {"tls-verify", 0, "", "Verify certificates (default true)", flag(c.verify_tls), Where::kFile},
      {"realtime", 0, "", "Play a file in real time, not as fast as it decodes (default false)", flag(c.realtime), Where::kFile},
      {"decoder-threads", 0, "", "Decode each camera with this many threads (default 1)", count(c.decoder_threads, 0, kMaxThreads).as("a whole number from 0 (the decoder's choice) to 64"), Where::kFile},
  };
}

std::vector<Key> address_keys(AddressSettings& a) {
  return {
      {"name", 0, "", "Name the camera (default: derived from its address)", text(a.name), Where::kFile},
      {"url", 0, "", "Watch this URL, file or device", text(a.url), Where::kFile},
      {"pipeline", 0, "", "Watch the output of this pipeline description, which must end in one source pad, instead of a URL", text(a.pipeline), Where::kFile},
      {"user", 0, "", "Log in as this user", text(a.user), Where::kFile},
      {"password-file", 0, "", "Log in with the password in the first line of this file", text(a.password_file), Where::kFile},
  };
}
// clang-format on

}  // namespace framequality::apps::watch
