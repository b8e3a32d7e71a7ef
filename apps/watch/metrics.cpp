// SPDX-License-Identifier: LGPL-2.1-or-later
// Status of all cameras as OpenMetrics text.
#include "apps/common/text.h"
#include "apps/common/version.h"
#include "apps/watch/states.h"
#include "apps/watch/status.h"

#include <cmath>
#include <functional>

namespace framequality::apps::watch {

namespace {

constexpr char kPrefix[] = "framequality_camera_";

/// A label's value in quotes.
std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : valid_utf8(value)) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text + '"';
}

void head(std::string& text, const std::string& name, const char* type, const char* help, const char* unit = nullptr) {
  text += "# TYPE " + name + ' ' + type + '\n';
  if (unit) text += "# UNIT " + name + ' ' + unit + '\n';
  text += "# HELP " + name + ' ' + help + '\n';
}

using Measure = std::optional<double> (*)(const CameraStatus& camera);

void gauge(std::string& text, const Status& status, const char* name, const char* help, Measure measure,
           const char* unit = nullptr) {
  const std::string full = std::string(kPrefix) + name;
  head(text, full, "gauge", help, unit);
  for (const CameraStatus& camera : status.cameras)
    if (const auto value = measure(camera); value && std::isfinite(*value))
      text += full + "{camera=" + quoted(camera.name) + "} " + number(*value) + '\n';
}

void counter(std::string& text, const Status& status, const char* name, const char* help,
             std::uint64_t CameraStatus::*count) {
  const std::string full = std::string(kPrefix) + name;
  head(text, full, "counter", help);
  for (const CameraStatus& camera : status.cameras)
    text += full + "_total{camera=" + quoted(camera.name) + "} " + std::to_string(camera.*count) + '\n';
}

}  // namespace

std::string open_metrics(const Status& status) {
  using C = const CameraStatus&;
  std::string text;
  gauge(text, status, "score", "Sharpness of the last measured frame.", [](C c) { return c.figures.score; });
  gauge(text, status, "baseline", "Usual sharpness of the camera.", [](C c) { return c.figures.baseline; });
  gauge(text, status, "noise", "Standard deviation of the noise, 8-bit grey levels.",
        [](C c) { return c.figures.noise; });
  gauge(text, status, "mean_luma", "Mean brightness, 8-bit grey levels.", [](C c) { return c.figures.mean; });
  gauge(text, status, "frame_rate", "Frames per second.", [](C c) { return c.frame_rate; });
  gauge(
      text, status, "last_frame_age_seconds", "Time since the last frame.", [](C c) { return c.last_frame_age; },
      "seconds");
  counter(text, status, "frames", "Frames since the program started.", &CameraStatus::frames);
  counter(text, status, "reconnects", "Attempts to reconnect.", &CameraStatus::reconnects);

  const std::string name = std::string(kPrefix) + "state";
  head(text, name, "stateset", "State of the camera.");
  for (const CameraStatus& camera : status.cameras) {
    const auto sample = [&](std::string_view state) {
      text.append(name).append("{camera=").append(quoted(camera.name)).append(",").append(name).append("=");
      text.append(quoted(state)).append(camera.state == state ? "} 1\n" : "} 0\n");
    };
    for (const auto state : kOtherStates) sample(state);
    for (const auto state : kConditions) sample(state);
  }
  head(text, "framequality_build", "info", "The version of framequality-watch.");
  text += "framequality_build_info{version=" + quoted(kVersion) + "} 1\n";
  return text + "# EOF\n";
}

}  // namespace framequality::apps::watch
