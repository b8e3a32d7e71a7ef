// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning as a FilterStream does it, and the caps of what it reads and writes.
#pragma once

#include "algorithms/halftone/filter.h"
#include "gst/base/filter_stream.h"

#include <memory>

// One bit per pixel, 1 for white, the highest bit of a byte leftmost, rows padded to whole bytes.
#define FQ_PACKED_CAPS                                                                                    \
  "video/x-mono, format = (string) MSB, width = " GST_VIDEO_SIZE_RANGE ", height = " GST_VIDEO_SIZE_RANGE \
  ", framerate = " GST_VIDEO_FPS_RANGE

namespace framequality {

/// What the user asks for; caps say the rest: settings.packed, tone.limited and tone.light.
struct HalftoneRequest {
  halftone::Settings settings;
  bool linear = false;  ///< errors are diffused in linear light
};

/// What light a frame's codes stand for.
halftone::Light light_of(const GstVideoInfo& info);

/// The Kind of a FilterStream. Element: has a Shared `request`.
template <class Element>
class Halftoning {
 public:
  using Task = halftone::Task;
  using Settings = halftone::Settings;

  Halftoning(Element* element, const FilterFormat& format, int threads)
      : element_(element),
        geometry_{GST_VIDEO_INFO_WIDTH(&format.in), GST_VIDEO_INFO_HEIGHT(&format.in),
                  with_significant_bits(layout_of(*format.in.finfo).value(), format.significant_bits)},
        packed_(GST_VIDEO_INFO_FORMAT(&format.out) == GST_VIDEO_FORMAT_ENCODED),
        limited_(GST_VIDEO_INFO_COLORIMETRY(&format.in).range == GST_VIDEO_COLOR_RANGE_16_235),
        light_(light_of(format.in)),
        threads_(threads) {}

  std::unique_ptr<halftone::Filter> make(const Place& place, int depth) const {
    return place.backend->halftone(geometry_, {place.id, depth, threads_});
  }
  Settings settings() const {
    const HalftoneRequest request = element_->request->get();
    Settings settings = request.settings;
    settings.packed = packed_;
    // Requests may already be those for other caps, which come with the next frame.
    if (packed_) settings.levels = 2;
    settings.tone.limited = limited_;
    settings.tone.light = request.linear ? light_ : halftone::Light::kCode;
    return settings;
  }
  Task task(const FilterWindow& w, const Settings& settings) const {
    return {w.frames[w.center].frame, {w.out.plane[0], w.out.stride[0], w.out.memory}, settings, w.fields};
  }

 private:
  Element* element_;
  Geometry geometry_;
  bool packed_, limited_;
  halftone::Light light_;
  int threads_;
};

/// FqFilterBaseClass::parse_caps.
bool parse_halftone_caps(GstCaps* in, GstCaps* out, FilterFormat& format);

/// Caps of the pictures that frames become: GRAY8 in system memory, or one bit per pixel. Owned by the caller.
GstCaps* halftone_output_caps(GstCaps* in, bool packed);

/// Caps of the frames that become such pictures. Owned by the caller.
GstCaps* halftone_input_caps(GstCaps* out, bool packed);

}  // namespace framequality
