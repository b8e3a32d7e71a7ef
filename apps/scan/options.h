// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of framequality-scan.
#pragma once

#include "apps/common/meter.h"
#include "apps/common/program.h"
#include "apps/scan/files.h"

#include <string>
#include <vector>

namespace framequality::apps::scan {

enum class Format { kCsv, kJsonLines };

struct Options {
  Format format = Format::kCsv;
  MeterOptions meter;
  int best = 0;  ///< pictures of each clip
  std::string export_dir, report;
  int jobs = 1;
  bool quiet = false, version = false;
  std::vector<Input> inputs;  ///< of the shard; may be none
};

/// Reads the command line; initialises GStreamer. --help prints and exits. Throws UsageError, and std::runtime_error
/// if a list of files cannot be read.
Options parse_options(int argc, char** argv);

}  // namespace framequality::apps::scan
