// SPDX-License-Identifier: LGPL-2.1-or-later
// Events of cameras, and their form in the log: one line of JSON each.
#include "apps/watch/events.h"

#include "apps/common/json.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace framequality::apps::watch {

namespace {

constexpr int kDigits = 6;

}  // namespace

std::string utc(gint64 time) {
  const std::time_t seconds = static_cast<std::time_t>(time / G_USEC_PER_SEC);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(time % G_USEC_PER_SEC / 1000));
  return text.data();
}

std::string json_line(const Event& event) {
  Json json = {{"time", utc(event.time)},           {"camera", json_text(event.camera)},
               {"state", json_text(event.state)},   {"previous", json_text(event.previous)},
               {"reason", json_text(event.reason)}, {"repeated", event.repeated}};
  if (event.duration) json["duration"] = json_number(std::round(static_cast<double>(*event.duration) / 1e6) / 1e3);
  const auto figure = [&](const char* name, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) json[name] = json_rounded(value, kDigits);
  };
  figure("score", event.figures.score);
  figure("baseline", event.figures.baseline);
  figure("ratio", event.figures.ratio);
  figure("noise", event.figures.noise);
  figure("mean", event.figures.mean);
  if (!event.snapshot.empty()) json["snapshot"] = json_text(event.snapshot);
  return dump(json) + '\n';
}

}  // namespace framequality::apps::watch
