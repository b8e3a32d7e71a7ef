// SPDX-License-Identifier: LGPL-2.1-or-later
// Blends an overlay composition into a frame. As gst_video_overlay_composition_blend(), which takes ten times as long
// because it converts whole rows of the frame and each pixel of the overlay one by one.
#pragma once

#include "gst/sharpnessoverlay/layout.h"

#include <gst/video/video.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::overlay {

class Blender {
 public:
  /// Draws the parts of the rectangles inside the frame, with the frame's colour matrix and range. Returns false
  /// if the format does not support it. frame: mapped for reading and writing.
  bool blend(GstVideoOverlayComposition* composition, GstVideoFrame* frame);

 private:
  /// A sample covers 2^across x 2^down pixels.
  struct Subsampling {
    unsigned across, down;
  };
  /// Premultiplied ARGB, and its position, wholly inside the frame.
  struct Pixels {
    const std::uint8_t* data;
    std::ptrdiff_t stride;
    Box place;
  };
  void blend_rectangle(GstVideoOverlayRectangle* rectangle, GstVideoFrame* frame);
  void blend_pixels(const Pixels& pixels, GstVideoFrame* frame);
  void take_row(const Pixels& pixels, int y, Subsampling sub, int count);

  GstVideoFormat format_ = GST_VIDEO_FORMAT_UNKNOWN;
  bool described_ = false;  ///< format_ can be blended here
  std::array<double, 4> weights_[GST_VIDEO_MAX_COMPONENTS];
  std::vector<std::uint16_t> row_[4];  ///< R, G, B, alpha of a row of samples, premultiplied
  std::vector<std::uint16_t> spare_;   ///< a buffer for another row
};

}  // namespace framequality::overlay
