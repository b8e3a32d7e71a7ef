// SPDX-License-Identifier: LGPL-2.1-or-later
// What can be set, by name: the keys of the configuration file, which many options of the command line also have.
#include "apps/watch/keys.h"

#include "apps/common/nearest.h"
#include "apps/watch/hosts.h"
#include "apps/watch/states.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace framequality::apps::watch {

namespace {

constexpr double kMaxSeconds = 1e6;
constexpr char kSeconds[] = "seconds from 0 to 1000000", kYesNo[] = "true or false", kPath[] = "a path";
constexpr int kMaxThreads = 64;

std::optional<double> to_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

/// Seconds from `least` as ns.
template <class Time>
bool set_time(Time& time, const Value& value, double least = 0) {
  const auto seconds = to_number(value);
  if (!seconds || !(*seconds >= least && *seconds <= kMaxSeconds)) return false;
  time = static_cast<std::uint64_t>(std::llround(*seconds * 1e9));
  return true;
}

bool set_ratio(std::optional<double>& ratio, const Value& value) {
  const auto number = to_number(value);
  if (!number || !(*number >= 0 && *number <= 1)) return false;
  ratio = *number;
  return true;
}

bool set_flag(bool& flag, const Value& value) {
  const auto* given = std::get_if<bool>(&value);
  if (given) flag = *given;
  return given;
}

bool set_text(std::string& text, const Value& value) {
  const auto* given = std::get_if<std::string>(&value);
  if (!given || given->empty()) return false;
  text = *given;
  return true;
}

template <class Integer>
bool set_count(Integer& count, const Value& value, std::int64_t least, std::int64_t most) {
  const auto* given = std::get_if<std::int64_t>(&value);
  if (!given || *given < least || *given > most) return false;
  count = static_cast<Integer>(*given);
  return true;
}

/// A list of texts, or one text.
std::vector<std::string> to_texts(const Value& value) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  if (const auto* one = std::get_if<std::string>(&value)) return {*one};
  return {};
}

/// Adds to those that are there.
bool add_hosts(Settings& settings, const Value& value) {
  const std::vector<std::string> names = to_texts(value);
  if (names.empty() || !std::all_of(names.begin(), names.end(), [](const auto& name) { return host_name(name); }))
    return false;
  settings.allow_hosts.insert(settings.allow_hosts.end(), names.begin(), names.end());
  return true;
}

bool set_watch_for(CameraSettings& camera, const Value& value) {
  const std::vector<std::string> names = to_texts(value);
  if (names.empty()) return false;
  std::string flags;
  for (const std::string& name : names) {
    if (!is_condition(name)) return false;
    flags += (flags.empty() ? "" : "+") + name;
  }
  camera.watch.watch_for = flags;
  return true;
}

bool set_roi(CameraSettings& camera, const Value& value) {
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  if (!list || list->size() != 4) return false;
  std::array<int, 4> roi{};
  for (std::size_t i = 0; i < roi.size(); ++i) {
    if ((*list)[i] < (i < 2 ? 0 : 1) || (*list)[i] > std::numeric_limits<int>::max()) return false;
    roi[i] = static_cast<int>((*list)[i]);
  }
  camera.watch.meter.roi = roi;
  return true;
}

bool set_transport(CameraSettings& camera, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (!text) return false;
  if (*text == "auto")
    camera.transport = Transport::kAuto;
  else if (*text == "tcp")
    camera.transport = Transport::kTcp;
  else if (*text == "udp")
    camera.transport = Transport::kUdp;
  else
    return false;
  return true;
}

bool set_device(CameraSettings& camera, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (!text || (*text != "auto" && *text != "cpu" && *text != "cuda")) return false;
  camera.watch.meter.device = *text;
  return true;
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

const std::vector<Key<Settings>>& program_keys() {
  using S = Settings;
  using V = Value;
  static const std::vector<Key<S>> keys = {
      {"listen", "ADDRESS:PORT or none", [](S& s, const V& v) { return set_text(s.listen, v); }},
      {"allow-hosts", "host names without a port, such as cameras.example.org", add_hosts},
      {"log", kPath, [](S& s, const V& v) { return set_text(s.log, v); }},
      {"snapshots", kPath, [](S& s, const V& v) { return set_text(s.snapshots, v); }},
      {"snapshots-most", "a whole number from 1 to 1000000",
       [](S& s, const V& v) { return set_count(s.snapshots_most, v, 1, 1'000'000); }},
      {"snapshots-most-bytes", "a whole number from 1",
       [](S& s, const V& v) {
         return set_count(s.snapshots_most_bytes, v, 1, std::numeric_limits<std::int64_t>::max());
       }},
      {"baselines", kPath, [](S& s, const V& v) { return set_text(s.baselines, v); }},
      {"quiet", kYesNo, [](S& s, const V& v) { return set_flag(s.quiet, v); }},
  };
  return keys;
}

const std::vector<Key<CameraSettings>>& camera_keys() {
  using C = CameraSettings;
  using V = Value;
  static const std::vector<Key<C>> keys = {
      {"watch-for",
       "a list of defocused, covered, dark, overexposed, frozen, moved, flickering, noisy",
       set_watch_for,
       {kConditions.begin(), kConditions.end()}},
      {"hold-time", kSeconds, [](C& c, const V& v) { return set_time(c.watch.hold_time, v); }},
      {"recovery-time", kSeconds, [](C& c, const V& v) { return set_time(c.watch.recovery_time, v); }},
      {"repeat-interval", kSeconds, [](C& c, const V& v) { return set_time(c.watch.repeat_interval, v); }},
      {"learn-time", kSeconds, [](C& c, const V& v) { return set_time(c.watch.learn_time, v); }},
      {"stall-time", "seconds from 1 to 1000000", [](C& c, const V& v) { return set_time(c.watch.stall_time, v, 1); }},
      {"interval", kSeconds, [](C& c, const V& v) { return set_time(c.watch.meter.interval, v); }},
      {"min-ratio", "a number from 0 to 1", [](C& c, const V& v) { return set_ratio(c.watch.min_ratio, v); }},
      {"resume-ratio", "a number from 0 to 1", [](C& c, const V& v) { return set_ratio(c.watch.resume_ratio, v); }},
      {"roi", "[X, Y, WIDTH, HEIGHT] in pixels", set_roi},
      {"significant-bits", "a whole number from 9 to 16",
       [](C& c, const V& v) { return set_count(c.watch.meter.significant_bits, v, 9, 16); }},
      {"device", "auto, cpu or cuda", set_device, {"auto", "cpu", "cuda"}},
      {"transport", "auto, tcp or udp", set_transport, {"auto", "tcp", "udp"}},
      {"tls-verify", kYesNo, [](C& c, const V& v) { return set_flag(c.verify_tls, v); }},
      {"realtime", kYesNo, [](C& c, const V& v) { return set_flag(c.realtime, v); }},
      {"decoder-threads", "a whole number from 0 (as many as the decoder likes) to 64",
       [](C& c, const V& v) { return set_count(c.decoder_threads, v, 0, kMaxThreads); }},
  };
  return keys;
}

std::string suggested_word(const std::vector<std::string>& words, const Value& value) {
  std::vector<std::string> given;
  if (const auto* one = std::get_if<std::string>(&value)) given = {*one};
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) given = *list;
  const auto wrong = std::find_if(given.begin(), given.end(), [&](const std::string& text) {
    return std::find(words.begin(), words.end(), text) == words.end();
  });
  return wrong == given.end() ? "" : suggestion(*wrong, words);
}

}  // namespace framequality::apps::watch
