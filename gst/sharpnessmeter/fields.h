// SPDX-License-Identifier: LGPL-2.1-or-later
// Fields of sharpnessmeter's message and metadata that a frame's scores fill.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "algorithms/sharpness/score.h"
#include "gst/object/properties.h"

#include <gst/gst.h>

#include <array>

namespace framequality {

/// Values of the property `normalize`.
inline constexpr EnumValue<bool> kNormalize[] = {
    {false, "the score as defined by the metric", "none"},
    {true, "divided by the mean luma above black, or by its square for metrics in level^2", "mean"}};

/// A roi as the property and the message have it.
inline std::array<int, 4> numbers(const sharpness::Rect& r) {
  return {static_cast<int>(r.x), static_cast<int>(r.y), static_cast<int>(r.width), static_cast<int>(r.height)};
}

/// Adds what was measured of a frame by this plan. sharpest_of: zones that the field `sharpest-zones` is the mean of.
void set_fields(GstStructure* fields, const sharpness::Plan& plan, const sharpness::Scores& scores, int sharpest_of);

}  // namespace framequality
