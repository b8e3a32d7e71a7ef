// SPDX-License-Identifier: LGPL-2.1-or-later
// A run of framequality-scan: when and where each file is scanned, and what happens to the results.
#pragma once

#include "apps/scan/options.h"

namespace framequality::apps::scan {

inline constexpr char kName[] = "framequality-scan";

/// Scans all inputs and writes all requested outputs; messages go to stderr. Returns the exit status. Throws
/// UsageError, and std::runtime_error if it cannot begin.
int scan_files(const Options& options);

}  // namespace framequality::apps::scan
