// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of framequality-watch.
#include "apps/watch/options.h"

#include "apps/common/program.h"
#include "apps/common/text.h"
#include "apps/common/url.h"
#include "apps/watch/address.h"
#include "apps/watch/config.h"
#include "apps/watch/keys.h"

#include <gst/gst.h>

#include <array>
#include <charconv>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace framequality::apps::watch {

namespace {

/// An option that has a key of its name in the configuration.
struct Keyed {
  const char *name, *what, *value;
  bool is_number;
};
constexpr std::array kKeyed = {
    Keyed{"log", "Append the events to FILE (default stdout); SIGHUP opens it anew", "FILE", false},
    Keyed{"listen", "Where the page is served (default 127.0.0.1:9640); none: nowhere", "ADDRESS:PORT", false},
    Keyed{"snapshots", "Write a JPEG there whenever a camera's state changes", "DIR", false},
    Keyed{"snapshots-most", "Keep so many of them, the newest (default 1000)", "N", true},
    Keyed{"snapshots-most-bytes", "And no more than so many bytes (default 1000000000)", "N", true},
    Keyed{"baselines", "Keep there what was learned of the cameras", "DIR", false},
    Keyed{"hold-time", "A fault is one once it lasts so long (default 10)", "SECONDS", true},
    Keyed{"recovery-time", "It is over once it is gone for so long (default 5)", "SECONDS", true},
    Keyed{"repeat-interval", "Say again what lasts (default 60); 0: never", "SECONDS", true},
    Keyed{"learn-time", "How long a camera's usual sharpness is learned (default 60)", "SECONDS", true},
    Keyed{"interval", "Least time between measured frames (default 0.2); 0: every frame", "SECONDS", true},
    Keyed{"device", "auto (default), cpu or cuda; the figures are the same", "DEVICE", false},
};

/// Has the key allow-hosts.
constexpr Keyed kAllowHost = {"allow-host", "Also answer requests to this host name; may be given several times",
                              "NAME", false};

/// The options as they stand on the command line; names are bytes, the rest is text.
struct Raw {
  std::array<gchar*, kKeyed.size()> keyed{};
  gchar* config = nullptr;
  gboolean quiet = FALSE, version = FALSE;
  gchar **allow_hosts = nullptr, **cameras = nullptr;

  Raw() = default;
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    for (gchar* text : keyed) g_free(text);
    g_free(config);
    g_strfreev(allow_hosts);
    g_strfreev(cameras);
  }
};

constexpr char kDescription[] =
    "Cameras are URLs (rtsp://, rtsps://, http://, https://), files, or devices (/dev/video0). User and password may "
    "stand in a\n"
    "URL; the configuration can take the password from a file. No output of this program shows a password.\n"
    "\nEvents are lines of JSON: time, camera, state, previous, reason, repeated, duration, score, baseline, ratio, "
    "noise, mean and\n"
    "snapshot, as far as they are known. States: good (when learning ended), defocused, covered, dark, overexposed, "
    "frozen, moved,\n"
    "flickering, noisy, recovered, connected, lost, ended (a file) and error (a camera's configuration, or a disk).\n"
    "\nServed: / is a live page, /metrics for Prometheus (OpenMetrics), /status.json, /thumbnail/NAME, /healthz.\n"
    "\nSignals: SIGHUP opens the file of --log anew; SIGTERM and SIGINT end the program. It ends by itself when all "
    "cameras\n"
    "are files and those ended.\n"
    "\nExit status: 0 all files ended, 1 a camera or the program failed, 2 wrong usage or configuration, 130 "
    "interrupted\n"
    "(143 terminated), 141 if the reader of the events went away.\n"
    "\nExamples:\n"
    "  framequality-watch rtsp://user:password@10.0.0.7/stream1\n"
    "  framequality-watch gate=rtsp://10.0.0.7/1 hall=http://10.0.0.8/video.mjpg desk=/dev/video0 | jq .\n"
    "  framequality-watch --config /etc/framequality/watch.toml --log /var/log/framequality.jsonl";

