// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of framequality-scan.
#pragma once

#include "apps/scan/files.h"

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::scan {

enum class Format { kCsv, kJsonLines };

/// What and how to measure: properties of sharpnessmeter by the same names.
struct MeterOptions {
  std::string metric = "tenengrad", prefilter = "binomial3", normalize = "none", device = "auto";
  bool noise_correction = false;
  int downscale = 1;
  int zone_columns = 1, zone_rows = 1;
  std::optional<std::array<int, 4>> roi;
  std::uint64_t interval = 0;  ///< ns
};

struct Options {
  Format format = Format::kCsv;
  MeterOptions meter;
  int best = 0;  ///< pictures of each clip
  std::string export_dir, report;
  int jobs = 1;
  bool quiet = false, version = false;
  std::vector<Input> inputs;  ///< of the shard; may be none
};

/// The command line is not one: what() says what would be accepted.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the command line; initialises GStreamer. --help prints and exits. Throws UsageError, and std::runtime_error
/// if a list of files cannot be read.
Options parse_options(int argc, char** argv);

}  // namespace framequality::scan
