// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading of an autofocus search's result from focuscontroller's event.
#pragma once

#include "gst/sharpnessoverlay/drawing.h"

#include <gst/gst.h>

#include <optional>

namespace framequality::overlay {

/// A search never has more samples; larger curves are ignored.
inline constexpr unsigned kMostSamples = 10000;

/// The curve in the sticky event that focuscontroller sends downstream when a search has ended, whose fields are those
/// of its message: `state`, `positions`, `scores`, `top`, `error`. Null for any other event. Samples that are not
/// finite are left out, and all of them unless there are as many scores as positions.
std::optional<Curve> curve_in(GstEvent* event);

}  // namespace framequality::overlay
