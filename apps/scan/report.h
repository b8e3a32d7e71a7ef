// SPDX-License-Identifier: LGPL-2.1-or-later
// The report: one self-contained HTML page.
#pragma once

#include "apps/scan/job.h"
#include "apps/scan/manifest.h"

#include <string>
#include <vector>

namespace framequality::apps::scan {

/// The unit of a metric's scores, for people; empty for an unknown metric.
std::string unit_of(const std::string& metric);

/// A file's part of the page's data, as JSON.
std::string report_part(const Result& result);

/// The page. parts: from report_part(), in the order of the inputs.
/// It marks chosen frames if options.picks(), and
/// shows photographs by group where a set has groups.
std::string report_page(const Options& options, const MeterOptions& meter, const MeterFacts& facts,
                        const std::vector<std::string>& parts, const Selected& selected);

}  // namespace framequality::apps::scan
