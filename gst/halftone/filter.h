// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning to greys and to colours, for FilterStream.
#pragma once

#include "algorithms/halftone/colour_filter.h"
#include "gst/base/filter_stream.h"
#include "gst/halftone/request.h"

#include <memory>

namespace framequality {

/// The light that a frame's pixel values represent.
halftone::Light light_of(const GstVideoInfo& info);

/// Range and light of a frame's pixel values. linear: as HalftoneRequest::linear.
halftone::ToneSettings tone_of(const GstVideoInfo& info, const HalftoneRequest& request);

/// The matrix from a frame's Y, U and V to R, G and B.
halftone::Matrix matrix_of(const GstVideoInfo& info);

/// Size and layout of frames that are halftoned to colours; nullopt for formats that PictureLayout cannot express.
std::optional<PictureGeometry> colour_geometry_of(const GstVideoInfo& info);

/// Implements FqFilterBaseClass::parse_caps.
bool parse_halftone_caps(GstCaps* in, GstCaps* out, FilterFormat& format);

/// Whether this stream belongs to a ColourHalftoning.
bool is_colour(const FilterFormat& format);

/// The common part of the two halftoning Kinds of a FilterStream. Element: has a Shared `request`.
template <class Element, class TaskOf, class SettingsOf>
class HalftoningKind {
 public:
  using Task = TaskOf;
  using Settings = SettingsOf;

  Task task(const FilterWindow& w, const Settings& settings) const {
    return {w.frames[w.center].frame, {w.out.plane[0], w.out.stride[0], w.out.memory}, settings, w.fields};
  }

 protected:
  HalftoningKind(Element* element, const FilterFormat& format, int threads)
      : element_(element), info_(format.in), threads_(threads) {}

  Element* element_;
  GstVideoInfo info_;
  int threads_;
};

/// To greys.
template <class Element>
class Halftoning : public HalftoningKind<Element, halftone::Task, halftone::Settings> {
 public:
  using Settings = halftone::Settings;

  Halftoning(Element* element, const FilterFormat& format, int threads)
      : HalftoningKind<Element, halftone::Task, Settings>(element, format, threads),
        geometry_{GST_VIDEO_INFO_WIDTH(&format.in), GST_VIDEO_INFO_HEIGHT(&format.in),
                  with_significant_bits(layout_of(*format.in.finfo).value(), format.significant_bits)},
        packed_(GST_VIDEO_INFO_FORMAT(&format.out) == GST_VIDEO_FORMAT_ENCODED) {}

  std::unique_ptr<halftone::Filter> make(const Place& place, int depth) const {
    return place.backend->halftone(geometry_, {place.id, depth, this->threads_});
  }
  Settings settings() const {
    const HalftoneRequest request = this->element_->request->get();
    Settings settings = request.settings;
    settings.packed = packed_;
    // Requests may already be those for other caps, which come with the next frame.
    if (packed_) settings.levels = 2;
    settings.tone = tone_of(this->info_, request);
    return settings;
  }

 private:
  Geometry geometry_;
  bool packed_;
};

/// The settings of colours that a stream's caps determine. Throws ElementError if there is no palette.
halftone::ColourSettings colour_settings(const FilterFormat& format, const HalftoneRequest& request);

/// To palettes.
template <class Element>
class ColourHalftoning : public HalftoningKind<Element, halftone::ColourTask, halftone::ColourSettings> {
 public:
  using Settings = halftone::ColourSettings;

  ColourHalftoning(Element* element, const FilterFormat& format, int threads)
      : HalftoningKind<Element, halftone::ColourTask, Settings>(element, format, threads),
        geometry_(colour_geometry_of(format.in).value()),
        fixed_(colour_settings(format, element->request->get())) {
    geometry_.layout = with_significant_bits(geometry_.layout, format.significant_bits);
  }

  std::unique_ptr<halftone::ColourFilter> make(const Place& place, int depth) const {
    return place.backend->colour_halftone(geometry_, {place.id, depth, this->threads_});
  }
  Settings settings() const {
    const HalftoneRequest request = this->element_->request->get();
    Settings settings = fixed_;
    // Requests may already belong to other caps, which arrive with the next frame.
    if (settings.output != halftone::ColourOutput::kCodes && request.colours().count > 0)
      settings.palette = request.colours();
    if (request.settings.method != halftone::Method::kToneDependent) settings.method = request.settings.method;
    settings.tone = tone_of(this->info_, request);
    settings.linear = request.linear;
    settings.relative = !request.absolute;
    settings.serpentine = request.settings.serpentine;
    settings.strength = request.settings.strength;
    return settings;
  }

 private:
  PictureGeometry geometry_;
  Settings fixed_;  ///< by the caps
};

}  // namespace framequality
