// SPDX-License-Identifier: LGPL-2.1-or-later
// The files that a whole run writes at its end: report, manifest, ratings.
#pragma once

#include "apps/common/meter.h"
#include "apps/scan/manifest.h"
#include "apps/scan/options.h"

#include <string>
#include <vector>

namespace framequality::apps::scan {

/// Makes the export's folder, and fails now rather than after hours if any output is not writable. Throws
/// std::runtime_error with path and reason.
void check_outputs(const Options& options);

/// Writes them, and returns the lines to print. `parts`: of the report. Throws as above.
std::vector<std::string> write_outputs(const Options& options, const MeterOptions& meter, const MeterFacts& facts,
                                       const std::vector<std::string>& parts, const Selected& selected,
                                       const RunFacts& run);

}  // namespace framequality::apps::scan
