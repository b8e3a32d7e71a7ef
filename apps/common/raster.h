// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as plain pixels, the way they are meant to be seen.
#pragma once

#include "apps/common/owned.h"

#include <gst/video/video.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace framequality::apps {

/// Pixels in ordinary memory: GRAY8, GRAY16_BE, RGB, or RGBA64_BE with undefined alpha. Full range.
struct Raster {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  int width = 0, height = 0;
  int pixel = 0, stride = 0;             ///< bytes: of a pixel, from row to row
  GstVideoColorimetry colorimetry = {};  ///< the frame's, except matrix and range
  std::unique_ptr<std::uint8_t[]> data;

  bool is_gray() const { return format == GST_VIDEO_FORMAT_GRAY8 || format == GST_VIDEO_FORMAT_GRAY16_BE; }
  bool is_deep() const { return format == GST_VIDEO_FORMAT_GRAY16_BE || format == GST_VIDEO_FORMAT_RGBA64_BE; }
  std::uint8_t* row(int y) const { return data.get() + static_cast<std::ptrdiff_t>(y) * stride; }
};

/// Options for turning a frame into a raster.
struct View {
  GstVideoOrientationMethod orientation = GST_VIDEO_ORIENTATION_IDENTITY;
  int longest = std::numeric_limits<int>::max();  ///< pixels, of the longer side
  bool deep = true;                               ///< more than 8 bits stay more than 8
};

/// A frame, in memory of any kind, turned upright and with square pixels. Square pixels stay exactly as stored
/// unless `longest` asks for fewer; others are scaled up along the side that lacks them, so that none is lost. Of
/// the colours only matrix and range change: transfer and primaries stay. Samples of more than 8 bits become 16, their
/// highest bits repeated below. Throws std::runtime_error with the reason.
Raster raster_of(GstSample* sample, const View& view);

/// Width and height of that raster, from the frame's caps. Throws std::runtime_error if they are no video's.
std::pair<int, int> raster_size(GstCaps* caps, const View& view);

/// A copy of the frame in ordinary memory, so that the decoder gets its memory back. As above.
Owned<GstSample> copy_of(GstSample* sample);

}  // namespace framequality::apps
