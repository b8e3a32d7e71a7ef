// SPDX-License-Identifier: LGPL-2.1-or-later
// What is served, by path.
#include "apps/watch/site.h"

#include "apps/watch/page_template.h"

namespace framequality::apps::watch {

namespace {

constexpr std::string_view kThumbnail = "/thumbnail/";
constexpr gint64 kAlive = gint64{10} * G_USEC_PER_SEC;

Reply thumbnail(std::string_view name, const Status& status, Thumbnails& thumbnails) {
  for (std::size_t i = 0; i < status.cameras.size(); ++i) {
    const CameraStatus& camera = status.cameras[i];
    if (camera.name != name) continue;
    const bool has_frames =
        camera.state != "lost" && camera.state != "ended" && camera.state != "error" && camera.state != "connecting";
    std::string jpeg = thumbnails.get(i, has_frames);
    if (jpeg.empty()) return {503, Reply().type, "no frame yet\n"};
    return {200, "image/jpeg", std::move(jpeg)};
  }
  return {404, Reply().type, "no such camera\n"};
}

}  // namespace

Reply answer(std::string_view path, const Board& board, Thumbnails& thumbnails) {
  if (path == "/") return {200, "text/html; charset=utf-8", kPage};
  const auto status = board.status();
  if (path == "/status.json") return {200, "application/json", status_json(*status)};
  if (path == "/metrics")
    return {200, "application/openmetrics-text; version=1.0.0; charset=utf-8", open_metrics(*status)};
  if (path == "/healthz") {
    if (g_get_monotonic_time() - status->made < kAlive) return {200, Reply().type, "ok\n"};
    return {503, Reply().type, "the cameras are not looked after\n"};
  }
  if (path.starts_with(kThumbnail)) return thumbnail(path.substr(kThumbnail.size()), *status, thumbnails);
  return {404, Reply().type, "not found\n"};
}

}  // namespace framequality::apps::watch
