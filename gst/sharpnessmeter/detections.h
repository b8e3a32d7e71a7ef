// SPDX-License-Identifier: LGPL-2.1-or-later
// Boxes of detected objects on a buffer: GstAnalyticsRelationMeta, which GStreamer has from 1.24 on.
#pragma once

#include "algorithms/sharpness/plan.h"

#include <gst/gst.h>

#include <cstddef>
#include <span>
#include <vector>

namespace framequality {

/// An object found by a detector upstream.
struct Detection {
  guint id = 0;          ///< of its metadata in the GstAnalyticsRelationMeta
  GQuark label = 0;      ///< its kind; 0 if unknown
  float confidence = 0;  ///< 0...1
  sharpness::Rect box;   ///< pixels; the upright bounding box of a rotated one
};

/// Replaces `found` by the buffer's object detections, in their order, at most `most`. Returns the number that the
/// buffer has. In a build without GstAnalytics there are none.
std::size_t read_detections(GstBuffer* buffer, std::size_t most, std::vector<Detection>& found);

/// Sets the field `detections`: GST_TYPE_ARRAY of structures `detection` with uint `id`, string `label`, double
/// `confidence`, int `x`, `y`, `width`, `height` (pixels) and double `score`. scores: one for each.
void set_detections(GstStructure* result, std::span<const Detection> found, std::span<const double> scores);

}  // namespace framequality