void parse(int argc, char** argv, Raw& raw) {
  std::vector<GOptionEntry> list = {
      {"config", 'c', 0, G_OPTION_ARG_FILENAME, &raw.config, "Read cameras and settings from a TOML file", "FILE"}};
  for (std::size_t i = 0; i < kKeyed.size(); ++i) {
    const bool is_path = std::string_view(kKeyed[i].value) == "FILE" || std::string_view(kKeyed[i].value) == "DIR";
    list.push_back({kKeyed[i].name, 0, 0, is_path ? G_OPTION_ARG_FILENAME : G_OPTION_ARG_STRING, &raw.keyed[i],
                    kKeyed[i].what, kKeyed[i].value});
  }
  list.push_back(
      {kAllowHost.name, 0, 0, G_OPTION_ARG_STRING_ARRAY, &raw.allow_hosts, kAllowHost.what, kAllowHost.value});
  list.push_back({"quiet", 'q', 0, G_OPTION_ARG_NONE, &raw.quiet, "Only errors on stderr", nullptr});
  list.push_back({"version", 0, 0, G_OPTION_ARG_NONE, &raw.version, "Print the version and exit", nullptr});
  list.push_back({G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw.cameras, nullptr, "[NAME=]URL..."});
  list.push_back({});
  parse_command_line(argc, argv, "- watch cameras: out of focus, covered, dark, frozen, moved or gone", list,
                     kDescription);
}

Value value_of(const Keyed& option, std::string_view text) {
  if (!option.is_number) return std::string(text);
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end) return whole;
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end) return real;
  return std::monostate();
}

/// Sets what the options say, over what the configuration said.
void set_options(const Raw& raw, Settings& settings, CameraSettings& defaults) {
  const auto set = [](const auto& keys, const char* name, const Keyed& option, const char* text, auto& target) {
    const auto* key = find_key(keys, name);
    if (const Value value = value_of(option, text); key && !key->set(target, value))
      throw UsageError(std::string("--") + option.name + " takes " + key->takes + ", not '" + printable(text) + "'" +
                       suggested_word(key->words, value));
  };
  for (std::size_t i = 0; i < kKeyed.size(); ++i) {
    if (!raw.keyed[i]) continue;
    set(program_keys(), kKeyed[i].name, kKeyed[i], raw.keyed[i], settings);
    set(camera_keys(), kKeyed[i].name, kKeyed[i], raw.keyed[i], defaults);
  }
  for (gchar** host = raw.allow_hosts; host && *host; ++host)
    set(program_keys(), "allow-hosts", kAllowHost, *host, settings);
  if (raw.quiet) settings.quiet = true;
}

/// "NAME=URL", or a URL, which may hold = later on.
void add_argument(Settings& settings, const CameraSettings& defaults, std::string_view argument) {
  CameraSettings camera = defaults;
  if (const auto equals = argument.find('='); equals < argument.find_first_of("/:?") && equals > 0) {
    camera.name = argument.substr(0, equals);
    argument.remove_prefix(equals + 1);
  }
  const std::string name = camera.name;
  try {
    set_address(camera, std::string(argument));
    add_camera(settings, std::move(camera));
  } catch (const std::runtime_error& e) {
    const std::string shown = shown_url(printable(argument));
    settings.rejected.push_back({printable(name.empty() ? shown : name), shown + ": " + e.what()});
  }
}

}  // namespace

Settings parse_options(int argc, char** argv) {
  Raw raw;
  parse(argc, argv, raw);
  Settings settings;
  settings.version = raw.version;
  if (settings.version) return settings;
  CameraSettings defaults;
  std::unique_ptr<Config> config;
  if (raw.config) {
    config = std::make_unique<Config>(raw.config);
    config->read_program(settings);
    config->read_defaults(defaults);
  }
  set_options(raw, settings, defaults);
  if (config) config->read_cameras(settings, defaults);
  for (gchar** camera = raw.cameras; camera && *camera; ++camera) add_argument(settings, defaults, *camera);
  for (Rejected& camera : settings.rejected) {
    camera.name = settings.secrets.hide(camera.name);
    camera.reason = settings.secrets.hide(camera.reason);
  }
  if (settings.cameras.empty()) {
    std::string reason;
    for (const Rejected& camera : settings.rejected) reason += (reason.empty() ? "" : "\n") + camera.reason;
    if (reason.empty()) reason = config ? "the configuration has no [[camera]]" : "which cameras?";
    throw UsageError(reason);
  }
  return settings;
}

}  // namespace framequality::apps::watch
