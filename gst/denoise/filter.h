// SPDX-License-Identifier: LGPL-2.1-or-later
// The part that the denoising elements share: denoise::Filter as a PixelFilter.
#pragma once

#include "gst/base/filter_base.h"

#include <functional>
#include <memory>

namespace framequality {

/// settings: asked for with every frame; streaming thread. Otherwise as FqFilterBaseClass::make_filter.
std::unique_ptr<PixelFilter> make_denoiser(const FilterFormat& format, const Place& place, int depth, int threads,
                                           std::function<denoise::Settings()> settings);

/// `range` of denoise::Settings for a strength of this many grey levels; 0 stands for the limit towards 0.
double range_of(double grey_levels);

}  // namespace framequality
