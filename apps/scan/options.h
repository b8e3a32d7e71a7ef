// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of framequality-scan.
#pragma once

#include "apps/common/meter.h"
#include "apps/common/program.h"
#include "apps/scan/files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::scan {

enum class Format { kCsv, kJsonLines };
/// Format of images made from frames of a video.
enum class PictureFormat { kPng, kJpeg };
/// How chosen photographs get into the export's folder.
enum class Originals { kCopy, kHardLink, kSymbolicLink };
enum class ProgressFormat { kBar, kJson };

/// "The best of every N": frames of a video, photographs of a set, ns, or shares of the diagonal that the image
/// moves by. One of them is not 0.
struct Every {
  std::uint64_t frames = 0, time = 0;
  double travel = 0;
};

struct Options {
  Format format = Format::kCsv;
  PictureFormat pictures = PictureFormat::kPng;
  Originals originals = Originals::kCopy;
  ProgressFormat progress = ProgressFormat::kBar;
  MeterOptions meter;
  int best = 0;                 ///< images per clip, or of the set
  int similar_distance = 14;    ///< bits of the perceptual hash
  std::optional<Every> every;   ///< instead of best
  std::uint64_t max_gap = 0;    ///< ns that a stretch of every->travel may last; 0: any time
  std::uint64_t burst_gap = 0;  ///< ns between photographs of one burst; 0: no bursts
  bool set = false;             ///< all inputs are one sequence
  bool similar = false;         ///< near-duplicates are groups
  bool xmp = false;             ///< ratings go next to the originals
  bool resume = false, keep_going = false, quiet = false, version = false, devices = false;
  std::string export_dir, report, manifest;
  std::string output;           ///< folder for a table of each file; empty: one table on stdout
  std::optional<int> jobs;      ///< files at once; none: as fits the machine
  std::optional<int> segments;  ///< parts of one long file at once; none: as fits the machine
  std::vector<int> gpus;        ///< CUDA ids; empty: all
  int stall_timeout = 60;       ///< seconds without data before giving up on a file; 0: never
  Shard shard;
  std::string skipped;        ///< files in folders that are not inputs, for users
  std::vector<Input> inputs;  ///< of the shard; may be none

  /// Whether the best of each group of the set is chosen.
  bool groups() const { return burst_gap > 0 || similar; }
  /// Whether frames are chosen.
  bool picks() const { return best > 0 || every || groups(); }
  bool follows_travel() const { return every && every->travel > 0; }
  /// Whether each clip's choices are exported as files.
  bool exports_clips() const { return picks() && !set && !export_dir.empty(); }
};

/// Reads the command line; initialises GStreamer. --help prints and exits. Throws UsageError, and std::runtime_error
/// if a list of files cannot be read.
Options parse_options(int argc, char** argv);

}  // namespace framequality::apps::scan
