// SPDX-License-Identifier: LGPL-2.1-or-later
// Extent of the bytes that a meter of BLIINDS-II reads of a frame.
#pragma once

#include "algorithms/bliinds/meter.h"
#include "gst/buffer/frame.h"

namespace framequality {

/// The input for frames of these caps; red by their matrix and range. GStreamer has a default for both.
bliinds::Input input_of(const GstVideoInfo& info, const Geometry& geometry);

/// The part of a frame's planes that the channel needs.
PlaneExtents extents_of(const bliinds::Input& input, bliinds::Channel channel);

}  // namespace framequality
