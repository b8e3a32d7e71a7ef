// SPDX-License-Identifier: LGPL-2.1-or-later
// The source of a pipeline's frames: one video stream, decoded.
#pragma once

#include "apps/common/owned.h"
#include "apps/watch/connections.h"
#include "apps/watch/settings.h"

#include <memory>
#include <string>

namespace framequality::apps::watch {

/// A bin with raw video on its pad `src`, in any memory; other streams are not decoded. At the end of the stream
/// it posts an application message named kEndMessage, and its pad passes nothing. Its state changes may block for
/// as long as a server is silent. `connections`: tracks those over RTSP. Throws std::runtime_error with the
/// reason.
Owned<GstElement> make_source(const CameraSettings& camera, const std::shared_ptr<Connections>& connections);

inline constexpr char kEndMessage[] = "framequality-end";

/// Throws std::runtime_error unless this describes elements that end in a source pad for video.
void check_description(const std::string& description);

}  // namespace framequality::apps::watch
