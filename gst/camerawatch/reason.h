// SPDX-License-Identifier: LGPL-2.1-or-later
// Reason for a change of a camera's state, in one sentence with the numbers that led to it.
#pragma once

#include "algorithms/watch/camera_watch.h"

#include <string>

namespace framequality {

/// Nick of a state: `good`, `defocused` ...
const char* nick_of(CameraState state);

/// The reason, in English, one line, no full stop.
std::string reason_of(const CameraNews& news, const CameraWatch& watch, const CameraWatchSettings& settings);

}  // namespace framequality
