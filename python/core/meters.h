// SPDX-License-Identifier: LGPL-2.1-or-later
// This thread's meters, and what the package changes in their results.
#pragma once

#include "python/core/handles.h"
#include "python/core/image.h"
#include "python/core/options.h"

namespace core {

/// Number: images that may be in flight.
using Meters = Handles<fq_meter, fq_meter_open, fq_meter_close>;
Meters& meters();
/// Others, for many images in flight: they hold more memory.
Meters& deep_meters();

/// Takes out of the result what the conversion of floats has made wrong.
void fix_exposure(const Image& image, const Options& options, fq_result& result);

}  // namespace core
