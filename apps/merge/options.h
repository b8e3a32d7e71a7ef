// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of framequality-merge.
#pragma once

#include "apps/common/program.h"

#include <string>
#include <vector>

namespace framequality::apps::merge {

struct Options {
  std::string output;  ///< file; empty: stdout
  std::string errors, report;
  int details = 12;                       ///< files with a plot of their own in the report: the lowest and the highest
  std::vector<std::string> detail_names;  ///< files to plot instead
  bool quiet = false, version = false;
  std::vector<std::string> folders;
};

/// Reads the command line. --help prints and exits. Throws UsageError.
Options parse_options(int argc, char** argv);

}  // namespace framequality::apps::merge
