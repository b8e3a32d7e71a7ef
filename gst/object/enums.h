// SPDX-License-Identifier: LGPL-2.1-or-later
// Enum types of properties that more than one element has.
#pragma once

#include <glib-object.h>

namespace framequality {

/// Values of the `device` property.
enum class DeviceChoice : int { kAuto, kCpu, kCuda };
GType device_choice_get_type();

/// Indices into Metrics, with their names as nicks.
GType metric_get_type();

/// Values of Prefilter.
GType prefilter_get_type();

/// Values of the `normalize` property.
enum class Normalize : int { kNone, kMean };
GType normalize_get_type();

/// Values of bliinds::Channel.
GType bliinds_channel_get_type();

/// Values of denoise::Chroma.
GType denoise_chroma_get_type();

/// Values of denoise::CenterWeight.
GType center_weight_get_type();

/// Values of halftone::Method.
GType halftone_method_get_type();

/// Values of the `levels` property: how many there are.
GType halftone_levels_get_type();

}  // namespace framequality
