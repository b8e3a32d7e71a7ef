// SPDX-License-Identifier: LGPL-2.1-or-later
// Measurement of every frame of an image or video that GStreamer can decode, by the element bliindsmeter.
#pragma once

#include "algorithms/bliinds/meter.h"

#include <cstdint>
#include <functional>
#include <string>

namespace framequality::tools {

struct MeasureOptions {
  std::string channel = "red", device = "auto";  ///< nicks of the element's properties
  std::string model;                             ///< file; empty: the published one
  std::uint64_t interval = 0;                    ///< ns between measured frames
  int stall_timeout = 60;                        ///< seconds without data before giving up on a file; 0: never
};

struct Measured {
  std::uint64_t frame;  ///< number of frames before this one
  double score, raw;
  bliinds::Features features;
};

/// Checks that element bliindsmeter exists and supports these options. Throws std::runtime_error.
void require_meter(const MeasureOptions& options);

/// Measures a file and calls `each` for every frame, in order, on this thread. Warnings go to stderr. Throws
/// std::runtime_error, whose text does not have the file's name.
void measure(const std::string& file, const MeasureOptions& options, const std::function<void(const Measured&)>& each);

}  // namespace framequality::tools
