// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a pipeline's frames come from: one video stream, decoded.
#pragma once

#include "apps/common/owned.h"
#include "apps/watch/connections.h"
#include "apps/watch/settings.h"

#include <memory>
#include <string>

namespace framequality::apps::watch {

/// A bin with raw video on its pad `src`, of any memory; other streams are not even decoded. At the end of the stream
/// it posts an application message named kEndMessage, and nothing goes out of the pad. Its state changes may block for
/// as long as a server is silent. `connections` gets to know those over RTSP. Throws std::runtime_error with the
/// reason.
Owned<GstElement> make_source(const CameraSettings& camera, const std::shared_ptr<Connections>& connections);

inline constexpr char kEndMessage[] = "framequality-end";

/// Throws std::runtime_error if this describes no elements that end in a source pad for video.
void check_description(const std::string& description);

}  // namespace framequality::apps::watch
