// SPDX-License-Identifier: LGPL-2.1-or-later
// This thread's meters, and corrections of their results.
#pragma once

#include "python/core/handles.h"
#include "python/core/image.h"
#include "python/core/options.h"

namespace core {

/// The number is that of images in flight.
using Meters = Handles<fq_meter, fq_meter_open, fq_meter_close>;
Meters& meters();
/// Separate meters for many images in flight: they need more memory.
Meters& deep_meters();

/// Corrects results that the conversion of floats has distorted.
void fix_exposure(const Image& image, const Options& options, fq_result& result);

}  // namespace core
