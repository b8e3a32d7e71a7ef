// SPDX-License-Identifier: LGPL-2.1-or-later
// The answers of the HTTP server, by path.
#include "apps/watch/site.h"

#include "apps/common/text.h"
#include "apps/watch/page_template.h"

namespace framequality::apps::watch {

namespace {

constexpr std::string_view kThumbnail = "/thumbnail/";
constexpr gint64 kAlive = gint64{10} * G_USEC_PER_SEC;

std::optional<Reply> thumbnail(std::string_view name, const Status& status, Thumbnails& thumbnails) {
  for (std::size_t i = 0; i < status.cameras.size(); ++i) {
    const CameraStatus& camera = status.cameras[i];
    if (camera.name != name) continue;
    const bool has_frames =
        camera.state != "lost" && camera.state != "ended" && camera.state != "error" && camera.state != "connecting";
    std::optional<std::string> jpeg = thumbnails.get(i, has_frames, g_get_monotonic_time());
    if (!jpeg) return std::nullopt;
    if (jpeg->empty()) return Reply{503, Reply().type, "no frame yet\n"};
    return Reply{200, "image/jpeg", std::move(*jpeg)};
  }
  return Reply{404, Reply().type, "no such camera\n"};
}

Reply health(const Status& status) {
  if (g_get_monotonic_time() - status.made < kAlive) return {200, Reply().type, "ok\n"};
  return {503, Reply().type, "the main loop does not run: cameras are not being watched\n"};
}

Reply foreign(std::string_view host) {
  constexpr std::size_t kShown = 100;
  Reply reply;
  reply.code = 403;
  reply.body = "'";
  reply.body += shortened(printable(host), kShown) + "' is not a name of this server.\n";
  reply.body +=
      "To allow it, start framequality-watch with --allow-host NAME, or set allow-hosts = [\"NAME\"] in its "
      "configuration.\n";
  return reply;
}

}  // namespace

std::optional<Reply> answer(const Request& request, const Hosts& hosts, const Board& board, Thumbnails& thumbnails) {
  const std::string_view path = request.path;
  const auto status = board.status();
  // It reveals nothing, and supervisors use any host name.
  if (path == "/healthz") return health(*status);
  if (request.host && !hosts.knows(*request.host)) return foreign(*request.host);
  if (path == "/") return Reply{200, "text/html; charset=utf-8", kPage};
  if (path == "/status.json") return Reply{200, "application/json", status_json(*status)};
  if (path == "/metrics")
    return Reply{200, "application/openmetrics-text; version=1.0.0; charset=utf-8", open_metrics(*status)};
  if (path.starts_with(kThumbnail)) return thumbnail(path.substr(kThumbnail.size()), *status, thumbnails);
  return Reply{404, Reply().type, "not found\n"};
}

}  // namespace framequality::apps::watch
