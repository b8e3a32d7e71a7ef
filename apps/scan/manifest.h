// SPDX-License-Identifier: LGPL-2.1-or-later
// The manifest: all chosen and rejected images, as JSON for programs that use them next.
#pragma once

#include "apps/common/meter.h"
#include "apps/scan/moments.h"
#include "apps/scan/options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::scan {

/// A chosen frame.
struct ChosenFrame {
  std::size_t input = 0;  ///< its index
  bool picture = false;   ///< the input is a photograph
  std::string path;       ///< its image file; empty if there is none
  std::string source;     ///< the input, as given
  std::uint64_t frame = 0;
  std::optional<std::uint64_t> time;  ///< ns
  double score = 0;
  int width = 0, height = 0;              ///< pixels, as stored in the image
  std::optional<Travel> travel = {};      ///< where it was measured
  std::optional<std::size_t> group = {};  ///< of the set, from 0, where it has groups
};

/// A rejected photograph, or a video without any chosen frame.
struct RejectedInput {
  std::string source;
  std::optional<std::uint64_t> frame, time;  ///< of its best frame, if it has any; ns
  std::optional<double> score;
  std::string reason;
  bool picture = false;  ///< a photograph
  std::optional<std::size_t> group = {};
};

struct Selected {
  std::vector<ChosenFrame> chosen;  ///< in the order of the inputs
  std::vector<RejectedInput> rejected;
  std::uint64_t candidates = 0;          ///< measured frames, of all inputs
  std::uint64_t damaged = 0;             ///< of these; none was chosen
  std::vector<std::size_t> groups = {};  ///< of each input, numbers from 0; empty where there are no groups
  std::string note = {};                 ///< what there is to say of the groups
};

/// Numbers of a run.
struct RunFacts {
  std::size_t files = 0, failed = 0;
  std::uint64_t frames = 0;  ///< decoded
  double seconds = 0;        ///< wall clock
  int jobs = 1;
  std::vector<int> gpus;  ///< CUDA ids of those used
  std::string started;    ///< RFC 3339
};

/// The current time, with the offset of local time.
std::string rfc3339_now();

/// The manifest for the file `path`: paths of images are relative to its folder.
std::string manifest(const std::string& path, const Options& options, const MeterOptions& meter,
                     const MeterFacts& facts, const Selected& selected, const RunFacts& run);

}  // namespace framequality::apps::scan
