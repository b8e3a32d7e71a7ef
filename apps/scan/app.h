// SPDX-License-Identifier: LGPL-2.1-or-later
// A run of framequality-scan: which file is scanned when and where, and what becomes of the results.
#pragma once

#include "apps/scan/options.h"

namespace framequality::apps::scan {

inline constexpr char kName[] = "framequality-scan";

/// Scans all inputs and writes what the options ask for; messages go to stderr. Returns the exit status. Throws
/// UsageError, and std::runtime_error if it cannot even begin.
int scan_files(const Options& options);

}  // namespace framequality::apps::scan
