// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads what an autofocus search found from what focuscontroller says of it.
#pragma once

#include "gst/sharpnessoverlay/drawing.h"

#include <gst/gst.h>

#include <optional>

namespace framequality::overlay {

/// More samples than this are no search's, and none of them is taken.
inline constexpr unsigned kMostSamples = 10000;

/// The curve in the sticky event that focuscontroller sends downstream when a search has ended, whose fields are those
/// of its message: `state`, `positions`, `scores`, `top`, `certainty`. Null for any other event. Samples that are no
/// finite numbers are left out, and all of them where there are not as many scores as positions.
std::optional<Curve> curve_in(GstEvent* event);

}  // namespace framequality::overlay
