// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared parts of the denoising elements.
#pragma once

#include "algorithms/denoise/filter.h"
#include "algorithms/denoise/strength.h"
#include "gst/base/filter_stream.h"

#include <memory>

namespace framequality {

static_assert(denoise::kMaxTemporalRadius <= kMaxRadius);

/// The Kind of a FilterStream. Element: has Shared `settings` that settings_of() converts to denoise::Settings.
template <class Element>
class Denoising {
 public:
  using Task = denoise::Task;
  using Settings = denoise::Settings;

  Denoising(Element* element, const FilterFormat& format, int threads)
      : element_(element), geometry_(picture_geometry_of(format.in).value()), threads_(threads) {
    geometry_.layout = with_significant_bits(geometry_.layout, format.significant_bits);
  }

  std::unique_ptr<denoise::Filter> make(const Place& place, int depth) const {
    return place.backend->denoise(geometry_, {place.id, depth, threads_});
  }
  Settings settings() const { return settings_of(element_->settings->get()); }
  Task task(const FilterWindow& w, const Settings& settings) const {
    return {w.window(), w.center, w.out, settings, w.fields};
  }

 private:
  Element* element_;
  PictureGeometry geometry_;
  int threads_;
};

/// Values of denoise::Chroma.
GType denoise_chroma_get_type();

}  // namespace framequality
