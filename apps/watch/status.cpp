// SPDX-License-Identifier: LGPL-2.1-or-later
// Status of all cameras as JSON.
#include "apps/watch/status.h"

#include "apps/common/json.h"
#include "apps/common/version.h"

#include <nlohmann/json.hpp>

namespace framequality::apps::watch {

namespace {

constexpr int kDigits = 6;

Json camera_json(const CameraStatus& camera) {
  const auto figure = [](const std::optional<double>& value) { return json_rounded(value, kDigits); };
  const auto pixels = [](int count) { return count > 0 ? Json(count) : Json(); };
  Json history = Json::array();
  for (const auto& [time, score] : camera.history) history.push_back(Json::array({time, figure(score)}));
  return {{"name", json_text(camera.name)},
          {"source", json_text(camera.source)},
          {"state", json_text(camera.state)},
          {"since", utc(camera.since)},
          {"reason", json_text(camera.reason)},
          {"score", figure(camera.figures.score)},
          {"baseline", figure(camera.figures.baseline)},
          {"ratio", figure(camera.figures.ratio)},
          {"noise", figure(camera.figures.noise)},
          {"mean", figure(camera.figures.mean)},
          {"frame_rate", figure(camera.frame_rate)},
          {"frames", camera.frames},
          {"last_frame_age", figure(camera.last_frame_age)},
          {"reconnects", camera.reconnects},
          {"width", pixels(camera.width)},
          {"height", pixels(camera.height)},
          {"history", std::move(history)}};
}

}  // namespace

std::string status_json(const Status& status) {
  Json cameras = Json::array();
  for (const CameraStatus& camera : status.cameras) cameras.push_back(camera_json(camera));
  return dump({{"version", kVersion}, {"time", utc(status.time)}, {"cameras", std::move(cameras)}}) + '\n';
}

}  // namespace framequality::apps::watch
