// SPDX-License-Identifier: LGPL-2.1-or-later
// How all cameras are at one moment, as JSON.
#include "apps/watch/status.h"

#include "apps/common/text.h"
#include "apps/common/version.h"

#include <cmath>

namespace framequality::apps::watch {

namespace {

constexpr int kDigits = 6;

std::string figure(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? rounded(*value, kDigits) : "null";
}

std::string camera_json(const CameraStatus& camera) {
  std::string json = "{", history = "[";
  json_field(json, "name", json_string(camera.name));
  json_field(json, "source", json_string(camera.source));
  json_field(json, "state", json_string(camera.state));
  json_field(json, "since", json_string(utc(camera.since)));
  json_field(json, "reason", json_string(camera.reason));
  json_field(json, "score", figure(camera.figures.score));
  json_field(json, "baseline", figure(camera.figures.baseline));
  json_field(json, "ratio", figure(camera.figures.ratio));
  json_field(json, "noise", figure(camera.figures.noise));
  json_field(json, "mean", figure(camera.figures.mean));
  json_field(json, "frame_rate", figure(camera.frame_rate));
  json_field(json, "frames", std::to_string(camera.frames));
  json_field(json, "last_frame_age", figure(camera.last_frame_age));
  json_field(json, "reconnects", std::to_string(camera.reconnects));
  json_field(json, "width", camera.width > 0 ? std::to_string(camera.width) : "null");
  json_field(json, "height", camera.height > 0 ? std::to_string(camera.height) : "null");
  for (const auto& [time, score] : camera.history)
    history.append(history.size() > 1 ? ",[" : "[").append(std::to_string(time)).append(",").append(figure(score)) +=
        ']';
  json_field(json, "history", history + ']');
  return json + '}';
}

}  // namespace

std::string status_json(const Status& status) {
  std::string json = "{", cameras = "[";
  json_field(json, "version", json_string(kVersion));
  json_field(json, "time", json_string(utc(status.time)));
  for (const CameraStatus& camera : status.cameras)
    cameras.append(cameras.size() > 1 ? "," : "") += camera_json(camera);
  json_field(json, "cameras", cameras + ']');
  return json + "}\n";
}

}  // namespace framequality::apps::watch
