// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of framequality-watch.
#include "apps/watch/options.h"

#include "apps/common/command_line.h"
#include "apps/common/program.h"
#include "apps/common/text.h"
#include "apps/common/url.h"
#include "apps/watch/address.h"
#include "apps/watch/config.h"
#include "apps/watch/keys.h"

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace framequality::apps::watch {

namespace {

Help help(const std::vector<Key>& program, const std::vector<Key>& cameras) {
  AddressSettings address;
  return {
      "[NAME=]URL...", "alert when a camera is blurred, covered, dark or gone",
      "Watches cameras and alerts you when one is out of focus, covered, dark, frozen, moved or gone. Writes events,\n"
      "and serves a live page and metrics.",
      "Cameras are URLs (rtsp://, rtsps://, http://, https://), files, or devices (/dev/video0). A URL may contain\n"
      "user and password; the configuration can read the password from a file. The program never shows passwords.\n"
      "\nEvents are lines of JSON with the fields time, camera, state, previous, reason, repeated, duration, score,\n"
      "baseline, ratio, noise, mean and snapshot; unknown ones are left out. States: good (learning ended), "
      "defocused,\n"
      "covered, dark, overexposed, frozen, moved, flickering, noisy, recovered, connected, lost, ended (a file)\n"
      "and error (a camera's configuration, or a disk).\n"
      "\nThe server has / (a live page), /metrics for Prometheus (OpenMetrics), /status.json, /thumbnail/NAME and\n"
      "/healthz.\n"
      "\nSIGHUP reopens the file of --log; SIGTERM and SIGINT end the program. If all cameras are files, the program\n"
      "ends after the last one.\n"
      "\nAll options except --config, --allow-host and --version are also keys of the configuration: those about\n"
      "cameras (from --hold-time on) in [defaults] and [[camera]], the others at the top.\n"
      "\nConfiguration, keys at the top that are not options:\n" +
          help_of_file_keys(program) + "\nConfiguration, keys of [defaults] and [[camera]] that are not options:\n" +
          help_of_file_keys(cameras) + "\nConfiguration, further keys of [[camera]]:\n" +
          help_of_file_keys(address_keys(address)) +
          "\nExit status:\n"
          "  0: all files ended\n"
          "  1: a camera or the program failed\n"
          "  2: wrong usage or configuration\n"
          "  130: interrupted (143: terminated)\n"
          "  141: the reader of the events closed its end\n"
          "\nExamples:\n"
          "  framequality-watch rtsp://user:password@10.0.0.7/stream1\n"
          "  framequality-watch gate=rtsp://10.0.0.7/1 hall=http://10.0.0.8/video.mjpg desk=/dev/video0 | jq .\n"
          "  framequality-watch --config /etc/framequality/watch.toml --log /var/log/framequality.jsonl"};
}

/// Adds "NAME=URL", or a URL, which may contain = later on.
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
  Settings settings;
  CameraSettings defaults;
  const std::vector<Key> program = program_keys(settings), cameras = camera_keys(defaults);
  const CommandLine line(argc, argv, help(program, cameras), joined(program, cameras));
  line.apply({*find_key(program, "config"), *find_key(program, "version")});
  if (settings.version) return settings;
  std::unique_ptr<Config> config;
  if (line.has("config")) {
    config = std::make_unique<Config>(settings.config);
    config->read_program(settings);
    config->read_defaults(defaults);
  }
  // The command line overrides the configuration.
  line.apply(joined(program, cameras));
  if (config) config->read_cameras(settings, defaults);
  for (const std::string& camera : line.arguments()) add_argument(settings, defaults, camera);
  for (Rejected& camera : settings.rejected) {
    camera.name = settings.secrets.hide(camera.name);
    camera.reason = settings.secrets.hide(camera.reason);
  }
  if (settings.cameras.empty()) {
    std::string reason;
    for (const Rejected& camera : settings.rejected) reason += (reason.empty() ? "" : "\n") + camera.reason;
    if (reason.empty()) reason = config ? "the configuration has no [[camera]]" : "no cameras given";
    throw UsageError(reason);
  }
  return settings;
}

}  // namespace framequality::apps::watch
