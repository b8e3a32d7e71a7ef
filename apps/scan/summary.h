// SPDX-License-Identifier: LGPL-2.1-or-later
// The lines that framequality-scan prints about a file it has scanned.
#pragma once

#include "apps/common/meter.h"
#include "apps/scan/job.h"

#include <string>

namespace framequality::apps::scan {

/// Name, number of frames, length and speed, and the range of scores with places; for an image, its score. No newline
/// at the end. The result has at least one frame.
std::string summary(const Result& result, const MeterOptions& meter);

}  // namespace framequality::apps::scan
